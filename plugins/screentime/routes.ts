/**
 * Daily limits over HTTP (contract 9.45): the caller's remaining time, five more minutes with a PIN, and the routes for
 * admins.
 */
import { defineRoute, errors, PIN_PATTERN, ROW_PATTERN, say, Type } from 'archivolt'
import type { App } from './app.ts'
import type { Left } from './screen-time.ts'

export const Minutes = Type.Integer({ minimum: 0, maximum: 1440 })
const Own = Type.Object({
  minutes: Type.Union([Type.Integer(), Type.Null()], { description: 'per day; null: no limit' }),
  left: Type.Union([Type.Integer(), Type.Null()], { description: 'seconds left today; null: no limit' }),
})

const toOwn = (left: Left | undefined) => ({
  minutes: left?.minutes ?? null,
  left: left ? Math.max(0, Math.floor(left.left)) : null,
})

export const showOwnScreenTime = defineRoute({
  method: 'GET',
  path: '/api/screentime/own/',
  access: 'viewer',
  summary: 'The caller’s daily limit, and the time left today',
  reply: Own,
  handle: ({ actor }, { screenTime }: App) => toOwn(screenTime.of(actor.id)),
})

export const giveByPin = defineRoute({
  method: 'POST',
  path: '/api/screentime/own/',
  access: 'viewer',
  scope: 'none',
  summary: 'Give the caller five more minutes today, with the PIN of any admin',
  body: Type.Object({ pin: Type.String({ pattern: PIN_PATTERN, 'x-words': say`a string of 4 to 8 digits` }) }),
  reply: Own,
  errors: ['bad_request', 'conflict', 'throttled'],
  async handle({ body: { pin }, actor, request: { address }, signal }, { screenTime }: App) {
    await screenTime.giveByPin(actor.id, pin, { address, signal })
    return toOwn(screenTime.of(actor.id))
  },
})

const Of = Type.Object({
  user_id: Type.Integer(),
  minutes: Type.Union([Type.Integer(), Type.Null()]),
  played: Type.Integer({ description: 'seconds used today' }),
  left: Type.Integer({ description: 'seconds left today' }),
})

const toRecord = (userId: number, left: Left | undefined) => ({
  user_id: userId,
  minutes: left?.minutes ?? null,
  played: Math.round(left?.played ?? 0),
  left: Math.max(0, Math.floor(left?.left ?? 0)),
})

export const listScreenTimes = defineRoute({
  method: 'GET',
  path: '/api/screentime/',
  access: 'admin',
  summary: 'The accounts with a daily limit, and how much of it they have used today',
  reply: Type.Array(Of),
  handle: (_input, { screenTime }: App) =>
    screenTime.limits().map(({ user_id: id }) => toRecord(id, screenTime.of(id))),
})

export const changeScreenTime = defineRoute({
  method: 'POST',
  path: '/api/screentime/:userId/',
  access: 'admin',
  summary: 'Change the daily limit of an account, or give it more time today',
  params: Type.Object({ userId: Type.String({ pattern: ROW_PATTERN }) }),
  body: Type.Object({
    minutes: Type.Optional(Type.Union([Minutes, Type.Null()])),
    more: Type.Optional(Type.Integer({ minimum: 1, maximum: 1440, description: 'additional minutes for today' })),
  }),
  reply: Of,
  errors: ['bad_request', 'not_found', 'conflict'],
  async handle({ params, body: { minutes, more } }, { screenTime }: App) {
    const id = Number(params.userId)
    if (minutes === undefined && more === undefined) throw errors.badRequest('Send at least one of minutes, more')
    if (minutes !== undefined) await screenTime.limit(id, minutes)
    if (more !== undefined) await screenTime.give(id, more)
    return toRecord(id, screenTime.of(id))
  },
})

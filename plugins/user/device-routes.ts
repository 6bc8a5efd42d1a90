/** Shared devices: lists the accounts that may sign in with a PIN, signs them in, and forgets them. */
import { defineRoute, errors, PIN_PATTERN, ROW_PATTERN, say, Type } from 'archivolt'
import { refuseOtherSites, startSession } from './session-cookies.ts'

export const Pin = Type.String({ pattern: PIN_PATTERN, 'x-words': say`a string of 4 to 8 digits` })
export const UserParams = Type.Object({ userId: Type.String({ pattern: ROW_PATTERN }) })
export const Picture = Type.Union([Type.String(), Type.Null()], {
  description: 'the version of the account’s picture; null: it has no picture',
})
const WRONG = 'Wrong PIN'

export const listOfDevice = defineRoute({
  method: 'GET',
  path: '/api/device/',
  access: 'open',
  summary: 'The accounts that may sign in on this device with their PIN',
  reply: Type.Array(Type.Object({ id: Type.Integer(), username: Type.String(), picture: Picture })),
  handle: ({ request }, { accounts }) =>
    accounts.onDevice(request.headers['cookie']).map(({ id, username, picture }) => ({ id, username, picture })),
})

export const signInWithPin = defineRoute({
  method: 'POST',
  path: '/api/device/',
  access: 'open',
  summary: 'Start a session with a PIN, on a device where the account has signed in with its password',
  body: Type.Object({ user_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), pin: Pin }),
  reply: Type.Null(),
  status: 204,
  errors: ['bad_request', 'throttled', 'csrf_failed'],
  async handle({ body: { user_id, pin }, request, headers, signal }, { accounts }) {
    refuseOtherSites(request)
    const from = { cookies: request.headers['cookie'], address: request.address, signal }
    const proof = await accounts.checkPin(user_id, pin, from)
    if (!proof) throw errors.badRequest(WRONG, { extra: { non_field_errors: [WRONG] } })
    await startSession(accounts, { proof, isRemembered: true, way: 'pin' }, { request, headers })
    return undefined
  },
})

export const forgetOnDevice = defineRoute({
  method: 'DELETE',
  path: '/api/device/:userId/',
  access: 'open',
  summary: 'Forget an account on this device: its next sign-in here requires its password',
  params: UserParams,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['csrf_failed'],
  async handle({ params: { userId }, request }, { accounts }) {
    refuseOtherSites(request)
    await accounts.forgetOnDevice(Number(userId), request.headers['cookie'])
    return { success: true as const }
  },
})

/** Routes for asks (contract 9.42): which videos an account with a view may ask for, and the answers of admins. */
import { defineRoute, ID_PATTERN, isoTime, ROW_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'
import { Offer, OwnAsk } from './asks.ts'
import { ANSWERS } from './tables.ts'

export const listOffers = defineRoute({
  method: 'GET',
  path: '/api/ask/offer/',
  access: 'viewer',
  summary: 'Videos outside of the caller’s view that they may ask for, found by words of the title or by a link',
  query: { query: Type.String({ maxLength: 200, description: 'words of the title, or a link or id of the platform' }) },
  reply: Type.Array(Offer),
  handle: async ({ query: { query }, actor, signal }, app: App) =>
    query?.trim() ? app.asks.offers(query, actor, signal) : [],
})

export const askFor = defineRoute({
  method: 'POST',
  path: '/api/ask/',
  access: 'viewer',
  summary: 'Ask for a video outside of the caller’s view; repeating the request changes nothing',
  body: Type.Object({ video_id: Type.String({ pattern: ID_PATTERN }) }),
  reply: Offer,
  errors: ['not_found', 'conflict', 'throttled'],
  handle: ({ body, actor, signal }, app: App) => app.asks.ask(body.video_id, actor, signal),
})

export const listOwnAsks = defineRoute({
  method: 'GET',
  path: '/api/ask/own/',
  access: 'viewer',
  summary: 'The caller’s requests for videos with the answers, newest first',
  reply: Type.Array(OwnAsk),
  handle: ({ actor }, app: App) => app.asks.own(actor.id),
})

export const seeAnswers = defineRoute({
  method: 'POST',
  path: '/api/ask/own/',
  access: 'viewer',
  summary: 'Mark all answers to the caller as seen',
  reply: Type.Object({ success: Type.Literal(true) }),
  async handle({ actor }, app: App) {
    await app.asks.see(actor.id)
    return { success: true as const }
  },
})

export const listAsks = defineRoute({
  method: 'GET',
  path: '/api/ask/',
  access: 'admin',
  summary: 'Requests for videos without an answer, oldest first',
  reply: Type.Array(
    Type.Object({
      id: Type.Integer(),
      user_id: Type.Integer(),
      username: Type.String(),
      video_id: Type.String(),
      title: Type.String(),
      channel_id: Type.String(),
      channel_name: Type.String(),
      asked: Type.String({ format: 'date-time' }),
      is_away: Type.Boolean({
        description: 'whether the video is not in the archive, so that allowing it starts a download',
      }),
    }),
  ),
  handle: async (_input, { asks, accounts }: App) =>
    (await asks.waiting()).map(({ id, user_id, video_id, title, channel_id, channel_name, asked_at, is_away }) => ({
      ...{ id, user_id, username: accounts.get(user_id)!.username, video_id, title, channel_id, channel_name },
      ...{ asked: isoTime(asked_at), is_away },
    })),
})

export const answerAsk = defineRoute({
  method: 'POST',
  path: '/api/ask/:askId/',
  access: 'admin',
  summary: 'Allow the video or its whole channel, or refuse it',
  params: Type.Object({ askId: Type.String({ pattern: ROW_PATTERN }) }),
  body: Type.Object({ answer: Type.Enum([...ANSWERS]) }),
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found', 'conflict'],
  async handle({ params: { askId }, body: { answer }, actor }, app: App) {
    await app.asks.answer(Number(askId), answer, actor)
    return { success: true as const }
  },
})

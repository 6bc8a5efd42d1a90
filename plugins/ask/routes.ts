/** Asking over HTTP (contract 9.42): what an account with a view may ask for, and the answers of admins. */
import { defineRoute, ID_PATTERN, isoTime, ROW_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'
import { ANSWERS, Offer } from './asks.ts'

export const listOffers = defineRoute({
  method: 'GET',
  path: '/api/ask/offer/',
  access: 'viewer',
  summary: 'Videos with these words in their title that the caller does not see and may ask for',
  query: { query: Type.String({ maxLength: 200, description: 'words of a title' }) },
  reply: Type.Array(Offer),
  handle: async ({ query: { query }, actor }, app: App) => (query?.trim() ? app.asks.offers(query, actor) : []),
})

export const askFor = defineRoute({
  method: 'POST',
  path: '/api/ask/',
  access: 'viewer',
  summary: 'Ask for a video outside of the caller’s view; a second time is the same',
  body: Type.Object({ video_id: Type.String({ pattern: ID_PATTERN }) }),
  reply: Offer,
  errors: ['not_found', 'conflict', 'throttled'],
  handle: ({ body, actor }, app: App) => app.asks.ask(body.video_id, actor),
})

export const listOwnAsks = defineRoute({
  method: 'GET',
  path: '/api/ask/own/',
  access: 'viewer',
  summary: 'What the caller has asked for, the newest first, with the answers',
  reply: Type.Array(Offer),
  handle: ({ actor }, app: App) => app.asks.own(actor.id),
})

export const listAsks = defineRoute({
  method: 'GET',
  path: '/api/ask/',
  access: 'admin',
  summary: 'Asks that wait for an answer, the oldest first',
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
    }),
  ),
  handle: (_input, { asks, accounts }: App) =>
    asks.waiting().map(({ answer: _, asked_at, ...ask }) => ({
      ...ask,
      username: accounts.get(ask.user_id)!.username,
      asked: isoTime(asked_at),
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

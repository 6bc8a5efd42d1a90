/** The routes of a channel's own preferences (contract 9.34). */
import { defineRoute, errors, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

const params = Type.Object({ channelId: Type.String({ pattern: ID_PATTERN }) })
const Own = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
  description: 'by section and key; GET /api/config/schema/ describes the possible ones, which have x-per-channel',
})

export const showOwn = defineRoute({
  method: 'GET',
  path: '/api/channel/:channelId/preference/',
  access: 'admin',
  summary: 'The preferences for which a channel has its own values',
  params,
  reply: Own,
  errors: ['not_found'],
  async handle({ params: { channelId } }, app: App) {
    await mustExist(channelId, app)
    return app.perChannel.own(channelId)
  },
})

export const changeOwn = defineRoute({
  method: 'POST',
  path: '/api/channel/:channelId/preference/',
  access: 'admin',
  summary: 'Change the own preferences of a channel, all or none of them; null: the general value applies again',
  params,
  body: Own,
  reply: Own,
  errors: ['not_found'],
  async handle({ params: { channelId }, body }, app: App) {
    await mustExist(channelId, app)
    await app.perChannel.change(channelId, body)
    return app.perChannel.own(channelId)
  },
})

async function mustExist(channelId: string, { channels }: App): Promise<void> {
  if (!(await channels.known([channelId])).has(channelId)) throw errors.notFound('channel', channelId)
}

/** The routes of a channel's own preferences (contract 9.34). */
import { defineRoute, errors, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

const params = Type.Object({ channelId: Type.String({ pattern: ID_PATTERN }) })
const Own = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
  description: 'by section and key; GET /api/config/schema/ describes them, those with x-per-channel',
})

export const showOwn = defineRoute({
  method: 'GET',
  path: '/api/channel/:channelId/preference/',
  access: 'admin',
  summary: 'The preferences of plugins that a channel has for itself',
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
  summary: 'Changes preferences of a channel, all or nothing; null: the general value holds again',
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

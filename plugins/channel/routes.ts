/** Routes of channels: list, search, show, change, remove (contract 6.7, appendix B). */
import { defineRoute, errors, ID_PATTERN, isAppError, json, listing, Type } from 'archivolt'
import type { App } from './app.ts'
import { ChannelDoc, ChannelOverwrites } from './schema.ts'

const ChannelId = Type.Object({ channelId: Type.String({ pattern: ID_PATTERN }) })
const ChannelRecord = Type.Interface([Type.Omit(ChannelDoc, ['refreshed_at', 'art'])], {
  platform_name: Type.Optional(Type.String({ description: 'name of its platform' })),
  platform_url: Type.Optional(Type.String({ description: 'its page on the platform; omitted if unknown' })),
  _index: Type.String(),
  _score: Type.Number(),
})

const orNull = Object.entries(ChannelOverwrites.properties).map(
  ([key, schema]) => [key, Type.Optional(Type.Union([schema, Type.Null()]))] as const,
)
const OverwriteChanges = Type.Object(Object.fromEntries(orNull), { additionalProperties: false })
const ChannelChange = Type.Object({
  channel_subscribed: Type.Optional(Type.Boolean()),
  channel_overwrites: Type.Optional(OverwriteChanges),
})

export const listChannels = defineRoute({
  method: 'GET',
  path: '/api/channel/',
  access: 'viewer',
  summary: 'Channels, sorted by name',
  query: {
    filter: Type.Optional(Type.Enum(['subscribed', 'unsubscribed'])),
    group: Type.Optional(Type.Integer({ minimum: 1, description: 'channels of this group' })),
    q: Type.Optional(
      Type.String({ maxLength: 500, description: 'an id, handle or URL of a channel, or words of its name' }),
    ),
  },
  envelope: 'page',
  reply: Type.Array(ChannelRecord),
  revalidates: true,
  async handle({ query: { filter, group, q }, actor, page: { from, size } }, app: App) {
    const subscribed = filter === undefined ? undefined : filter === 'subscribed'
    const { texts, total } = await app.channels.find({ subscribed, group, q, from, size }, actor)
    return listing(texts, total)
  },
})

export const searchChannel = defineRoute({
  method: 'GET',
  path: '/api/channel/search/',
  access: 'user',
  summary: 'The archived channel to which an id, handle or URL refers',
  query: { q: Type.Optional(Type.String({ maxLength: 500, description: 'id, @handle or URL; required' })) },
  envelope: 'item',
  reply: ChannelRecord,
  errors: ['bad_request', 'not_found', 'throttled', 'unavailable'],
  async handle({ query: { q }, actor, signal }, app: App) {
    const extra = { data: false }
    if (q === undefined || q.trim() === '')
      throw errors.badRequest('q is required', { fields: { q: 'is required' }, extra })
    const id = await app.channels
      .resolve(q, { asker: 'channel search', isUrgent: true, account: actor.id, signal })
      .catch((thrown: unknown) => {
        if (!isAppError(thrown, 'bad_request')) throw thrown
        throw errors.badRequest(thrown.words, { ...thrown.details, cause: thrown, extra })
      })
    const text = id === undefined ? undefined : await app.channels.text(id)
    // A caller that searches by name learns the id of the channel, or null if no such channel exists.
    const isName = id === undefined || !q.includes(id)
    if (text === undefined)
      throw errors.notFound('channel', id, { extra: { ...extra, ...(isName && { channel_id: id ?? null }) } })
    return json(app.channels.reply(text))
  },
})

export const showChannel = defineRoute({
  method: 'GET',
  path: '/api/channel/:channelId/',
  access: 'viewer',
  summary: 'One channel',
  params: ChannelId,
  envelope: 'item',
  reply: ChannelRecord,
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { channelId } }, app: App) {
    const text = await app.channels.text(channelId)
    if (text === undefined) throw errors.notFound('channel', channelId)
    return json(app.channels.reply(text))
  },
})

export const changeChannel = defineRoute({
  method: 'POST',
  path: '/api/channel/:channelId/',
  access: 'admin',
  summary: 'Change the subscription or the settings of a channel',
  params: ChannelId,
  body: ChannelChange,
  reply: ChannelChange,
  errors: ['not_found', 'bad_request'],
  async handle({ params: { channelId }, body }, app: App) {
    if (body.channel_subscribed === undefined && body.channel_overwrites === undefined) {
      throw errors.badRequest('channel_subscribed or channel_overwrites is required', {
        fields: { channel_subscribed: 'or channel_overwrites is required' },
      })
    }
    await judgeFormat(body.channel_overwrites?.download_format, app)
    await app.channels.change(channelId, body)
    return body
  },
})

/** @throws bad_request, in yt-dlp's words */
async function judgeFormat(format: unknown, { platform }: App): Promise<void> {
  if (typeof format !== 'string') return
  const { format: fault } = await platform.refusals({ format })
  const field = 'channel_overwrites.download_format'
  if (fault !== undefined) throw errors.wrongField(field, fault)
}

export const deleteChannel = defineRoute({
  method: 'DELETE',
  path: '/api/channel/:channelId/',
  access: 'admin',
  summary: 'Remove a channel with its videos and files',
  params: ChannelId,
  reply: Type.Object({
    channel: Type.String(),
    state: Type.Literal('delete'),
    removal: Type.Optional(
      Type.String({ description: 'the id with which the removal can be undone; omitted if the bin is switched off' }),
    ),
    files_kept: Type.Optional(
      Type.Integer({ description: 'number of video files in folders of other programs: they stay there' }),
    ),
    files_in_trash: Type.Optional(
      Type.Integer({
        description:
          'number of video files in folders in which Archivolt may delete files: they were moved to the trash there',
      }),
    ),
  }),
  errors: ['not_found', 'unavailable'],
  async handle({ params: { channelId }, actor }, app: App) {
    if (!(await app.channels.known([channelId])).has(channelId)) {
      throw errors.notFound('channel', channelId, { extra: { channel: channelId, state: 'not found' } })
    }
    const { places } = app.media
    const [placed, before] = [places.countOfChannel(channelId), places.trash.countOfChannel(channelId)]
    const removal = await app.channels.remove(channelId, actor.id)
    const trashed = places.trash.countOfChannel(channelId) - before
    const staying = placed - trashed
    return {
      channel: channelId,
      state: 'delete' as const,
      ...(app.hook('channel.bin').some(({ isOn }) => isOn()) && { removal }),
      ...(staying > 0 && { files_kept: staying }),
      ...(trashed > 0 && { files_in_trash: trashed }),
    }
  },
})

/** Videos over HTTP: list, show, remove, comments, similar ones (contract 6.5, 6.7). */
import { defineRoute, errors, ID_PATTERN, json, listing, listOf, Type } from 'archivolt'
import type { App } from './app.ts'
import { countMonths, listQuery, toQuery } from './listing.ts'
import { binOf } from './removal-hooks.ts'
import { VideoDoc, VideoTail } from './schema.ts'

const Id = Type.String({ pattern: ID_PATTERN })
const VideoId = Type.Object({ videoId: Id })

const VideoRecord = Type.Interface(
  [
    Type.Omit(VideoDoc, [
      'channel_id',
      'refreshed_at',
      'width',
      'height',
      'art',
      'watched_by',
      'shared_mark',
      'restored_mark',
      'player',
    ]),
  ],
  {
    player: Type.Interface([VideoDoc.properties.player], VideoTail.properties),
    channel: Type.Object(
      { channel_id: Type.String(), channel_name: Type.String() },
      { description: 'a complete channel record' },
    ),
    watch_later: Type.Optional(
      Type.Literal(true, { description: "it is in the caller's Watch later; omitted otherwise" }),
    ),
    copy_url: Type.Optional(
      Type.String({ description: 'address of a copy that browsers can play; omitted if there is none' }),
    ),
    dearrow_thumb_url: Type.Optional(
      Type.String({
        description: 'address of a thumbnail from the moment that viewers propose; omitted if there is none',
      }),
    ),
    place: Type.Optional(
      Type.Object(
        {
          label: Type.String(),
          state: Type.Enum(['there', 'away', 'missing']),
          ours: Type.Optional(Type.Literal(true, { description: 'Archivolt may delete files in this folder' })),
        },
        { description: 'the folder of another program that contains its file; omitted if the file is in the library' },
      ),
    ),
    missing: Type.Optional(
      Type.Literal(true, { description: 'its file was not found, and can be downloaded again; omitted otherwise' }),
    ),
    platform_name: Type.Optional(Type.String({ description: 'name of its platform' })),
    platform_url: Type.Optional(Type.String({ description: 'its page on the platform; omitted if unknown' })),
    _index: Type.String(),
    _score: Type.Number(),
  },
)
const Comment = Type.Object({
  comment_id: Type.String(),
  comment_text: Type.String(),
  comment_replies: Type.Array(Type.Unknown()),
})

export const listVideos = defineRoute({
  method: 'GET',
  path: '/api/video/',
  access: 'viewer',
  summary: 'Videos, filtered and sorted',
  query: listQuery,
  queryHook: 'video.filter',
  envelope: 'page',
  reply: Type.Array(VideoRecord),
  revalidates: true,
  async handle({ query, actor, page: { from, size } }, app: App) {
    const { texts, total } = await app.videos.find({ ...(await toQuery(query, actor, app)), from, size }, actor)
    return listing(texts, total)
  },
})

/** The sort of a list does not affect its count. */
const { sort: _sort, order: _order, ...filterQuery } = listQuery

export const listMonths = defineRoute({
  method: 'GET',
  path: '/api/video/months/',
  access: 'viewer',
  summary: 'How many videos of a filtered list were published in each month, newest first',
  query: filterQuery,
  queryHook: 'video.filter',
  reply: Type.Array(Type.Object({ month: Type.String({ description: 'YYYY-MM' }), count: Type.Integer() })),
  revalidates: true,
  handle: ({ query, actor }, app: App) => countMonths(query, actor, app),
})

export const listChannelVideos = defineRoute({
  method: 'GET',
  path: '/api/channel/:channelId/video/',
  access: 'viewer',
  summary: 'Videos of a channel, newest first',
  params: Type.Object({ channelId: Id }),
  envelope: 'page',
  reply: Type.Array(VideoRecord),
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { channelId }, actor, page: { from, size } }, app: App) {
    if (!(await app.channels.known([channelId])).has(channelId)) throw errors.notFound('channel', channelId)
    const { texts, total } = await app.videos.find(
      { filter: { eq: ['channel_id', channelId] }, sort: [{ by: 'published', order: 'desc' }], from, size },
      actor,
    )
    return listing(texts, total)
  },
})

const Sum = Type.Object({ value: Type.Integer() })

export const sumUpChannel = defineRoute({
  method: 'GET',
  path: '/api/channel/:channelId/aggs/',
  access: 'viewer',
  summary: 'The number of archived videos of a channel, their total size and duration',
  params: Type.Object({ channelId: Id }),
  reply: Type.Object({
    total_items: Sum,
    total_size: Sum,
    total_duration: Type.Object({ value: Type.Integer(), value_str: Type.String() }),
  }),
  async handle({ params: { channelId } }, app: App) {
    const [row] = await app.videos.collection.aggregate({
      filter: { eq: ['channel_id', channelId] },
      sums: ['media_size', 'duration'],
    })
    const seconds = row?.sums['duration'] ?? 0
    return {
      total_items: { value: row?.count ?? 0 },
      total_size: { value: row?.sums['media_size'] ?? 0 },
      total_duration: { value: seconds, value_str: app.videos.durationText(seconds) },
    }
  },
})

export const showVideo = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/',
  access: 'viewer',
  summary: 'One video',
  params: VideoId,
  envelope: 'item',
  reply: VideoRecord,
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { videoId }, actor }, app: App) {
    const text = await app.videos.record(videoId, actor)
    if (text === undefined) throw errors.notFound('video', videoId)
    return json(text)
  },
})

export const keepVideo = defineRoute({
  method: 'POST',
  path: '/api/video/:videoId/',
  access: 'admin',
  summary: 'Protect a video from automatic deletion, or end the protection',
  params: VideoId,
  body: Type.Object({ keep: Type.Boolean() }),
  reply: Type.Object({ video: Type.String(), keep: Type.Boolean() }),
  errors: ['bad_request', 'not_found'],
  async handle({ params: { videoId }, body: { keep } }, app: App) {
    if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
    await app.videos.setKept(videoId, keep)
    return { video: videoId, keep }
  },
})

const InBin = Type.Optional(
  Type.String({ description: 'the id with which the removal can be undone; omitted if the bin is switched off' }),
)

export const deleteVideo = defineRoute({
  method: 'DELETE',
  path: '/api/video/:videoId/',
  access: 'admin',
  summary: 'Remove a video with its files',
  params: VideoId,
  reply: Type.Object({
    video: Type.String(),
    state: Type.Literal('delete'),
    file: Type.Optional(
      Type.Enum(['kept', 'trash'], {
        description:
          'its file is in a folder of another program: it stays there, or, if Archivolt may delete files there, was moved to the trash there',
      }),
    ),
    removal: InBin,
  }),
  errors: ['not_found', 'unavailable'],
  async handle({ params: { videoId }, actor }, app: App) {
    if (!(await app.videos.has(videoId)))
      throw errors.notFound('video', videoId, { extra: { video: videoId, state: 'not found' } })
    const isPlaced = !app.media.isOurs(videoId)
    const removal = await app.videos.remove(videoId, { why: 'removed', by: actor.id })
    const file = app.media.places.trash.has(videoId) ? ('trash' as const) : ('kept' as const)
    return { video: videoId, state: 'delete' as const, ...(isPlaced && { file }), ...(binOf(app) && { removal }) }
  },
})

/** All of them are processed before the reply. */
const ChosenIds = Type.Array(Type.String({ pattern: ID_PATTERN }), { minItems: 1, maxItems: 100 })

export const changeChosen = defineRoute({
  method: 'POST',
  path: '/api/video/bulk/',
  access: 'admin',
  summary: 'Remove chosen videos with their files',
  body: Type.Object({ action: Type.Literal('delete'), ids: ChosenIds }),
  reply: Type.Object({
    updated: Type.Integer({ description: 'number of removed videos; ids that are not in the archive are skipped' }),
    removal: InBin,
  }),
  errors: ['bad_request', 'unavailable'],
  async handle({ body: { ids }, actor }, app: App) {
    const known = await app.videos.known(ids)
    if (known.size === 0) return { updated: 0 }
    const removal = await app.videos.removeMany([...known], { why: 'removed', by: actor.id })
    return { updated: known.size, ...(binOf(app) && { removal }) }
  },
})

export const listComments = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/comment/',
  access: 'viewer',
  summary: 'Comments of a video, as threads',
  params: VideoId,
  envelope: 'item',
  reply: Type.Array(Comment),
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { videoId } }, app: App) {
    if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
    return json(await app.videos.commentsText(videoId))
  },
})

const ThreadComment = Type.Interface([Comment], {
  comment_reply_count: Type.Integer({ description: 'number of all replies, including replies to replies' }),
})

export const listThreads = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/thread/',
  access: 'viewer',
  summary: 'Comments of a video in pages: threads with their first replies',
  params: VideoId,
  envelope: 'page',
  reply: Type.Array(ThreadComment),
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { videoId }, page }, app: App) {
    if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
    const { texts, total } = await app.videos.threads(videoId, page)
    return listing(texts, total)
  },
})

export const showThread = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/thread/:commentId/',
  access: 'viewer',
  summary: 'The thread that contains a comment: 100 of its replies, by default those around the comment',
  params: Type.Interface([VideoId], { commentId: Type.String({ pattern: '^[A-Za-z0-9._=-]{1,150}$' }) }),
  query: {
    part: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'which part of 100 replies, from 1' }),
    ),
  },
  reply: Type.Object({ thread: ThreadComment, part: Type.Integer(), parts: Type.Integer() }),
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { videoId, commentId }, query: { part } }, app: App) {
    if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
    const found = await app.videos.thread(videoId, commentId, part)
    if (!found) throw errors.notFound('comment', commentId)
    return found
  },
})

export const listSimilar = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/similar/',
  access: 'viewer',
  summary: 'Up to six videos with similar titles and tags',
  params: VideoId,
  envelope: 'item',
  reply: Type.Array(VideoRecord),
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { videoId }, actor }, app: App) {
    if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
    return json(listOf(await app.videos.similar(videoId, actor)))
  },
})

/** The routes of the queue (contract 6.4, bulk of appendix B). */
import { defineRoute, errors, ID_PATTERN, json, listing, say, Type } from 'archivolt'
import type { Target } from '../platform/types.ts'
import type { App } from './app.ts'
import { extractDownload } from './extract.ts'
import type { QueueFilter } from './queue-rows.ts'
import { downloadPending } from './run.ts'
import { DownloadDoc, ERROR_CLASSES } from './schema.ts'

/** The id of a removal of items, or of their ignoring, which can be undone for a day. */
const RemovalId = Type.String({ description: 'restores these items, within a day' })

const FILTERS = ['pending', 'ignore', 'priority'] as const
const VID_TYPES = ['videos', 'streams', 'shorts', 'unknown'] as const
const VideoPath = Type.Object({ videoId: Type.String({ pattern: ID_PATTERN }) })

const QueueRecord = Type.Interface([Type.Omit(DownloadDoc, ['position', 'force', 'art', 'noted_at', 'reopened'])], {
  progress: Type.Optional(
    Type.Object({ fraction: Type.Number(), speed: Type.Optional(Type.Number()), eta: Type.Optional(Type.Number()) }),
  ),
  reason: Type.Optional(
    Type.Object(
      { key: Type.String(), params: Type.Record(Type.String(), Type.String()) },
      { description: 'why, as a key of a translation and its values; omitted if only the message says it' },
    ),
  ),
  platform_name: Type.Optional(Type.String({ description: 'name of its platform' })),
  platform_url: Type.Optional(Type.String({ description: 'its page on the platform; omitted if unknown' })),
  _index: Type.String(),
  _score: Type.Number(),
})

export const listQueue = defineRoute({
  method: 'GET',
  path: '/api/download/',
  access: 'downloader',
  summary: 'The download queue: auto_start first, then oldest',
  query: {
    filter: Type.Optional(Type.Enum(FILTERS, { description: '`pending` includes priority items' })),
    channel: Type.Optional(Type.String({ pattern: ID_PATTERN })),
    vid_type: Type.Optional(Type.Enum(VID_TYPES)),
    q: Type.Optional(Type.String({ maxLength: 200, description: 'words in the title' })),
    error: Type.Optional(Type.Boolean({ description: 'whether the item has a message' })),
    error_class: Type.Optional(Type.Enum(ERROR_CLASSES, { description: 'only items with a message of this class' })),
  },
  reply: QueueRecord,
  envelope: 'page',
  revalidates: true,
  async handle({ query, page }, app: App) {
    const { list, replyOf } = app.queue
    const { items, total } = await list({ ...filterOf(query), words: query.q, from: page.from, size: page.size })
    return listing(items.map(replyOf), total)
  },
})

const filterOf = ({
  filter,
  channel,
  vid_type: vidType,
  error_class: errorClass,
  error,
}: {
  filter?: string | undefined
  channel?: string | undefined
  vid_type?: string | undefined
  error_class?: string | undefined
  error?: boolean | undefined
}): QueueFilter => ({ filter, channel, vidType, errorClass, error })

const AddBody = Type.Object({
  data: Type.Array(
    Type.Object({
      platform_id: Type.Optional(
        Type.Unknown({
          'x-form': { type: 'string', minLength: 1 },
          description: 'ids, URLs or handles of videos, channels and playlists, separated by spaces',
        }),
      ),
      status: Type.Optional(Type.Enum(['pending', 'ignore', 'ignore-force'])),
    }),
  ),
})

export const addToQueue = defineRoute({
  method: 'POST',
  path: '/api/download/',
  access: 'downloader',
  summary: 'Queue videos, playlists and channels by id, URL or handle',
  query: {
    autostart: Type.Boolean({ default: false, description: 'download at once' }),
    force: Type.Boolean({ default: false, description: 'also queue archived videos' }),
  },
  body: AddBody,
  reply: Type.Object({
    data: Type.Array(Type.Object({})),
    message: Type.String(),
    task_id: Type.Union([Type.String(), Type.Null()]),
  }),
  errors: ['permission_denied'],
  async handle({ query, body: { data }, actor }, app: App) {
    if (!actor.isAdmin && data.some(({ status = 'pending' }) => status !== 'pending'))
      throw errors.permissionDenied('Only an admin may put videos on the ignore list')
    if (!actor.isAdmin && query.force) throw errors.permissionDenied('Only an admin may download archived videos again')
    const targets = []
    for (const [index, item] of data.entries()) {
      const found = await targetsOf(app.platform.idOf(item), `data[${index}]`, app)
      targets.push(
        ...found.map((target) => ({ ...target, ...(item.status?.startsWith('ignore') && { isIgnored: true }) })),
      )
    }
    if (!targets.length) return { data, message: 'nothing to add', task_id: null }
    const job = await app.jobs.start(extractDownload, {
      targets,
      autoStart: query.autostart,
      force: query.force,
      userId: actor.id,
    })
    return { data, message: 'add to queue task started', task_id: job.id }
  },
})

/** The targets of a text. An id of an existing document is accepted in any form. */
async function targetsOf(text: string, field: string, app: App): Promise<Target[]> {
  const words = text.split(/\s+/).filter(Boolean)
  if (!words.length)
    throw errors.badRequest(say`${{ field }} has no id`, { fields: { [field]: 'must have an id, a URL or a handle' } })
  const targets: Target[] = []
  for (const word of words) targets.push(...((await knownTarget(word, app)) ?? parse(word)))
  return targets

  function parse(word: string): Target[] {
    try {
      return app.platform.targets(word)
    } catch (error) {
      throw errors.badRequest(say`${{ field }} is not an id, a URL or a handle of ${{ platform: app.platform.name }}`, {
        fields: { [field]: say`must be an id, a URL or a handle of ${{ platform: app.platform.name }}` },
        cause: error,
      })
    }
  }
}

async function knownTarget(word: string, app: App): Promise<Target[] | undefined> {
  if (!new RegExp(ID_PATTERN).test(word) || app.platform.targetsIn(word).length) return undefined
  if ((await app.videos.known([word])).has(word)) return [{ type: 'video', id: word }]
  if ((await app.channels.known([word])).has(word)) return [{ type: 'channel', id: word }]
  if (await app.playlists.has(word)) return [{ type: 'playlist', id: word }]
  return undefined
}

export const clearQueue = defineRoute({
  method: 'DELETE',
  path: '/api/download/',
  access: 'admin',
  summary: 'Remove waiting or ignored items',
  query: {
    filter: Type.Enum(['pending', 'ignore']),
    channel: Type.Optional(Type.String({ pattern: ID_PATTERN })),
    vid_type: Type.Optional(Type.Enum(VID_TYPES)),
  },
  reply: Type.Object({ message: Type.String(), deleted: Type.Integer(), removal: Type.Optional(RemovalId) }),
  async handle({ query }, app: App) {
    const { updated: deleted, removal } = await app.queue.removeWhere(filterOf(query))
    return { message: `deleted ${query.filter} items`, deleted, ...(removal !== undefined && { removal }) }
  },
})

export const showItem = defineRoute({
  method: 'GET',
  path: '/api/download/:videoId/',
  access: 'downloader',
  summary: 'One item of the queue',
  params: VideoPath,
  reply: QueueRecord,
  envelope: 'item',
  revalidates: true,
  async handle({ params: { videoId } }, app: App) {
    const item = app.queue.get(videoId)
    if (!item) throw errors.notFound('download item', videoId)
    return json(app.queue.replyOf(item))
  },
})

const ItemStatus = Type.Object({ status: Type.Enum(['ignore', 'pending', 'priority', 'ignore-force']) })

export const changeItem = defineRoute({
  method: 'POST',
  path: '/api/download/:videoId/',
  access: 'admin',
  summary: 'Ignore an item, queue it again, or download it now; `priority` also downloads an archived video again',
  params: VideoPath,
  body: ItemStatus,
  reply: ItemStatus,
  async handle({ params: { videoId }, body: { status } }, app: App) {
    if (status === 'ignore-force') {
      await refuseUnlessVideo(videoId, app)
      if (app.queue.isWanted(videoId)) await app.queue.setStatus(videoId, 'ignore')
      else await app.jobs.start(extractDownload, { targets: [{ type: 'video', id: videoId, isIgnored: true }] })
      return { status }
    }
    if (!(await app.queue.setStatus(videoId, status))) {
      if (status !== 'priority' || !(await app.videos.known([videoId])).has(videoId))
        throw errors.notFound('download item', videoId)
      const targets: Target[] = [{ type: 'video', id: videoId }]
      await app.jobs.start(extractDownload, { targets, autoStart: true, force: true })
      return { status }
    }
    if (status === 'priority') await app.jobs.start(downloadPending, { autoOnly: true })
    return { status }
  },
})

/** Checks that an id may be that of a video, so that no other id gets on the ignore list. @throws bad_request */
async function refuseUnlessVideo(id: string, app: App): Promise<void> {
  if (
    app.platform.targetsIn(id)[0]?.type === 'video' ||
    (await app.videos.known([id])).has(id) ||
    app.queue.known([id]).has(id)
  )
    return
  throw errors.badRequest('Only a video can be ignored, and this is not the id of a video')
}

export const forgetItem = defineRoute({
  method: 'DELETE',
  path: '/api/download/:videoId/',
  access: 'admin',
  summary: 'Remove an item, and cancel its download',
  params: VideoPath,
  reply: Type.Object({ success: Type.Boolean(), removal: RemovalId }),
  async handle({ params: { videoId } }, app: App) {
    const removal = await app.queue.remove(videoId)
    if (removal === undefined) throw errors.notFound('download item', videoId)
    return { success: true, removal }
  },
})

export const restoreItems = defineRoute({
  method: 'POST',
  path: '/api/download/restore/',
  access: 'admin',
  summary: 'Restore items that were removed or ignored within the last day',
  body: Type.Object({ removal: Type.String({ minLength: 1, maxLength: 100 }) }),
  reply: Type.Object({ restored: Type.Integer() }),
  errors: ['not_found'],
  async handle({ body: { removal } }, app: App) {
    if (!app.queue.isUndoable(removal)) throw errors.notFound('removal', removal)
    const restored = await app.queue.putBack(removal)
    if (restored > 0) await app.jobs.start(downloadPending, { autoOnly: true })
    return { restored }
  },
})

const BulkBody = Type.Object({
  filter: Type.Optional(Type.Enum([...FILTERS])),
  channel: Type.Optional(Type.String({ pattern: ID_PATTERN })),
  vid_type: Type.Optional(Type.Enum([...VID_TYPES])),
  error_class: Type.Optional(Type.Enum([...ERROR_CLASSES])),
  error: Type.Optional(Type.Boolean()),
  status: Type.Enum(['pending', 'priority', 'ignore', 'delete', 'clear_error']),
})

export const changeMany = defineRoute({
  method: 'POST',
  path: '/api/download/bulk/',
  access: 'admin',
  summary: 'Change or remove all matching items',
  body: BulkBody,
  reply: Type.Object({ updated: Type.Integer(), removal: Type.Optional(RemovalId) }),
  async handle({ body }, app: App) {
    const filter = filterOf(body)
    if (Object.values(filter).every((value) => value === undefined))
      throw errors.badRequest('Choose the items by filter, channel, vid_type, error_class or error', {
        fields: { filter: 'this, channel, vid_type, error_class or error is required' },
      })
    if (body.status === 'delete') return app.queue.removeWhere(filter)
    if (body.status === 'clear_error') return { updated: await app.queue.clearErrors(filter) }
    const changed = await app.queue.setStatusWhere(filter, body.status)
    if (body.status === 'priority' && changed.updated) await app.jobs.start(downloadPending, { autoOnly: true })
    return changed
  },
})

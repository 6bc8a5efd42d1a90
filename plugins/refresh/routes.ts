/** Routes of the refresh queue, and for resetting the flag manually (contract 6.2, 9.8, appendix B). */
import { chunksOf, defineRoute, errors, ID_PATTERN, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import { knownOf, setActive } from './item.ts'
import { KINDS, type Kind } from './queue.ts'
import { checkReindex } from './run.ts'

/** Maximum number of ids in one query of the index. */
const IDS_AT_ONCE = 5000
const ID = new RegExp(ID_PATTERN)

const Ids = Type.Optional(Type.Array(Type.String(), { minItems: 1 }))
const IdsByKind = Type.Object({ video: Ids, channel: Ids, playlist: Ids }, { additionalProperties: false })
type IdsByKind = Static<typeof IdsByKind>

export const showRefresh = defineRoute({
  method: 'GET',
  path: '/api/refresh/',
  access: 'admin',
  summary: 'State of the refresh queue, or of one document in it',
  query: {
    type: Type.Optional(Type.Enum(KINDS)),
    id: Type.Optional(Type.String({ pattern: ID_PATTERN, description: 'requires type' })),
  },
  reply: Type.Object({
    total_queued: Type.Integer(),
    type: Type.String(),
    state: Type.Enum(['running', 'in_queue', 'empty']),
    id: Type.Optional(Type.String()),
  }),
  handle({ query: { type, id } }, app: App) {
    const queue = app.refreshQueue
    if (id === undefined) return { total_queued: queue.waiting(type), type: type ?? 'all', state: queue.stateOf(type) }
    if (type === undefined) throw errors.badRequest('An id needs a type', { fields: { type: 'is required with id' } })
    return { total_queued: queue.waiting(type), type, state: queue.stateOfItem(type, id), id }
  },
})

export const startRefresh = defineRoute({
  method: 'POST',
  path: '/api/refresh/',
  access: 'admin',
  summary: 'Refresh videos, channels and playlists',
  query: {
    extract_videos: Type.Boolean({
      default: false,
      description: 'also refresh the archived videos of these channels and playlists',
    }),
  },
  body: IdsByKind,
  reply: Type.Interface([IdsByKind], { message: Type.String(), task_id: Type.String() }),
  async handle({ query, body }, app: App) {
    requireOne(body)
    for (const kind of KINDS) {
      for (const ids of await chunksOfKnown(kind, body[kind], app)) {
        await app.refreshQueue.add(kind, ids)
        if (query.extract_videos && kind !== 'video') for (const id of ids) await addVideosOf(kind, id, app)
      }
    }
    const job = await app.jobs.start(checkReindex, {})
    return { ...body, message: 'refresh task started', task_id: job.id }
  },
})

export const activate = defineRoute({
  method: 'POST',
  path: '/api/activate/',
  access: 'admin',
  summary: 'Mark documents as available on the platform, so that the next run refreshes them',
  body: IdsByKind,
  reply: Type.Object({ updated: Type.Integer() }),
  async handle({ body }, app: App) {
    requireOne(body)
    let updated = 0
    for (const kind of KINDS)
      for (const ids of await chunksOfKnown(kind, body[kind], app)) updated += await setActive(kind, ids, true, app)
    return { updated }
  },
})

function requireOne(body: IdsByKind): void {
  if (!KINDS.some((kind) => body[kind]))
    throw errors.badRequest('Give at least one of video, channel, playlist', {
      fields: { video: 'this, channel or playlist is required' },
    })
}

/** Batches of ids, without documents that are not archived. */
async function chunksOfKnown(kind: Kind, ids: readonly string[] = [], app: App): Promise<string[][]> {
  const wanted = [...new Set(ids)].filter((id) => ID.test(id))
  const chunks: string[][] = []
  for (const chunk of chunksOf(wanted, IDS_AT_ONCE)) {
    const known = await knownOf(kind, chunk, app)
    chunks.push(chunk.filter((id) => known.has(id)))
  }
  return chunks
}

async function addVideosOf(kind: 'channel' | 'playlist', id: string, app: App): Promise<void> {
  const filter =
    kind === 'channel'
      ? { eq: ['channel_id', id] as ['channel_id', string] }
      : { eq: ['playlist', id] as ['playlist', string] }
  for await (const batch of app.videos.collection.scan({ filter }))
    await app.refreshQueue.add(
      'video',
      batch.map((video) => video.id),
    )
}

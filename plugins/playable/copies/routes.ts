/** Routes for copies: state, start, removal, and the file itself (contract 9.19). */
import { defineRoute, errors, file, Said, saidOf, say, Type } from 'archivolt'
import type { App } from '../app.ts'
import { playsEverywhere } from '../film.ts'
import { FileName, mustBeSeen, VideoParams } from '../requests.ts'
import { copyOf } from './copies.ts'
import { makeCopy, READ_BY_BROWSERS } from './make.ts'

const STATES = ['none', 'making', 'there', 'failed'] as const

const CopyRecord = Type.Object({
  state: Type.Enum([...STATES]),
  progress: Type.Number({ description: 'of the conversion, 0 to 1' }),
  reason: Type.String({ description: 'why the last copy could not be made' }),
  said: Type.Optional(Said),
  copy_url: Type.Optional(Type.String()),
})

/** Maximum number of open jobs of one account. */
const MOST_OPEN = 3
/** Number of recent jobs in which the video's job is looked for. */
const RECENT = 200

function recordOf(id: string, { copies, jobs }: App) {
  const job = jobs.list({ task: makeCopy.name, limit: RECENT }).find(({ payload }) => payload['id'] === id)
  const url = copies.urlOf(id)
  const isMaking = job !== undefined && job.endedAt === null
  const hasFailed = url === undefined && (job?.state === 'FAILURE' || job?.state === 'FAILED')
  return {
    state: isMaking ? 'making' : url !== undefined ? 'there' : hasFailed ? 'failed' : 'none',
    progress: isMaking ? (copies.making.get(id) ?? 0) : 0,
    reason: hasFailed ? (job?.result ?? '') : '',
    ...(hasFailed && job?.said && { said: saidOf([job.said]).said }),
    copy_url: url,
  } as const
}

export const showCopy = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/copy/',
  access: 'viewer',
  summary: 'Whether a video has a converted copy, or one is being made',
  params: VideoParams,
  reply: CopyRecord,
  errors: ['not_found'],
  async handle({ params: { videoId } }, app: App) {
    await mustBeSeen(videoId, app)
    return recordOf(videoId, app)
  },
})

export const startCopy = defineRoute({
  method: 'POST',
  path: '/api/video/:videoId/copy/',
  access: 'user',
  summary: 'Make a converted copy of a video that browsers can play; its file stays unchanged',
  params: VideoParams,
  body: Type.Object({
    encode: Type.Optional(
      Type.Boolean({ description: 'encode all streams, because an earlier copy did not play either' }),
    ),
  }),
  bodyOptional: true,
  reply: CopyRecord,
  errors: ['bad_request', 'not_found', 'unprocessable', 'throttled', 'unavailable'],
  async handle({ params: { videoId }, body, actor, signal }, app: App) {
    await mustBeSeen(videoId, app)
    // Serialized, so that the count of open jobs is correct for the next request.
    await app.copies.asked.exclusive(String(actor.id), async () => {
      const open = app.jobs.open(makeCopy.name)
      const isOpen = open.some(({ payload }) => payload['id'] === videoId)
      const isEncoded = body?.encode === true
      if (!isOpen && open.filter(({ payload }) => payload['account'] === actor.id).length >= MOST_OPEN)
        throw errors.throttled(
          say`${{ count: MOST_OPEN }} of your copies are still being made; wait until one is finished`,
          { retryAfterSeconds: 60 },
        )
      if (await isNeeded(videoId, isEncoded, signal, app))
        await app.jobs.start(makeCopy, { id: videoId, account: actor.id, ...(isEncoded && { isEncoded }) })
    })
    return recordOf(videoId, app)
  },
})

/** Whether a copy would help. @throws unprocessable: every browser plays the film */
async function isNeeded(id: string, isEncoded: boolean, signal: AbortSignal, app: App): Promise<boolean> {
  const isThere = app.copies.urlOf(id) !== undefined
  if (isThere) return isEncoded && !(await playsAt(app.copies.pathOf(id), signal, app))
  const ending = app.media.places.filmOf(id)?.ending ?? 'mp4'
  const doc = await app.videos.get(id)
  if (!doc || !READ_BY_BROWSERS.has(ending)) return true
  const path = await app.media.filmPath(doc.channel_id, id).catch(() => undefined)
  if (path !== undefined && (await playsAt(path, signal, app)))
    throw errors.unprocessable('Every browser can play this video: a copy is not needed')
  return true
}

/** A missing or unreadable file counts as not playing; the task reports why. */
async function playsAt(path: string, signal: AbortSignal, { media }: App): Promise<boolean> {
  if (!(await media.isThere(path))) return false
  const streams = await media.streamsIn(path, signal).catch(() => [])
  signal.throwIfAborted()
  return playsEverywhere(streams)
}

export const dropCopy = defineRoute({
  method: 'DELETE',
  path: '/api/video/:videoId/copy/',
  access: 'admin',
  summary: 'Remove the converted copy of a video; its file stays',
  params: VideoParams,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found'],
  async handle({ params: { videoId } }, app: App) {
    if (app.copies.urlOf(videoId) === undefined) throw errors.notFound('copy', videoId)
    await app.copies.drop([videoId])
    app.touch()
    return { success: true as const }
  },
})

export const showCopyFile = defineRoute({
  method: 'GET',
  path: '/cache/playable/:file',
  access: 'viewer',
  signedInQuery: true,
  summary: 'The converted copy of a video, with byte ranges',
  params: Type.Object({ file: FileName }),
  reply: Type.Unknown(),
  replyType: 'video/mp4',
  errors: ['permission_denied', 'not_found', 'invalid_range'],
  async handle({ params, actor }, app: App) {
    const id = copyOf(params.file)
    if (id === undefined || app.copies.urlOf(id) === undefined || !(await app.videos.has(id)))
      throw errors.notFound('file')
    return file(app.copies.pathOf(id), 'video/mp4', await app.media.play({ actor, videoId: id }))
  },
})

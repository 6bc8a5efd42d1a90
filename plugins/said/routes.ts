/** Routes for the clips of a search in subtitles, and for files with them (contract 9.44). */
import { defineRoute, errors, file, Said, type Static, saidOf, say, Type } from 'archivolt'
import type { App } from './app.ts'
import { Clip, within } from './clips.ts'
import { cutSaid } from './cut-task.ts'
import type { SaidFile } from './files.ts'

const MOST_CHARACTERS = 1000
const Query = Type.String({ maxLength: MOST_CHARACTERS, description: 'as for the search, beginning with `full:`' })
/** Maximum length of a file, in seconds. */
const LONGEST = 20 * 60
const MOST_OPEN = 2
const FileId = Type.Object({ fileId: Type.String({ pattern: '^[0-9a-f-]{36}$' }) })

export const listClips = defineRoute({
  method: 'GET',
  path: '/api/said/',
  access: 'viewer',
  summary: 'The moments in videos at which something is said, as clips with some seconds around each',
  query: { query: Query },
  reply: Type.Object({
    clips: Type.Array(Clip),
    is_more: Type.Boolean({ description: 'whether further hits are omitted' }),
  }),
  errors: ['bad_request'],
  revalidates: true,
  async handle({ query: { query = '' } }, app: App) {
    const { clips, isMore } = await app.said.clips(query)
    return { clips, is_more: isMore }
  },
})

const FileRecord = Type.Object({
  id: Type.String(),
  query: Type.String(),
  state: Type.Enum(['making', 'there', 'failed']),
  progress: Type.Number({ description: '0 to 1 while it is being made' }),
  created: Type.Integer({ description: 'epoch seconds' }),
  clips: Type.Integer(),
  seconds: Type.Integer({ description: 'of all clips' }),
  bytes: Type.Integer(),
  reason: Type.String({ description: 'why it could not be made' }),
  said: Type.Optional(Said),
})

function recordOf(made: SaidFile, { saidFiles }: App): Static<typeof FileRecord> {
  const { id, query, clips, createdAt: created, job } = made
  const state = saidFiles.isOpen(made) ? 'making' : saidFiles.has(id) ? 'there' : 'failed'
  const hasFailed = state === 'failed'
  return {
    ...{ id, query, state, created, clips: clips.length },
    progress: state === 'making' ? (saidFiles.making.get(id) ?? 0) : 0,
    seconds: Math.round(clips.reduce((sum, { start, end }) => sum + end - start, 0)),
    bytes: saidFiles.get(id)?.bytes ?? 0,
    reason: hasFailed ? (job?.result ?? '') : '',
    ...(hasFailed && job?.said && { said: saidOf([job.said]).said }),
  }
}

export const listFiles = defineRoute({
  method: 'GET',
  path: '/api/said/file/',
  access: 'viewer',
  summary: 'The files with clips that the caller has requested, newest first',
  reply: Type.Array(FileRecord),
  handle: ({ actor }, app: App) => app.saidFiles.of(actor.id).map((made) => recordOf(made, app)),
})

export const makeFile = defineRoute({
  method: 'POST',
  path: '/api/said/file/',
  access: 'viewer',
  summary: 'Join the clips of a search into one file, at most 20 minutes',
  body: Type.Object({ query: Query }),
  reply: FileRecord,
  errors: ['bad_request', 'unprocessable', 'throttled'],
  async handle({ body: { query }, actor }, app: App) {
    const { clips } = await app.said.clips(query)
    if (clips.length === 0) throw errors.unprocessable('Nobody says that, so there are no clips to join')
    const cut = within(clips, LONGEST).map(({ platform_id: id, start, end }) => ({ id, start, end }))
    // Serialized, so that the count of open jobs is correct for the next request.
    return app.saidFiles.asked.exclusive(String(actor.id), async () => {
      const open = app.saidFiles.of(actor.id).filter(app.saidFiles.isOpen)
      if (open.length >= MOST_OPEN)
        throw errors.throttled(
          say`${{ count: MOST_OPEN }} of your files are still being made; wait until one is finished`,
          { retryAfterSeconds: 60 },
        )
      const made = await app.saidFiles.add(actor.id, query, cut)
      const job = await app.jobs.start(cutSaid, { file: made.id })
      return recordOf({ ...made, job }, app)
    })
  },
})

const fileOf = (id: string, account: number, { saidFiles }: App): SaidFile => {
  const found = saidFiles.of(account).find((made) => made.id === id)
  if (!found) throw errors.notFound('file', id)
  return found
}

export const dropFile = defineRoute({
  method: 'DELETE',
  path: '/api/said/file/:fileId/',
  access: 'viewer',
  summary: 'Stop making a file with clips, or delete it',
  params: FileId,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found'],
  async handle({ params: { fileId }, actor }, app: App) {
    await app.saidFiles.remove(fileOf(fileId, actor.id, app))
    return { success: true as const }
  },
})

export const sendFile = defineRoute({
  method: 'GET',
  path: '/api/said/file/:fileId/',
  access: 'viewer',
  summary: 'A file with clips, for the account that has requested it',
  params: FileId,
  reply: Type.Unknown(),
  replyType: 'video/mp4',
  errors: ['permission_denied', 'not_found', 'invalid_range'],
  async handle({ params: { fileId }, actor }, app: App) {
    const { clips, query } = fileOf(fileId, actor.id, app)
    const ids = [...new Set(clips.map(({ id }) => id))]
    // In the meantime, the account may have lost access to a video, or a video may have been removed.
    const known = await app.videos.known(ids)
    if (!app.saidFiles.has(fileId) || ids.some((id) => !known.has(id))) throw errors.notFound('file', fileId)
    const seconds = clips.reduce((sum, { start, end }) => sum + end - start, 0)
    return file(app.saidFiles.pathOf(fileId), 'video/mp4', {
      download: `${query.replace(/^full:/i, '').trim()}.mp4`,
      ...(await app.media.play({ actor, videoId: ids[0]!, seconds })),
    })
  },
})

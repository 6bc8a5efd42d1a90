/** Routes for checksums and damaged files (contract 9.31). */
import { DAY_SECONDS, defineRoute, epochSeconds, errors, ID_PATTERN, listing, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import { ART_KINDS, ownerOf } from './files.ts'
import type { FileKey, Row } from './rows.ts'
import { scrub } from './tasks.ts'

const Count = Type.Integer({ minimum: 0 })
const Key = {
  kind: Type.Enum(['video', 'subtitle', 'picture']),
  id: Type.String({ minLength: 1, maxLength: 100, description: 'id of the video, channel or playlist' }),
  part: Type.String({
    maxLength: 40,
    description: `of a subtitle, its language; of a picture, one of ${ART_KINDS.join(', ')}; of a video, empty`,
  }),
}

export const showChecksums = defineRoute({
  method: 'GET',
  path: '/api/checksum/',
  access: 'admin',
  summary: 'How much of the archive has been compared with its checksums, and the results',
  reply: Type.Object({
    files: Count,
    bytes: Count,
    read: Type.Integer({ minimum: 0, description: 'bytes that were compared within the period' }),
    oldest: Type.Union([Count, Type.Null()], {
      description:
        'epoch seconds of the oldest comparison, except of files that are offline or have never existed; 0: some files have never been compared; null: there are no files',
    }),
    states: Type.Object({
      due: Count,
      whole: Count,
      rewritten: Count,
      rotten: Count,
      missing: Count,
      unreadable: Count,
    }),
    alarms: Type.Integer({ minimum: 0, description: 'number of damaged files that are not being replaced' }),
    is_running: Type.Boolean(),
  }),
  handle(_input, app: App) {
    const { rows } = app.checksums
    const { period } = app.preferences.section('checksums')
    const { turned: _, ...sums } = rows.sums(epochSeconds(app.clock) - Math.max(1, period) * DAY_SECONDS)
    return {
      ...sums,
      alarms: app.checksums.alarms(),
      is_running: app.jobs.active(scrub.name) !== undefined,
    }
  },
})

const Fault = Type.Object({
  ...Key,
  title: Type.String({ description: 'of the video, channel or playlist' }),
  state: Type.Enum(['rewritten', 'rotten', 'missing', 'unreadable']),
  found: Type.Integer({ description: 'epoch seconds' }),
  mending: Type.Boolean({ description: 'whether it is being downloaded again' }),
})

export const listFaults = defineRoute({
  method: 'GET',
  path: '/api/checksum/fault/',
  access: 'admin',
  summary: 'Changed, damaged and missing files, most recently found first',
  query: {},
  envelope: 'page',
  reply: Type.Array(Fault),
  async handle({ page: { from, size } }, app: App) {
    const { rows, total } = app.checksums.rows.faults(from, size)
    const shown = await Promise.all(rows.map((row) => faultOf(row, app)))
    return listing(
      shown.map((fault) => JSON.stringify(fault)),
      total,
    )
  },
})

async function faultOf(row: Row, { media }: App): Promise<Static<typeof Fault>> {
  return {
    ...{ kind: row.kind, id: row.id, part: row.part },
    title: await media.titleOf(ownerOf(row), row.id),
    state: row.state as Static<typeof Fault>['state'],
    found: row.found_at ?? 0,
    mending: row.mending_at !== null,
  }
}

export const answerFault = defineRoute({
  method: 'POST',
  path: '/api/checksum/fault/',
  access: 'admin',
  summary: 'Accept a file as it is now, or forget a missing one, so that its alarm ends',
  body: Type.Object({ ...Key, command: Type.Enum(['accept']) }),
  reply: Type.Object({ success: Type.Boolean() }),
  errors: ['not_found'],
  async handle({ body: { kind, id, part } }, app: App) {
    const key: FileKey = { kind, id, part }
    const row = app.checksums.rows.get(key)
    if (!row || row.state === 'whole' || row.state === 'due') throw errors.notFound('damaged file', id)
    if (row.state === 'missing') await app.checksums.rows.drop(row)
    else if (row.state === 'rewritten') await app.checksums.rows.set(row, { state: 'whole', found_at: null })
    else await app.checksums.rows.renew(row)
    return { success: true }
  },
})

export const showVideoChecksums = defineRoute({
  method: 'GET',
  path: '/api/checksum/video/:videoId/',
  access: 'viewer',
  summary: 'The checksums of a video’s files',
  params: Type.Object({ videoId: Type.String({ pattern: ID_PATTERN }) }),
  reply: Type.Array(
    Type.Object({
      kind: Key.kind,
      part: Key.part,
      sha256: Type.String({ description: 'hexadecimal' }),
      size: Type.Integer({ description: 'bytes' }),
      read: Type.Integer({ description: 'epoch seconds: when it was last read completely' }),
      state: Type.Enum(['whole', 'rewritten', 'rotten', 'missing', 'unreadable']),
    }),
  ),
  errors: ['not_found'],
  async handle({ params: { videoId: id }, actor }, app: App) {
    if (!(await app.videos.record(id, actor))) throw errors.notFound('video', id)
    return app.checksums.rows.of(id).flatMap((row) =>
      row.sha256 && row.state !== 'due'
        ? [
            {
              ...{ kind: row.kind, part: row.part, sha256: row.sha256.toString('hex') },
              ...{ size: row.size_bytes, read: row.read_at, state: row.state },
            },
          ]
        : [],
    )
  },
})

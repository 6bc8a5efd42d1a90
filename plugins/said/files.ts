/**
 * Files with clips of spoken words: in the cache for some days, for the account that requested them. A row in the
 * ledger is written before the job that makes the file, and outlives the job's own row.
 */
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { DAY_MS, epochSeconds, type Job, openCacheFiles, openLocks, type Static, Type } from 'archivolt'
import type { App } from './app.ts'

const ENDING = '.mp4'
const STORED_DAYS = 7
/** Size limit for the files of all accounts. */
const ROOM_BYTES = 4e9

export const TASK = 'cut_said'
export const Payload = Type.Object({
  /** The id of the file. */
  file: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
})
export type Payload = Static<typeof Payload>

/** @property id  id of the video */
export type CutClip = { id: string; start: number; end: number }

export interface SaidFile {
  id: string
  query: string
  clips: readonly CutClip[]
  /** Epoch seconds. */
  createdAt: number
  /** The job that makes the file, or has recently made it. */
  job: Job | undefined
}

interface Row {
  id: string
  query: string
  clips: string
  created_at: number
}

/** Number of recent jobs in which those of files are looked for. */
const RECENT = 200

const isOpen = (job: Job | undefined): boolean => job?.endedAt === null
const hasFailed = (job: Job | undefined): boolean => job?.state === 'FAILURE' || job?.state === 'FAILED'

export function openSaidFiles({
  settings,
  clock,
  jobs,
  ledger,
  log,
}: Pick<App, 'settings' | 'clock' | 'jobs' | 'ledger' | 'log'>) {
  const selectOfUser = ledger.sql<Row>('SELECT * FROM said_file WHERE user_id = ? ORDER BY number DESC')
  const selectOne = ledger.sql<Row>('SELECT * FROM said_file WHERE id = ?')
  const selectIds = ledger.sql<{ id: string }>('SELECT id FROM said_file')
  const selectOlder = ledger.sql<{ id: string }>('SELECT id FROM said_file WHERE created_at < ?')
  const insert = ledger.sql(
    'INSERT INTO said_file (id, user_id, query, clips, created_at) VALUES (:id, :userId, :query, :clips, :createdAt)',
  )
  const remove = ledger.sql('DELETE FROM said_file WHERE id = ?')

  const files = openCacheFiles({
    folder: join(resolve(settings.cacheDir), 'said'),
    ending: ENDING,
    room: () => ROOM_BYTES,
  })

  const clipsIn = ({ id, clips }: Row): CutClip[] => ledger.json<CutClip[]>(clips, `said_file.clips of ${id}`, [])

  const jobsByFile = (): Map<unknown, Job> =>
    new Map(jobs.list({ task: TASK, limit: RECENT }).map((job) => [job.payload['file'], job]))

  /**
   * The account's files that exist or are being made, newest first. The newest one is included even if it has failed.
   */
  function of(userId: number): SaidFile[] {
    const known = jobsByFile()
    return selectOfUser
      .all(userId)
      .map((row) => ({
        ...{ id: row.id, query: row.query, clips: clipsIn(row), createdAt: row.created_at },
        job: known.get(row.id),
      }))
      .filter(
        ({ id, clips, job }, at) => clips.length > 0 && (isOpen(job) || files.has(id) || (at === 0 && hasFailed(job))),
      )
  }

  /** Removes files without a row: the account may have removed the file, or may have been removed itself. */
  const dropUnknown = () => files.dropUnknown(async () => new Set(selectIds.all().map(({ id }) => id)))

  async function dropOld(): Promise<void> {
    const before = clock.now() - STORED_DAYS * DAY_MS
    await files.dropOlder(before)
    await dropUnknown()
    const known = jobsByFile()
    const gone = selectOlder.all(Math.floor(before / 1000)).filter(({ id }) => !files.has(id) && !isOpen(known.get(id)))
    await ledger.write(() => {
      for (const { id } of gone) remove.run(id)
    })
  }

  return {
    ...files,
    /** Serializes the requests of each account. */
    asked: openLocks(),
    /** Progress of the files that are being made, 0 to 1. */
    making: new Map<string, number>(),
    of,
    isOpen: ({ job }: SaidFile): boolean => isOpen(job),

    async add(userId: number, query: string, clips: readonly CutClip[]): Promise<SaidFile> {
      const file = { id: randomUUID(), query, clips, createdAt: epochSeconds(clock), job: undefined }
      const { id, createdAt } = file
      await ledger.write(() => insert.run({ id, userId, query, clips: JSON.stringify(clips), createdAt }))
      return file
    },

    /** undefined: nobody wants the file any more */
    clipsOf(id: string): CutClip[] | undefined {
      const row = selectOne.get(id)
      return row && clipsIn(row)
    },

    async keep(id: string): Promise<void> {
      await files.keep(id)
      if (!selectOne.get(id)) await files.drop([id])
    },

    async remove({ id, job }: SaidFile): Promise<void> {
      await ledger.write(() => remove.run(id))
      if (job && isOpen(jobs.get(job.id))) await jobs.command(job.id, 'STOP')
      await files.drop([id])
    },

    dropUnknown,
    dropOld,
    async begin(): Promise<void> {
      await files.begin()
      await dropOld()
      clock.every(DAY_MS, () =>
        dropOld().catch((err: unknown) => log.warn({ err }, 'old files with clips could not be removed')),
      )
    },
  }
}

export type SaidFiles = ReturnType<typeof openSaidFiles>

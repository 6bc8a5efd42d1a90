/** Files with clips of what was said: in the cache, for the account that asked, until their days are over. */
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { DAY_MS, type Job, openCacheFiles, openLocks, type Static, Type } from 'archivolt'
import type { App } from './app.ts'

const ENDING = '.mp4'
const KEPT_DAYS = 7
/** Of all accounts. */
const ROOM_BYTES = 4e9

export const TASK = 'cut_said'
export const Payload = Type.Object({
  /** The id of the file. */
  file: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
  account: Type.Integer(),
  query: Type.String(),
  clips: Type.Array(Type.Object({ id: Type.String(), start: Type.Number(), end: Type.Number() })),
})
export type Payload = Static<typeof Payload>
/** A job of the task. */
export type CutJob = Job & { payload: Payload }

/** Recent jobs that are searched for an account's. */
const RECENT = 200

export function openSaidFiles(app: Pick<App, 'settings' | 'clock' | 'jobs' | 'log'>) {
  const { settings, clock, jobs } = app
  const files = openCacheFiles({
    folder: join(resolve(settings.cacheDir), 'said'),
    ending: ENDING,
    room: () => ROOM_BYTES,
  })

  /** The account's jobs that run or have a file, newest first; the newest of all also if it failed. */
  function of(account: number): CutJob[] {
    const all = jobs.list({ task: TASK, limit: RECENT }) as CutJob[]
    return all
      .filter(({ payload }) => payload.account === account)
      .filter(({ endedAt, state, payload: { file } }, at) => {
        const hasFailed = state === 'FAILURE' || state === 'FAILED'
        return endedAt === null || files.has(file) || (at === 0 && hasFailed)
      })
  }

  async function dropOld(): Promise<void> {
    await files.dropOlder(clock.now() - KEPT_DAYS * DAY_MS)
  }

  return {
    ...files,
    /** Serialises the requests of each account. */
    asked: openLocks(),
    /** Progress of the files that are being made, 0 to 1. */
    making: new Map<string, number>(),
    newId: (): string => randomUUID(),
    of,
    dropOld,
    async begin(): Promise<void> {
      await files.begin()
      await dropOld()
      clock.every(DAY_MS, () => dropOld().catch((err: unknown) => app.log.warn({ err }, 'old clips stay')))
    },
  }
}

export type SaidFiles = ReturnType<typeof openSaidFiles>

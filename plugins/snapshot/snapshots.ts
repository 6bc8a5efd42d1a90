/** The service `snapshots`: names, the daily one, and which are kept (contract 9.9). */
import { randomInt } from 'node:crypto'
import { localMinute, Type, type App, type Timer } from 'archivolt'
import { createSnapshot } from './tasks.ts'

/** Every day at noon, server time. */
const HOUR = 12
const DAY_MS = 86_400_000
const EXPIRE_DAYS = 30
const KEEP_AT_LEAST = 5
const KEEP_AT_MOST = 50
const RANDOM_LENGTH = 22
const RANDOM_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

export interface SnapshotItem {
  id: string
  state: string
  index_version: string
  es_version: string
  start_date: string
  end_date: string
  end_stamp: number
  duration_s: number
}

export const snapshotPreferences = { application: { enable_snapshot: { schema: Type.Boolean(), default: true } } }

export type SnapshotKeeper = ReturnType<typeof openSnapshotKeeper>

export function openSnapshotKeeper(app: App) {
  const store = () => app.index.snapshots
  const isOn = () => app.preferences.section('application').enable_snapshot
  let timer: Timer | undefined

  const newName = () => `${app.settings.prefix}_daily_${Array.from({ length: RANDOM_LENGTH }, () => RANDOM_LETTERS[randomInt(RANDOM_LETTERS.length)]).join('')}`

  /** The next noon, in epoch milliseconds; daylight saving moves it with the clock on the wall. */
  function nextNoon(): number {
    const noon = new Date(app.clock.now())
    noon.setHours(HOUR, 0, 0, 0)
    if (noon.getTime() <= app.clock.now()) noon.setDate(noon.getDate() + 1)
    return noon.getTime()
  }

  function schedule(): void {
    timer?.cancel()
    timer = app.clock.after(nextNoon() - app.clock.now(), () => {
      schedule()
      if (isOn()) start().catch((error) => app.log.error({ err: error }, 'the daily snapshot could not be started'))
    })
  }

  async function start(): Promise<string> {
    const job = await app.jobs.start(createSnapshot, { name: newName() })
    return String(job.payload.name)
  }

  return {
    start,

    async list(): Promise<{ next_exec: number; next_exec_str: string; expire_after: string; snapshots: SnapshotItem[] }> {
      const next = isOn() ? Math.floor(nextNoon() / 1000) : 0
      const snapshots = (await store().list()).map(toItem)
      return { next_exec: next, next_exec_str: next ? localMinute(next) : '', expire_after: `${EXPIRE_DAYS}d`, snapshots }
    },

    async item(id: string): Promise<SnapshotItem | undefined> {
      const record = await store().get(id)
      return record && toItem(record)
    },

    /** Old ones go, but never below the least number; more than the most are never kept. */
    async removeOld(): Promise<void> {
      const done = (await store().list()).filter(({ state }) => state !== 'IN_PROGRESS')
      const oldest = app.clock.now() - EXPIRE_DAYS * DAY_MS
      const complete = done.filter(({ state }) => state === 'SUCCESS')
      const kept = new Set(complete.filter(({ startedAt }, place) => place < KEEP_AT_LEAST || (place < KEEP_AT_MOST && startedAt >= oldest)).map(({ id }) => id))
      for (const { id, state, startedAt } of done) {
        const isOldFailure = state !== 'SUCCESS' && startedAt < oldest
        if (state === 'SUCCESS' ? !kept.has(id) : isOldFailure) await store().remove(id)
      }
    },

    /** Starts the daily schedule, and takes one where there is none of the last 24 hours. */
    async begin(): Promise<void> {
      schedule()
      if (!isOn()) return
      const newest = (await store().list()).find(({ state }) => state === 'SUCCESS')
      if (!newest || app.clock.now() - newest.startedAt > DAY_MS) await start()
    },

    end(): void {
      timer?.cancel()
    },
  }
}

function toItem({ id, state, version, startedAt, endedAt }: { id: string; state: string; version: string; startedAt: number; endedAt: number }): SnapshotItem {
  const [started, ended] = [Math.floor(startedAt / 1000), Math.floor(endedAt / 1000)]
  return {
    id,
    state,
    index_version: version,
    es_version: version,
    start_date: localMinute(started),
    end_date: ended ? localMinute(ended) : '',
    end_stamp: ended,
    duration_s: ended ? Math.round((endedAt - startedAt) / 1000) : 0,
  }
}

declare module 'archivolt' {
  interface Services {
    snapshots: SnapshotKeeper
  }
  interface ApplicationPreferences {
    enable_snapshot: boolean
  }
  interface PreferenceValues {
    application: ApplicationPreferences
  }
}

/** The service `snapshots`: names, the daily one, and which are kept (contract 9.9). */
import { type App, errors, type Index, localMinute, snapshotName, type Timer, Type } from 'archivolt'
import { createSnapshot, offerSnapshot, restoreSnapshot } from './tasks.ts'

/** Every day at noon, server time. */
const HOUR = 12
const DAY_MS = 86_400_000
const EXPIRE_DAYS = 30
const KEEP_AT_LEAST = 5
const KEEP_AT_MOST = 50

type SnapshotRecord = Awaited<ReturnType<Index['snapshots']['list']>>[number]

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
  const isOn = () => app.preferences.section('application').enable_snapshot && store().off === undefined
  let timer: Timer | undefined

  /** The row is being written: a second one is refused from the moment the first is accepted. */
  let isStarting = false

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
      if (isOn() && !isTaking())
        start().catch((error) => app.log.error({ err: error }, 'the daily snapshot could not be started'))
    })
  }

  const isTaking = () => isStarting || app.jobs.active(createSnapshot.name) !== undefined

  /** Documents are missing: a snapshot of now would be worth nothing, one from before much. */
  async function offer(
    { reason, since }: NonNullable<App['index']['lost']>,
    complete: readonly SnapshotRecord[],
  ): Promise<void> {
    const newest = complete.find(({ startedAt }) => startedAt <= since) ?? complete[0]
    const way =
      newest === undefined
        ? 'There is no snapshot to restore'
        : `Restore the newest snapshot ${newest.id}, with POST /api/snapshot/${newest.id}/ or on the settings page`
    const rescan = app.registry.tasks.has('rescan_filesystem')
      ? '; a rescan of the file system brings back what lies in the library'
      : ''
    const sentence = `${reason}: the archive is without its documents. ${way}${rescan}. Until then no older snapshot or backup is removed.`
    app.log.error(sentence)
    await app.jobs.start(offerSnapshot, { sentence })
  }

  /** @returns its name. @throws conflict */
  async function start(): Promise<string> {
    if (isTaking()) throw errors.conflict('A snapshot is being taken; try again when it has ended')
    const name = snapshotName(app.settings.prefix, 'daily')
    isStarting = true
    await app.jobs.start(createSnapshot, { name }).finally(() => (isStarting = false))
    return name
  }

  return {
    start,

    /** @throws not_found; conflict: it is not complete, or a restore waits or runs */
    async restore(name: string): Promise<void> {
      const record = await store().get(name)
      if (!record) throw errors.notFound('snapshot', name)
      if (record.state !== 'SUCCESS')
        throw errors.conflict(`The snapshot is in state ${record.state}: only a complete one can be restored`)
      await app.backups.startRestore(() => app.jobs.start(restoreSnapshot, { name }))
    },

    async list(): Promise<{
      next_exec: number
      next_exec_str: string
      expire_after: string
      snapshots: SnapshotItem[]
    }> {
      const next = isOn() ? Math.floor(nextNoon() / 1000) : 0
      const snapshots = (await store().list()).map(toItem)
      return {
        next_exec: next,
        next_exec_str: next ? localMinute(next) : '',
        expire_after: `${EXPIRE_DAYS}d`,
        snapshots,
      }
    },

    async item(id: string): Promise<SnapshotItem | undefined> {
      const record = await store().get(id)
      return record && toItem(record)
    },

    /** Old ones go, but never below the least number; more than the most are never kept. */
    async removeOld(): Promise<void> {
      const all = (await store().list()).filter(({ state }) => state !== 'IN_PROGRESS')
      const oldest = app.clock.now() - EXPIRE_DAYS * DAY_MS
      // While documents are missing, those from before are worth more than all that come after.
      const done = all.filter(({ startedAt }) => !app.index.lost || startedAt > app.index.lost.since)
      const complete = done.filter(({ state }) => state === 'SUCCESS')
      const kept = new Set(
        complete
          .filter(({ startedAt }, place) => place < KEEP_AT_LEAST || (place < KEEP_AT_MOST && startedAt >= oldest))
          .map(({ id }) => id),
      )
      for (const { id, state, startedAt } of done) {
        const isOldFailure = state !== 'SUCCESS' && startedAt < oldest
        if (state === 'SUCCESS' ? !kept.has(id) : isOldFailure) await store().remove(id)
      }
    },

    /** Starts the daily schedule, and takes one where there is none of the last 24 hours. */
    async begin(): Promise<void> {
      schedule()
      // Cut off by the end of the last process, before or after it told what it had done: hearing it twice is harmless.
      if (app.backups.isRestoring()) await app.emit('index.replaced', {})
      const complete = (await store().list()).filter(({ state }) => state === 'SUCCESS')
      if (app.index.lost !== undefined) return offer(app.index.lost, complete)
      // One of a day to come was taken while the clock was wrong.
      const isFresh = complete.some(
        ({ startedAt }) => startedAt <= app.clock.now() && app.clock.now() - startedAt <= DAY_MS,
      )
      if (isOn() && !isTaking() && !isFresh) await start()
    },

    end(): void {
      timer?.cancel()
    },
  }
}

function toItem({
  id,
  state,
  version,
  startedAt,
  endedAt,
}: {
  id: string
  state: string
  version: string
  startedAt: number
  endedAt: number
}): SnapshotItem {
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

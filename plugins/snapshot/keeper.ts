/**
 * The service `snapshots`: takes a snapshot each day, offers a restore after documents were lost, and lists the
 * snapshots.
 */
import {
  DAY_MS,
  diskSpace,
  type GarbledDocument,
  inEnglish,
  localMinute,
  type SnapshotRecord,
  say,
  sentenceOf,
  snapshotName,
  snapshotRuns,
  type Timer,
  wholeSnapshot,
} from 'archivolt'
import type { App } from './app.ts'
import { createSnapshot, offerSnapshot, restoreSnapshot } from './create-and-restore-tasks.ts'
import { mendDocuments } from './mend.ts'
import { EXPIRE_DAYS, nextSnapshotAt, outdated, roomFor } from './retention.ts'

interface SnapshotItem {
  id: string
  state: SnapshotRecord['state']
  index_version: string
  es_version: string
  start_date: string
  end_date: string
  end_stamp: number
  duration_s: number
}

interface SnapshotList {
  next_exec: number
  next_exec_str: string
  expire_after: string
  snapshots: SnapshotItem[]
}

interface SnapshotKeeper {
  /** Starts a job that takes a snapshot. @returns its name. @throws conflict */
  start(): Promise<string>
  /** @throws not_found; conflict: the snapshot is not complete, or another restore is waiting or running */
  restore(name: string): Promise<void>
  list(): Promise<SnapshotList>
  item(id: string): Promise<SnapshotItem | undefined>
  /** Returns the damaged documents found so far, and clears the list: later ones are left to the next job. */
  takeDamaged(): GarbledDocument[]
  /** Removes expired snapshots. */
  removeOld(): Promise<void>
  /** Starts the daily schedule, and takes a snapshot if there is none from the last 24 hours. */
  begin(): Promise<void>
  end(): void
}

export function openSnapshotKeeper(app: App): SnapshotKeeper {
  const store = () => app.index.snapshots
  const isOn = () => app.preferences.section('application').enable_snapshot && store().off === undefined
  let timer: Timer | undefined

  /** Set while the job's row is being written, so that a second snapshot is refused from the start. */
  let isStarting = false

  function schedule(): void {
    timer?.cancel()
    timer = app.clock.at(nextSnapshotAt(app.clock.now()), () => {
      schedule()
      if (isOn() && !isTaking())
        start().catch((error) => app.log.error({ err: error }, 'the daily snapshot could not be started'))
    })
  }

  const isTaking = () => isStarting || app.jobs.active(createSnapshot.name) !== undefined

  /** A snapshot that was requested, but that the index does not list yet. */
  function awaited(): SnapshotRecord | undefined {
    const job = app.jobs.active(createSnapshot.name)
    if (!job) return undefined
    const { name: id } = job.payload as { name: string }
    return { id, state: 'IN_PROGRESS', version: app.index.version, startedAt: job.createdAt, endedAt: 0 }
  }

  async function records(): Promise<SnapshotRecord[]> {
    const stored = await store().list()
    const next = awaited()
    return next && !stored.some(({ id }) => id === next.id) ? [next, ...stored] : stored
  }

  /** Notifies people that documents are missing, and which earlier snapshot has them. */
  async function offer(
    { reason, since }: NonNullable<App['index']['lost']>,
    complete: readonly SnapshotRecord[],
  ): Promise<void> {
    const newest = complete.find(({ startedAt }) => startedAt <= since) ?? complete[0]
    const way =
      newest === undefined
        ? say`There is no snapshot to restore`
        : say`Restore the newest snapshot ${{ id: newest.id }}, with POST /api/snapshot/${{ id: newest.id }}/ or on the settings page`
    const rescan = app.registry.tasks.has('rescan_filesystem')
      ? say`; a rescan restores the videos that are in the library`
      : ''
    const sentence = say`${{ reason: sentenceOf(reason) }}: the archive has lost its videos, channels and playlists. ${{ way: sentenceOf(way) }}${{ rescan: sentenceOf(rescan) }}. Until then no older snapshot or backup is removed.`
    app.log.error(inEnglish(sentence))
    await app.jobs.start(offerSnapshot, { sentence })
  }

  /** Set when a damaged document is found, until a job processes all that are known by then. */
  let isToMend = false
  function mend(): void {
    if (isToMend) return
    isToMend = true
    app.jobs.start(mendDocuments).catch((error: unknown) => {
      isToMend = false
      app.log.error({ err: error }, 'damaged documents could not be repaired')
    })
  }

  async function start(): Promise<string> {
    if (isTaking()) throw snapshotRuns()
    const name = snapshotName(app.settings.prefix, 'daily')
    isStarting = true
    await app.jobs.start(createSnapshot, { name }).finally(() => (isStarting = false))
    return name
  }

  return {
    start,

    async restore(name) {
      await wholeSnapshot(store(), name)
      await app.backups.startRestore(() => app.jobs.start(restoreSnapshot, { name }))
    },

    async list() {
      const next = isOn() ? Math.floor(nextSnapshotAt(app.clock.now()) / 1000) : 0
      const snapshots = (await records()).map(toItem)
      return {
        next_exec: next,
        next_exec_str: next ? localMinute(next) : '',
        expire_after: `${EXPIRE_DAYS}d`,
        snapshots,
      }
    },

    async item(id) {
      const next = awaited()
      const record = (await store().get(id)) ?? (next?.id === id ? next : undefined)
      return record && toItem(record)
    },

    takeDamaged() {
      isToMend = false
      return app.index.garbled.list()
    },

    async removeOld() {
      const all = await store().list()
      const newest = all.find(({ state }) => state === 'SUCCESS')?.bytes ?? 0
      const { total } = await diskSpace(app.settings.dataDir)
      const room = roomFor(app.preferences.section('application').snapshot_room, newest, total)
      for (const { id } of outdated(all, app.clock.now(), app.index.lost?.since, room)) await store().remove(id)
    },

    async begin() {
      schedule()
      app.index.garbled.watch(mend)
      // The last process may have ended before it could emit the event; a repetition is harmless.
      if (app.backups.isRestoring()) await app.emit('index.replaced', {})
      const complete = (await store().list()).filter(({ state }) => state === 'SUCCESS')
      if (app.index.lost !== undefined) return offer(app.index.lost, complete)
      // A snapshot dated in the future was taken with a wrong clock.
      const isFresh = complete.some(
        ({ startedAt }) => startedAt <= app.clock.now() && app.clock.now() - startedAt <= DAY_MS,
      )
      if (isOn() && !isTaking() && !isFresh) await start()
    },

    end() {
      timer?.cancel()
    },
  }
}

function toItem({ id, state, version, startedAt, endedAt }: SnapshotRecord): SnapshotItem {
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
    snapshot: {
      snapshots: SnapshotKeeper
    }
  }
}

/** The service `bin`: holds removed videos for some days, and restores them completely. */
import { inEnglish, type Timer, type Words } from 'archivolt'
import { openHolding } from './add.ts'
import type { App } from './app.ts'
import { type Leaving, openLeaving } from './restore-or-delete.ts'
import { expiryOf, filesOf, openRows, type Row, toEntry } from './rows.ts'
import { emptyBin, restoreFromBin } from './tasks.ts'
import { openTrustedClock } from './trusted-clock.ts'
import type { Bin } from './types.ts'

const AGAIN_MS = 3_600_000
/** The delay after a removal, so that the bin already contains its entry. */
const ROOM_AFTER_MS = 1000
/** The delay if more entries are due, or some could not be deleted. */
const RETRY_MS = 60_000
/** Maximum number of expired entries that one job deletes. */
const DUE_TOGETHER = 1000
const READ = 200
/** Maximum number of entries whose files are examined at once to find those that free space. */
const MOST_READ = 5000
/**
 * If the library's disk has less free space, the oldest films on it are deleted early. At most a twentieth of the disk.
 */
const ROOM_BYTES = 2 * 1024 ** 3
const ROOM_SHARE = 0.05

export interface BinService extends Bin {
  readonly leaving: Leaving
  readonly holding: ReturnType<typeof openHolding>
  begin(): void
  /** Called after each removal, because on a full disk people remove videos to free space. */
  makeRoom(): void
  close(): Promise<void>
}

export function openBin(app: App): BinService {
  const rows = openRows(app)
  const trusted = openTrustedClock(app, rows)
  /** Whether the clock was trusted at the last check. */
  let isTrusted = false
  const holding = openHolding(app, rows)
  const days = () => app.preferences.section('bin').days
  let timer: Timer | undefined
  let working = Promise.resolve()

  const isDue = (row: Row) => isTrusted && expiryOf(row, days()) <= app.clock.now()

  /** Expired entries, and the oldest ones that must be deleted to free space on the library's disk. */
  async function dueNow(): Promise<Row[]> {
    let some = rows.oldest(READ)
    if (some.length === 0 || (await app.media.absence()) !== undefined) return []
    const { free, total } = await app.media.space()
    let lackBytes = Math.min(ROOM_BYTES, total * ROOM_SHARE) - free
    const due: Row[] = []
    let read = 0
    for (; some.length > 0 && due.length < DUE_TOGETHER; some = rows.oldest(READ, some.at(-1))) {
      const freeing = lackBytes > 0 ? await onLibraryDisk(some) : new Set()
      for (const row of some) {
        const freesSpace = freeing.has(row)
        if (!(isDue(row) || (freesSpace && lackBytes > 0))) continue
        due.push(row)
        if (freesSpace) lackBytes -= row.size_bytes
      }
      read += some.length
      if ((lackBytes <= 0 || read >= MOST_READ) && !isDue(some.at(-1)!)) break
    }
    return due
  }

  async function onLibraryDisk(some: readonly Row[]): Promise<Set<Row>> {
    const found = new Set<Row>()
    for (const trash of new Set(some.map((row) => row.trash))) {
      const inTrash = some.filter((row) => row.trash === trash && (row.kind === 'video' || row.kind === 'film'))
      const ids = await app.media.binned.onLibraryDisk(trash, filesOf(inTrash))
      for (const row of inTrash) if (ids.has(row.video_id)) found.add(row)
    }
    return found
  }

  /**
   * Deletes due entries. Entries whose video the platform no longer has are never deleted automatically. While the
   * library is offline nothing is deleted, because all files would seem to be missing.
   */
  async function emptyDue(): Promise<void> {
    try {
      await holding.takeOverLeft()
      isTrusted = await trusted.isTrusted()
      const due = await dueNow()
      if (due.length > 0) await app.jobs.run(emptyBin, { entries: due.map(({ id }) => id) })
    } catch (err) {
      app.log.warn({ err }, 'the bin could not be emptied; trying again within an hour')
    }
    // A removal during this work may have set an earlier time.
    if (timer === undefined) wakeUp(rows.oldest(1).some(isDue) ? RETRY_MS : AGAIN_MS)
  }

  function wakeUp(inMs: number): void {
    timer?.cancel()
    timer = app.clock.at(app.clock.now() + inMs, () => {
      timer = undefined
      working = working.then(emptyDue)
    })
  }

  return {
    leaving: openLeaving(app, rows),
    holding,

    async put(videoIds, because) {
      const known = new Set<string>()
      for (let from = 0; from < videoIds.length; from += DUE_TOGETHER)
        for (const id of await app.videos.known(videoIds.slice(from, from + DUE_TOGETHER))) known.add(id)
      if (known.size === 0) return { removed: 0, removal: undefined }
      const removal = await app.videos.removeMany([...known], because)
      return { removed: known.size, removal: days() > 0 ? removal : undefined }
    },

    list(words, from, size, viewer) {
      const { rows: found, total } = rows.page(words, from, size, viewer)
      return { entries: found.map((row) => toEntry(row, days())), total }
    },

    sum: rows.sum,
    isOwn: rows.isOwn,
    holds: rows.holds,

    async restore(chosen) {
      const last = rows.lastId()
      const before = rows.count(chosen, last)
      await app.jobs.run(restoreFromBin, { ...chosen })
      const refused = rows.refusedAmong(chosen).map(({ id, video_id: videoId, title, refused: why }) => {
        const words = app.ledger.json<Words>(why!, `bin_entry.refused of ${id}`, '')
        return { entry: id, videoId, title, reason: inEnglish(words), words }
      })
      return { restored: before - rows.count(chosen, last), refused }
    },

    empty: async (chosen) => Number(await app.jobs.run(emptyBin, { ...chosen })),

    begin: () => wakeUp(0),
    makeRoom: () => wakeUp(ROOM_AFTER_MS),

    async close() {
      timer?.cancel()
      await working
      timer?.cancel()
    },
  }
}

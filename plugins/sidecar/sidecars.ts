/** The service `sidecars`: records which sidecars are due, and writes them. */
import { DAY_SECONDS, epochSeconds, type ToldRows } from 'archivolt'
import type { App } from './app.ts'
import { ARCHIVE } from './records.ts'
import { type DueKind, openRows } from './rows.ts'
import { type Run, type Written, writeDue } from './write.ts'

/** Interval after which all sidecars are compared: some changes of documents emit no event, and people delete files. */
const COMPARED_SECONDS = 7 * DAY_SECONDS

const RIGHTS = ['is_staff', 'is_active', 'may_download', 'view']
const ARCHIVE_ROWS: readonly ToldRows[] = [
  { table: 'users', id: () => `'${ARCHIVE}'`, when: RIGHTS.map((one) => `old.${one} IS NOT new.${one}`).join(' OR ') },
  { table: 'preferences', id: () => `'${ARCHIVE}'` },
]

export interface Sidecars {
  /** Starts recording changes in the ledger. */
  follow(): void
  note(kind: Exclude<DueKind, 'all'>, ids: readonly string[]): Promise<void>
  /** Marks all of them to be compared with the archive. */
  noteAll(): Promise<void>
  isLongAgo(): boolean
  /** Whether anything must be written. */
  isDue(): boolean
  /** @throws unavailable: the library is unavailable, or its disk is full */
  write(run: Run): Promise<Written>
}

export function openSidecars(app: App): Sidecars {
  const rows = openRows(app)
  const isOn = () => app.preferences.section('sidecars').beside_films
  const isLongAgo = () => {
    const [at, now] = [rows.comparedAt(), epochSeconds(app.clock)]
    // A time in the future was stored while the clock was ahead.
    return at !== undefined && Math.abs(now - at) >= COMPARED_SECONDS
  }

  return {
    follow() {
      for (const { rows: told = [] } of app.hook('video.belongings'))
        for (const one of told) app.ledger.follow(one, 'sidecar_due', 'video')
      for (const { rows: told = [] } of app.hook('channel.belongings'))
        for (const one of told) app.ledger.follow(one, 'sidecar_due', 'channel')
      for (const one of app.playlists.customRows) app.ledger.follow(one, 'sidecar_due', 'playlist')
      const ofArchive = app.hook('archive.belongings').flatMap(({ rows: told }) => told)
      for (const one of [...ARCHIVE_ROWS, ...ofArchive]) app.ledger.follow(one, 'sidecar_due', 'archive')
    },

    note: (kind, ids) => rows.note(kind, ids),
    noteAll: () => rows.note('all', ['']),
    isLongAgo,
    isDue: () => isOn() && (rows.isAny() || isLongAgo()),
    write: async (run) => (isOn() ? writeDue(run, rows, app) : { written: 0, failed: 0 }),
  }
}

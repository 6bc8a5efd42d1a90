/** The service `checksums`: the checksum of each file, and when files may be read. */
import { DAY_SECONDS, epochSeconds, faultIn, Type } from 'archivolt'
import type { WrittenFile } from '../media/types.ts'
import type { OwnBelongings } from '../video/types.ts'
import type { App } from './app.ts'
import { openRows, type Row, type Rows } from './rows.ts'
import { openTelling } from './tell-damaged.ts'

/** The scrub has read its share of a night if it has processed that much within this time. */
const SHARE_SECONDS = 20 * 3600

export interface Checksums {
  rows: Rows
  /** Records files that the archive has written. */
  noteWritten(files: readonly WrittenFile[]): Promise<void>
  /** Whether the scrub should run: within its hours, until a day's share is read and no file is overdue. */
  isDue(): boolean
  /** The number of damaged files that are not being repaired. */
  alarms(): number
  /** Notifies people of damaged files, until somebody reacts. */
  alarm(): Promise<void>
  belongings: OwnBelongings
}

/** Checksums as they are stored with a removed document, with binary values as hexadecimal text. */
const StoredChecksums = Type.Array(
  Type.Object({
    kind: Type.Enum(['video', 'subtitle', 'picture']),
    part: Type.String({ maxLength: 40 }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    streams: Type.Union([Type.String({ pattern: '^[0-9a-f]{32}(?:,[0-9a-f]{32})*$', maxLength: 2000 }), Type.Null()]),
    size_bytes: Type.Integer({ minimum: 0 }),
    changed_ms: Type.Integer({ minimum: 0 }),
    read_at: Type.Integer({ minimum: 0 }),
  }),
  { maxItems: 1000 },
)
type StoredChecksums = Array<
  Pick<Row, 'kind' | 'part' | 'streams' | 'size_bytes' | 'changed_ms' | 'read_at'> & { sha256: string }
>

export function openChecksums(app: App): Checksums {
  const rows = openRows(app)
  const alarms = () => rows.alarms(epochSeconds(app.clock))
  const isShareRead = (period: number): boolean => {
    const now = epochSeconds(app.clock)
    if (rows.ahead(now)) return false
    const { bytes, turned, oldest } = rows.sums(now - SHARE_SECONDS)
    return oldest !== null && oldest > now - period * DAY_SECONDS && turned >= bytes / period
  }

  return {
    rows,
    alarms,
    alarm: openTelling(app, alarms),

    async noteWritten(files) {
      for (const { kind, id, part = '' } of files) await rows.renew({ kind, id, part })
    },

    isDue() {
      const { period, from, until } = app.preferences.section('checksums')
      return period > 0 && isWithin(new Date(app.clock.now()).getHours(), from, until) && !isShareRead(period)
    },

    belongings: {
      of: 'checksum',
      rows: [{ table: 'checksum_file', id: (row) => `${row}.id`, when: 'old.sha256 IS NOT new.sha256' }],
      async collect(ids) {
        const found = new Map<string, StoredChecksums>()
        for (const id of ids) {
          const stored = rows
            .of(id)
            .flatMap(({ sha256, kind, part, streams, size_bytes, changed_ms, read_at }) =>
              sha256 ? [{ kind, part, sha256: sha256.toString('hex'), streams, size_bytes, changed_ms, read_at }] : [],
            )
          if (stored.length > 0) found.set(id, stored)
        }
        return found
      },
      async restore(stored) {
        for (const [id, told] of stored) {
          if (faultIn(StoredChecksums, told) !== undefined) continue
          await rows.restore(
            (told as StoredChecksums).map((one) => ({
              ...{ ...one, id, sha256: Buffer.from(one.sha256, 'hex') },
              ...{ state: 'whole' as const, found_at: null, mending_at: null, fresh: 0 as const },
            })),
          )
        }
      },
    },
  }
}

const isWithin = (hour: number, from: number, until: number): boolean =>
  from < until ? hour >= from && hour < until : from === until || hour >= from || hour < until

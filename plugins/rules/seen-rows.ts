/**
 * Listed videos that are not taken without conditions: rows of the ledger, so that the platform is asked about each
 * only once.
 */
import { isAmong } from 'archivolt'
import type { Origin } from '../download/add.ts'
import type { App } from './app.ts'
import type { Facts } from './decide.ts'
import type { Quality } from './schema.ts'

/**
 * Maximum number of left-out videos that are stored, the newest first. Others are decided again if a listing still
 * contains them.
 */
const MOST_LEFT = 50_000

/** The answer of the platform. */
export interface Asked {
  /** YYYY-MM-DD. Not the age in days, which would change. */
  published?: string
  facts: Partial<Omit<Facts, 'id' | 'channelId' | 'isIn'>>
}

export interface Seen {
  id: string
  state: 'left' | 'waits' | 'as'
  rule?: number
  quality?: Quality
  origin: Origin
  asked?: Asked
  version: number
  at: number
}

interface Row {
  video_id: string
  state: Seen['state']
  rule_id: number | null
  quality: string | null
  origin: string
  facts: string | null
  version: number
  at: number
}

export function openSeen({ ledger }: Pick<App, 'ledger'>) {
  const toSeen = (row: Row): Seen[] => {
    const of = `rules_seen ${row.video_id}`
    const read = <Value>(text: string | null) =>
      text === null ? undefined : ledger.json<Value | undefined>(text, of, undefined)
    const origin = read<Origin>(row.origin)
    const [quality, asked] = [read<Quality>(row.quality), read<Asked>(row.facts)]
    if (!origin) return []
    return [
      {
        ...{ id: row.video_id, state: row.state, origin, version: row.version, at: row.at },
        ...(row.rule_id !== null && { rule: row.rule_id }),
        ...(quality && { quality }),
        ...(asked && { asked }),
      },
    ]
  }
  return {
    of(ids: readonly string[]): Map<string, Seen> {
      const [isAsked, value] = isAmong('video_id', ids)
      const rows = ids.length === 0 ? [] : ledger.sql<Row>(`SELECT * FROM rules_seen WHERE ${isAsked}`).all(value)
      return new Map(rows.flatMap(toSeen).map((row) => [row.id, row]))
    },

    async write(rows: readonly Seen[], gone: readonly string[]): Promise<void> {
      if (rows.length === 0 && gone.length === 0) return
      await ledger.write(() => {
        const put = ledger.sql(`INSERT OR REPLACE INTO rules_seen
          (video_id, state, rule_id, quality, origin, facts, version, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
        const text = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
        for (const { id, state, rule = null, quality, origin, asked, version, at } of rows)
          put.run(id, state, rule, text(quality), text(origin), text(asked), version, at)
        if (gone.length > 0) {
          const [isAsked, value] = isAmong('video_id', gone)
          ledger.sql(`DELETE FROM rules_seen WHERE ${isAsked}`).run(value)
        }
        ledger
          .sql(
            `DELETE FROM rules_seen WHERE video_id IN
             (SELECT video_id FROM rules_seen WHERE state = 'left' ORDER BY at DESC LIMIT 1000 OFFSET ${MOST_LEFT})`,
          )
          .run()
      })
    },

    /** The number of videos that each rule leaves out; 0 instead of a rule: members-only videos. */
    leftOut: (): Map<number, number> =>
      new Map(
        ledger
          .sql<{ rule: number; count: number }>(
            "SELECT coalesce(rule_id, 0) AS rule, count(*) AS count FROM rules_seen WHERE state = 'left' GROUP BY rule_id",
          )
          .all()
          .map(({ rule, count }) => [rule, count]),
      ),
  }
}

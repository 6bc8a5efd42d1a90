/**
 * The statements that a plain server would run on the index file and the ledger: the videos of a page with everything
 * that their records show; for a search, as many queries as ours runs for the same words, without our counting, caching
 * and choosing.
 */
import Database from 'better-sqlite3'
import { isNear, type QueryWord, queryWords } from '../../../plugins/index-kit/text.ts'

export interface PlainQuery {
  sql: string
  values: Array<string | number>
}

/** Joins each video of a page with its text, its channel, and the account's own data. */
export const recordsOf = (rows: string): string => `SELECT d.text, cd.text AS channel, k.watched_at, p.position,
    f.state, x.video_id IS NULL, l.video_id IS NULL FROM (${rows}) m
  JOIN video_v1_doc d ON d.rid = m.rid JOIN channel_v1 c ON c.id = m.channel_id JOIN channel_v1_doc cd ON cd.rid = c.rid
  LEFT JOIN ledger.watch_mark k ON k.user_id = 1 AND k.video_id = m.id
  LEFT JOIN ledger.watch_position p ON p.user_id = 1 AND p.video_id = m.id
  LEFT JOIN ledger.media_film f ON f.video_id = m.id LEFT JOIN ledger.media_missing x ON x.video_id = m.id
  LEFT JOIN ledger.playlist_custom_entry l ON l.playlist_id = 'watchlater/1' AND l.video_id = m.id`

const SIMPLE = [
  ['channel', 'channel_name'],
  ['playlist', 'playlist_name'],
  ['video', 'title'],
] as const
const MOST_HITS = 30
const MOST_NEAR = 50
const NEAR_RANKED = 1000
/** If there are more matches than this, the newest come first instead of the best. */
const MOST_RANKED = 10_000

/** The parts of a reply that show which texts were read. */
interface Found {
  video_results: Array<{ platform_id: string }>
  channel_results: Array<{ channel_id: string }>
  playlist_results: Array<{ playlist_id: string }>
  fulltext_results: Array<{ subtitle_fragment_id: string }>
}

const texts = (kind: string, ids: string[]): PlainQuery => ({
  sql: `SELECT d.text FROM ${kind}_v1 m JOIN ${kind}_v1_doc d ON d.rid = m.rid WHERE m.id IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(ids)],
})
const VIDEOS = recordsOf('SELECT rid, id, channel_id FROM video_v1 WHERE id IN (SELECT value FROM json_each(?))')
const FRAGMENTS = `SELECT m.*, f.*, vd.text AS video, cd.text AS channel FROM subtitle_v1 m JOIN subtitle_v1_flat f ON f.rid = m.rid
  JOIN video_v1 v ON v.id = m.platform_id JOIN video_v1_doc vd ON vd.rid = v.rid
  JOIN channel_v1 c ON c.id = v.channel_id JOIN channel_v1_doc cd ON cd.rid = c.rid WHERE m.id IN (SELECT value FROM json_each(?))`

/** @param vocabulary  all words of the library */
export function openPlainSearch(indexFile: string, vocabulary: readonly string[]) {
  const db = new Database(indexFile, { readonly: true })
  const counted = (sql: string, ...values: Array<string | number>) => db.prepare(sql).all(...values).length

  const exactly = (column: string, { term, stem, isPrefix }: QueryWord): string =>
    `("${column}" : "${term}" OR "${column}~" : "${stem}"${isPrefix ? ` OR "${column}" : "${term}" *` : ''})`
  const nearly = (column: string, word: QueryWord): string => {
    const near = vocabulary.filter((other) => isNear(other, word)).slice(0, MOST_NEAR)
    const ways = near.map((term) => `"${column}" : "${term}"`)
    return `(${[exactly(column, word), ...ways].join(' OR ')})`
  }

  const ranked = (kind: string, expression: string): PlainQuery => {
    const table = `${kind}_v1_fts`
    const isWide =
      counted(`SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?`, expression, MOST_RANKED + 1) > MOST_RANKED
    const order = isWide ? 'rowid DESC' : `bm25(${table}), rowid DESC`
    return {
      sql: `SELECT rowid FROM ${table} WHERE ${table} MATCH ? ORDER BY ${order} LIMIT ${MOST_HITS}`,
      values: [expression],
    }
  }
  const rankedNear = (kind: string, expression: string): PlainQuery => ({
    sql: `SELECT * FROM (SELECT rowid AS rid, bm25(${kind}_v1_fts) AS score FROM ${kind}_v1_fts WHERE ${kind}_v1_fts MATCH ? ORDER BY rowid DESC LIMIT ${NEAR_RANKED}) ORDER BY score, rid DESC LIMIT ${MOST_HITS}`,
    values: [expression],
  })

  /** Searches for misspelt words, too, if the exact words leave slots. */
  function queries(columns: ReadonlyArray<readonly [string, string]>, words: readonly QueryWord[]): PlainQuery[] {
    const all = (form: typeof exactly, column: string) => words.map((word) => form(column, word)).join(' AND ')
    const exact = columns.map(([kind, column]) => ranked(kind, all(exactly, column)))
    const found = exact.reduce((sum, { sql, values }) => sum + counted(sql, ...values), 0)
    if (found >= MOST_HITS) return exact
    return [...exact, ...columns.map(([kind, column]) => rankedNear(kind, all(nearly, column)))]
  }

  return {
    /** @param full  searched for with `full:`; one word */
    queriesOf(words: string, full: boolean, results: Found): PlainQuery[] {
      const asked = queryWords(words, { prefixLast: true, fuzziness: 'auto', dropStopWords: full })
      const { video_results, channel_results, playlist_results, fulltext_results } = results
      if (full)
        return [
          ...queries([['subtitle', 'subtitle_line']], asked),
          { sql: FRAGMENTS, values: [JSON.stringify(fulltext_results.map((hit) => hit.subtitle_fragment_id))] },
        ]
      return [
        ...queries(SIMPLE, asked),
        { sql: VIDEOS, values: [JSON.stringify(video_results.map((hit) => hit.platform_id))] },
        texts(
          'channel',
          channel_results.map((hit) => hit.channel_id),
        ),
        texts(
          'playlist',
          playlist_results.map((hit) => hit.playlist_id),
        ),
      ]
    },
    close: () => db.close(),
  }
}

/**
 * The addresses that `bench/http.ts` requests, with the statements that a bare server runs for the same reply, and the
 * rate of the reference in requests per second.
 */
import { firstVideos, randomFrom } from '../generate.ts'
import { archiveOf } from './library.ts'
import { type PlainQuery, recordsOf } from './plain-search.ts'

export interface Asked {
  path: string
  /** Absent for a search, because its queries depend on what it finds. */
  queries?: PlainQuery[]
}

export interface Case {
  name: string
  /** Distinct addresses. */
  asked: Asked[]
  headers?: Record<string, string>
  search?: { words: readonly string[]; isFull: boolean }
  /**
   * The reference's rate, recorded on a quiet machine with two cores and sixteen connections; and the multiple of it
   * that is the goal for a first request.
   */
  reference?: { perSecond: number; times: number }
}

/** Enough for each word to be searched for only once. */
const MOST = 2600
const random = randomFrom(5)

function shuffled<Value>(list: readonly Value[]): Value[] {
  return list
    .map((value) => ({ value, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value)
}

const PAGE = 12
const COUNTED = 10_000
const counted = (table: string, where: string, values: PlainQuery['values'] = []): PlainQuery => ({
  sql: `SELECT count(*) FROM (SELECT 1 FROM ${table} ${where} LIMIT ${COUNTED})`,
  values,
})

function videos(params: string, at: number, where = '', order = '"published~" DESC', values: string[] = []): Asked {
  const from = at < 2 ? 0 : (at - 1) * PAGE
  return {
    path: `/api/video/?${params}page=${at}`,
    queries: [
      {
        sql: recordsOf(
          `SELECT rid, id, channel_id FROM video_v1 ${where} ORDER BY ${order}, id LIMIT ${PAGE} OFFSET ${from}`,
        ),
        values,
      },
      counted('video_v1', where, values),
    ],
  }
}

function documents(kind: 'channel' | 'playlist', at: number): Asked {
  const from = at < 2 ? 0 : (at - 1) * PAGE
  return {
    path: `/api/${kind}/?page=${at}`,
    queries: [
      {
        sql: `SELECT d.text FROM (SELECT rid FROM ${kind}_v1 ORDER BY "${kind}_name~", id LIMIT ${PAGE} OFFSET ${from}) m
          JOIN ${kind}_v1_doc d ON d.rid = m.rid`,
        values: [],
      },
      counted(`${kind}_v1`, ''),
    ],
  }
}

const QUEUE = 'ledger.download_queue_b'
const IS_OPEN = `WHERE status <> 'ignore'`
function queue(at: number): Asked {
  const from = at < 2 ? 0 : (at - 1) * PAGE
  return {
    path: `/api/download/?filter=pending&page=${at}`,
    queries: [
      { sql: `SELECT * FROM ${QUEUE} ${IS_OPEN} ORDER BY later, position LIMIT ${PAGE} OFFSET ${from}`, values: [] },
      counted(QUEUE, IS_OPEN),
    ],
  }
}

const SEEN = `SELECT rid FROM video_v1_kw WHERE field = 'watched_by' AND value = '1'`
const sums = (groups: string, totals: string, table: string) =>
  `SELECT ${groups}, count(*)${totals} FROM ${table} GROUP BY ${groups}`
const statistics = Object.entries({
  video: sums('vid_type, active', ', sum(media_size), sum(duration)', 'video_v1'),
  channel: sums('channel_active, channel_subscribed', '', 'channel_v1'),
  playlist: sums('playlist_active, playlist_subscribed', '', 'playlist_v1'),
  download: sums('status, vid_type', '', QUEUE),
  watch: `SELECT count(*), sum(duration) FROM video_v1 WHERE rid IN (${SEEN})`,
  biggestchannels: `${sums('channel_id', ', sum(media_size), sum(duration)', 'video_v1')} ORDER BY count(*) DESC LIMIT 10`,
}).map(([name, sql]): Asked => ({ path: `/api/stats/${name}/`, queries: [{ sql, values: [] }] }))

const pages = <Value>(count: number, of: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => of(at))

/** @param videoCount  the size of the library */
export function casesOf(videoCount: number): Case[] {
  const archive = archiveOf(videoCount)
  const known = firstVideos(archive, MOST)
  const channels = [...new Set(known.map(({ doc }) => doc.channel_id))]
  const [common, topical, rare] = [
    archive.words.slice(0, 80),
    shuffled(archive.words.slice(100, 100 + MOST)),
    shuffled(archive.words.slice(3000, 30_000)).slice(0, MOST),
  ]
  const pairs = (words: readonly string[]) =>
    pages(MOST, (at) => `${words[at % words.length]} ${words[(at + 1 + Math.floor(at / words.length)) % words.length]}`)
  const searches: Array<[name: string, words: string[], perSecond?: number, times?: number]> = [
    ['search: rare word', rare, 113, 15],
    ['search: prefix', topical.map((word) => word.slice(0, 3)), 108, 15],
    ['search: two topical words', pairs(topical)],
    ['search: two common words', pairs(shuffled(common)), 113, 6],
    ['search in subtitles: rare word', rare, 63, 8],
    ['search in subtitles: topical word', topical, 48, 8],
  ]

  return [
    { name: 'list', asked: pages(200, (at) => videos('', at)) },
    {
      name: 'list of a channel',
      asked: channels.slice(0, 200).map((id) => videos(`channel=${id}&`, 0, 'WHERE channel_id = ?', undefined, [id])),
    },
    {
      name: 'list, filtered and sorted',
      asked: pages(50, (at) => [
        videos('watch=unwatched&', at, `WHERE rid NOT IN (${SEEN})`),
        videos('sort=downloaded&', at, '', 'date_downloaded DESC'),
        videos('type=shorts&', at, `WHERE vid_type = 'shorts'`),
        videos('sort=mediasize&', at, '', 'media_size DESC'),
      ]).flat(),
    },
    // Our page requests the slim form; other clients get the keys of the record twice.
    ...[undefined, { 'X-API-Form': 'v0.4' }].map(
      (headers): Case => ({
        name: headers ? 'item, as our page asks' : 'item',
        ...(headers && { headers }),
        asked: known.map(({ id }) => ({
          path: `/api/video/${id}/`,
          queries: [{ sql: recordsOf('SELECT rid, id, channel_id FROM video_v1 WHERE id = ?'), values: [id] }],
        })),
      }),
    ),
    { name: 'queue', asked: pages(200, queue) },
    { name: 'channels', asked: pages(160, (at) => documents('channel', at)) },
    { name: 'playlists', asked: pages(40, (at) => documents('playlist', at)) },
    { name: 'statistics', asked: statistics },
    ...searches.map(([name, words, perSecond, times]): Case => {
      const isFull = name.includes('subtitles')
      return {
        name,
        search: { words, isFull },
        asked: words.map((each) => ({
          path: `/api/search/?query=${encodeURIComponent(isFull ? `full:${each}` : each)}`,
        })),
        ...(perSecond && times && { reference: { perSecond, times } }),
      }
    }),
  ]
}

/** Readers for watch history and playlists in exports of other programs, one for each form. */
import type Database from 'better-sqlite3'
import type { Rows } from './found.ts'

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const numberIn = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

/** Whether this position counts as watched, by NewPipe's own rule. */
const isWhole = (seconds: number, all: number): boolean => all > 0 && seconds >= all - 60 && seconds >= all * 0.75

/** Reads an entry of Takeout's history. Removed videos have no address, and adverts are skipped. */
export function readTakeoutSeen(one: unknown, rows: Rows): void {
  const { titleUrl, time, details } = fieldsOf(one)
  if (listOf(details).some((detail) => /Google Ads/i.test(String(fieldsOf(detail)['name'])))) return
  rows.see(titleUrl, { at: Date.parse(String(time)) / 1000 })
}

export const isTakeoutSeen = (one: unknown): boolean => {
  const { time, header, titleUrl } = fieldsOf(one)
  return typeof time === 'string' && (typeof titleUrl === 'string' || typeof header === 'string')
}

/** A row with an id and the time when it was added; no other table of Takeout begins like that. */
const isListed = ([id = '', added = '']: readonly string[]): boolean =>
  /^[A-Za-z0-9_-]{11}$/.test(id) && !Number.isNaN(Date.parse(added))

/** Reads a playlist of Takeout, whose name is only in the file name. @returns whether it is a playlist */
export function readTakeoutList(table: readonly string[][], name: string, rows: Rows): boolean {
  const ids = table.filter(isListed).map(([id]) => id)
  if (ids.length > 0) rows.list(name.replace(/\.csv$/i, '').replace(/[-_ ](?:videos)$/i, ''), ids)
  return ids.length > 0
}

/** Reads a line of FreeTube's history or playlists. Entries that FreeTube imported from Google have no length. */
export function readFreeTube(line: unknown, rows: Rows): void {
  const { videoId, watchProgress, lengthSeconds, timeWatched, playlistName, videos } = fieldsOf(line)
  if (typeof playlistName === 'string')
    rows.list(
      playlistName,
      listOf(videos).map((video) => fieldsOf(video)['videoId']),
    )
  else if (videoId !== undefined) {
    const [seconds, all] = [numberIn(watchProgress), numberIn(lengthSeconds)]
    const isBegun = all > 0 && !isWhole(seconds, all)
    rows.see(videoId, { at: numberIn(timeWatched) / 1000, ...(isBegun && { seconds }) })
  }
}

export function readInvidiousWatching(whole: unknown, rows: Rows): void {
  const { watch_history: history, playlists } = fieldsOf(whole)
  for (const id of listOf(history)) rows.see(id)
  for (const one of listOf(playlists)) {
    const { title, videos } = fieldsOf(one)
    rows.list(title, listOf(videos))
  }
}

/** Address, epoch seconds, position and title, separated by bars, which the title may contain too. */
export function readGrayjaySeen(text: unknown, rows: Rows): void {
  const [address, at, seconds] = String(text).split('|||')
  rows.see(address, { at: Number(at), seconds: Number(seconds) })
}

/** A line with the name and an id, then one address per line. */
export function readGrayjayList(text: unknown, rows: Rows): void {
  const [head = '', ...addresses] = String(text).split('\n')
  rows.list(head.replace(/:::[^:]*$/, ''), addresses)
}

const NEWPIPE_SEEN = `SELECT url, duration, max(access_date) AS at, progress_time AS position
  FROM stream_history JOIN streams ON streams.uid = stream_history.stream_id
  LEFT JOIN stream_state ON stream_state.stream_id = streams.uid WHERE service_id = 0 GROUP BY streams.uid`
const NEWPIPE_LISTS = `SELECT playlists.uid AS list, playlists.name AS name, url FROM playlists
  JOIN playlist_stream_join ON playlist_id = playlists.uid JOIN streams ON streams.uid = stream_id
  WHERE service_id = 0 ORDER BY playlists.uid, join_index`

/** Its times are in milliseconds. @param has  whether the database has a table */
export function readNewPipeWatching(db: Database.Database, has: (table: string) => boolean, rows: Rows): void {
  if (!has('streams')) return
  if (has('stream_history') && has('stream_state'))
    for (const row of db.prepare(NEWPIPE_SEEN).iterate()) {
      const { url, duration, at, position } = fieldsOf(row)
      const [seconds, all] = [numberIn(position) / 1000, numberIn(duration)]
      rows.see(url, { at: numberIn(at) / 1000, ...(seconds > 0 && !isWhole(seconds, all) && { seconds }) })
    }
  if (!has('playlists') || !has('playlist_stream_join')) return
  for (const row of db.prepare(NEWPIPE_LISTS).iterate()) {
    const { name, url } = fieldsOf(row)
    rows.list(name, [url])
  }
}

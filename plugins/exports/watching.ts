/** Readers for watch history and playlists in exports of other apps, one for each form. */
import type Database from 'better-sqlite3'
import type { Rows } from './found.ts'
import { type Fields, fieldsOf, listOf } from './json.ts'

const numberIn = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

/** Whether this position counts as watched, by NewPipe's own rule. */
const isWhole = (seconds: number, all: number): boolean => all > 0 && seconds >= all - 60 && seconds >= all * 0.75

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

/** Reads a line with URL, epoch seconds, position and title, separated by bars, which the title may also contain. */
export function readGrayjaySeen(text: unknown, rows: Rows): void {
  const [address, at, seconds] = String(text).split('|||')
  rows.see(address, { at: Number(at), seconds: Number(seconds) })
}

/** Reads a line with the name and an id, then one URL per line. */
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

/** Reads NewPipe's tables, whose times are in milliseconds. @param has  whether the database has a table */
export function readNewPipeWatching(db: Database.Database, has: (table: string) => boolean, rows: Rows): void {
  if (!has('streams')) return
  if (has('stream_history') && has('stream_state'))
    for (const row of db.prepare(NEWPIPE_SEEN).iterate()) {
      const { url, duration, at, position } = fieldsOf(row)
      const [seconds, all] = [numberIn(position) / 1000, numberIn(duration)]
      rows.see(url, { at: numberIn(at) / 1000, ...(seconds > 0 && !isWhole(seconds, all) && { seconds }) })
    }
  if (!has('playlists') || !has('playlist_stream_join')) return
  let list: { id: unknown; name: unknown; videos: unknown[] } | undefined
  for (const row of db.prepare(NEWPIPE_LISTS).iterate()) {
    const { list: id, name, url } = fieldsOf(row)
    if (list?.id === id) list!.videos.push(url)
    else {
      if (list) rows.list(list.name, list.videos)
      list = { id, name, videos: [url] }
    }
  }
  if (list) rows.list(list.name, list.videos)
}

export function readPipedLists(playlists: unknown, rows: Rows): void {
  for (const one of listOf(playlists)) {
    const { name, videos } = fieldsOf(one)
    rows.list(name, listOf(videos))
  }
}

/** Reads LibreTube's data: its positions are in milliseconds, and its history has no times. */
export function readLibreTubeWatching(whole: Fields, rows: Rows): void {
  const idsOf = (list: unknown) => listOf(list).map((one) => fieldsOf(one)['videoId'])
  for (const id of idsOf(whole['watchHistory'])) rows.see(id)
  for (const one of listOf(whole['watchPositions'])) {
    const { videoId, position } = fieldsOf(one)
    rows.see(videoId, { seconds: numberIn(position) / 1000 })
  }
  for (const one of listOf(whole['localPlaylists'])) {
    const { playlist, videos } = fieldsOf(one)
    rows.list(fieldsOf(playlist)['name'], idsOf(videos))
  }
}

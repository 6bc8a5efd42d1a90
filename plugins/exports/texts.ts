/** Reads exports in text form: JSON, lines of JSON, OPML, CSV, or a list of URLs, recognized by their content. */
import { say } from 'archivolt'
import { CsvError, parse } from 'csv-parse/sync'
import { CHANNEL_ID, EMPTY, type Found, openRows, type Rows, Unusable } from './found.ts'
import { isHtmlHistory, readHtmlHistory } from './html-history.ts'
import { type Fields, fieldsOf, jsonOf, listOf, refuseTooMany } from './json.ts'
import { parseMarkup } from './markup.ts'
import { isTakeoutSeen, openTakeoutLists, readTakeoutSeen } from './takeout.ts'
import { readFreeTube, readInvidiousWatching, readLibreTubeWatching, readPipedLists } from './watching.ts'

/** @param name  of the file, if known: a single playlist has no other name. @throws Unusable */
export function readText(bytes: Buffer, name = ''): Found {
  const text = decoded(bytes).trim()
  if (text === '') throw new Unusable('It is empty')
  if (text.includes('\0')) throw new Unusable('It is neither a text nor an archive')
  if (/^[[{]/.test(text)) return readJson(text)
  if (isHtmlHistory(text)) return readPage(text)
  if (text.startsWith('<')) return readOpml(text)
  return readTable(text, name)
}

function readPage(text: string): Found {
  const rows = openRows()
  readHtmlHistory(text, rows)
  return whatIsIn(rows).of('takeout')
}

function decoded(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2)
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function readJson(text: string): Found {
  refuseTooMany(text)
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch {
    return readProfiles(linesOf(text))
  }
  if (Array.isArray(whole)) return readTakeoutJson(whole)
  const fields = fieldsOf(whole)
  const { subscriptions, _id } = fields
  if (_id !== undefined) return readProfiles([whole])
  if (fields['format'] === 'Piped') return readPiped(fields)
  if ('localSubscriptions' in fields || 'watchPositions' in fields) return readLibreTube(fields)
  const isInvidious = listOf(subscriptions).every((one) => typeof one === 'string')
  if (isInvidious) return readInvidious(whole)
  return readNewPipe(listOf(subscriptions))
}

/**
 * Reads Google Takeout's history, and its old form of subscriptions, which FreeTube also writes, and FreeTube's old
 * playlists.
 */
function readTakeoutJson(list: readonly unknown[]): Found {
  const rows = openRows()
  takeTakeoutJson(list, rows)
  const isFreeTube = list.some((one) => 'playlistName' in fieldsOf(one))
  return whatIsIn(rows).of(isFreeTube ? 'freetube' : 'takeout')
}

function takeTakeoutJson(list: readonly unknown[], rows: Rows): void {
  for (const one of list) {
    if (isTakeoutSeen(one)) readTakeoutSeen(one, rows)
    else if ('playlistName' in fieldsOf(one)) readFreeTube(one, rows)
    // The subscribed channel; the `channelId` next to it is that of the subscriber.
    const { resourceId, title } = fieldsOf(fieldsOf(one)['snippet'])
    rows.add(fieldsOf(resourceId)['channelId'], title)
  }
}

/** Tries any list, because the name of Takeout's history depends on the account's language. */
export function readTakeoutHistory(bytes: Buffer, rows: Rows): void {
  const text = decoded(bytes).trim()
  if (!text.startsWith('[') || !text.slice(0, 2000).includes('"time"')) return
  try {
    for (const one of listOf(jsonOf(text))) if (isTakeoutSeen(one)) readTakeoutSeen(one, rows)
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown // otherwise it is another unreadable file
  }
}

/** @throws Unusable: it contains nothing */
function whatIsIn(rows: Rows): Rows {
  if (rows.isEmpty()) throw new Unusable(EMPTY)
  return rows
}

const YOUTUBE_SERVICE = 0

export function readNewPipe(list: readonly unknown[], rows = openRows()): Found {
  for (const one of list) {
    const { service_id: service, url, name } = fieldsOf(one)
    if (service === YOUTUBE_SERVICE) rows.add(url, name)
    else rows.addForeign(url)
  }
  return whatIsIn(rows).of('newpipe')
}

function readPiped(whole: Fields): Found {
  const rows = openRows()
  readPipedLists(whole['playlists'], rows)
  return whatIsIn(rows).of('piped')
}

function readLibreTube(whole: Fields): Found {
  const rows = openRows()
  for (const one of listOf(whole['localSubscriptions'])) rows.add(fieldsOf(one)['channelId'], fieldsOf(one)['name'])
  for (const one of listOf(whole['playlistBookmarks'])) {
    const { playlistId, playlistName } = fieldsOf(one)
    rows.add(playlistId, playlistName)
  }
  readLibreTubeWatching(whole, rows)
  return whatIsIn(rows).of('libretube')
}

function readInvidious(whole: unknown): Found {
  const rows = openRows()
  for (const id of listOf(fieldsOf(whole)['subscriptions'])) rows.add(id)
  readInvidiousWatching(whole, rows)
  return whatIsIn(rows).of('invidious')
}

/** @throws Unusable: a line is not JSON, because the file is of another kind, or truncated */
function linesOf(text: string): unknown[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      throw new Unusable(say`Line ${{ line: at + 1 }} is not JSON: the file may be truncated`)
    }
  })
}

/**
 * Reads FreeTube's profiles, history and playlists. FreeTube only appends lines, so of two with the same id, the later
 * one counts.
 */
function readProfiles(lines: readonly unknown[]): Found {
  const latest = new Map<unknown, Fields>()
  for (const line of lines) {
    const one = fieldsOf(line)
    if (one['$$deleted'] === true) latest.delete(one['_id'])
    else if (one['_id'] !== undefined) latest.set(one['_id'], one)
  }
  const rows = openRows()
  for (const line of latest.values()) {
    for (const one of listOf(line['subscriptions'])) {
      // LibreTube writes FreeTube's form without ids.
      const { id, name, url } = fieldsOf(one)
      rows.add(id || url, name)
    }
    readFreeTube(line, rows)
  }
  return whatIsIn(rows).of('freetube')
}

/** Reads only the outlines: some files have a stray `&`, and entities are never expanded. */
function readOpml(text: string): Found {
  const rows = openRows()
  let isPage = false
  parseMarkup(text, {
    open(name, { xmlurl, title, text }) {
      if (name === 'html') isPage = true
      if (name === 'outline') rows.add(xmlurl, title || text)
    },
  })
  if (rows.count() === 0)
    throw isPage
      ? new Unusable('This is a web page, not an export')
      : new Unusable('None of its entries has an address')
  return rows.of('opml')
}

/** A line of yt-dlp's download archive. */
const ARCHIVED = /^youtube ([A-Za-z0-9_-]{11})$/

/**
 * Reads Takeout's table, whose headings are in the account's language; yt-dlp's archive; or a list with one URL per
 * line.
 */
function readTable(text: string, name: string): Found {
  const rows = openRows()
  const archived = text.split(/\r?\n/).flatMap((line) => ARCHIVED.exec(line.trim())?.[1] ?? [])
  if (archived.length > 0) {
    rows.list('yt-dlp archive', archived)
    return rows.of('ytdlp')
  }
  const table = cellsOf(text)
  const lists = openTakeoutLists(rows)
  if (lists.take(table, name)) lists.end()
  else for (const cells of table) addCells(rows, cells)
  if (!rows.isEmpty()) return rows.of('takeout')
  for (const word of text.split(/\s+/)) rows.add(word)
  return rows.of('list')
}

function addCells(rows: Rows, cells: readonly string[]): void {
  const at = cells.findIndex((cell) => CHANNEL_ID.test(cell))
  if (at < 0 || cells.length < 2) return
  rows.add(
    cells[at],
    cells.slice(at + 1).findLast((cell) => !/^https?:/.test(cell)),
  )
}

/**
 * Reads one of the tables of a complete Takeout. Channels are taken only from rows with a URL that contains their id,
 * which comments lack. An unreadable table is an unrelated file.
 */
export function readTakeoutTable(
  bytes: Buffer,
  name: string,
  rows: Rows,
  lists: ReturnType<typeof openTakeoutLists>,
): void {
  let table: string[][]
  try {
    table = cellsOf(decoded(bytes))
  } catch (thrown) {
    if (thrown instanceof Unusable) return
    throw thrown
  }
  if (lists.take(table, name)) return
  for (const cells of table)
    if (cells.some((cell) => CHANNEL_ID.test(cell) && cells.some((other) => other.endsWith(`/channel/${cell}`))))
      addCells(rows, cells)
}

/** Maximum number of lines: a larger file is malicious, and far fewer subscriptions and playlists are accepted. */
const MOST_LINES = 200_000
const MOST_CELLS = 1000

/**
 * Splits CSV into cells, more tolerant than RFC 4180. @throws Unusable: it ends within a quoted text, or a line has too
 * many cells
 */
function cellsOf(text: string): string[][] {
  const cast = (cell: string, { index }: { index: number }): string => {
    if (index >= MOST_CELLS) throw new Unusable('A line has too many cells')
    return cell.trim()
  }
  const form = { relax_column_count: true, relax_quotes: true, skip_empty_lines: true, to: MOST_LINES, cast }
  try {
    return parse(text, { ...form, record_delimiter: ['\r\n', '\n'] })
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown
    throw new Unusable('A quotation mark is never closed: the file may be truncated')
  }
}

/** Exports that are text: JSON, lines of JSON, OPML, CSV, or one address after another. Told apart by what is in them. */
import { CHANNEL_ID, type Found, Rows, Unusable } from './found.ts'
import { isTakeoutSeen, readFreeTube, readInvidiousWatching, readTakeoutList, readTakeoutSeen } from './watching.ts'

/** @throws Unusable */
export function readText(bytes: Buffer): Found {
  const text = decoded(bytes).trim()
  if (text === '') throw new Unusable('There is nothing in it')
  if (/^[[{]/.test(text)) return readJson(text)
  if (text.startsWith('<')) return readOpml(text)
  return readTable(text)
}

function decoded(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2)
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function readJson(text: string): Found {
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch {
    return readProfiles(linesOf(text))
  }
  if (Array.isArray(whole)) return readTakeoutJson(whole)
  const { subscriptions, _id } = fieldsOf(whole)
  if (_id !== undefined) return readProfiles([whole])
  const isInvidious = listOf(subscriptions).every((one) => typeof one === 'string')
  if (isInvidious) return readInvidious(whole)
  return readNewPipe(listOf(subscriptions))
}

/** Of Google Takeout: subscriptions as they were, and as FreeTube writes them; its history. FreeTube's old playlists. */
function readTakeoutJson(list: readonly unknown[]): Found {
  const rows = new Rows()
  takeTakeoutJson(list, rows)
  const isFreeTube = list.some((one) => 'playlistName' in fieldsOf(one))
  return whatIsIn(rows).of(isFreeTube ? 'freetube' : 'takeout')
}

function takeTakeoutJson(list: readonly unknown[], rows: Rows): void {
  for (const one of list) {
    if (isTakeoutSeen(one)) readTakeoutSeen(one, rows)
    else if ('playlistName' in fieldsOf(one)) readFreeTube(one, rows)
    // The channel that is followed: `channelId` beside it is the follower's own.
    const { resourceId, title } = fieldsOf(fieldsOf(one)['snippet'])
    rows.add(fieldsOf(resourceId)['channelId'], title)
  }
}

/** Takeout's history has a name in the account's language: a list is tried, whatever it is called. */
export function readTakeoutHistory(bytes: Buffer, rows: Rows): void {
  const text = decoded(bytes).trim()
  if (!text.startsWith('[') || !text.slice(0, 2000).includes('"time"')) return
  try {
    for (const one of listOf(JSON.parse(text))) if (isTakeoutSeen(one)) readTakeoutSeen(one, rows)
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown // else it is some other file that cannot be read
  }
}

/** @throws Unusable  there is nothing in it */
export function whatIsIn(rows: Rows): Rows {
  if (rows.isEmpty) throw new Unusable('It names no subscriptions, no watched videos and no playlists')
  return rows
}

const YOUTUBE_SERVICE = 0

export function readNewPipe(list: readonly unknown[], rows = new Rows()): Found {
  for (const one of list) {
    const { service_id: service, url, name } = fieldsOf(one)
    if (service === YOUTUBE_SERVICE) rows.add(url, name)
    else rows.addForeign(url)
  }
  return whatIsIn(rows).of('newpipe')
}

function readInvidious(whole: unknown): Found {
  const rows = new Rows()
  for (const id of listOf(fieldsOf(whole)['subscriptions'])) rows.add(id)
  readInvidiousWatching(whole, rows)
  return whatIsIn(rows).of('invidious')
}

/** @throws Unusable  a line is no JSON: it is no such file at all, or was cut off */
function linesOf(text: string): unknown[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      throw new Unusable(`Line ${at + 1} of it is no JSON: it may have been cut off`)
    }
  })
}

/**
 * FreeTube's profiles, history and playlists: lines are only ever added, and a later one of an id takes the earlier one's
 * place.
 */
function readProfiles(lines: readonly unknown[]): Found {
  const kept = new Map<unknown, Fields>()
  for (const line of lines) {
    const one = fieldsOf(line)
    if (one['$$deleted'] === true) kept.delete(one['_id'])
    else if (one['_id'] !== undefined) kept.set(one['_id'], one)
  }
  const rows = new Rows()
  for (const line of kept.values()) {
    for (const one of listOf(line['subscriptions'])) {
      const { id, name } = fieldsOf(one)
      rows.add(id, name)
    }
    readFreeTube(line, rows)
  }
  return whatIsIn(rows).of('freetube')
}

const ATTRIBUTE = /\s+([A-Za-z_:][\w:.-]{0,60})\s*=\s*(?:"([^"]*)"|'([^']*)')/y

/** By its outlines alone: files with a stray `&` are about, and what else XML can do is never done. */
function readOpml(text: string): Found {
  const rows = new Rows()
  for (const { index } of text.matchAll(/<outline(?=\s)/gi)) {
    const values = new Map<string, string>()
    ATTRIBUTE.lastIndex = index + '<outline'.length
    for (let found = ATTRIBUTE.exec(text); found; found = ATTRIBUTE.exec(text))
      values.set(found[1]!.toLowerCase(), unescaped(found[2] ?? found[3] ?? ''))
    rows.add(values.get('xmlurl') ?? '', values.get('title') || values.get('text'))
  }
  if (rows.count === 0) throw new Unusable('It has no outline with an address')
  return rows.of('opml')
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name: string | undefined) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/** Takeout's table, whose headings are in the account's language; where no cell is an id, an address after another. */
function readTable(text: string): Found {
  const rows = new Rows()
  const table = cellsOf(text)
  for (const cells of table) addCells(rows, cells)
  if (rows.isEmpty) readTakeoutList(table, '', rows)
  if (!rows.isEmpty) return rows.of('takeout')
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
 * One of the tables of a whole Takeout: a playlist, or only rows that also have the address of their id, as those of
 * comments have not.
 */
export function readTakeoutTable(bytes: Buffer, name: string, rows: Rows): void {
  const table = cellsOf(decoded(bytes))
  if (readTakeoutList(table, name, rows)) return
  for (const cells of table)
    if (cells.some((cell) => CHANNEL_ID.test(cell) && cells.some((other) => other.endsWith(`/channel/${cell}`))))
      addCells(rows, cells)
}

/** RFC 4180. */
function cellsOf(text: string): string[][] {
  const table: string[][] = []
  for (const line of recordsOf(text)) {
    const cells: string[] = []
    for (const [, quoted, bare = ''] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
      cells.push((quoted === undefined ? bare : quoted.replaceAll('""', '"')).trim())
    table.push(cells)
  }
  return table
}

/** A line break inside quotation marks ends no record. */
function* recordsOf(text: string): Generator<string> {
  let from = 0
  let isQuoted = false
  for (let at = 0; at <= text.length; at++) {
    const sign = text[at]
    if (sign === '"') isQuoted = !isQuoted
    if (sign !== undefined && (sign !== '\n' || isQuoted)) continue
    const line = text.slice(from, at).replace(/\r$/, '')
    if (line !== '') yield line
    from = at + 1
  }
}

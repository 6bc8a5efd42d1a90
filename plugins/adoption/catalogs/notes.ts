/**
 * Stores the content of a catalog in an SQLite database, so that large catalogs do not fill the memory. The database is
 * searched by path and by id, and is kept as long as the plan. Stored paths are mapped to the place by a prefix that is
 * found by trial.
 */

import { mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { say, type Words } from 'archivolt'
import Database from 'better-sqlite3'
import { codeOf, isDiskFault, orWhereAbsent } from '../../film-kit/disk-fault.ts'
import { ARCHIVE_LINE, isWithin, pathOf } from '../../film-kit/names.ts'
import { trimmed, trimmedComments } from '../../film-kit/trimmed.ts'
import type { FoundFile, Info, Listed } from '../../film-kit/types.ts'
import { objectOf } from '../../film-kit/values.ts'
import { CATALOG_KINDS } from './all.ts'
import { documentsIn } from './documents.ts'
import { ENOUGH } from './enough.ts'
import { packedJsonIn } from './files.ts'
import {
  type Along,
  type AlongCount,
  type CatalogFault,
  type CatalogFilm,
  type CatalogKind,
  type CatalogRead,
  NoCatalog,
  type PathMap,
  type Setting,
} from './types.ts'

export const NOTES_FILE = 'notes.db'
/** The number of stored paths that are tried in the place. */
const SAMPLE = 200
/** The maximum length of a text in a film's information. */
const MOST_TEXT = 100_000
const IS_ID = /^[A-Za-z0-9_-]{1,64}$/
/** Matches an id at any position of a file name. */
const IN_NAME = /(?<![A-Za-z0-9])(?=([A-Za-z0-9_-]{11})(?![A-Za-z0-9]))/g

/** Normalizes slashes and Unicode. */
const plain = (path: string): string => path.replaceAll('\\', '/').replace(/^\.\//, '').normalize('NFC')

/** Whether a path, with links resolved, is below one of the roots. */
export function allowed(roots: readonly string[]): (path: string) => boolean {
  return (path) => {
    const real = orWhereAbsent(() => realpathSync(path), undefined)
    return real !== undefined && roots.some((root) => isWithin(root, real))
  }
}

/**
 * Reads the catalogs whose file names match, and keeps the first one that names enough films of the place, otherwise
 * the one that names the most. Catalogs that cannot be read are reported.
 * @param near  absolute paths
 * @param at  read only this file
 * @param only  read only this kind
 * @param said  the mapping of paths; default: found by trial
 */
export async function readCatalogs(
  place: string,
  roots: readonly string[],
  near: readonly string[],
  own: string,
  { at, only, said }: { at?: string | undefined; only?: string | undefined; said?: PathMap | undefined } = {},
): Promise<{ read?: CatalogRead; faults: CatalogFault[] }> {
  const isBelowRoots = allowed(roots)
  const isAllowed = (path: string): boolean => path === documentsIn(own) || isBelowRoots(path)
  mkdirSync(own, { recursive: true, mode: 0o700 })
  rmSync(join(own, NOTES_FILE), { force: true })
  let best: CatalogRead | undefined
  const faults: CatalogFault[] = []
  for (const kind of CATALOG_KINDS) {
    if (only !== undefined && kind.name !== only) continue
    const files = kind.find(at === undefined ? near : [at]).filter(isAllowed)
    if (files.length === 0) continue
    const beside = kind.beside?.(near).filter(isAllowed) ?? []
    const draft = join(own, `${kind.name}.db`)
    const read = await readOne(kind, { files, beside, place, own, isAllowed }, draft, said)
    const [path] = files
    if ('why' in read) faults.push({ code: 'unreadable_catalog', path: path!, why: read.why })
    // A catalog next to the place may belong to another library.
    else if (
      (read.share < ENOUGH || read.films === 0) &&
      only === undefined &&
      at === undefined &&
      !isWithin(place, path!)
    )
      faults.push({
        code: 'catalog_elsewhere',
        path: path!,
        why: say`it lists ${{ count: read.films }} videos, and few or none of them are in this folder`,
      })
    else if (read.share > (best?.share ?? -1)) {
      best = read
      renameSync(draft, join(own, NOTES_FILE))
    }
    rmSync(draft, { force: true })
    if (best && best.share >= ENOUGH) break
  }
  rmSync(documentsIn(own), { force: true })
  const told = faults.filter(({ code, why }) => why !== '' && !(code === 'catalog_elsewhere' && best))
  return { ...(best && { read: best }), faults: [...told, ...(best?.unread ?? [])] }
}

/** @returns the catalog, or why it cannot be read; '': its file was removed meanwhile */
async function readOne(
  kind: CatalogKind,
  source: Parameters<CatalogKind['read']>[0],
  draft: string,
  said: PathMap | undefined,
): Promise<CatalogRead | { why: Words }> {
  const notes = newNotes(draft)
  try {
    const files = (await kind.choose?.(source.files)) ?? source.files
    await kind.read({ ...source, files }, notes)
    return { kind: kind.name, files: [...files], ...notes.end(source.place, said) }
  } catch (thrown) {
    notes.close()
    if (thrown instanceof NoCatalog) return { why: thrown.why }
    if (!isOfFile(thrown)) throw thrown
    const code = codeOf(thrown)
    return { why: code === 'ENOENT' ? '' : say`The server cannot read this file (${{ code }})` }
  }
}

/** Whether the error comes from the file: it was removed meanwhile, or the server may not read it. */
const isOfFile = (thrown: unknown): boolean =>
  ['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ELOOP', 'ENOTDIR'].includes(codeOf(thrown))

const TABLES = `
  CREATE TABLE film (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, path TEXT, folded TEXT, info TEXT NOT NULL, info_file TEXT,
    picture_file TEXT, is_part INTEGER NOT NULL, extractor TEXT, is_seen INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE told (id TEXT PRIMARY KEY, info TEXT NOT NULL) STRICT;
  CREATE TABLE said (id TEXT PRIMARY KEY, comments BLOB NOT NULL) STRICT;
  CREATE TABLE along (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, data TEXT NOT NULL) STRICT;
  CREATE TABLE archived (number INTEGER PRIMARY KEY, line TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;`
const INDEXES =
  'CREATE INDEX film_path ON film (path); CREATE INDEX film_folded ON film (folded); CREATE INDEX film_id ON film (id);'
const MOST_BROKEN = 1000
const MOST_SETTINGS = 500
const LONGEST_SETTING = 200
/** The maximum length of a playlist's description. */
const LONGEST_TEXT = 5000
/**
 * The maximum number of characters in rows that are returned at a time; the row that exceeds this is still included.
 */
const MOST_AT_ONCE = 4 << 20
/** The maximum number of a playlist's entries. */
const MOST_LISTED = 5000
const isId = (id: string): boolean => IS_ID.test(id)
const MOST_OWNERS = 200

/** Limits the size of playlists, whose content is not trusted. */
function bounded(one: Along): Along {
  if (one.kind === 'list') return { ...one, entries: one.entries.filter(isId).slice(0, MOST_LISTED) }
  if (one.kind !== 'platform_list') return one
  const { description, ...rest } = one
  const entries = one.entries.filter(({ id }) => isId(id)).slice(0, MOST_LISTED)
  return {
    ...rest,
    ...(description !== undefined && { description: description.slice(0, LONGEST_TEXT) }),
    entries: entries.map(({ id, title, uploader }) => ({
      id,
      title: line(title),
      ...(uploader !== undefined && { uploader: line(uploader) }),
    })),
  }
}

function newNotes(path: string) {
  rmSync(path, { force: true })
  const db = new Database(path)
  db.pragma('journal_mode = OFF')
  db.pragma('synchronous = OFF')
  db.exec(TABLES)
  db.exec('BEGIN')
  const addFilm = db.prepare(
    'INSERT INTO film (id, path, folded, info, info_file, picture_file, is_part, extractor) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const addInfo = db.prepare('INSERT OR IGNORE INTO told (id, info) VALUES (?, ?)')
  const addSaid = db.prepare('INSERT OR IGNORE INTO said (id, comments) VALUES (?, ?)')
  const addAlong = db.prepare('INSERT INTO along (kind, owner, data) VALUES (?, ?, ?)')
  const addArchived = db.prepare('INSERT OR IGNORE INTO archived (line) VALUES (?)')
  const broken: CatalogRead['broken'] = []
  const unread: CatalogFault[] = []
  const settings: Setting[] = []
  return {
    film({ id, path: stored, info = {}, infoFile, pictureFile, isPart = false, extractor }: CatalogFilm): void {
      if (!IS_ID.test(id)) return
      const key = stored === undefined ? null : plain(stored)
      addFilm.run(
        ...[id, key, key?.toLowerCase() ?? null, JSON.stringify(shortened(info)), infoFile ?? null],
        ...[pictureFile ?? null, isPart ? 1 : 0, extractor ?? null],
      )
    },
    info(id: string, info: Info): void {
      if (IS_ID.test(id)) addInfo.run(id, JSON.stringify(trimmed(info)))
    },
    archived(line: string): void {
      if (ARCHIVE_LINE.test(line)) addArchived.run(line)
    },
    comments(id: string, comments: readonly unknown[]): void {
      // Compressed, because comments are by far the largest part.
      if (IS_ID.test(id) && comments.length > 0)
        addSaid.run(id, deflateRawSync(JSON.stringify(trimmedComments(comments)), { level: 1 }))
    },
    along(given: Along): void {
      const one = bounded(given)
      if (IS_ID.test(one.id) || one.id.startsWith('@'))
        addAlong.run(one.kind, 'owner' in one ? one.owner.slice(0, 100) : '', JSON.stringify(one))
    },
    settings(
      { name, kind, id = '' }: { name: string; kind: 'channel' | 'playlist'; id?: string | undefined },
      set: Record<string, unknown>,
    ): void {
      for (const [key, value] of Object.entries(set)) {
        const isSet = ['string', 'number'].includes(typeof value) && value !== '' && value !== 0
        if (isSet && settings.length < MOST_SETTINGS)
          settings.push({ of: line(name), ...(IS_ID.test(id) && { kind, id }), key, value: line(value) })
      }
    },
    broken(id: string, why: Words): void {
      if (IS_ID.test(id) && broken.length < MOST_BROKEN) broken.push({ id, why })
    },
    unread(path: string, why: Words): void {
      if (unread.length < MOST_BROKEN) unread.push({ code: 'unreadable_catalog', path, why })
    },
    end(place: string, said?: PathMap): Omit<CatalogRead, 'kind' | 'files'> {
      db.exec('COMMIT')
      db.exec(INDEXES)
      const { map, share } = mapOf(db, place, said)
      for (const [name, value] of Object.entries(map)) db.prepare('INSERT INTO fact VALUES (?, ?)').run(name, value)
      const counts = db
        .prepare('SELECT kind, owner, count(*) AS count FROM along GROUP BY kind, owner ORDER BY kind, owner LIMIT ?')
        .all(MOST_OWNERS) as AlongCount[]
      const films = db.prepare('SELECT count(DISTINCT id) FROM film').pluck().get() as number
      db.close()
      return { films, share, map, along: counts, broken, unread, settings }
    },
    close: () => void db.close(),
  }
}

/** A line for people, without control characters, which could reverse the direction of text. */
const line = (value: unknown): string =>
  String(value)
    .slice(0, LONGEST_SETTING)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()

/** Limits the length of texts, whose content is not trusted. */
const shortened = (info: Info): Info =>
  Object.fromEntries(
    Object.entries(info).map(([key, value]) => [key, typeof value === 'string' ? value.slice(0, MOST_TEXT) : value]),
  )

const asFolder = (path: string): string => (path === '' || path.endsWith('/') ? path : `${path}/`)

/**
 * Drops leading folders of each path until the rest exists in the place. The prefix that is dropped most often is
 * mapped to the place.
 */
function mapOf(db: Database.Database, place: string, said?: PathMap): { map: PathMap; share: number } {
  const count = db.prepare('SELECT max(number) FROM film').pluck().get() as number | null
  const step = Math.max(1, Math.floor((count ?? 0) / SAMPLE))
  const paths = db
    .prepare('SELECT path FROM film WHERE path IS NOT NULL AND number % ? = 0 LIMIT ?')
    .pluck()
    .all(step, SAMPLE) as string[]
  if (said) {
    const map = { from: asFolder(plain(said.from)), to: asFolder(plain(said.to)) }
    const agreed = paths.filter(
      (path) => path.startsWith(map.from) && isThere(`${place}/${map.to}${path.slice(map.from.length)}`),
    )
    return { map, share: paths.length === 0 ? ENOUGH : agreed.length / paths.length }
  }
  const votes = new Map<string, number>()
  for (const path of paths) {
    for (let from = path.startsWith('/') ? 1 : 0; from < path.length; ) {
      const rest = path.slice(from)
      if (isThere(`${place}/${rest}`)) {
        const prefix = path.slice(0, from)
        votes.set(prefix, (votes.get(prefix) ?? 0) + 1)
        break
      }
      const next = path.indexOf('/', from)
      if (next < 0) break
      from = next + 1
    }
  }
  const [[prefix, agreed] = ['', 0]] = [...votes].sort(([, a], [, b]) => b - a)
  // Without stored paths, nothing suggests that the catalog belongs to another library.
  const map = { from: agreed === 0 ? commonFolder(paths) : prefix, to: '' }
  return { map, share: paths.length === 0 ? ENOUGH : agreed / paths.length }
}

/** The common parent folder of the paths, which is the most likely mapping. */
function commonFolder([first = '', ...others]: readonly string[]): string {
  let common = first.slice(0, first.lastIndexOf('/') + 1)
  for (const path of others)
    while (!path.startsWith(common)) common = common.slice(0, common.lastIndexOf('/', common.length - 2) + 1)
  return common
}

const exists = (path: string): boolean =>
  orWhereAbsent(() => statSync(path, { throwIfNoEntry: false }), undefined) !== undefined
const isThere = (path: string): boolean =>
  !path.includes('\0') && !path.includes('/../') && (exists(path) || exists(path.normalize('NFD')))

interface FilmRow {
  number: number
  id: string
  path: string | null
  info: string
  info_file: string | null
  picture_file: string | null
  is_part: 0 | 1
  extractor: string | null
}

export type Notes = ReturnType<typeof openNotes>

export function openNotes(own: string, place: string, roots: readonly string[]) {
  const db = new Database(join(own, NOTES_FILE), { fileMustExist: true })
  db.pragma('synchronous = OFF')
  const isAllowed = allowed(roots)
  const fact = db.prepare('SELECT value FROM fact WHERE name = ?').pluck()
  const [from, to] = [fact.get('from') as string, fact.get('to') as string]
  const byPath = db.prepare('SELECT * FROM film WHERE path = ? ORDER BY number LIMIT 10')
  const byFolded = db.prepare('SELECT * FROM film WHERE folded = ? LIMIT 2')
  const byId = db.prepare('SELECT * FROM film WHERE id = ? LIMIT 1')
  const told = db.prepare('SELECT info FROM told WHERE id = ?').pluck()
  const said = db.prepare('SELECT comments FROM said WHERE id = ?').pluck()
  const see = db.prepare('UPDATE film SET is_seen = 1 WHERE id = ?')
  const unseen = db.prepare(
    'SELECT min(number) AS number, id FROM film WHERE path IS NOT NULL GROUP BY id HAVING max(is_seen) = 0 AND number > ? ORDER BY 1 LIMIT ?',
  )
  const archived = db.prepare('SELECT number, line FROM archived WHERE number > ? ORDER BY number LIMIT ?')
  const along = db.prepare('SELECT number, data FROM along WHERE number > ? ORDER BY number LIMIT ?')

  /** The other program's path of a file in the place; undefined: the file is outside the mapped folder. */
  const keyOf = (path: string): string | undefined => {
    const own = plain(path)
    return own.startsWith(to) ? `${from}${own.slice(to.length)}` : undefined
  }
  const stored = (path: string): FilmRow[] => {
    const key = keyOf(path)
    if (key === undefined) return []
    const exact = byPath.all(key) as FilmRow[]
    if (exact.length > 0) return exact
    const folded = byFolded.all(key.toLowerCase()) as FilmRow[]
    return folded.length === 1 ? folded : []
  }
  const named = (base: string): FilmRow | undefined => {
    const ids = [...base.matchAll(IN_NAME)].map(([, id]) => id!)
    const rows = [...new Set(ids)].flatMap((id) => (byId.get(id) as FilmRow | undefined) ?? [])
    return rows.length === 1 ? rows[0] : undefined
  }
  const infoOf = (row: FilmRow): Info => {
    const more = told.get(row.id) as string | undefined
    const info = { ...(JSON.parse(more ?? '{}') as Info), ...(JSON.parse(row.info) as Info) }
    if (row.info_file === null || typeof info.channel_id === 'string' || !isAllowed(row.info_file)) return info
    try {
      const told = objectOf(packedJsonIn(row.info_file))
      return told.id === row.id ? { ...told, ...info } : info
    } catch (thrown) {
      if (isDiskFault(thrown)) throw thrown
      return info // the file is missing, or is not an information file
    }
  }
  return {
    /** The catalog's data about a file. */
    of(file: FoundFile): Listed | undefined {
      const [row = named(file.base), ...others] = stored(pathOf(file))
      if (!row) return undefined
      for (const { id } of [row, ...others]) see.run(id)
      const isStored = row.path !== null && row.path.toLowerCase() === keyOf(pathOf(file))?.toLowerCase()
      const elsewhere = row.path?.startsWith(from) ? `${to}${row.path.slice(from.length)}` : undefined
      const picture = row.picture_file !== null && isAllowed(row.picture_file) ? row.picture_file : undefined
      return {
        id: row.id,
        isStored,
        wasMoved: !isStored && row.path !== null && !(elsewhere !== undefined && isThere(`${place}/${elsewhere}`)),
        isPart: row.is_part === 1,
        ...(row.extractor !== null && { extractor: row.extractor }),
        others: [...new Set(others.map(({ id }) => id))].filter((id) => id !== row.id),
        info: infoOf(row),
        picture,
      }
    },
    /** The comments of a video in yt-dlp's form. */
    commentsOf(id: string): unknown[] {
      const packed = said.get(id) as Buffer | undefined
      return packed ? (JSON.parse(inflateRawSync(packed).toString()) as unknown[]) : []
    },
    /** Lines of the program's download archive. */
    archived: (after: number, most: number) => archived.all(after, most) as Array<{ number: number; line: string }>,
    /** Ids of films that the catalog names but for which no file was found. */
    unseen: (after: number, most: number) => unseen.all(after, most) as Array<{ number: number; id: string }>,
    along(after: number, most: number) {
      const rows: Array<{ number: number; one: Along }> = []
      let chars = 0
      for (const row of along.iterate(after, most)) {
        const { number, data } = row as { number: number; data: string }
        rows.push({ number, one: JSON.parse(data) as Along })
        chars += data.length
        if (chars > MOST_AT_ONCE) break
      }
      return rows
    },
    end: () => void db.close(),
  }
}

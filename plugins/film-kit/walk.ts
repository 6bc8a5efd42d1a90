/**
 * Walks through folders in the reading child, and yields films with the files next to them, in pieces. It uses blocking
 * calls, so a disk that hangs blocks only this child.
 */

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { say, type Words } from 'archivolt'
import type { Ending } from '../media/containers.ts'
import { codeOf, isDiskFault } from './disk-fault.ts'
import { reportAlive } from './heartbeat.ts'
import { ARCHIVE_LINE, groupNames, isAside, isIgnored, isWithin, pathIn, pathOf } from './names.ts'
import { openApart } from './separate-info-files.ts'
import type { FoundFile, Problem } from './types.ts'

/** Maximum depth of nested folders. */
const DEEPEST = 12
/**
 * Maximum number of information files in a folder, without a film of the same name, that are tried for renamed films.
 */
const MOST_LONE = 50
/** Maximum number of files in a folder that belongs to the films next to it. */
const MOST_ASIDE = 20_000
/** Number of films, and of lines of download archives, in one piece. */
const STEP = 200
const MOST_LINES = 5000
const MOST_ARCHIVE_BYTES = 64 << 20
/** Whether it is a download archive of yt-dlp. */
const isArchive = (name: string): boolean => /archive/i.test(name) && /\.(?:txt|log)$/i.test(name)
const LONGEST_LINE = 1000
const CHUNK_BYTES = 64 << 10

export interface Walked {
  files: FoundFile[]
  problems: Problem[]
  /** Lines `<extractor> <id>` of download archives, after all films. */
  archived: string[]
  isDone: boolean
}

export interface WalkArgs {
  path: string
  /** Links are followed if they lead below these folders, but not into the place: the walk finds those targets. */
  roots?: readonly string[]
  /**
   * Whether this is the archive's own library: all links are followed, and a file that cannot be read ends the walk,
   * because it would be considered missing. Otherwise, without `roots`, no link is followed.
   */
  isOwn?: boolean
  /** Absolute paths of folders that are skipped. */
  leaveOut?: readonly string[]
  deepest?: number
  endings: readonly string[]
}

const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

interface Folder {
  path: string
  depth: number
  /** `device:inode` of the folders above it. */
  above: readonly string[]
}

/** Finds the picture of a film that its program stores elsewhere. */
export type PictureOf = (folder: string, base: string) => string | undefined

export function openWalk(
  { path: root, roots, isOwn = false, leaveOut = [], deepest = DEEPEST, endings }: WalkArgs,
  pictureOf: PictureOf | undefined,
) {
  const isLeftOut = new Set(leaveOut)
  const isEnding = new Set(endings)
  const folders: Folder[] = [{ path: '', depth: 0, above: [] }]
  /**
   * Hard-linked files by inode, until all their names were seen. A name with an information file is preferred, then the
   * shortest.
   */
  const linked = new Map<string, { film: FoundFile; left: number }>()
  const waiting: FoundFile[] = []
  const problems: Problem[] = []
  const archives: string[] = []
  const lines = archivedLines()
  const apart = openApart()
  /**
   * Whether information files may be in other folders. A single folder has no others, and in the own library the
   * information file is next to its film.
   */
  const mayBeApart = roots !== undefined

  function next(): Walked {
    while (waiting.length < STEP && problems.length < STEP) {
      const folder = folders.pop()
      if (!folder) {
        endLinked()
        if (linked.size === 0) waiting.push(...apart.release(STEP))
        break
      }
      reportAlive()
      read(folder)
    }
    const now = { files: waiting.splice(0, STEP), problems: problems.splice(0, STEP) }
    const archived: string[] = []
    if (waiting.length + problems.length + folders.length + linked.size + apart.left() > 0)
      return { ...now, archived, isDone: false }
    while (archived.length < MOST_LINES) {
      const { value, done } = lines.next()
      if (done) return { ...now, archived, isDone: true }
      archived.push(value)
    }
    return { ...now, archived, isDone: false }
  }

  function* archivedLines(): Generator<string, undefined> {
    for (const path of archives) {
      try {
        for (const line of linesOf(absolute(path), MOST_ARCHIVE_BYTES)) if (ARCHIVE_LINE.test(line)) yield line
      } catch (thrown) {
        if (isDiskFault(thrown)) throw thrown
      }
    }
    return undefined
  }

  function absolute(path: string): string {
    return path === '' ? root : `${root}/${path}`
  }

  function tell(code: Problem['code'], path: string, why: Words): void {
    problems.push({ code, path, why })
  }

  /** Whether the error ends the walk: in the archive's own library, also if only a file is unreadable. */
  function isFault(thrown: unknown): boolean {
    return isDiskFault(thrown) || (isOwn && !GONE.has(codeOf(thrown)))
  }

  function read(folder: Folder): void {
    const fullPath = absolute(folder.path)
    let entries: Entry[]
    let self: string
    try {
      const { dev, ino } = statSync(fullPath, { bigint: true })
      self = `${dev}:${ino}`
      if (folder.above.includes(self)) return tell('loop', folder.path, say`a folder that contains itself`)
      entries = entriesIn(fullPath)
    } catch (thrown) {
      if (folder.depth === 0 || isFault(thrown)) throw thrown
      return tell('unreadable_file', folder.path, say`the folder cannot be read (${{ code: codeOf(thrown) }})`)
    }
    const inner: Folder[] = []
    const names: string[] = []
    const aside: string[] = []
    for (const { name, entry, isText } of entries) {
      if (roots && isAside(name) && entry.isDirectory()) aside.push(...namesAside(fullPath, name))
      if (isIgnored(name)) continue
      const path = pathIn(folder.path, name)
      if (isLeftOut.has(absolute(path))) continue
      if (!isText) {
        tell('unreadable_name', path, say`the file name is not valid UTF-8: rename the file, then it can be imported`)
        continue
      }
      const kind = entry.isSymbolicLink() ? follow(path) : kindOf(entry)
      if (kind === 'file') names.push(name)
      if (kind === 'folder') inner.push({ path, depth: folder.depth + 1, above: [...folder.above, self] })
    }
    group(folder.path, names.sort(), aside)
    for (const one of inner.sort((a, b) => (a.path < b.path ? 1 : -1))) {
      if (one.depth <= deepest) folders.push(one)
      else tell('too_deep', one.path, say`folders are scanned only ${{ deepest }} levels deep`)
    }
  }

  /** The kind of a link's target; `none`: the link is skipped. */
  function follow(path: string): 'file' | 'folder' | 'none' {
    if (!roots && !isOwn) return 'none'
    try {
      const real = realpathSync(absolute(path))
      const target = statSync(real)
      if (!roots) return kindOf(target)
      if (isWithin(root, real)) {
        const isLoop = target.isDirectory() && isWithin(real, absolute(path))
        tell(
          isLoop ? 'loop' : 'symbolic_link',
          path,
          isLoop
            ? say`a folder that contains itself`
            : say`a link within the same folder: its target is scanned anyway`,
        )
        return 'none'
      }
      if (!roots.some((root) => isWithin(root, real))) {
        tell('outside_root', path, say`a link to somewhere that the server may not read`)
        return 'none'
      }
      return kindOf(target)
    } catch (thrown) {
      if (isFault(thrown)) throw thrown
      tell('unreadable_file', path, say`a link that cannot be followed (${{ code: codeOf(thrown) }})`)
      return 'none'
    }
  }

  /** Names relative to the film's folder. */
  function namesAside(outer: string, folder: string): string[] {
    try {
      return readdirSync(`${outer}/${folder}`)
        .slice(0, MOST_ASIDE)
        .map((name) => `${folder}/${name}`)
    } catch (thrown) {
      if (isFault(thrown)) throw thrown
      return []
    }
  }

  function take(film: FoundFile): void {
    if (!mayBeApart || !apart.hold(film)) waiting.push(film)
  }

  function group(folder: string, names: readonly string[], aside: readonly string[]): void {
    const { films, unfinished, lone } = groupNames(names, isEnding, aside)
    const infos = lone.slice(0, MOST_LONE)
    if (mayBeApart) apart.addInfos(lone.map((name) => pathIn(folder, name)))
    for (const [, left] of unfinished)
      tell(
        'unfinished',
        pathIn(folder, left[0]!),
        say`files left by an interrupted download: ${{ count: left.length }}`,
      )
    for (const { ending, ...film } of films) {
      reportAlive()
      const path = pathIn(folder, film.name)
      try {
        const { size, mtimeMs, nlink, dev, ino, isFile } = factsOf(absolute(path))
        if (!isFile) continue
        const picture = film.picture ?? pictureOf?.(folder, film.base)
        const found: FoundFile = {
          ...film,
          ...(picture !== undefined && { picture }),
          ...(film.info === undefined && infos.length > 0 && { lone: infos }),
          folder,
          ending: ending as Ending,
          sizeBytes: size,
          changedMs: Math.floor(mtimeMs),
        }
        if (nlink > 1 && roots) link(`${dev}:${ino}`, found, nlink)
        else take(found)
      } catch (thrown) {
        if (isFault(thrown)) throw thrown
        if (codeOf(thrown) !== 'ENOENT')
          tell('unreadable_file', path, say`it cannot be read (${{ code: codeOf(thrown) }})`)
      }
    }
    for (const name of names) if (isArchive(name)) archives.push(pathIn(folder, name))
  }

  function link(inode: string, film: FoundFile, names: number): void {
    const known = linked.get(inode)
    if (!known) return void linked.set(inode, { film, left: names - 1 })
    const [path, taken] = [pathOf(film), pathOf(known.film)]
    const [hasInfo, hadInfo] = [film.info !== undefined, known.film.info !== undefined]
    const isBetter = hasInfo === hadInfo ? path.length < taken.length : hasInfo
    if (isBetter) known.film = film
    const [chosen, other] = isBetter ? [path, taken] : [taken, path]
    tell('hard_link', other, say`the same file as ${{ file: chosen }}, under another name`)
    if (--known.left > 0) return
    linked.delete(inode)
    take(known.film)
  }

  /** Yields hard-linked files that have other names outside the place. */
  function endLinked(): void {
    for (const [inode, { film }] of linked) {
      if (waiting.length >= STEP) return
      linked.delete(inode)
      take(film)
    }
  }

  return {
    next,
  }
}

/** The character that replaces bytes that are not UTF-8. */
const REPLACED = '\ufffd'

interface Entry {
  name: string
  entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>
  /** Whether the name is valid UTF-8. */
  isText: boolean
}

/** The entries of a folder. Names as bytes take more memory, so they are read only if a name is not UTF-8. */
function entriesIn(folder: string): Entry[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  if (!entries.some(({ name }) => name.includes(REPLACED)))
    return entries.map((entry) => ({ name: entry.name, entry, isText: true }))
  const bytes = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
  return bytes.map((entry) => {
    const name = entry.name.toString('utf8')
    return { name, entry, isText: Buffer.from(name).equals(entry.name) }
  })
}

const kindOf = (found: Pick<Stats, 'isFile' | 'isDirectory'>): 'file' | 'folder' | 'none' =>
  found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'none'

function factsOf(path: string) {
  const found = statSync(path)
  return {
    size: found.size,
    mtimeMs: found.mtimeMs,
    nlink: found.nlink,
    dev: found.dev,
    ino: found.ino,
    isFile: found.isFile(),
  }
}

/** Yields lines of a regular file, read in chunks; none if the file is larger than `most`. */
function* linesOf(path: string, most: number): Generator<string> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = fstatSync(file)
    if (!found.isFile() || found.size > most) return
    const [chunk, decoder] = [Buffer.alloc(CHUNK_BYTES), new StringDecoder('utf8')]
    let rest = ''
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, count))).split(/\r?\n/)
      // A line that is too long is cut.
      rest = lines.pop()!.slice(0, LONGEST_LINE)
      yield* lines
    }
    yield rest + decoder.end()
  } finally {
    closeSync(file)
  }
}

export type Walk = ReturnType<typeof openWalk>

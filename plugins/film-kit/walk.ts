/**
 * A walk through folders, in the reading child: films and what lies beside each, in pieces, with plain calls, so that a
 * disk that is slow or hangs holds up nobody else.
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
import type { Words } from 'archivolt'
import type { Ending } from '../media/containers.ts'
import { tellAlive } from './alive.ts'
import { because } from './because.ts'
import { codeOf, isDiskFault } from './disk-fault.ts'
import { groupNames, isIgnored, isWithin, pathIn, pathOf } from './names.ts'
import type { FoundFile, Problem } from './types.ts'

/** Folders in folders, but not without end. */
const DEEPEST = 12
/** Of information files without a film of their name, so many are tried for films that were renamed. */
const MOST_LONE = 50
/** So many films, and lines of lists of downloads, go to the event loop at a time. */
const STEP = 200
const MOST_LINES = 5000
const MOST_ARCHIVE_BYTES = 64 << 20
/** Lists that yt-dlp keeps of what it has downloaded. */
const isArchive = (name: string): boolean => /archive/i.test(name) && /\.txt$/i.test(name)
const ARCHIVE_LINE = /^(\S{1,50}) (\S{1,100})$/
const LONGEST_LINE = 1000
const CHUNK_BYTES = 64 << 10

export interface Walked {
  files: FoundFile[]
  problems: Problem[]
  /** `<extractor> <id>` of lists of downloads, once all files are through. */
  archived: string[]
  isDone: boolean
}

export interface WalkArgs {
  path: string
  /** One folder of it, and none in that. */
  only?: string
  /** Links are followed to what lies below these, but none into the place: that is found without them. */
  roots?: readonly string[]
  /**
   * It is our own: all links are followed, as if what they lead to lay there, and what is there and cannot be read ends
   * the walk: it would be taken for gone. Default: without roots no link is followed.
   */
  isOwn?: boolean
  /** Whole paths of folders that are not looked into. */
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

/** The picture that a program keeps of a film elsewhere. */
export type PictureOf = (folder: string, base: string) => string | undefined

export function openWalk(
  { path: root, only, roots, isOwn = false, leaveOut = [], deepest = DEEPEST, endings }: WalkArgs,
  pictureOf: PictureOf | undefined,
) {
  const isLeftOut = new Set(leaveOut)
  const isEnding = new Set(endings)
  const folders: Folder[] = [{ path: only ?? '', depth: only === undefined ? 0 : deepest, above: [] }]
  /** Files with further names, by inode, until all of these have been seen: one that is told of, then the shortest. */
  const linked = new Map<string, { film: FoundFile; left: number }>()
  const waiting: FoundFile[] = []
  const problems: Problem[] = []
  const archives: string[] = []
  const lines = archivedLines()

  function next(): Walked {
    while (waiting.length < STEP && problems.length < STEP) {
      const folder = folders.pop()
      if (!folder) {
        endLinked()
        break
      }
      tellAlive()
      read(folder)
    }
    const now = { files: waiting.splice(0, STEP), problems: problems.splice(0, STEP) }
    const archived: string[] = []
    if (waiting.length + problems.length + folders.length + linked.size > 0) return { ...now, archived, isDone: false }
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

  /** Errors of a single file are no fault of the disk, except in the library itself. */
  function isFault(thrown: unknown): boolean {
    return isDiskFault(thrown) || (isOwn && !GONE.has(codeOf(thrown)))
  }

  function read(folder: Folder): void {
    const place = absolute(folder.path)
    let entries: Entry[]
    let self: string
    try {
      const { dev, ino } = statSync(place, { bigint: true })
      self = `${dev}:${ino}`
      if (folder.above.includes(self)) return tell('loop', folder.path, because('a folder that contains itself'))
      entries = entriesIn(place)
    } catch (thrown) {
      if (folder.depth === 0 || isFault(thrown)) throw thrown
      return tell(
        'unreadable_file',
        folder.path,
        because('the folder cannot be read ({code})', { code: codeOf(thrown) }),
      )
    }
    const inner: Folder[] = []
    const names: string[] = []
    for (const { name, entry, isText } of entries) {
      if (isIgnored(name)) continue
      const path = pathIn(folder.path, name)
      if (isLeftOut.has(absolute(path))) continue
      if (!isText) {
        tell(
          'unreadable_name',
          path,
          because('the file name is not valid UTF-8: rename the file, then it can be imported'),
        )
        continue
      }
      const kind = entry.isSymbolicLink() ? follow(path) : kindOf(entry)
      if (kind === 'file') names.push(name)
      if (kind === 'folder') inner.push({ path, depth: folder.depth + 1, above: [...folder.above, self] })
    }
    group(folder.path, names.sort())
    for (const one of inner.sort((a, b) => (a.path < b.path ? 1 : -1))) {
      if (one.depth <= deepest) folders.push(one)
      else tell('too_deep', one.path, because('folders are looked into {deepest} deep', { deepest: deepest }))
    }
  }

  /** What a link leads to; what lies in this place is found by its own name. */
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
            ? because('a folder that contains itself')
            : because('a link into the same place: its target is found by itself'),
        )
        return 'none'
      }
      if (!roots.some((root) => isWithin(root, real))) {
        tell('outside_root', path, because('a link that leads out of the folders that may be read'))
        return 'none'
      }
      return kindOf(target)
    } catch (thrown) {
      if (isFault(thrown)) throw thrown
      tell('unreadable_file', path, because('a link that cannot be followed ({code})', { code: codeOf(thrown) }))
      return 'none'
    }
  }

  function group(folder: string, names: readonly string[]): void {
    const { films, unfinished, lone } = groupNames(names, isEnding)
    const infos = lone.slice(0, MOST_LONE)
    for (const [, left] of unfinished)
      tell(
        'unfinished',
        pathIn(folder, left[0]!),
        because('a download that was cut off has left {count} files', { count: left.length }),
      )
    for (const { ending, ...film } of films) {
      tellAlive()
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
        else waiting.push(found)
      } catch (thrown) {
        if (isFault(thrown)) throw thrown
        if (codeOf(thrown) !== 'ENOENT')
          tell('unreadable_file', path, because('it cannot be read ({code})', { code: codeOf(thrown) }))
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
    const [kept, other] = isBetter ? [path, taken] : [taken, path]
    tell('hard_link', other, because('the same file as {file}, under another name', { file: kept }))
    if (--known.left > 0) return
    linked.delete(inode)
    waiting.push(known.film)
  }

  /** Their further names lie elsewhere. */
  function endLinked(): void {
    for (const [inode, { film }] of linked) {
      if (waiting.length >= STEP) return
      linked.delete(inode)
      waiting.push(film)
    }
  }

  return {
    next,
  }
}

/** What stands for bytes that are no UTF-8. */
const REPLACED = '\ufffd'

interface Entry {
  name: string
  entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>
  /** Its name can be written as it is. */
  isText: boolean
}

/** Bytes take much more memory than texts, and are read where needed. */
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

/** Of a file that is one, and no link, in pieces: there may be very many. None where it is too large. */
function* linesOf(path: string, most: number): Generator<string> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = fstatSync(file)
    if (!found.isFile() || found.size > most) return
    const [chunk, decoder] = [Buffer.alloc(CHUNK_BYTES), new StringDecoder('utf8')]
    let rest = ''
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, count))).split(/\r?\n/)
      // One without an end is none, and is not kept.
      rest = lines.pop()!.slice(0, LONGEST_LINE)
      yield* lines
    }
    yield rest + decoder.end()
  } finally {
    closeSync(file)
  }
}

export type Walk = ReturnType<typeof openWalk>

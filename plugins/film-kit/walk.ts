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

export class Walk {
  readonly #root: string
  readonly #roots: readonly string[] | undefined
  readonly #isOwn: boolean
  readonly #leaveOut: ReadonlySet<string>
  readonly #deepest: number
  readonly #endings: ReadonlySet<string>
  readonly #folders: Folder[]
  /** Files with further names, by inode, until all of these have been seen: one that is told of, then the shortest. */
  readonly #linked = new Map<string, { film: FoundFile; left: number }>()
  #waiting: FoundFile[] = []
  #problems: Problem[] = []
  readonly #pictureOf: PictureOf | undefined
  readonly #archives: string[] = []
  readonly #lines = this.#archivedLines()

  constructor(
    { path, only, roots, isOwn = false, leaveOut = [], deepest = DEEPEST, endings }: WalkArgs,
    pictureOf: PictureOf | undefined,
  ) {
    this.#pictureOf = pictureOf
    this.#root = path
    this.#roots = roots
    this.#isOwn = isOwn
    this.#leaveOut = new Set(leaveOut)
    this.#deepest = deepest
    this.#endings = new Set(endings)
    this.#folders = [{ path: only ?? '', depth: only === undefined ? 0 : deepest, above: [] }]
  }

  next(): Walked {
    while (this.#waiting.length < STEP && this.#problems.length < STEP) {
      const folder = this.#folders.pop()
      if (!folder) {
        this.#endLinked()
        break
      }
      tellAlive()
      this.#read(folder)
    }
    const files = this.#waiting.splice(0, STEP)
    const problems = this.#problems.splice(0, STEP)
    const archived: string[] = []
    if (this.#waiting.length + this.#problems.length + this.#folders.length + this.#linked.size > 0)
      return { files, problems, archived, isDone: false }
    while (archived.length < MOST_LINES) {
      const { value, done } = this.#lines.next()
      if (done) return { files, problems, archived, isDone: true }
      archived.push(value)
    }
    return { files, problems, archived, isDone: false }
  }

  *#archivedLines(): Generator<string, undefined> {
    for (const path of this.#archives) {
      try {
        for (const line of linesOf(this.#absolute(path), MOST_ARCHIVE_BYTES)) if (ARCHIVE_LINE.test(line)) yield line
      } catch (thrown) {
        if (isDiskFault(thrown)) throw thrown
      }
    }
    return undefined
  }

  #absolute(path: string): string {
    return path === '' ? this.#root : `${this.#root}/${path}`
  }

  #tell(code: Problem['code'], path: string, why: Words): void {
    this.#problems.push({ code, path, why })
  }

  /** Errors of a single file are no fault of the disk, except in the library itself. */
  #isFault(thrown: unknown): boolean {
    return isDiskFault(thrown) || (this.#isOwn && !GONE.has(codeOf(thrown)))
  }

  #read(folder: Folder): void {
    const place = this.#absolute(folder.path)
    let entries: Entry[]
    let self: string
    try {
      const { dev, ino } = statSync(place, { bigint: true })
      self = `${dev}:${ino}`
      if (folder.above.includes(self)) return this.#tell('loop', folder.path, 'a folder that contains itself')
      entries = entriesIn(place)
    } catch (thrown) {
      if (folder.depth === 0 || this.#isFault(thrown)) throw thrown
      return this.#tell(
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
      if (this.#leaveOut.has(this.#absolute(path))) continue
      if (!isText) {
        this.#tell(
          'unreadable_name',
          path,
          'the file name is not valid UTF-8: rename the file, then it can be imported',
        )
        continue
      }
      const kind = entry.isSymbolicLink() ? this.#follow(path) : kindOf(entry)
      if (kind === 'file') names.push(name)
      if (kind === 'folder') inner.push({ path, depth: folder.depth + 1, above: [...folder.above, self] })
    }
    this.#group(folder.path, names.sort())
    for (const one of inner.sort((a, b) => (a.path < b.path ? 1 : -1))) {
      if (one.depth <= this.#deepest) this.#folders.push(one)
      else
        this.#tell('too_deep', one.path, because('folders are looked into {deepest} deep', { deepest: this.#deepest }))
    }
  }

  /** What a link leads to; what lies in this place is found by its own name. */
  #follow(path: string): 'file' | 'folder' | 'none' {
    if (!this.#roots && !this.#isOwn) return 'none'
    try {
      const real = realpathSync(this.#absolute(path))
      const target = statSync(real)
      if (!this.#roots) return kindOf(target)
      if (isWithin(this.#root, real)) {
        const isLoop = target.isDirectory() && isWithin(real, this.#absolute(path))
        this.#tell(
          isLoop ? 'loop' : 'symbolic_link',
          path,
          isLoop ? 'a folder that contains itself' : 'a link into the same place: its target is found by itself',
        )
        return 'none'
      }
      if (!this.#roots.some((root) => isWithin(root, real))) {
        this.#tell('outside_root', path, 'a link that leads out of the folders that may be read')
        return 'none'
      }
      return kindOf(target)
    } catch (thrown) {
      if (this.#isFault(thrown)) throw thrown
      this.#tell('unreadable_file', path, because('a link that cannot be followed ({code})', { code: codeOf(thrown) }))
      return 'none'
    }
  }

  #group(folder: string, names: readonly string[]): void {
    const { films, unfinished, lone } = groupNames(names, this.#endings)
    const infos = lone.slice(0, MOST_LONE)
    for (const [, left] of unfinished)
      this.#tell(
        'unfinished',
        pathIn(folder, left[0]!),
        because('a download that was cut off has left {count} files', { count: left.length }),
      )
    for (const { ending, ...film } of films) {
      tellAlive()
      const path = pathIn(folder, film.name)
      try {
        const { size, mtimeMs, nlink, dev, ino, isFile } = factsOf(this.#absolute(path))
        if (!isFile) continue
        const picture = film.picture ?? this.#pictureOf?.(folder, film.base)
        const found: FoundFile = {
          ...film,
          ...(picture !== undefined && { picture }),
          ...(film.info === undefined && infos.length > 0 && { lone: infos }),
          folder,
          ending: ending as Ending,
          sizeBytes: size,
          changedMs: Math.floor(mtimeMs),
        }
        if (nlink > 1 && this.#roots) this.#link(`${dev}:${ino}`, found, nlink)
        else this.#waiting.push(found)
      } catch (thrown) {
        if (this.#isFault(thrown)) throw thrown
        if (codeOf(thrown) !== 'ENOENT')
          this.#tell('unreadable_file', path, because('it cannot be read ({code})', { code: codeOf(thrown) }))
      }
    }
    for (const name of names) if (isArchive(name)) this.#archives.push(pathIn(folder, name))
  }

  #link(inode: string, film: FoundFile, names: number): void {
    const known = this.#linked.get(inode)
    if (!known) return void this.#linked.set(inode, { film, left: names - 1 })
    const [path, taken] = [pathOf(film), pathOf(known.film)]
    const [hasInfo, hadInfo] = [film.info !== undefined, known.film.info !== undefined]
    const isBetter = hasInfo === hadInfo ? path.length < taken.length : hasInfo
    if (isBetter) known.film = film
    const [kept, other] = isBetter ? [path, taken] : [taken, path]
    this.#tell('hard_link', other, because('the same file as {file}, under another name', { file: kept }))
    if (--known.left > 0) return
    this.#linked.delete(inode)
    this.#waiting.push(known.film)
  }

  /** Their further names lie elsewhere. */
  #endLinked(): void {
    for (const [inode, { film }] of this.#linked) {
      if (this.#waiting.length >= STEP) return
      this.#linked.delete(inode)
      this.#waiting.push(film)
    }
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

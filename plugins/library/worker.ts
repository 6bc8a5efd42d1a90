/**
 * The library's reading child: walks folders and reads small files beside films and catalogs of other programs with
 * plain calls, so that a disk that is slow or hangs, or a file that is made to hurt, holds up neither the event loop nor
 * anybody else's files. It writes notes of catalogs into a folder of ours, and nowhere else.
 */

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { Words } from 'archivolt'
import type { Ending } from '../media/containers.ts'
import { type Glance, type GlanceArgs, glanceBelow } from './adoption/glance.ts'
import type { FoundFile, Problem } from './adoption/types.ts'
import { onAlive, tellAlive } from './alive.ts'
import { because } from './because.ts'
import { keepDocuments } from './catalogs/documents.ts'
import { isTooMany, looseJson } from './catalogs/files.ts'
import { filesNear, stampNear } from './catalogs/near.ts'
import { allowed, type Notes, openNotes, readCatalogs } from './catalogs/notes.ts'
import { mayTell, toldInFilm } from './catalogs/tubearchivist-film.ts'
import { cachedPictures, channelOfFolder } from './catalogs/tubearchivist-folder.ts'
import type { Along, CatalogFault, CatalogRead, Info, Listed, PathMap } from './catalogs/types.ts'
import { codeOf, isDiskFault } from './disk-fault.ts'
import { kept, keptComments } from './kept.ts'
import { groupNames, isIgnored, pathIn, pathOf } from './names.ts'
import { type Nfo, nfoOf } from './nfo.ts'
import { withFile } from './with-file.ts'

/** Folders in folders, but not without end. */
const DEEPEST = 12
/** Of information files without a film of their name, so many are tried for films that were renamed. */
const MOST_LONE = 50
/** So many films, and lines of lists of downloads, go to the event loop at a time. */
const STEP = 200
const MOST_LINES = 5000
const MOST_INFO_BYTES = 64 << 20
const MOST_NFO_BYTES = 1 << 20
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

/** The first bytes of a film, and what lies beside it. */
export type Seen =
  | { why: Words }
  | { head: Uint8Array; sizeBytes: number; changedMs: number; info?: Info; fault?: Words; nfo?: Nfo; listed?: Listed }

/** Where notes of a catalog are kept, and what they are about. */
export interface NotesArgs {
  own: string
  path: string
  roots: readonly string[]
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

export interface Requests {
  catalog: {
    args: NotesArgs & { at?: string; kind?: string; said?: PathMap }
    result: { read?: CatalogRead; faults: CatalogFault[] }
  }
  glance: { args: GlanceArgs; result: Glance }
  stamp: { args: { path: string; roots: readonly string[] }; result: string }
  documents: { args: { own: string; text: string; isFirst: boolean }; result: { count: number; after?: unknown[] } }
  unseen: { args: NotesArgs & { after: number; most: number }; result: ReturnType<Notes['unseen']> }
  along: { args: NotesArgs & { after: number; most: number }; result: Array<{ number: number; one: Along }> }
  open: { args: WalkArgs; result: number }
  next: { args: { walk: number }; result: Walked }
  end: { args: { walk: number }; result: undefined }
  look: {
    args: { path: string; files: readonly FoundFile[]; notes?: NotesArgs }
    result: { seen: Seen[]; tookMs: number }
  }
  /**
   * Of a video, as yt-dlp writes them: those of its information file, else those in the film, else those of the
   * catalog. []: there are none.
   */
  comments: { args: { id: string; path: string; file: FoundFile; notes?: NotesArgs }; result: unknown[] }
}
export type Op = keyof Requests
interface Request<Name extends Op = Op> {
  number: number
  op: Name
  args: Requests[Name]['args']
}
export type Response = { number: number; result: unknown } | { number: number; error: string; code: string }
/** It still reads. */
export interface Alive {
  isAlive: true
}

const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

const isWithin = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)

interface Folder {
  path: string
  depth: number
  /** `device:inode` of the folders above it. */
  above: readonly string[]
}

class Walk {
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
  #cached: ReturnType<typeof cachedPictures> | undefined
  readonly #archives: string[] = []
  readonly #lines = this.#archivedLines()

  constructor({ path, only, roots, isOwn = false, leaveOut = [], deepest = DEEPEST, endings }: WalkArgs) {
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
        this.#tell('unreadable_name', path, 'the name is no UTF-8: rename the file, then it can be taken in')
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
    const isOfChannel = channelOfFolder(folder) !== undefined
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
        const picture = film.picture ?? (isOfChannel ? this.#pictureOf(film.base) : undefined)
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

  #pictureOf(id: string): string | undefined {
    if (!this.#roots) return undefined // our own library
    this.#cached ??= cachedPictures(this.#root, allowed(this.#roots))
    return this.#cached(id)
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

/** A whole file that is one, and no link. @returns undefined: too large */
function readSmall(path: string, most: number): Buffer | undefined {
  return withFile(path, (file, { size }) => (size > most ? undefined : readFileSync(file)), constants.O_NOFOLLOW)
}

/** @returns undefined: it is none */
function wholeInfo(path: string): Info | undefined {
  const bytes = readSmall(path, MOST_INFO_BYTES)
  if (!bytes || isTooMany(bytes)) return undefined
  const info = looseJson(bytes)
  return info && typeof info === 'object' && !Array.isArray(info) ? (info as Info) : undefined
}

/**
 * Such a file holds every format and comment, and anybody may have written it: only what is looked at goes on.
 * @returns undefined: it is none
 */
function readInfo(path: string): Info | undefined {
  const info = wholeInfo(path)
  return info && kept(info)
}

function readComments(path: string): unknown[] {
  try {
    return keptComments(wholeInfo(path)?.['comments'])
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return []
  }
}

/** What a program has written into a film itself. @returns undefined: nothing, or nothing can be made of it */
function readFilm(root: string, film: FoundFile): ReturnType<typeof toldInFilm> {
  if (film.info !== undefined || !mayTell(film.ending)) return undefined
  try {
    return withFile(`${root}/${pathOf(film)}`, (file, { size }) => toldInFilm(file, size))
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return undefined
  }
}

/** So many bytes tell what a file is. */
const HEAD_BYTES = 64

function headOf(path: string): { head: Uint8Array; sizeBytes: number; changedMs: number } | undefined {
  return withFile(path, (file, { size, mtimeMs }) => {
    const head = new Uint8Array(HEAD_BYTES)
    const length = readSync(file, head, 0, HEAD_BYTES, 0)
    return { head: head.subarray(0, length), sizeBytes: size, changedMs: Math.floor(mtimeMs) }
  })
}

/** @returns undefined: it is none, or nothing can be made of it */
function readNfo(path: string): Nfo | undefined {
  try {
    const bytes = readSmall(path, MOST_NFO_BYTES)
    const nfo = bytes && nfoOf(bytes.toString('utf8'))
    return nfo && { ...nfo, info: kept(nfo.info) }
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return undefined
  }
}

function lookAt(root: string, file: FoundFile): Seen {
  const seen = lookAtInfo(root, file)
  if ('why' in seen || seen.info || file.nfo === undefined) return seen
  const nfo = readNfo(`${root}/${pathIn(file.folder, file.nfo)}`)
  return nfo ? { ...seen, nfo } : seen
}

function readCommentsOf(id: string, root: string, file: FoundFile): unknown[] {
  if (file.info !== undefined) return readComments(`${root}/${pathIn(file.folder, file.info)}`)
  const told = readFilm(root, file)
  return told?.info['id'] === id ? keptComments(told.comments) : []
}

function lookAtInfo(root: string, { folder, name, info: infoName }: FoundFile): Seen {
  let seen: ReturnType<typeof headOf>
  try {
    seen = headOf(`${root}/${pathIn(folder, name)}`)
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return { why: because('it cannot be read ({code})', { code: codeOf(thrown) }) }
  }
  if (!seen) return { why: because('it is no file any more') }
  if (infoName === undefined) return seen
  try {
    const info = readInfo(`${root}/${pathIn(folder, infoName)}`)
    return info ? { ...seen, info } : { ...seen, fault: because('it is no information file, or too large') }
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return { ...seen, fault: because(thrown instanceof SyntaxError ? 'it is no whole JSON' : 'it cannot be read') }
  }
}

const walks = new Map<number, Walk>()
let count = 0

/** Of the one adoption that this child works for. */
let opened: Notes | undefined
const notesOf = ({ own, path, roots }: NotesArgs): Notes => (opened ??= openNotes(own, path, roots))

function lookWith(root: string, file: FoundFile, notes: Notes | undefined): Seen {
  tellAlive()
  const seen = lookAt(root, file)
  if ('why' in seen) return seen
  const listed = notes?.of(file)
  if (listed) return { ...seen, listed: { ...listed, info: kept(listed.info) } }
  const told = seen.info || seen.nfo ? undefined : readFilm(root, file)
  return told ? { ...seen, info: kept(told.info) } : seen
}

type Answers = {
  [Name in Op]: (args: Requests[Name]['args']) => Requests[Name]['result'] | Promise<Requests[Name]['result']>
}

const ops: Answers = {
  open(args) {
    lstatSync(args.path)
    walks.set(++count, new Walk(args))
    return count
  },
  next: ({ walk }) => walks.get(walk)!.next(),
  end: ({ walk }) => void walks.delete(walk),
  look({ path, files, notes }) {
    const opened = notes && notesOf(notes)
    const began = performance.now()
    const seen = files.map((file) => lookWith(path, file, opened))
    return { seen, tookMs: performance.now() - began }
  },
  comments({ id, path, file, notes }) {
    const beside = readCommentsOf(id, path, file)
    return beside.length === 0 && notes ? notesOf(notes).commentsOf(id) : beside
  },
  catalog: ({ own, path, roots, at, kind, said }) =>
    readCatalogs(path, roots, filesNear(path, roots, at), own, { at, only: kind, said }),
  glance: glanceBelow,
  stamp: ({ path, roots }) => stampNear(path, roots),
  documents: ({ own, text, isFirst }) => keepDocuments(own, text, isFirst),
  unseen: ({ after, most, ...notes }) => notesOf(notes).unseen(after, most),
  along: ({ after, most, ...notes }) => notesOf(notes).along(after, most),
}

async function answer({ number, op, args }: Request): Promise<Response> {
  try {
    // `Request` has each name with its arguments; taken apart, they are no pair for the compiler.
    return { number, result: await ops[op](args as never) }
  } catch (thrown) {
    return { number, error: (thrown as Error).message, code: codeOf(thrown) }
  }
}

// A server that is killed does not end its child, and the next server writes the same notes.
const server = process.ppid
/** To exit would wait for a disk that hangs. */
const endSelf = () => process.kill(process.pid, 'SIGKILL')
process.once('disconnect', endSelf)

onAlive(() => {
  // No event is heard while it works.
  if (process.ppid !== server) endSelf()
  process.send!({ isAlive: true } satisfies Alive)
})

process.on('message', async (request: Request) => process.send!(await answer(request)))

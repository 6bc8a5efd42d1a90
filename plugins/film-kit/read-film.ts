/**
 * Reads the first bytes of a film and the small files next to it, in the reading child: checked, and reduced to the
 * parts that are used.
 */

import { constants, readFileSync, readSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { say, type Words } from 'archivolt'
import { codeOf, isDiskFault } from './disk-fault.ts'
import { isTooMany, looseJson } from './loose-json.ts'
import { infoInMatroska, mayHaveInfo } from './matroska-film.ts'
import { pathIn, pathOf, sidecarPath } from './names.ts'
import { channelInShow, nfoOf } from './nfo.ts'
import { trimmed, trimmedComments } from './trimmed.ts'
import { mayDescribe, readFilmTags } from './tubearchivist-film.ts'
import type { Beside, FoundFile, Info, Nfo } from './types.ts'
import { withFile } from './with-file.ts'

/** The first bytes of a film, and the data of the files next to it. */
export type Seen = { why: Words } | ({ head: Uint8Array } & Beside)

const MOST_INFO_BYTES = 64 << 20
const MOST_NFO_BYTES = 1 << 20

/** Reads a whole regular file, but never a link. @returns undefined: too large */
function readSmall(path: string, most: number): Buffer | undefined {
  return withFile(path, (file, { size }) => (size > most ? undefined : readFileSync(file)), constants.O_NOFOLLOW)
}

/** @returns undefined: not an information file */
function wholeInfo(path: string): Info | undefined {
  const stored = readSmall(path, MOST_INFO_BYTES)
  const bytes = stored && unpacked(stored)
  if (!bytes || isTooMany(bytes)) return undefined
  const info = looseJson(bytes)
  return info && typeof info === 'object' && !Array.isArray(info) ? (info as Info) : undefined
}

/** @throws SyntaxError: the compressed file is damaged, or too large when unpacked */
function unpacked(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_INFO_BYTES })
  } catch (cause) {
    throw new SyntaxError('it cannot be unpacked', { cause })
  }
}

/**
 * Reads only the keys that are used; see `trimmed`.
 * @returns undefined: it is not an information file
 */
function readInfo(path: string): Info | undefined {
  const info = wholeInfo(path)
  return info && trimmed(info)
}

function readComments(path: string): unknown[] {
  try {
    return trimmedComments(wholeInfo(path)?.['comments'])
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return []
  }
}

/** The tags of a film file, with all comments. @returns undefined: no readable tags */
export function readFilm(root: string, film: FoundFile): { info: Info; comments: unknown } | undefined {
  const { ending } = film
  if (film.info !== undefined || !(mayDescribe(ending) || mayHaveInfo(ending))) return undefined
  try {
    return withFile(`${root}/${pathOf(film)}`, (file, { size }) => {
      if (mayDescribe(ending)) return readFilmTags(file, size)
      const info = infoInMatroska(file, size)
      return info && { info, comments: info['comments'] }
    })
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return undefined
  }
}

/** Number of bytes that is enough to recognize a container. */
const HEAD_BYTES = 64

function headOf(path: string): { head: Uint8Array; sizeBytes: number; changedMs: number } | undefined {
  return withFile(path, (file, { size, mtimeMs }) => {
    const head = new Uint8Array(HEAD_BYTES)
    const length = readSync(file, head, 0, HEAD_BYTES, 0)
    return { head: head.subarray(0, length), sizeBytes: size, changedMs: Math.floor(mtimeMs) }
  })
}

/** @returns undefined: the file has another format */
function readXml<Told>(path: string, read: (text: string) => Told | undefined): Told | undefined {
  try {
    const bytes = readSmall(path, MOST_NFO_BYTES)
    return bytes && read(bytes.toString('utf8'))
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return undefined
  }
}

function readNfo(path: string): Nfo | undefined {
  const nfo = readXml(path, nfoOf)
  return nfo && { ...nfo, info: trimmed(nfo.info) }
}

const SHOW = 'tvshow.nfo'
/** Maximum number of folders between a film and its show, because shows may have folders of seasons. */
const MOST_ABOVE = 3
/** Maximum number of cached shows; the cache is cleared beyond it, because a walk stays in one show for a long time. */
const MOST_SHOWS = 5000
const shows = new Map<string, Info | undefined>()

/** The channel of the show that a folder belongs to. */
function showOf(root: string, folder: string): Info | undefined {
  for (let [at, above] = [folder, 0]; above <= MOST_ABOVE; above++) {
    const path = `${root}/${pathIn(at, SHOW)}`
    if (shows.size > MOST_SHOWS) shows.clear()
    if (!shows.has(path)) shows.set(path, readXml(path, channelInShow))
    const show = shows.get(path)
    if (show || at === '') return show
    at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
  }
  return undefined
}

export function readWithSidecars(root: string, file: FoundFile): Seen {
  const seen = readWithInfo(root, file)
  if ('why' in seen || seen.info) return seen
  const nfo = file.nfo === undefined ? undefined : readNfo(`${root}/${sidecarPath(file.folder, file.nfo)}`)
  const show = showOf(root, file.folder)
  return { ...seen, ...(nfo && { nfo }), ...(show && { show }) }
}

export function readCommentsOf(id: string, root: string, file: FoundFile): unknown[] {
  if (file.info !== undefined) return readComments(`${root}/${sidecarPath(file.folder, file.info)}`)
  const told = readFilm(root, file)
  return told?.info['id'] === id ? trimmedComments(told.comments) : []
}

function readWithInfo(root: string, { folder, name, info: infoName }: FoundFile): Seen {
  let seen: ReturnType<typeof headOf>
  try {
    seen = headOf(`${root}/${pathIn(folder, name)}`)
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return { why: say`it cannot be read (${{ code: codeOf(thrown) }})` }
  }
  if (!seen) return { why: say`it is no longer a file` }
  if (infoName === undefined) return seen
  try {
    const info = readInfo(`${root}/${sidecarPath(folder, infoName)}`)
    return info ? { ...seen, info } : { ...seen, fault: say`it is not an information file, or it is too large` }
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return { ...seen, fault: thrown instanceof SyntaxError ? say`it is not complete JSON` : say`it cannot be read` }
  }
}

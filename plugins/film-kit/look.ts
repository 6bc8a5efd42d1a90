/** Reads one film's head and the small files beside it, in the reading child: checked, and cut to what is used. */

import { constants, readFileSync, readSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Words } from 'archivolt'
import { because } from './because.ts'
import { codeOf, isDiskFault } from './disk-fault.ts'
import { isTooMany, looseJson } from './loose-json.ts'
import { pathIn, pathOf } from './names.ts'
import { nfoOf } from './nfo.ts'
import { trimmed, trimmedComments } from './trimmed.ts'
import { mayTell, toldInFilm } from './tubearchivist-film.ts'
import type { FoundFile, Info, Listed, Nfo } from './types.ts'
import { withFile } from './with-file.ts'

/** The first bytes of a film, and what lies beside it. */
export type Seen =
  | { why: Words }
  | { head: Uint8Array; sizeBytes: number; changedMs: number; info?: Info; fault?: Words; nfo?: Nfo; listed?: Listed }

const MOST_INFO_BYTES = 64 << 20
const MOST_NFO_BYTES = 1 << 20

/** Reads a regular file whole, never a link. @returns undefined: too large */
function readSmall(path: string, most: number): Buffer | undefined {
  return withFile(path, (file, { size }) => (size > most ? undefined : readFileSync(file)), constants.O_NOFOLLOW)
}

/** @returns undefined: it is no information file */
function wholeInfo(path: string): Info | undefined {
  const stored = readSmall(path, MOST_INFO_BYTES)
  const bytes = stored && unpacked(stored)
  if (!bytes || isTooMany(bytes)) return undefined
  const info = looseJson(bytes)
  return info && typeof info === 'object' && !Array.isArray(info) ? (info as Info) : undefined
}

/** @throws SyntaxError: it is compressed, and damaged or too large when unpacked */
function unpacked(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_INFO_BYTES })
  } catch (cause) {
    throw new SyntaxError('it cannot be unpacked', { cause })
  }
}

/**
 * only the keys that are used, see `trimmed`.
 * @returns undefined: it is no information file
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

/** The tags that a program has written into the film file. @returns undefined: the file cannot be read */
export function readFilm(root: string, film: FoundFile): ReturnType<typeof toldInFilm> {
  if (film.info !== undefined || !mayTell(film.ending)) return undefined
  try {
    return withFile(`${root}/${pathOf(film)}`, (file, { size }) => toldInFilm(file, size))
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return undefined
  }
}

/** Enough bytes to recognise a container. */
const HEAD_BYTES = 64

function headOf(path: string): { head: Uint8Array; sizeBytes: number; changedMs: number } | undefined {
  return withFile(path, (file, { size, mtimeMs }) => {
    const head = new Uint8Array(HEAD_BYTES)
    const length = readSync(file, head, 0, HEAD_BYTES, 0)
    return { head: head.subarray(0, length), sizeBytes: size, changedMs: Math.floor(mtimeMs) }
  })
}

/** @returns undefined: it cannot be read as one */
function readNfo(path: string): Nfo | undefined {
  try {
    const bytes = readSmall(path, MOST_NFO_BYTES)
    const nfo = bytes && nfoOf(bytes.toString('utf8'))
    return nfo && { ...nfo, info: trimmed(nfo.info) }
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return undefined
  }
}

export function lookAt(root: string, file: FoundFile): Seen {
  const seen = lookAtInfo(root, file)
  if ('why' in seen || seen.info || file.nfo === undefined) return seen
  const nfo = readNfo(`${root}/${pathIn(file.folder, file.nfo)}`)
  return nfo ? { ...seen, nfo } : seen
}

export function readCommentsOf(id: string, root: string, file: FoundFile): unknown[] {
  if (file.info !== undefined) return readComments(`${root}/${pathIn(file.folder, file.info)}`)
  const told = readFilm(root, file)
  return told?.info['id'] === id ? trimmedComments(told.comments) : []
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

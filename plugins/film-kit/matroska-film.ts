/**
 * Reads the information file that yt-dlp can attach to a Matroska film (`--embed-info-json`). It reads only the heads
 * of the elements and that attachment (RFC 9559), which is as fast as reading a file next to the film; ffmpeg would
 * need a process per film, and libraries for EBML read every element.
 */
import { readSync } from 'node:fs'
import { isTooMany, looseJson } from './loose-json.ts'
import type { Info } from './types.ts'
import { objectOf } from './values.ts'

const ENDINGS = new Set(['mkv', 'mka'])
const NAME = 'info.json'
const MOST_BYTES = 64 << 20
const MOST_NAME_BYTES = 200
/** Maximum number of elements before the attachment; a file with more is an attempt to waste time. */
const MOST_ELEMENTS = 2000
/** The id of an element has up to 4 bytes, its size up to 8. */
const HEAD_BYTES = 12

const SEGMENT = 0x18538067
const SEEK_HEAD = 0x114d9b74
const SEEK = 0x4dbb
const SEEK_ID = 0x53ab
const SEEK_POSITION = 0x53ac
const CLUSTER = 0x1f43b675
const ATTACHMENTS = 0x1941a469
const ATTACHED_FILE = 0x61a7
const FILE_NAME = 0x466e
const FILE_DATA = 0x465c

export const mayHaveInfo = (ending: string): boolean => ENDINGS.has(ending)

/** The content of an element, without its head. */
interface Element {
  id: number
  from: number
  to: number
}

/** @param file  an open file @throws errors of the disk; SyntaxError */
export function infoInMatroska(file: number, sizeBytes: number): Info | undefined {
  let left = MOST_ELEMENTS

  function elementAt(at: number, to: number): Element | undefined {
    const head = Buffer.alloc(HEAD_BYTES)
    const read = readSync(file, head, 0, HEAD_BYTES, at)
    const idLength = lengthOf(head[0]!)
    const sizeLength = lengthOf(head[idLength] ?? 0)
    if (read < 2 || left-- <= 0 || idLength > 4 || sizeLength > 8 || idLength + sizeLength > read) return undefined
    const size = sizeIn(head.subarray(idLength, idLength + sizeLength))
    const from = at + idLength + sizeLength
    // An element of unknown size, as written by a stream, extends to the end.
    return { id: head.readUIntBE(0, idLength), from, to: size === undefined ? to : Math.min(to, from + size) }
  }
  function* elementsIn({ from, to }: Pick<Element, 'from' | 'to'>): Generator<Element> {
    for (let at = from; at + 2 <= to; ) {
      const element = elementAt(at, to)
      if (!element) return
      yield element
      at = element.to
    }
  }
  const bytesOf = ({ from, to }: Element, most: number): Buffer => {
    if (to - from > most) return Buffer.alloc(0)
    const bytes = Buffer.alloc(to - from)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from))
  }
  const numberOf = (element: Element): number => {
    const bytes = bytesOf(element, 6)
    return bytes.length === 0 ? 0 : bytes.readUIntBE(0, bytes.length)
  }
  /** The attachments at the position given by the segment, which may be at its end if they were added later. */
  const soughtIn = (segment: Element, seekHead: Element): Element | undefined => {
    for (const seek of elementsIn(seekHead)) {
      if (seek.id !== SEEK) continue
      const parts = [...elementsIn(seek)]
      const [id, position] = [SEEK_ID, SEEK_POSITION].map((one) => parts.find((part) => part.id === one))
      if (id && position && numberOf(id) === ATTACHMENTS)
        return elementAt(segment.from + numberOf(position), segment.to)
    }
    return undefined
  }
  const attachmentsIn = (segment: Element): Element | undefined => {
    for (const element of elementsIn(segment)) {
      if (element.id === ATTACHMENTS) return element
      const sought = element.id === SEEK_HEAD ? soughtIn(segment, element) : undefined
      if (sought?.id === ATTACHMENTS) return sought
      if (element.id === CLUSTER) return undefined
    }
    return undefined
  }

  for (const segment of elementsIn({ from: 0, to: sizeBytes })) {
    const attachments = segment.id === SEGMENT ? attachmentsIn(segment) : undefined
    for (const attached of attachments ? elementsIn(attachments) : []) {
      if (attached.id !== ATTACHED_FILE) continue
      const parts = [...elementsIn(attached)]
      const [name, data] = [FILE_NAME, FILE_DATA].map((one) => parts.find(({ id }) => id === one))
      if (!name || !data || bytesOf(name, MOST_NAME_BYTES).toString('utf8') !== NAME) continue
      const bytes = bytesOf(data, MOST_BYTES)
      return bytes.length === 0 || isTooMany(bytes) ? undefined : objectOf(looseJson(bytes))
    }
  }
  return undefined
}

/** The length of a number, by its first byte; 9 is invalid. */
const lengthOf = (first: number): number => Math.clz32(first) - 23

/** @returns undefined: all bits are set, which means unknown */
function sizeIn(bytes: Buffer): number | undefined {
  const rest = Buffer.from(bytes)
  rest[0]! &= 0xff >> bytes.length
  const isUnknown = rest[0] === 0xff >> bytes.length && rest.subarray(1).every((byte) => byte === 0xff)
  const padded = Buffer.concat([Buffer.alloc(8 - rest.length), rest])
  return isUnknown ? undefined : Number(padded.readBigUInt64BE())
}

/**
 * Reads the document that TubeArchivist can write into a film: the video with its comments, in the atom
 * `----:com.tubearchivist:ta`. It reads only that atom and the heads of the atoms before it (ISO 14496-12, 4.2), which
 * is as fast as reading a file next to the film. ffprobe would need a process per film, two hours for 100,000 of them;
 * tag libraries read every atom.
 */
import { readSync } from 'node:fs'
import { isTooMany, looseJson } from './loose-json.ts'
import { commentsIn, infoOf } from './tubearchivist-document.ts'
import type { Info } from './types.ts'
import { objectOf, textOf } from './values.ts'

const [MEAN, NAME] = ['com.tubearchivist', 'ta']
/** The only containers that TubeArchivist writes. */
const ENDINGS = new Set(['mp4', 'm4v'])
const MOST_BYTES = 64 << 20
/** Maximum number of boxes: a normal film has some dozens, and more are an attempt to waste time. */
const MOST_BOXES = 10_000
const HEAD_BYTES = 16

interface FilmTags {
  info: Info
  comments: Record<string, unknown>[]
}

export const mayDescribe = (ending: string): boolean => ENDINGS.has(ending)

/** @param file  an open file @throws errors of the disk; SyntaxError */
export function readFilmTags(file: number, sizeBytes: number): FilmTags | undefined {
  const text = atomIn(file, sizeBytes)
  if (text.length === 0 || isTooMany(text)) return undefined
  const { video, comments } = objectOf(looseJson(text))
  const doc = objectOf(video)
  return { info: infoOf(textOf(doc.youtube_id), doc), comments: commentsIn(objectOf(comments)) }
}

/** The content of a box, without its head. */
interface Box {
  from: number
  to: number
}

const NOTHING = Buffer.alloc(0)

function atomIn(file: number, sizeBytes: number): Buffer {
  let left = MOST_BOXES

  function* boxesIn({ from, to }: Box): Generator<Box & { type: string }> {
    const head = Buffer.alloc(HEAD_BYTES)
    for (let at = from; at + 8 <= to && left-- > 0; ) {
      if (readSync(file, head, 0, HEAD_BYTES, at) < 8) return
      const said = head.readUInt32BE(0)
      const size = said === 0 ? to - at : said === 1 ? Number(head.readBigUInt64BE(8)) : said
      const inner = at + (said === 1 ? 16 : 8)
      if (at + size < inner || at + size > to) return
      yield { type: head.toString('latin1', 4, 8), from: inner, to: at + size }
      at += size
    }
  }
  function* allAt([type, ...further]: readonly string[], within: Box): Generator<Box> {
    for (const box of boxesIn(within)) {
      if (box.type !== type) continue
      // `meta` has a version before its content.
      if (further.length > 0) yield* allAt(further, type === 'meta' ? { ...box, from: box.from + 4 } : box)
      else yield box
    }
  }
  /** The content of a box, starting after the given number of bytes. */
  const bytesIn = (within: Box, wanted: string, after: number, most: number): Buffer => {
    const [box] = allAt([wanted], within)
    const length = box ? box.to - box.from - after : 0
    if (!box || length <= 0 || length > most) return NOTHING
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(file, bytes, 0, length, box.from + after))
  }

  const isText = (atom: Box, type: string, text: string) => bytesIn(atom, type, 4, 100).toString('latin1') === text
  for (const atom of allAt(['moov', 'udta', 'meta', 'ilst', '----'], { from: 0, to: sizeBytes }))
    if (isText(atom, 'mean', MEAN) && isText(atom, 'name', NAME)) return bytesIn(atom, 'data', 8, MOST_BYTES)
  return NOTHING
}

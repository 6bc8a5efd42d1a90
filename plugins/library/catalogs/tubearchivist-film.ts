/**
 * What TubeArchivist has written into a film itself, where it was set to: the whole document of the video and what was
 * said below it, in an atom of its own. ffprobe has to read any film here anyway, and shows the atom as a tag.
 */
import { execFileSync } from 'node:child_process'
import { isTooMany } from './files.ts'
import { commentsIn, infoOf } from './tubearchivist.ts'
import type { Info } from './types.ts'
import { objectOf, textOf } from './values.ts'

/** Of `----:com.tubearchivist:ta`. */
const TAG = 'ta'
const LIMIT_MS = 60_000
const MOST_BYTES = 64 << 20

export interface ToldInFilm {
  info?: Info
  comments: unknown[]
}

/** On the reading thread: it waits for a program. Nothing of a film that has none, or cannot be read. */
export function toldInFilm(path: string, ffprobe: string): ToldInFilm {
  const shown = ['-v', 'error', '-show_entries', `format_tags=${TAG}`, '-print_format', 'json']
  try {
    const output = execFileSync(ffprobe, [...shown, '-protocol_whitelist', 'file', '-i', `file:${path}`], {
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MOST_BYTES,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const tags = objectOf(objectOf(objectOf(JSON.parse(output.toString())).format).tags)
    return inAtom(textOf(tags[TAG]))
  } catch {
    return { comments: [] }
  }
}

function inAtom(text: string): ToldInFilm {
  if (text === '' || isTooMany(Buffer.from(text))) return { comments: [] }
  const { video, comments } = objectOf(JSON.parse(text))
  const doc = objectOf(video)
  return { info: infoOf(textOf(doc.youtube_id), doc), comments: commentsIn(objectOf(comments)) }
}

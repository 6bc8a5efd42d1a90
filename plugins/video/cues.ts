/**
 * WebVTT → searchable fragments of five cues, line by line: a long film's subtitles never sit in memory or hold up
 * requests.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

interface Cue {
  /** `HH:MM:SS.mmm` */
  start: string
  end: string
  text: string
}

interface Fragment {
  /** 1-based. */
  index: number
  start: string
  end: string
  line: string
}

const CUES_PER_FRAGMENT = 5
/** A day of dense subtitles stays below these. */
const FILE_LIMIT_BYTES = 32 * 1024 * 1024
const CUE_LIMIT = 100_000
const TEXT_LIMIT = 2000
/** A line may hold a tag for each word. */
const LINE_LIMIT = 10 * TEXT_LIMIT

// WebVTT, 4.1: hours may be left out. The comma is SubRip's, in files that were only renamed.
const TIME = String.raw`(?:(\d{2,4}):)?([0-5]\d):([0-5]\d)[.,](\d{3})`
const TIMING = new RegExp(String.raw`^\s*${TIME}\s+-->\s+${TIME}(?:\s|$)`)
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', nbsp: ' ', quot: '"', lrm: '', rlm: '' }

const toTime = (hours: string | undefined, minutes: string, seconds: string, millis: string): string =>
  `${(hours ?? '').padStart(2, '0')}:${minutes}:${seconds}.${millis}`

const plain = (line: string): string =>
  line
    // to the end where none follows, or each `<` would look for it again
    .replace(/<[^>]*(?:>|$)/g, (tag) => (tag.endsWith('>') ? '' : tag))
    .replace(/&(amp|lt|gt|nbsp|quot|lrm|rlm);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()

/**
 * The cues of a WebVTT file; whatever is no cue (header, notes, styles) is passed over.
 * @param isRolling  made by a machine: each cue repeats the line before it, which is then left out
 */
export async function* readCues(lines: AsyncIterable<string>, isRolling: boolean): AsyncGenerator<Cue> {
  let cue: { start: string; end: string; lines: string[] } | undefined
  let before = ''
  let count = 0

  function* finish(): Generator<Cue> {
    if (cue && cue.lines.length > 0)
      yield { start: cue.start, end: cue.end, text: cue.lines.join(' ').slice(0, TEXT_LIMIT) }
    cue = undefined
  }

  for await (const whole of lines) {
    const line = whole.slice(0, LINE_LIMIT)
    if (line.includes('-->')) {
      yield* finish()
      if (++count > CUE_LIMIT) return
      const [, h1, m1 = '', s1 = '', f1 = '', h2, m2 = '', s2 = '', f2 = ''] = TIMING.exec(line) ?? []
      if (m1 !== '') cue = { start: toTime(h1, m1, s1, f1), end: toTime(h2, m2, s2, f2), lines: [] }
    } else if (line.trim() === '') {
      // A machine's first line may be a lone blank; the file format ends a cue only at an empty line.
      if (line === '') yield* finish()
    } else if (cue) {
      const text = plain(line)
      if (text === '' || (isRolling && text === before)) continue
      before = text
      cue.lines.push(text)
    }
  }
  yield* finish()
}

async function* toFragments(cues: AsyncIterable<Cue>): AsyncGenerator<Fragment> {
  let held: Cue[] = []
  let index = 0
  const fragment = (): Fragment => ({
    index: ++index,
    start: held[0]!.start,
    end: held.at(-1)!.end,
    line: held.map((cue) => cue.text).join(' '),
  })
  for await (const cue of cues) {
    held.push(cue)
    if (held.length < CUES_PER_FRAGMENT) continue
    yield fragment()
    held = []
  }
  if (held.length > 0) yield fragment()
}

export function readFragments(path: string, isRolling: boolean): AsyncGenerator<Fragment> {
  const lines = createInterface({
    input: createReadStream(path, { encoding: 'utf8', end: FILE_LIMIT_BYTES - 1 }),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  return toFragments(readCues(lines, isRolling))
}

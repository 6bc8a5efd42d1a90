/**
 * Converts WebVTT to searchable fragments of five cues, line by line: the subtitles of a long film are never completely
 * in memory, and do not block requests.
 */
import { createReadStream } from 'node:fs'
import sax from 'sax'

export interface Cue {
  /** `HH:MM:SS.mmm` */
  start: string
  end: string
  text: string
}

interface Shown extends Omit<Cue, 'text'> {
  lines: string[]
}

interface Fragment {
  /** 1-based. */
  index: number
  start: string
  end: string
  line: string
}

const CUES_PER_FRAGMENT = 5
/** Limits of a file: dense subtitles of a whole day stay below them. */
const FILE_LIMIT_BYTES = 32 * 1024 * 1024
const CUE_LIMIT = 100_000
const TEXT_LIMIT = 2000
/** A line may contain a tag for each word. */
const LINE_LIMIT = 10 * TEXT_LIMIT
/** Rolling captions show up to four lines at once. */
const ROLLING_LINES = 4
const CUES_JUDGED = 200
const BLINK_SECONDS = 0.05

// WebVTT, 4.1: hours are optional. The comma occurs in SubRip files that were only renamed.
const TIME = String.raw`(?:(\d{2,4}):)?([0-5]\d):([0-5]\d)[.,](\d{3})`
const TIMING = new RegExp(String.raw`^\s*${TIME}\s+-->\s+${TIME}(?:\s|$)`)
/** HTML's named entities, which are missing in the types of the package. */
const ENTITIES = new Map(Object.entries((sax as unknown as { ENTITIES: Record<string, string> }).ENTITIES))
const ENTITY = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z][a-z0-9]{1,15}));/gi
const LAST_CODE_POINT = 0x10ffff
/** Direction marks and invisible characters. */
const NOT_SHOWN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200e\u200f\ufeff]/g

const LINE_BREAK = /\r\n|[\n\r]/

const secondsOf = (time: string): number => time.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0)

const toTime = (hours: string | undefined, minutes: string, seconds: string, millis: string): string =>
  `${(hours ?? '').padStart(2, '0')}:${minutes}:${seconds}.${millis}`

function characterOf(whole: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return ENTITIES.get(name) ?? whole
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code <= LAST_CODE_POINT ? String.fromCodePoint(code).toWellFormed() : whole
}

const plain = (line: string): string =>
  line
    // A `<` without `>` matches to the end of the line, and stays: otherwise the search would be repeated for each `<`.
    .replace(/<[^>]*(?:>|$)/g, (tag) => (tag.endsWith('>') ? '' : tag))
    .replace(ENTITY, characterOf)
    .replace(NOT_SHOWN, '')
    .replace(/\s+/g, ' ')
    .trim()

/**
 * The cues of a WebVTT file; everything else (header, notes, styles) is skipped. Lines and cues come in batches, because
 * a promise for each would cost more than the work itself.
 */
async function* shownCues(batches: AsyncIterable<readonly string[]>): AsyncGenerator<Shown[]> {
  let shown: Shown[] = []
  let cue: Shown | undefined
  let count = 0

  function finish(): void {
    if (cue && cue.lines.length > 0) shown.push(cue)
    cue = undefined
  }

  function read(whole: string): void {
    const line = whole.slice(0, LINE_LIMIT)
    if (line.includes('-->')) {
      finish()
      if (++count > CUE_LIMIT) return
      const [, h1, m1 = '', s1 = '', f1 = '', h2, m2 = '', s2 = '', f2 = ''] = TIMING.exec(line) ?? []
      if (m1 !== '') cue = { start: toTime(h1, m1, s1, f1), end: toTime(h2, m2, s2, f2), lines: [] }
    } else if (line.trim() === '') {
      // The first line of an automatic caption may be a single blank; only an empty line ends a cue.
      if (line === '') finish()
    } else if (cue) {
      const text = plain(line)
      if (text !== '') cue.lines.push(text)
    }
  }

  for await (const lines of batches) {
    for (const line of lines) read(line)
    if (shown.length > 0) yield shown
    if (count > CUE_LIMIT) return
    shown = []
  }
  finish()
  if (shown.length > 0) yield shown
}

/** The number of first lines that repeat the last lines of the previous cue. */
function repeated(before: readonly string[], lines: readonly string[]): number {
  for (let count = Math.min(before.length, lines.length, ROLLING_LINES); count > 0; count--)
    if (lines.slice(0, count).every((line, at) => line === before[before.length - count + at])) return count
  return 0
}

/** @param isRolling  each cue repeats lines of the previous one; these are omitted */
export async function* readCues(lines: AsyncIterable<readonly string[]>, isRolling: boolean): AsyncGenerator<Cue> {
  let before: string[] = []
  for await (const cues of shownCues(lines))
    for (const { start, end, lines: shown } of cues) {
      const fresh = isRolling ? shown.slice(repeated(before, shown)) : shown
      before = shown
      if (fresh.length > 0) yield { start, end, text: fresh.join(' ').slice(0, TEXT_LIMIT) }
    }
}

/**
 * Whether captions roll, judged by their form: most of the first cues either repeat some lines of the previous one and
 * add others, or are very short. A refrain, in contrast, repeats all lines and lasts longer.
 */
async function areRolling(lines: AsyncIterable<readonly string[]>): Promise<boolean> {
  const first: Shown[] = []
  for await (const cues of shownCues(lines)) {
    first.push(...cues.slice(0, CUES_JUDGED + 1 - first.length))
    if (first.length > CUES_JUDGED) break
  }
  const isRepeating = ({ start, end, lines: shown }: Shown, at: number): boolean => {
    const count = repeated(first[at - 1]?.lines ?? [], shown)
    return count > 0 && (count < shown.length || secondsOf(end) - secondsOf(start) < BLINK_SECONDS)
  }
  const rolling = first.filter(isRepeating).length
  return rolling > 0 && rolling >= (first.length - 1) / 2
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

/** @param isRolling  true for automatic captions, which always roll; otherwise the form decides */
export async function* cuesIn(path: string, isRolling = false): AsyncGenerator<Cue> {
  const areRepeated = isRolling || (await areRolling(linesOf(path)))
  yield* readCues(linesOf(path), areRepeated)
}

export const readFragments = (path: string, isRolling: boolean): AsyncGenerator<Fragment> =>
  toFragments(cuesIn(path, isRolling))

async function* linesOf(path: string): AsyncGenerator<string[]> {
  let rest = ''
  // A line break of two characters may be split between two chunks.
  let held = ''
  for await (const piece of createReadStream(path, { encoding: 'utf8', end: FILE_LIMIT_BYTES - 1 })) {
    const text = held + piece
    held = text.endsWith('\r') ? '\r' : ''
    const lines = text.slice(0, text.length - held.length).split(LINE_BREAK)
    lines[0] = rest + lines[0]
    rest = lines.pop()!.slice(0, LINE_LIMIT)
    yield lines
  }
  yield [rest]
}

/**
 * Isolates text from the platform and from users, so that its direction does not affect the surrounding text: direction
 * marks end with their text, and right-to-left text is isolated.
 */

const MARKS = /[\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/
const AT_ENDS = /^[\u200E\u200F\u061C]+|[\u200E\u200F\u061C]+$/g
/** Right-to-left letters, and direction marks. */
const TURNS =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/u
const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069']

/** Isolates a text within other words. */
export const apart = (text: string): string => (TURNS.test(text) ? FIRST_STRONG_ISOLATE + text + POP_ISOLATE : text)

interface Opened {
  at: number
  isIsolate: boolean
  /** The mark overrides the direction of letters, so it is removed, together with its end mark. */
  isOverride: boolean
}

/** Removes unpaired marks, and those that override the direction of letters. */
export function calm(text: string): string {
  if (!MARKS.test(text)) return text
  const signs: string[] = text.split('')
  const open: Opened[] = []
  const drop = (at: number) => void (signs[at] = '')
  for (const [at, sign] of signs.entries()) {
    if (/[\u2066-\u2068]/.test(sign)) open.push({ at, isIsolate: true, isOverride: false })
    else if (/[\u202A\u202B\u202D\u202E]/.test(sign)) open.push({ at, isIsolate: false, isOverride: sign >= '\u202D' })
    else if (sign === '\u2069') closeIsolate(at)
    else if (sign === '\u202C') closeEmbedding(at)
  }
  for (const { at } of open) drop(at)
  return signs.join('').replace(AT_ENDS, '')

  /** Ends an isolate, and removes the marks within it that were not closed. */
  function closeIsolate(at: number): void {
    const from = open.findLastIndex(({ isIsolate }) => isIsolate)
    if (from < 0) return drop(at)
    for (const inner of open.splice(from).slice(1)) drop(inner.at)
  }

  function closeEmbedding(at: number): void {
    const last = open.at(-1)
    if (!last || last.isIsolate) return drop(at)
    open.pop()
    if (!last.isOverride) return
    drop(last.at)
    drop(at)
  }
}

/** Cleans the sentences, which are the keys here. */
const bySentence = (said: object): object =>
  Object.fromEntries(Object.entries(said).map(([sentence, words]) => [calm(sentence), words as unknown]))

/** Parses a reply of the server, and cleans every text in it. */
export const parse = (json: string): unknown =>
  JSON.parse(
    json,
    MARKS.test(json) || /\\u(20|06)/i.test(json)
      ? (key, value: unknown) =>
          typeof value === 'string'
            ? calm(value)
            : key === 'said' && value instanceof Object
              ? bySentence(value)
              : value
      : undefined,
  )

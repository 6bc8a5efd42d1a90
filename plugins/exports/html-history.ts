/**
 * Reads Takeout's history in HTML, its default form: each entry has a URL, and a time in words of the account's
 * language.
 */
import type { Rows } from './found.ts'
import { parseMarkup } from './markup.ts'
import { isAdvert } from './takeout.ts'

/** No other page of Takeout contains `watch?v=`. */
export const isHtmlHistory = (text: string): boolean =>
  /^\s*<(!doctype\s+)?html/i.test(text) && text.includes('watch?v=')

interface Entry {
  address: string
  /** The last text of the `div` that contains the URL. */
  time: string
  isTimeRead: boolean
}

/** @throws Unusable */
export function readHtmlHistory(text: string, rows: Rows): void {
  let entry: Entry | undefined
  let isOfAdvert = false
  const finish = () => {
    if (entry && !isOfAdvert) rows.see(entry.address, { at: timeIn(entry.time) })
    entry = undefined
    isOfAdvert = false
  }
  parseMarkup(text, {
    open(name, { class: classes, href }) {
      if (name === 'div' && /\bouter-cell\b/.test(String(classes))) finish()
      if (name === 'a' && !entry && String(href).includes('watch?v='))
        entry = { address: String(href), time: '', isTimeRead: false }
    },
    close(name) {
      if (entry && name === 'div') entry.isTimeRead = true
    },
    text(words) {
      if (isAdvert(words)) isOfAdvert = true
      if (entry && !entry.isTimeRead && words.trim() !== '') entry.time = words
    },
    end: finish,
  })
}

/**
 * Languages in which months or halves of the day have names; in all others a date consists of numbers. Languages with
 * their own digits or calendar are missing, so their times stay unknown.
 */
const LANGUAGES =
  'af az bs ca cs da de en en-GB es es-419 et eu fi fil fr fr-CA gl hr hu id is it lt lv ms nl no pl pt pt-PT ro sk sl sq sr-Latn sv sw tr uz vi zu be bg kk ky mk mn ru sr uk el hy ka he ur hi gu pa ta te kn ml si lo km am ar ko zh-TW'.split(
    ' ',
  )

interface Words {
  /** Number of a month by its name; 0: the name means another month in another language. */
  months: Map<string, number>
  /** Hour at which the half of the day begins, by its name; some languages have a name for the evening too. */
  halves: Map<string, 0 | 12>
}
let words: Words | undefined

/** The names of months and halves of the day as Node writes them, because Takeout's dates use the same data (CLDR). */
function wordsOfTime(): Words {
  if (words) return words
  words = { months: new Map(), halves: new Map() }
  for (const language of LANGUAGES) {
    const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' })
    const hour = new Intl.DateTimeFormat(language, { timeStyle: 'medium', timeZone: 'UTC' })
    for (let month = 1; month <= 12; month++) {
      const name = partOf(day, 'month', Date.UTC(2023, month - 1, 15))
      if (/\d/.test(name)) break
      const known = words.months.get(name)
      words.months.set(name, known === undefined || known === month ? month : 0)
    }
    for (let at = 0; at < 24; at++)
      words.halves.set(partOf(hour, 'dayPeriod', Date.UTC(2023, 0, 15, at)), at < 12 ? 0 : 12)
  }
  words.halves.delete('') // of languages with 24 hours
  return words
}

const partOf = (format: Intl.DateTimeFormat, type: Intl.DateTimeFormatPartTypes, at: number): string =>
  wordOf(format.formatToParts(at).find((part) => part.type === type)?.value ?? '')
const wordOf = (text: string): string => text.toLowerCase().replace(/^de\s|[\s.\u200e\u200f]+/g, '')

/** Matches `9:15:04`, `9.15.04` or `9 h 15 min 4 s`, with any names of the units. */
const TIME = [
  /(\d{1,2}):(\d\d):(\d\d)/,
  /(?<![\d.])(\d{1,2})\.(\d\d)\.(\d\d)(?![\d.])/,
  /(\d{1,2})\s*[\p{L}\p{M}]+\s*(\d{1,2})\s*[\p{L}\p{M}]+\s*(\d{1,2})\s*[\p{L}\p{M}]+/u,
]
const OFFSET = /(?:GMT|UTC)\s*([+-])(\d{1,2})(?::?(\d\d))?/

/**
 * Epoch seconds of a date in any of the languages, as UTC if its time zone is only a name; undefined: the date cannot
 * be read, or the name of its month means another month in another language.
 */
function timeIn(text: string): number | undefined {
  const time = TIME.map((form) => form.exec(text)).find((found) => found !== null)
  if (!time) return undefined
  const day = dayIn(text.replace(time[0], ' ').replace(OFFSET, ' '))
  if (!day) return undefined
  const half = halfIn(text)
  const hour = half === undefined ? Number(time[1]) : (Number(time[1]) % 12) + half
  const [, sign, hours = 0, minutes = 0] = OFFSET.exec(text) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60)
  const at = Date.UTC(day[0], day[1] - 1, day[2], hour, Number(time[2]), Number(time[3]))
  return at / 1000 - offset
}

/** The half of the day, whose name may have two words, such as `p. m.` */
function halfIn(text: string): 0 | 12 | undefined {
  const { halves } = wordsOfTime()
  const all = text.split(/[\s\d:,،]+/)
  const found = all.flatMap((word, at) => halves.get(wordOf(word)) ?? halves.get(wordOf(`${word}${all[at + 1]}`)) ?? [])
  return found[0]
}

/** Year, month and day. */
function dayIn(text: string): [number, number, number] | undefined {
  const { months } = wordsOfTime()
  const numbers = [...text.matchAll(/\d+/g)].map(([number]) => Number(number))
  const year = numbers.find((number) => number >= 2005 && number < 3000)
  const [first, second] = numbers.filter((number) => number >= 1 && number <= 31)
  if (year === undefined || first === undefined) return undefined
  const named = text
    .split(/[\d\s,،/-]+/)
    .map((word) => months.get(wordOf(word)) ?? months.get(wordOf(word).slice(1))) // Hebrew: “in” is one letter before it
    .find((month) => month !== undefined)
  if (named !== undefined) return named === 0 ? undefined : [year, named, first]
  if (second === undefined) return undefined
  return numbers[0] === year ? [year, first, second] : [year, second, first]
}

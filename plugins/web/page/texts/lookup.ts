/**
 * Texts by key: what stands in braces is filled in, counted things take the form that the language has for their
 * number.
 */
import { apart } from './direction.ts'
import en from './languages/en.json' with { type: 'json' }
import type { TextValues } from './values.ts'

export type TextKey = keyof typeof en
/** Texts that need no values: what a table of keys may hold. */
export type PlainKey = Exclude<TextKey, keyof TextValues>

type Wanted<Key extends TextKey> = Key extends keyof TextValues ? TextValues[Key] : never
type Values<Key extends TextKey> = { [Name in Wanted<Key>]: Name extends 'count' ? Count : string | number }
/** A text with braces needs its values, one without takes none. */
type Rest<Key extends TextKey> = [Wanted<Key>] extends [never] ? [] : [values: Values<Key>]

/** Absent in tests without a browser. */
const page: Document | undefined = globalThis.document
/** Of the words: the server has chosen it with the document. */
export const LANGUAGE = page?.documentElement.lang || 'en'
/**
 * Of numbers, dates and times: as whoever looks is used to them, best with the words in the same language. Who has
 * chosen a language that the browser does not name has them in that one.
 */
export const LOCALES: string[] = locales([...(globalThis.navigator?.languages ?? [])].filter(isLocale))
const plurals = new Intl.PluralRules(LANGUAGE)
const numbers = new Intl.NumberFormat(LOCALES)

/** Counted as far as the API counts. */
interface MoreThan {
  moreThan: number
}
export type Count = number | MoreThan

/** `more than 10,000` */
export const toCount = (count: Count): string =>
  typeof count === 'number' ? numbers.format(count) : t('count.more', { number: numbers.format(count.moreThan) })

/** As a table: the compiler does not reckon with a type of each of more than a thousand texts. */
const entries: Record<string, Entry> = { ...en }

/** The document says where these texts are; English has those of Home here already. */
async function take(name: 'first-texts' | 'more-texts'): Promise<void> {
  const address = page?.querySelector<HTMLMetaElement>(`meta[name="archivolt-${name}"]`)?.content
  if (address) Object.assign(entries, ((await import(address)) as { default: typeof entries }).default)
}
// Whoever imports this waits. Without them the page speaks English, which is better than nothing.
await take('first-texts').catch(() => undefined)

let more: Promise<void> | undefined
/** What all views but Home say; asked for once. */
export const moreTexts = (): Promise<void> => (more ??= take('more-texts'))

/** `t('count.videos', { count: 3 })` → `3 videos` */
export function t<Key extends TextKey>(key: Key, ...[values]: Rest<Key>): string {
  const entry = entries[key] ?? key
  const given = (values ?? {}) as Record<string, string | Count>
  const { count = 0 } = given as { count?: Count }
  return filled(entry, count, (name) => given[name] ?? '')
}

type Entry = string | Partial<Record<Intl.LDMLPluralRule, string>>

/** @param valueOf  undefined: what stands in the braces is no name */
function filled(entry: Entry, count: Count, valueOf: (name: string) => string | Count | undefined): string {
  const text =
    typeof entry === 'string'
      ? entry
      : (entry[plurals.select(typeof count === 'number' ? count : count.moreThan)] ?? entry.other ?? '')
  return text.replace(/\{(\w+)\}/g, (whole, name: string, at: number) => {
    const value = valueOf(name) ?? whole
    if (typeof value === 'string') return apart(value)
    return at === 0 ? capital(toCount(value)) : toCount(value)
  })
}

/** As the server makes it, contract 2.1. */
interface Sentence {
  key: string
  params: Record<string, string | number | Sentence>
}

/** By the English sentence, those that have values. */
export type Said = Record<string, Sentence>

/** What the server says in English, in the words of the page where it has some. */
export function inWords(sentence: string, said: Said = {}): string {
  return sentenceIn(Object.hasOwn(said, sentence) ? said[sentence]! : { key: sentence, params: {} })
}

export function sentenceIn({ key, params }: Sentence): string {
  const own = `said.${key}`
  const { count = 0 } = params
  return filled(Object.hasOwn(entries, own) ? entries[own]! : key, typeof count === 'number' ? count : 0, (name) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined
    return typeof value === 'object' ? sentenceIn(value) : value
  })
}

/** The page's own words where it has some for this, else those that came along with it. */
export const textOf = (key: string, otherwise: string): string => {
  const own = Object.hasOwn(entries, key) ? entries[key] : undefined
  return typeof own === 'string' ? own : otherwise
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

function locales(ofBrowser: string[]): string[] {
  const own = ofBrowser.filter((name) => new Intl.Locale(name).language === new Intl.Locale(LANGUAGE).language)
  return own.length > 0 ? [...own, ...ofBrowser] : isChosen() ? [LANGUAGE] : ofBrowser
}

function isChosen(): boolean {
  try {
    return /(?:^|; )av_language=./.test(page?.cookie ?? '')
  } catch {
    return false // frames of plugins' pages have no cookies
  }
}

/** A browser may be set to what is no language. */
function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length > 0
  } catch {
    return false
  }
}

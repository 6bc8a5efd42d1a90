/** Looks up texts by key, fills in the values in braces, and chooses the plural form. */
import { apart } from './direction.ts'
import en from './languages/en.json' with { type: 'json' }
import type { TextValues } from './values.ts'

export type TextKey = keyof typeof en
/** Keys of texts without values: `t` accepts such a key from a table without values. */
export type PlainKey = Exclude<TextKey, keyof TextValues>

type Wanted<Key extends TextKey> = Key extends keyof TextValues ? TextValues[Key] : never
type Values<Key extends TextKey> = { [Name in Wanted<Key>]: Name extends 'count' ? Count : string | number }
/** Requires the values of a text with braces, and forbids values for other texts. */
type Rest<Key extends TextKey> = [Wanted<Key>] extends [never] ? [] : [values: Values<Key>]

/** Undefined in tests without a browser. */
const page: Document | undefined = globalThis.document
/** The language of the texts, which the server has chosen for the document. */
export const LANGUAGE = page?.documentElement.lang || 'en'
/**
 * The locales of numbers, dates and times: the browser's list, with those of the page's language first. If the
 * browser's list has none of that language and the user has chosen it, only that language.
 */
export const LOCALES: string[] = locales([...(globalThis.navigator?.languages ?? [])].filter(isLocale))
const plurals = new Intl.PluralRules(LANGUAGE)
const numbers = new Intl.NumberFormat(LOCALES)

/** The count is greater than this number, and not known exactly. */
interface MoreThan {
  moreThan: number
}
export type Count = number | MoreThan

/** `more than 10,000` */
export const toCount = (count: Count): string =>
  typeof count === 'number' ? numbers.format(count) : t('count.more', { number: numbers.format(count.moreThan) })

/** Declared as a table, because a union of more than a thousand types is too slow for the compiler. */
const entries: Record<string, Entry> = { ...en }

/** Loads further texts. The HTML document names their files; the English texts of Home are built into the script. */
async function take(name: 'first-texts' | 'more-texts'): Promise<void> {
  const address = page?.querySelector<HTMLMetaElement>(`meta[name="archivolt-${name}"]`)?.content
  if (address) Object.assign(entries, ((await import(address)) as { default: typeof entries }).default)
}
// Modules that import this one wait for these texts. If they cannot be loaded, the page is in English.
await take('first-texts').catch(() => undefined)

let more: Promise<void> | undefined
/** Loads the texts of all views except Home, once. */
export const moreTexts = (): Promise<void> => (more ??= take('more-texts'))

/** `t('count.videos', { count: 3 })` → `3 videos` */
export function t<Key extends TextKey>(key: Key, ...[values]: Rest<Key>): string {
  const entry = entries[key] ?? key
  const given = (values ?? {}) as Record<string, string | Count>
  const { count = 0 } = given as { count?: Count }
  return filled(entry, count, (name) => given[name] ?? '')
}

type Entry = string | Partial<Record<Intl.LDMLPluralRule, string>>

/** @param valueOf  returns undefined if a name in braces has no value */
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

/** A sentence with values as the server sends it, contract 2.3. */
interface Sentence {
  key: string
  params: Record<string, string | number | Sentence>
}

/** English sentence → its template and values, as the server sends them. */
export type Said = Record<string, Sentence>

/** Translates a sentence of the server if there is a translation. */
export function inWords(sentence: string, said: Said = {}): string {
  return sentenceIn(Object.hasOwn(said, sentence) ? said[sentence]! : { key: sentence, params: {} })
}

export function sentenceIn({ key, params }: Sentence): string {
  const own = `server.${key}`
  const { count = 0 } = params
  return filled(Object.hasOwn(entries, own) ? entries[own]! : key, typeof count === 'number' ? count : 0, (name) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined
    return typeof value === 'object' ? sentenceIn(value) : value
  })
}

/** The page's own text for this key if there is one, otherwise the given text. */
export const textOf = (key: string, otherwise: string): string => {
  const own = Object.hasOwn(entries, key) ? entries[key] : undefined
  return typeof own === 'string' ? own : otherwise
}

/** The texts of this key and below it, without those with a plural. */
export const textsUnder = (prefix: string): string[] =>
  Object.entries(entries).flatMap(([key, text]) =>
    (key === prefix || key.startsWith(`${prefix}.`)) && typeof text === 'string' ? [text] : [],
  )

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

function locales(ofBrowser: string[]): string[] {
  const own = ofBrowser.filter((name) => new Intl.Locale(name).language === new Intl.Locale(LANGUAGE).language)
  return own.length > 0 ? [...own, ...ofBrowser] : isChosen() ? [LANGUAGE] : ofBrowser
}

function isChosen(): boolean {
  try {
    return /(?:^|; )av_language=./.test(page?.cookie ?? '')
  } catch {
    return false // frames of plugin pages have no cookies
  }
}

/** A browser may be set to an invalid language. */
function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length > 0
  } catch {
    return false
  }
}

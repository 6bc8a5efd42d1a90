/**
 * Texts by key: what stands in braces is filled in, counted things take the form that the language has for their
 * number.
 */
import { apart } from './direction.ts'
import { en } from './en.ts'

type Catalogue = typeof en
export type TextKey = keyof Catalogue

type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Forms<Key extends TextKey> = Catalogue[Key] extends string
  ? Catalogue[Key]
  : Catalogue[Key] extends { other: infer Other }
    ? Other
    : never
/** What is counted decides on the form, also where it is not shown. */
type Wanted<Key extends TextKey> = Names<Forms<Key>> | (Catalogue[Key] extends string ? never : 'count')
type Values<Key extends TextKey> = { [Name in Wanted<Key>]: Name extends 'count' ? Count : string | number }
/** Texts that need no values: what a table of keys may hold. */
export type PlainKey = { [Key in TextKey]: [Wanted<Key>] extends [never] ? Key : never }[TextKey]
/** A text with braces needs its values, one without takes none. */
type Rest<Key extends TextKey> = [Wanted<Key>] extends [never] ? [] : [values: Values<Key>]

/** Of the words. */
export const LANGUAGE = 'en'
/** Of numbers, dates and times: as whoever looks is used to them, whatever language the words have. */
export const LOCALES: string[] = [...(globalThis.navigator?.languages ?? [])].filter(isLocale)
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
const entries: Readonly<Record<string, string | Partial<Record<Intl.LDMLPluralRule, string>>>> = en

/** `t('count.videos', { count: 3 })` → `3 videos` */
export function t<Key extends TextKey>(key: Key, ...[values]: Rest<Key>): string {
  const entry = entries[key]!
  const given = (values ?? {}) as Record<string, string | Count>
  const { count = 0 } = given as { count?: Count }
  const text =
    typeof entry === 'string'
      ? entry
      : (entry[plurals.select(typeof count === 'number' ? count : count.moreThan)] ?? entry.other ?? '')
  return text.replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
    const value = given[name] ?? ''
    if (typeof value === 'string') return apart(value)
    return at === 0 ? capital(toCount(value)) : toCount(value)
  })
}

/** The page's own words where it has some for this, else those that came along with it. */
export const textOf = (key: string, otherwise: string): string => {
  const own = Object.hasOwn(entries, key) ? entries[key] : undefined
  return typeof own === 'string' ? own : otherwise
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** A browser may be set to what is no language. */
function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length > 0
  } catch {
    return false
  }
}

/** Texts by key: what stands in braces is filled in, counted things take the form that the language has for their number. */
import { en } from './texts/en.ts'

type Catalogue = typeof en
export type TextKey = keyof Catalogue

type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Forms<Key extends TextKey> = Catalogue[Key] extends string ? Catalogue[Key] : Catalogue[Key] extends { other: infer Other } ? Other : never
/** What is counted decides on the form, also where it is not shown. */
type Wanted<Key extends TextKey> = Names<Forms<Key>> | (Catalogue[Key] extends string ? never : 'count')
type Values<Key extends TextKey> = { [Name in Wanted<Key>]: Name extends 'count' ? number : string | number }
/** Texts that need no values: what a table of keys may hold. */
export type PlainKey = { [Key in TextKey]: [Wanted<Key>] extends [never] ? Key : never }[TextKey]
/** A text with braces needs its values, one without takes none. */
type Rest<Key extends TextKey> = [Wanted<Key>] extends [never] ? [] : [values: Values<Key>]

export const LANGUAGE = 'en'
const plurals = new Intl.PluralRules(LANGUAGE)
const numbers = new Intl.NumberFormat(LANGUAGE)

/** `t('count.videos', { count: 3 })` → `3 videos` */
export function t<Key extends TextKey>(key: Key, ...[values]: Rest<Key>): string {
  const entry: string | Partial<Record<Intl.LDMLPluralRule, string>> = en[key]
  const given = (values ?? {}) as Record<string, string | number>
  const text = typeof entry === 'string' ? entry : (entry[plurals.select(Number(given['count'] ?? 0))] ?? entry.other ?? '')
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name]
    return typeof value === 'number' ? numbers.format(value) : (value ?? '')
  })
}

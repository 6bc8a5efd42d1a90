/** What a translation must have: each text of the English file, and in it the same values in braces. */
import type { en } from './en.ts'

export type Catalogue = typeof en
export type TextKey = keyof Catalogue
/** By the plural rules of the language. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }

/** The names in braces. */
export type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type FormsOf<Entry> = Entry extends string ? Entry : Entry extends { other: infer Other } ? Other : never
/** What is counted decides on the form, also where it is not shown. */
export type Wanted<Key extends TextKey> =
  | Names<FormsOf<Catalogue[Key]>>
  | (Catalogue[Key] extends string ? never : 'count')

/** Words that plugins bring in English: what the server says of settings, tasks and refusals. */
type OfPlugins = `${'preference' | 'task' | 'reason' | 'notice'}.${string}`

type Any<Entry> = Entry extends string ? Entry : Entry[keyof Entry]
/** A count may be left out, where the language says it otherwise: “the newest”. */
type Missing<Key extends TextKey, Entry> = Exclude<Wanted<Key>, Names<FormsOf<Entry>> | 'count'>
type Foreign<Key extends TextKey, Entry> = Exclude<Names<Any<Entry>>, Wanted<Key>>
type Checked<Key, Entry> = Key extends TextKey
  ? [Missing<Key, Entry>] extends [never]
    ? [Foreign<Key, Entry>] extends [never]
      ? Entry
      : `{${Foreign<Key, Entry>}} is not in the English text`
    : `{${Missing<Key, Entry>}} of the English text is missing`
  : Key extends OfPlugins
    ? Entry
    : 'the English texts have no such key'

/** Only where something is missing, so that the compiler says which. */
type Untranslated<Texts> = Exclude<TextKey, keyof Texts>
type Whole<Texts> = [Untranslated<Texts>] extends [never] ? unknown : { 'translate these too': Untranslated<Texts> }

/** `export default translation({ 'app.skip': '…' })` */
export const translation = <const Texts extends Record<string, string | Forms>>(
  texts: Texts & { [Key in keyof Texts]: Checked<Key, Texts[Key]> } & Whole<Texts>,
): Texts => texts

/** What a translation must have: each text of the English file, and in it the same values in braces. */
import type { en } from './languages/en.ts'

export type Catalogue = typeof en
export type TextKey = keyof Catalogue

/** The names in braces. */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type OtherForm<Entry> = Entry extends string ? Entry : Entry extends { other: infer Other } ? Other : never
type AnyForm<Entry> = Entry extends string ? Entry : Entry[keyof Entry]
/** What is counted decides on the form, also where it is not shown. */
export type Wanted<Key extends TextKey> =
  | Names<OtherForm<Catalogue[Key]>>
  | (Catalogue[Key] extends string ? never : 'count')

/** Words that the server brings in English: of settings and tasks by their names, of refusals and messages by themselves. */
type OfServer = `${'preference' | 'task' | 'said'}.${string}`

/** A count may be left out, where the language says it otherwise: “the newest”. */
type FaultOf<Key extends TextKey, Entry> =
  | `${Key} lacks {${Exclude<Wanted<Key>, Names<OtherForm<Entry>> | 'count'>}}`
  | `${Key}: the English text has no {${Exclude<Names<AnyForm<Entry>>, Wanted<Key>>}}`

/** One sentence for each fault; never: the translation is whole. */
export type FaultsOf<Texts> =
  | `${Exclude<TextKey, keyof Texts>} is not translated`
  | `${Exclude<keyof Texts & string, TextKey | OfServer>}: the English texts have no such key`
  | { [Key in keyof Texts & TextKey]: FaultOf<Key, Texts[Key]> }[keyof Texts & TextKey]

/** `export type Faults = None<FaultsOf<typeof de>>`: there the compiler says what is wrong. */
export type None<Faults extends never> = Faults

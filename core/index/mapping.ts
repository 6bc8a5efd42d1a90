/** What an index holds and what each field is for: plain data that adapters derive their structures from. */
import type { Static, TObject } from 'typebox'

export type FieldType = 'keyword' | 'text' | 'long' | 'double' | 'boolean' | 'date'
export type Scalar = string | number | boolean

export interface Field {
  type: FieldType
  /** Where it stands in the document, dotted, through arrays: `player.watched`. Default: the field's own name. */
  path?: string
  /** Holds several values (an array in the document). */
  multi?: boolean
  /** May be used in filters and groups. */
  filter?: boolean
  /** May be sorted by; texts and keywords sort by their folded form (see text.ts). */
  sort?: boolean
  /** Is searched by words, with this weight. */
  search?: number
  /** Words of this field are also found by their English stem; default true for searched fields. */
  stem?: boolean
  /**
   * Filtered or sorted on, never part of the reply's text. `get` and `scan` still return it. Its path leads through
   * objects only.
   */
  internal?: boolean
}

/** Seen where one of these fields has a chosen id. Several values of a field: those of others are left out. */
export interface SeenBy<Names extends string = string> {
  /** Kind → field. An index that names itself here has documents that can be chosen. */
  by: Readonly<Record<string, Names>>
}

/** Seen with a document of another index, which says by which fields. */
export interface SeenWith<Names extends string = string> {
  with: string
  /** The field that has its id; it is part of the text. */
  id: Names
  /** Kind → field that says the same as the other index's field of that kind: so a search has less to look through. */
  near?: Readonly<Record<string, Names>>
}

export interface IndexDefinition<Doc extends TObject = TObject, Names extends string = string> {
  /** The collection: `<plugin>`, `<plugin>_…`, or a name that the manifest claims with `owns`. */
  name: string
  /** Every document must pass it: checked where documents come from outside (restore, import), not on each put. */
  doc: Doc
  fields: Record<Names, Field>
  /**
   * Field combinations that lists use, `[filter…, sort…]`: an adapter may index them together. A sort that runs upwards
   * says so (`timestamp asc`); left out, texts run upwards and all else downwards.
   */
  lists?: Array<Array<NoInfer<Names> | `${NoInfer<Names>} asc` | `${NoInfer<Names>} desc`>>
  /** Field combinations that a statistic reads: an adapter may cover them with one index. */
  covers?: NoInfer<Names>[][]
  /** The date or long field by which "newest" is meant, for lists and for ranking very common words. */
  newest?: NoInfer<Names>
  /**
   * An object or a list that stands last in each text, so that replies splice into it (`withKeysInside`, `listUnder`).
   * A write puts it there, and refuses a document that has neither.
   */
  lastKey?: keyof Doc['properties'] & string
  /** What an account sees of it that is shown a part of the archive only (view.ts). Left out: nothing. */
  seen?: SeenBy<NoInfer<Names>> | SeenWith<NoInfer<Names>>
  /** What the stored texts depend on beside the mapping (time zone, id field …); another value rebuilds by `reform`. */
  form?: string
  /** Brings a stored document into the present form. Called while rebuilding. */
  reform?(doc: Static<Doc>): Static<Doc>
}

/** Declares an index. The document type comes from the schema, the names of fields from `fields`. */
export function defineIndex<Doc extends TObject, Names extends string>(
  definition: IndexDefinition<Doc, Names>,
): IndexDefinition<Doc, Names> {
  return definition
}

export type DocOf<Definition> = Definition extends IndexDefinition<infer Doc, infer _Names> ? Static<Doc> : never
export type NamesOf<Definition> = Definition extends IndexDefinition<infer _Doc, infer Names> ? Names : never

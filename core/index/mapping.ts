/** Declares what an index holds and how each field is used: plain data from which adapters derive their structures. */
import type { Static, TObject } from 'typebox'

export type FieldType = 'keyword' | 'text' | 'long' | 'double' | 'boolean' | 'date'
export type Scalar = string | number | boolean

export interface Field {
  type: FieldType
  /** Dotted path in the document, through arrays: `player.watched`. Default: the field's name. */
  path?: string
  /** Has several values (an array in the document). */
  multi?: boolean
  /** Can be used in filters and groups. */
  filter?: boolean
  /** Can be sorted by; texts and keywords sort by their folded form (see text.ts). */
  sort?: boolean
  /** `parts` reads it from very many documents: an adapter may store it apart from the rest of the document. */
  parts?: boolean
  /** Full-text search weight. */
  search?: number
  /** Words of this field are also found by their English stem; default true for searched fields. */
  stem?: boolean
  /** Can be filtered and sorted by; `get` and `scan` return it, replies never do. Its path must not contain arrays. */
  internal?: boolean
}

/** Visible if one of these fields contains a chosen id. In multi-value fields, ids that are not chosen are left out. */
export interface SeenBy<Names extends string = string> {
  /** Kind → field. Documents of an index that names itself here can be chosen for a view. */
  by: Readonly<Record<string, Names>>
  /** Further fields, whose ids a view that hides them hides as well. */
  hiddenBy?: Readonly<Record<string, Names>>
  /** Field with ids in a list of objects → their index. A view that hides leaves out objects of hidden documents. */
  lists?: Readonly<Partial<Record<Names, string>>>
}

/** Visible if a document of another index is, which declares `by`. */
export interface SeenWith<Names extends string = string> {
  with: string
  /** The field with the id of that document; part of the text. */
  id: Names
  /** Kind → field with the same value as that kind's field in the other index. Narrows searches. */
  near?: Readonly<Record<string, Names>>
}

export interface IndexDefinition<Doc extends TObject = TObject, Names extends string = string> {
  /** The collection: `<plugin>`, `<plugin>_…`, or a name that the manifest claims with `owns`. */
  name: string
  /** The schema of documents. Checked when they come from outside (restore, import), not at each put. */
  doc: Doc
  fields: Record<Names, Field>
  /** Field combinations of lists, `[filter…, sort…]`. Default order of a sort: texts ascending, others descending. */
  lists?: Array<Array<NoInfer<Names> | `${NoInfer<Names>} asc` | `${NoInfer<Names>} desc`>>
  /** Field combinations that statistics read: an adapter may create a covering index. */
  covers?: NoInfer<Names>[][]
  /** The date or long field that defines "newest", for lists and for ranking very common words. */
  newest?: NoInfer<Names>
  /** The last key of each text: an object or list that replies splice into. Writes refuse documents without it. */
  lastKey?: keyof Doc['properties'] & string
  /** Made from another index: backups leave it out, and its plugin makes it again after a restore. */
  derived?: true
  /** Lists of other documents show these: adapters may remember some of their texts. */
  joined?: true
  /** What accounts with a view see of this index (view.ts). Omitted: nothing. */
  seen?: SeenBy<NoInfer<Names>> | SeenWith<NoInfer<Names>>
  /** What texts depend on besides the mapping (time zone, id field …): a new value rebuilds them by `reform`. */
  form?: string
  /** Converts a stored document to the current form. Called during a rebuild. */
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

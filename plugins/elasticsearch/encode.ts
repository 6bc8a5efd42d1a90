/**
 * Documents to what is sent and back: the reply's text as it is, and beside it the values and words that are searched.
 */
import { errors } from 'archivolt'
import {
  checkId,
  type FieldPlan,
  fold,
  type JsonObject,
  joinInternal,
  splitInternal,
  stem,
  tokens,
  valuesOf,
  WrongType,
} from 'archivolt/index'
import type { Layout } from './layout.ts'

const LONGEST_SORT_KEY = 200
/** A term of the server's index holds 32,766 bytes; a character takes at most four. Filters are cut in the same way. */
const LONGEST_VALUE = 8191

/** What is kept of a document and comes back. */
export interface Stored {
  text: string
  internal?: string
}

export type OnWrong = (error: WrongType) => void

/**
 * A document as the server takes it, as JSON.
 * @throws WrongType unless `onWrong` takes it: then such a field is left without a value and the document kept
 */
export function encode(layout: Layout, id: string, doc: JsonObject, onWrong?: OnWrong): string {
  checkId(id)
  const read = (plan: FieldPlan) => {
    try {
      return valuesOf(plan, doc)
    } catch (error) {
      if (!onWrong || !(error instanceof WrongType)) throw error
      onWrong(error)
      return []
    }
  }
  const value: Record<string, unknown> = {}
  const sort: Record<string, string> = {}
  const words: Record<string, string> = {}
  const stems: Record<string, string> = {}
  for (const plan of layout.plans) {
    const values = read(plan)
    if (values.length === 0) continue
    if (layout.values.includes(plan)) {
      const kept = values.map((each) => (typeof each === 'string' ? keptValue(each) : each))
      value[plan.name] = plan.isMulti ? kept : kept[0]
    }
    if (layout.sorted.includes(plan))
      sort[plan.name] = fold(String(values[0]).slice(0, LONGEST_SORT_KEY)).toWellFormed()
    if (plan.weight === 0) continue
    const terms = values.flatMap((each) => tokens(String(each)))
    words[plan.name] = terms.join(' ')
    if (plan.isStemmed) stems[plan.name] = changedStems(terms)
  }
  const { reply, internal } = splitInternal(layout.plans, doc)
  const stored: Stored = { text: JSON.stringify(reply) }
  if (internal) stored.internal = JSON.stringify(internal)
  return JSON.stringify({ ...stored, id, stamp: layout.stamp, value, sort, words, stems })
}

/** The stems that differ from their words, each once. */
function changedStems(terms: readonly string[]): string {
  const distinct = new Set<string>()
  for (const term of terms) {
    const root = stem(term)
    if (root !== term) distinct.add(root)
  }
  return [...distinct].join(' ')
}

/** A keyword as it is kept and asked for. Half a surrogate pair is no text for the server. */
export const keptValue = (value: string): string => value.slice(0, LONGEST_VALUE).toWellFormed()

/** The whole document. */
export function decode({ text, internal }: Stored): JsonObject {
  return joinInternal(
    JSON.parse(text) as JsonObject,
    internal === undefined ? undefined : (JSON.parse(internal) as JsonObject),
  )
}

/** @throws unprocessable  what is no object is no document */
export function checkedDoc(name: string, id: string, doc: object): JsonObject {
  if (Array.isArray(doc)) throw errors.unprocessable(`${name} ${id}: a document must be an object`)
  return doc as JsonObject
}

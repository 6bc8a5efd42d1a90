/**
 * Converts documents for the server and back: it stores the reply's text unchanged, and next to it the values and words
 * for searching.
 */
import {
  changedStems,
  checkId,
  indexTerms,
  type JsonObject,
  type OnWrong,
  readDoc,
  sortKey,
  storedTexts,
  valuesOf,
} from 'archivolt/index'
import type { Layout } from './layout.ts'

/**
 * Maximum length of a value in characters: a term of the server is limited to 32,766 bytes, and a character takes at
 * most four. Values in filters are cut in the same way.
 */
const LONGEST_VALUE = 8191

/** The stored fields that are returned. */
export interface Stored {
  text: string
  internal?: string | undefined
}

/**
 * A document for the server, as JSON.
 * @throws WrongType unless `onWrong` accepts it: the field is then stored without a value
 */
export function encode(layout: Layout, id: string, doc: JsonObject, onWrong?: OnWrong): string {
  checkId(id)
  const value: Record<string, unknown> = {}
  const sort: Record<string, string> = {}
  const words: Record<string, string> = {}
  const stems: Record<string, string> = {}
  for (const plan of layout.plans) {
    const values = valuesOf(plan, doc, onWrong)
    if (values.length === 0) continue
    if (layout.values.includes(plan)) {
      const stored = values.map((each) => (typeof each === 'string' ? storedValue(each) : each))
      value[plan.name] = plan.isMulti ? stored : stored[0]
    }
    if (layout.sorted.includes(plan)) sort[plan.name] = sortKey(String(values[0])).toWellFormed()
    if (plan.weight === 0) continue
    const terms = values.flatMap((each) => indexTerms(String(each)))
    words[plan.name] = terms.join(' ')
    if (plan.isStemmed) stems[plan.name] = changedStems(terms).join(' ')
  }
  const stored: Stored = storedTexts(layout.plans, layout.data.lastKey, doc, onWrong)
  return JSON.stringify({ ...stored, id, stamp: layout.stamp, value, sort, words, stems })
}

/** A keyword as it is stored and queried. The server refuses lone surrogates. */
export const storedValue = (value: string): string => value.slice(0, LONGEST_VALUE).toWellFormed()

/** The whole document; undefined: it is damaged. */
export const decode = ({ text, internal }: Stored): JsonObject | undefined => readDoc(text, internal)

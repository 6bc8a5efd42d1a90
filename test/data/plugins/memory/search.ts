/** Text search: which documents have the words, exactly or nearly, and in which order. */
import type { TextQuery } from 'archivolt'
import { type IndexPlan, indexTerms, isNear, type JsonObject, type QueryWord, queryWords, searchScope, stem, valuesOf } from 'archivolt/index'
import type { Entry } from './memory.ts'

/** An exact match outweighs everything else. */
const EXACT = 1000

/** The words of each searched field. */
export type Words = ReadonlyMap<string, readonly string[]>

export const wordsOf = ({ searched }: IndexPlan, doc: JsonObject): Words =>
  new Map(searched.map((plan) => [plan.name, valuesOf(plan, doc).flatMap((value) => indexTerms(String(value)))]))

/** The documents with the words, each with its score. */
export function matchText(plan: IndexPlan, entries: readonly Entry[], text: TextQuery): Array<[Entry, number]> {
  const asked = queryWords(text.words, text)
  const scope = searchScope(plan, text.fields)
  if (asked.length === 0) return []
  return entries.flatMap((entry): Array<[Entry, number]> => {
    const scores = asked.map((word) => scoreOf(word, scope, entry.words))
    const isMet = text.match === 'any' ? scores.some((score) => score > 0) : scores.every((score) => score > 0)
    return isMet ? [[entry, scores.reduce((sum, score) => sum + score, 0)]] : []
  })
}

/** 0: no match. */
function scoreOf(
  asked: QueryWord,
  scope: ReturnType<typeof searchScope>,
  words: Words,
): number {
  const { term, stem: root, isPrefix, rows } = asked
  let exact = 0
  let near = 0
  for (const { plan, weight } of scope) {
    const there = words.get(plan.name) ?? []
    const times = there.filter(
      (word) => word === term || (isPrefix && word.startsWith(term)) || (plan.isStemmed && stem(word) === root),
    ).length
    const inRows = rows.filter((row) => there.some((_, at) => row.every((each, next) => there[at + next] === each)))
    const met = times + inRows.length
    exact += (weight * met) / (met + 1)
    for (const most of [1, 2] as const) {
      const within = (edits: 0 | 1 | 2) => (edits < most ? edits : most)
      const limited = { ...asked, edits: within(asked.edits), stemEdits: within(asked.stemEdits) }
      if (there.some((word) => isNear(word, limited, plan.isStemmed))) near = Math.max(near, 1 / most)
    }
  }
  return exact > 0 ? EXACT + exact : near
}

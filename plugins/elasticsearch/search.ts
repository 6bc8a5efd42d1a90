/**
 * Builds queries from words: exact, stemmed, prefix, fuzzy, and their ranking. The server never parses query syntax.
 */
import type { TextQuery } from 'archivolt'
import {
  type JsonObject,
  mostNearTerms,
  type QueryWord,
  queryWords,
  STEM_WEIGHT,
  searchScope,
  similarScope,
  stem,
  tellingWords,
} from 'archivolt/index'
import type { Query } from './filter.ts'
import { type Layout, LONGEST_GRAM } from './layout.ts'

/** The weight of further fields that contain a word, in addition to the best field. */
const OTHER_FIELDS = 0.3
/** Greater than any rank within a class, so that an exact word counts more than everything else. */
const EXACT = 1000
/** For a word with one edit, more than with two. For all words of a query together, this is less than `EXACT`. */
const NEAR = 15

/** Matches of a word, without fuzzy ones. */
type Exact = Pick<QueryWord, 'term' | 'stem' | 'isPrefix' | 'rows'>

interface Scope {
  name: string
  weight: number
  isStemmed: boolean
}

export interface TextPlan {
  /** Ranked by relevance, best class first. */
  ranked: Query
  /** Matches the same documents; the score is only the class, or 0 if there is only one class. */
  unranked: Query
  hasClasses: boolean
}

/** The plan of a search; undefined: these words cannot match anything. */
export function textPlan(layout: Layout, text: TextQuery): TextPlan | undefined {
  const words = queryWords(text.words, text)
  const scope = scopeOf(layout, text.fields)
  if (words.length === 0 || scope.length === 0) return undefined
  const isAny = text.match === 'any' && words.length > 1
  const hasClasses = isAny || words.some((word) => word.edits > 0)
  const most = mostNearTerms(words.length)
  const together = (parts: Query[]): Query => {
    if (parts.length === 1) return parts[0]!
    return isAny ? { bool: { should: parts, minimum_should_match: 1 } } : { bool: { must: parts } }
  }
  const build = (isRanked: boolean): Query =>
    together(
      words.map((word) => {
        const exact = exactly(word, scope)
        if (!hasClasses) return exact
        const counted: Query = isRanked
          ? { function_score: { query: exact, functions: [{ weight: EXACT }], boost_mode: 'sum' } }
          : { constant_score: { filter: exact, boost: EXACT } }
        if (word.edits === 0) return counted
        const near = Array.from({ length: word.edits }, (_, at): Query => {
          const filter = nearly(word, scope, { edits: at + 1, most })
          return { constant_score: { filter, boost: NEAR / (at + 1) } }
        })
        return { dis_max: { queries: [counted, ...near] } }
      }),
    )
  const ranked = build(true)
  return { ranked, unranked: hasClasses ? build(false) : { constant_score: { filter: ranked } }, hasClasses }
}

const scopeOf = (layout: Layout, fields: Partial<Record<string, number>> | undefined): Scope[] =>
  searchScope(layout, fields).map(({ plan: { name, isStemmed }, weight }) => ({ name, weight, isStemmed }))

const inARow = (field: string, terms: readonly string[], boost: number): Query => ({
  match_phrase: { [field]: { query: terms.join(' '), boost } },
})

const term = (field: string, value: string, boost: number): Query => ({ term: { [field]: { value, boost } } })

/** Matches the word itself, its stem and, if requested, words that begin with it, in any of the fields. */
function exactly({ term: word, stem: root, isPrefix, rows }: Exact, scope: readonly Scope[]): Query {
  const ways = scope.flatMap(({ name, weight, isStemmed }) => {
    const found = [term(`words.${name}`, word, weight), ...rows.map((row) => inARow(`words.${name}`, row, weight))]
    if (isPrefix) found.push(beginning(name, word, weight))
    if (isStemmed) {
      found.push(term(`stems.${name}`, root, weight * STEM_WEIGHT))
      if (root !== word && stem(root) === root) found.push(term(`words.${name}`, root, weight * STEM_WEIGHT))
    }
    return found
  })
  return ways.length === 1 ? ways[0]! : { dis_max: { queries: ways, tie_breaker: OTHER_FIELDS } }
}

function beginning(name: string, word: string, weight: number): Query {
  if ([...word].length <= LONGEST_GRAM) return term(`words.${name}.begin`, word, weight)
  return { prefix: { [`words.${name}`]: { value: word, boost: weight } } }
}

/** Matches words within this many edits. @param limits.most  the number of words that are looked up */
function nearly(
  { term: word, stem: root, stemEdits }: QueryWord,
  scope: readonly Scope[],
  { edits, most }: { edits: number; most: number },
): Query {
  const near = (field: string, value: string, allowed = edits): Query => ({
    fuzzy: { [field]: { value, fuzziness: Math.min(edits, allowed), transpositions: true, max_expansions: most } },
  })
  const ways = scope.flatMap(({ name, isStemmed }) => [
    near(`words.${name}`, word),
    ...(isStemmed && stemEdits > 0 ? [near(`stems.${name}`, root, stemEdits)] : []),
    ...(isStemmed && stemEdits > 0 && root !== word ? [near(`words.${name}`, root, stemEdits)] : []),
  ])
  return ways.length === 1 ? ways[0]! : { bool: { should: ways, minimum_should_match: 1 } }
}

/** The characteristic words of a document, each as a query. */
export function similarQueries(layout: Layout, doc: JsonObject, fields: readonly string[] | undefined): Query[] {
  const weights = similarScope(layout, fields)
  const scope = scopeOf(layout, weights)
  return tellingWords(layout, doc, weights).map((word) =>
    exactly({ term: word, stem: stem(word), isPrefix: false, rows: [] }, scope),
  )
}

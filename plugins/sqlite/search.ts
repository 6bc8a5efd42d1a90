/**
 * Text queries on the full-text table: converts words to expressions, groups these into classes, and ranks hits if that
 * is affordable.
 */
import type { Filter, FindQuery, TextQuery } from 'archivolt'
import {
  type FieldPlan,
  type JsonObject,
  LEAST_SCORE,
  MAX_WINDOW,
  mostNearTerms,
  type QueryWord,
  queryWords,
  rarest,
  STEM_WEIGHT,
  searchScope,
  similarScope,
  stem,
  tellingWords,
} from 'archivolt/index'
import type { Connection } from './connection.ts'
import { countSql, filterSql, type Sql, sortSql } from './filter.ts'
import type { Near, Vocabulary } from './fuzzy.ts'
import { type Layout, stemColumn, type TableNames } from './layout.ts'

/** How many near words are counted to find the most frequent ones. */
const MOST_COUNTED = 300
/** In longer queries, only the rarest words are combined: there are too many ways to leave words out. */
const MOST_COMBINED = 6
const MOST_LEFT_OUT = 12
/** If a filter leaves at most this many rows, they are ranked however common the words are: counting them is cheap. */
const FEW = 300
/**
 * How many of the newest hits are ranked that only misspelt words find: ranking takes a microsecond each, and a word
 * may be near many.
 */
const NEAR_RANKED = 1000
const SIMILAR_FREQUENCY_CAP = 2000
/** Cached rows of one search: about a page. */
const MOST_KEPT = 60

interface RankedRow {
  rid: number
  id: string
  score: number
}

export interface Searcher {
  /** undefined: the words are blank, so there is no text query. */
  find(query: FindQuery): { rows: RankedRow[]; total: number } | undefined
  similar(
    self: { rid: number; doc: JsonObject },
    query: { size: number; filter?: Filter; fields?: string[] },
  ): RankedRow[]
}

interface Scope {
  weights: number[]
  /** Column filters of the words and of their stems. */
  columns: string
  stemmed: string
  stems: string
}

/** A word that is matched exactly. */
type Exact = Pick<QueryWord, 'term' | 'stem' | 'isPrefix' | 'rows'>

/** A word that is searched in some columns only. */
interface InColumns extends Near {
  columns: string
}

interface Narrowing {
  filter: Sql
  /** Counted up to `MAX_WINDOW + 1`. */
  count: number
  /** The filter leaves so few rows that they are listed instead of tested for each hit. */
  isSmall: boolean
}

/** Takes the best matches that pass the filter, best first. */
type Take = (expression: string, narrow: Narrowing | undefined, scope: Scope, size: number) => RankedRow[]

export function openSearcher(
  connection: Connection,
  layout: Layout,
  names: TableNames,
  vocabulary: Vocabulary,
): Searcher {
  const { sql, pluck } = connection
  const { searched, stemmed } = layout
  const table = `"${names.text}"`
  const frequencySql = `SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?)`

  function count(expression: string, narrow: Narrowing | undefined): number {
    return connection.count(`SELECT count(*) FROM (SELECT 1 FROM ${source(narrow)} LIMIT ?)`, [
      expression,
      ...(narrow?.filter.values ?? []),
      MAX_WINDOW,
    ])
  }

  function scopeOf(fields: Partial<Record<string, number>> | undefined): Scope {
    const asked = new Map(searchScope(layout, fields).map(({ plan, weight }) => [plan, weight]))
    const weightOf = (plan: FieldPlan) => asked.get(plan) ?? 0
    const withStem = stemmed.filter((plan) => asked.has(plan))
    const list = (columns: string[]) => `{${columns.map((name) => `"${name}"`).join(' ')}}`
    return {
      weights: [...searched.map(weightOf), ...stemmed.map((plan) => weightOf(plan) * STEM_WEIGHT)],
      columns: list([...asked.keys()].map((plan) => plan.name)),
      stemmed: withStem.length > 0 ? list(withStem.map((plan) => plan.name)) : '',
      stems: withStem.length > 0 ? list(withStem.map(stemColumn)) : '',
    }
  }

  /**
   * Matches a word exactly, by its stem and, if requested, as a prefix. A user's word is never syntax: it is quoted,
   * and text.ts leaves only letters and digits of ASCII.
   */
  function exactly({ term, stem: root, isPrefix, rows }: Exact, { columns, stemmed: withStem, stems }: Scope): string {
    const ways = [term, ...rows.map((row) => row.join(' '))].map((found) => `${columns} : "${found}"`)
    if (isPrefix) ways.push(`${columns} : "${term}" *`)
    if (stems) ways.push(`${stems} : "${root}"`)
    if (withStem && root !== term && stem(root) === root) ways.push(`${withStem} : "${root}"`)
    return `(${ways.join(' OR ')})`
  }

  function frequency(expression: string, cap: number): number {
    return connection.count(frequencySql, [expression, cap])
  }

  /** The words and stems near this word, with the columns to search: nearest first, then most frequent. */
  function nearTerms(word: QueryWord, { columns, stemmed: withStem, stems }: Scope, most: number): InColumns[] {
    const near = [
      ...among(columns, vocabulary.words.near(word.term, word.edits)),
      ...(withStem === '' || word.stemEdits === 0
        ? []
        : [
            ...(word.stem === word.term ? [] : among(withStem, vocabulary.words.near(word.stem, word.stemEdits))),
            ...among(stems, vocabulary.stems.near(word.stem, word.stemEdits)),
          ]),
    ].sort((a, b) => a.distance - b.distance)
    if (near.length <= most) return near
    const counted = near.slice(0, MOST_COUNTED).map((each) => ({
      ...each,
      count: pluck<number>(frequencySql).get(`${each.columns} : "${each.term}"`, 100)!,
    }))
    return counted.sort((a, b) => a.distance - b.distance || b.count - a.count).slice(0, most)
  }

  function nearly(word: QueryWord, scope: Scope, most: number): string {
    const near = word.edits > 0 ? nearTerms(word, scope, most) : []
    const ways = [...new Set(near.map(({ columns }) => columns))].map((columns) => {
      const terms = near.filter((each) => each.columns === columns).map(({ term }) => `"${term}"`)
      return `${columns} : (${terms.join(' OR ')})`
    })
    return ways.length === 0 ? exactly(word, scope) : `(${[exactly(word, scope), ...ways].join(' OR ')})`
  }

  /**
   * Expressions from the best class to the widest. `all`: every word. `any`: every word, all but one, all but two, and
   * so on.
   */
  function classesOf(words: readonly string[], match: TextQuery['match']): string[] {
    const all = words.join(' AND ')
    if (match !== 'any' || words.length === 1) return [all]
    if (words.length <= MOST_COMBINED) return words.map((_, left) => atLeast(words, words.length - left))
    // Words without any match are dropped: otherwise they would count as the rarest.
    const counted = words
      .map((word) => ({ word, count: frequency(word, MAX_WINDOW + 1) }))
      .filter(({ count }) => count > 0)
    if (counted.length === 0) return [all]
    if (counted.length < words.length)
      return classesOf(
        counted.map(({ word }) => word),
        match,
      )
    const rarest = counted
      .sort((a, b) => a.count - b.count)
      .slice(0, MOST_COMBINED)
      .map(({ word }) => word)
    const butOne = words.length <= MOST_LEFT_OUT ? [atLeast(words, words.length - 1)] : []
    return [all, ...butOne, ...classesOf(rarest, match), atLeast(words, 1)]
  }

  function exactClasses(words: readonly QueryWord[], match: TextQuery['match'], scope: Scope): string[] {
    return classesOf(
      words.map((word) => exactly(word, scope)),
      match,
    )
  }

  function nearClasses(words: readonly QueryWord[], match: TextQuery['match'], scope: Scope): readonly string[] {
    if (words.every((word) => word.edits === 0)) return []
    const most = mostNearTerms(words.length)
    const find = () =>
      classesOf(
        words.map((word) => nearly(word, scope, most)),
        match,
      )
    return connection.kept(JSON.stringify([names.text, words, match, scope]), find)
  }

  function narrowing(filter: Filter | undefined): Narrowing | undefined {
    if (!filter) return undefined
    const where = filterSql(layout, names, filter)
    const { text, values } = countSql(layout, names, filter, MAX_WINDOW + 1)
    const count = connection.count(text, values)
    return { filter: where, count, isSmall: count <= MAX_WINDOW }
  }

  function source(narrow: Narrowing | undefined): string {
    if (!narrow) return `${table} f WHERE f.${table} MATCH ?`
    if (narrow.isSmall)
      return `${table} f WHERE f.${table} MATCH ? AND +f.rowid IN (SELECT m.rid FROM "${names.main}" m WHERE ${narrow.filter.text})`
    return `${table} f CROSS JOIN "${names.main}" m ON m.rid = f.rowid WHERE f.${table} MATCH ? AND ${narrow.filter.text}`
  }

  function scored(scope: Scope, narrow: Narrowing | undefined): string {
    return `SELECT f.rowid AS rid, -bm25(f.${table}${', ?'.repeat(scope.weights.length)}) AS score FROM ${source(narrow)}`
  }

  function best(rows: string): string {
    return `SELECT r.*, i.id FROM (SELECT * FROM (${rows}) ORDER BY score DESC, rid DESC LIMIT ?) r
     CROSS JOIN "${names.main}" i ON i.rid = r.rid ORDER BY r.score DESC, r.rid DESC`
  }

  function newest(rows: string): string {
    return `${rows} ORDER BY f.rowid DESC LIMIT ?`
  }

  // Ranking scores every match. A word in more than ten thousand documents says nothing, so the newest count as best.
  // Counting is cheap compared with ranking, and most words match nothing in most collections.
  function takeRanked(expression: string, narrow: Narrowing | undefined, scope: Scope, size: number): RankedRow[] {
    const values = [expression, ...(narrow?.filter.values ?? [])]
    const count = narrow?.isSmall ? undefined : frequency(expression, MAX_WINDOW + 1)
    if (count === 0) return []
    if (count !== undefined && count > MAX_WINDOW) {
      const rids = pluck<number>(newest(`SELECT f.rowid FROM ${source(narrow)}`)).all(...values, Math.max(size, FEW))
      if (rids.length >= FEW) return unranked(rids.slice(0, size))
    }
    return sql<RankedRow>(best(scored(scope, narrow))).all(...scope.weights, ...values, size)
  }

  function takeNear(expression: string, narrow: Narrowing | undefined, scope: Scope, size: number): RankedRow[] {
    return sql<RankedRow>(best(newest(scored(scope, narrow)))).all(
      ...scope.weights,
      expression,
      ...(narrow?.filter.values ?? []),
      Math.max(size, NEAR_RANKED),
      size,
    )
  }

  function idOf(rid: number): string {
    return pluck<string>(`SELECT id FROM "${names.main}" WHERE rid = ?`).get(rid)!
  }

  function unranked(rids: readonly number[]): RankedRow[] {
    return rids.map((rid) => ({ rid, id: idOf(rid), score: LEAST_SCORE }))
  }

  /** Cached for repeated queries: for misspelt words, another page, or the next typed letter. */
  function taken(
    take: Take,
    ...[expression, narrow, scope, size]: Parameters<Take>
  ): { rid: number; id: string; score: number }[] {
    return connection
      .kept(
        JSON.stringify([names.text, expression, narrow?.filter, scope.weights, size]),
        () => take(expression, narrow, scope, size),
        ({ length }) => length <= MOST_KEPT,
      )
      .map(({ rid, id, score }) => ({ rid, id, score }))
  }

  function sorted(expression: string, query: FindQuery, end: number): RankedRow[] {
    const where = query.filter ? filterSql(layout, names, query.filter) : undefined
    const rids = pluck<number>(
      `SELECT m.rid FROM ${table} f CROSS JOIN "${names.main}" m ON m.rid = f.rowid WHERE f.${table} MATCH ?` +
        `${where ? ` AND ${where.text}` : ''}${sortSql(layout, query.sort)} LIMIT ?`,
    ).all(expression, ...(where?.values ?? []), end)
    return unranked(rids)
  }

  return {
    find(query) {
      const { text } = query
      if (!text || text.words.trim() === '') return undefined
      const words = queryWords(text.words, text)
      if (words.length === 0 || searched.length === 0) return { rows: [], total: 0 }
      const scope = scopeOf(text.fields)
      if (scope.columns === '{}') return { rows: [], total: 0 }
      const { from = 0, size = 10 } = query
      const narrow = narrowing(query.filter)
      if (narrow?.count === 0) return { rows: [], total: 0 }
      const exact = exactClasses(words, text.match, scope)
      let near: readonly string[] | undefined
      const nearOnes = () => (near ??= nearClasses(words, text.match, scope))
      const widest = () => nearOnes().at(-1) ?? exact.at(-1)!

      const end = Math.min(from + size, MAX_WINDOW)
      let rows: RankedRow[] = []
      if (query.sort && query.sort.length > 0) rows = sorted(widest(), query, end)
      else {
        const seen = new Set<number>()
        // Each class includes the earlier ones: known rows are skipped, so a class must yield rows up to the end of the
        // page.
        const fill = (classes: readonly string[], take: Take) => {
          for (const each of classes) {
            if (rows.length >= end) return
            for (const row of taken(take, each, narrow, scope, end)) {
              if (rows.length < end && !seen.has(row.rid)) rows.push(row)
              seen.add(row.rid)
            }
          }
        }
        fill(exact, takeRanked)
        if (rows.length < end) fill(nearOnes(), takeNear)
        descending(rows)
      }
      const shown = rows.slice(from, end)
      return {
        rows: shown,
        total: query.withoutTotal ? shown.length : Math.max(rows.length, count(widest(), narrow)),
      }
    },

    similar(self, { size, filter, fields }) {
      const weights = similarScope(layout, fields)
      const scope = scopeOf(weights)
      const counted = tellingWords(layout, self.doc, weights).map((term) => {
        const word = exactly({ term, stem: stem(term), isPrefix: false, rows: [] }, scope)
        return { word, count: frequency(word, SIMILAR_FREQUENCY_CAP) }
      })
      const words = rarest(counted)
      if (words.length === 0) return []
      const narrow = narrowing(filter)
      const expression = words.join(' OR ')
      const rows = taken(takeRanked, expression, narrow, scope, size + 1)
        .filter(({ rid }) => rid !== self.rid)
        .slice(0, size)
      return descending(rows)
    },
  }
}

const among = (columns: string, near: readonly Near[]): InColumns[] => near.map((each) => ({ ...each, columns }))

/** Keeps scores in descending order across classes, and above zero. */
function descending(rows: RankedRow[]): RankedRow[] {
  let highest = Infinity
  for (const row of rows) row.score = highest = Math.max(LEAST_SCORE, Math.min(highest, row.score))
  return rows
}

/** An expression that matches at least this many of the words. */
function atLeast(words: readonly string[], kept: number): string {
  return choose(words, kept)
    .map((some) => `(${some.join(' AND ')})`)
    .join(' OR ')
}

function choose(words: readonly string[], kept: number): string[][] {
  if (kept === 0) return [[]]
  return words.flatMap((word, at) =>
    words.length - at < kept ? [] : choose(words.slice(at + 1), kept - 1).map((rest) => [word, ...rest]),
  )
}

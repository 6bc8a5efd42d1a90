/**
 * Text queries on the full-text table: words to expressions, expressions in classes, ranked where ranking can be paid.
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

/** How many near words are counted to find the most frequent. */
const MOST_COUNTED = 300
/**
 * With more words than this, how many of them match is told apart for the rarest only: the ways of leaving some out are
 * too many.
 */
const MOST_COMBINED = 6
const MOST_LEFT_OUT = 12
/**
 * So few that a filter leaves are ranked, however common their words are without it: to know that there are more of
 * them costs little.
 */
const FEW = 300
/**
 * Of what only misspelt words find, so many of the newest are ranked: a microsecond each, and any word may be near
 * many.
 */
const NEAR_RANKED = 1000
const SIMILAR_FREQUENCY_CAP = 2000
/** Rows of one search that are kept: a page of them. */
const MOST_KEPT = 60

interface RankedRow {
  rid: number
  id: string
  score: number
}

export interface Searcher {
  /** undefined: the words are blank, there is no text query. */
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

/** A word as it is found without being misspelt. */
type Exact = Pick<QueryWord, 'term' | 'stem' | 'isPrefix' | 'rows'>

/** A word that is looked for in some columns only. */
interface InColumns extends Near {
  columns: string
}

interface Narrowing {
  filter: Sql
  /** Counted up to `MAX_WINDOW + 1`. */
  count: number
  /** The filter leaves so few rows that they are listed rather than looked up for each hit. */
  isSmall: boolean
}

/** The first so many of those that match and are left, best first. */
type Take = (expression: string, narrow: Narrowing | undefined, scope: Scope, size: number) => RankedRow[]

class FtsSearcher implements Searcher {
  readonly #connection: Connection
  readonly #layout: Layout
  readonly #names: TableNames
  readonly #vocabulary: Vocabulary
  readonly #sql: Connection['sql']
  readonly #pluck: Connection['pluck']
  readonly #searched: FieldPlan[]
  readonly #stemmed: FieldPlan[]
  readonly #table: string
  readonly #frequencySql: string

  constructor(connection: Connection, layout: Layout, names: TableNames, vocabulary: Vocabulary) {
    this.#connection = connection
    this.#layout = layout
    this.#names = names
    this.#vocabulary = vocabulary
    const { sql, pluck } = connection
    this.#sql = sql
    this.#pluck = pluck
    const { searched, stemmed } = layout
    this.#searched = searched
    this.#stemmed = stemmed
    this.#table = `"${names.text}"`
    this.#frequencySql = `SELECT count(*) FROM (SELECT 1 FROM ${this.#table} WHERE ${this.#table} MATCH ? LIMIT ?)`
  }

  find(query: FindQuery): { rows: RankedRow[]; total: number } | undefined {
    const { text } = query
    if (!text || text.words.trim() === '') return undefined
    const words = queryWords(text.words, text)
    if (words.length === 0 || this.#searched.length === 0) return { rows: [], total: 0 }
    const scope = this.#scopeOf(text.fields)
    if (scope.columns === '{}') return { rows: [], total: 0 }
    const { from = 0, size = 10 } = query
    const narrow = this.#narrowing(query.filter)
    if (narrow?.count === 0) return { rows: [], total: 0 }
    const exact = this.#exactClasses(words, text.match, scope)
    let near: readonly string[] | undefined
    const nearOnes = () => (near ??= this.#nearClasses(words, text.match, scope))
    const widest = () => nearOnes().at(-1) ?? exact.at(-1)!

    const end = Math.min(from + size, MAX_WINDOW)
    let rows: RankedRow[] = []
    if (query.sort && query.sort.length > 0) rows = this.#sorted(widest(), query, end)
    else {
      const seen = new Set<number>()
      // A class holds the ones before it: what they gave is passed over, so as many are taken as the page ends at.
      const fill = (classes: readonly string[], take: Take) => {
        for (const each of classes) {
          if (rows.length >= end) return
          for (const row of this.#taken(take, each, narrow, scope, end)) {
            if (rows.length < end && !seen.has(row.rid)) rows.push(row)
            seen.add(row.rid)
          }
        }
      }
      fill(exact, (expression, narrow, scope, size) => this.#takeRanked(expression, narrow, scope, size))
      if (rows.length < end)
        fill(nearOnes(), (expression, narrow, scope, size) => this.#takeNear(expression, narrow, scope, size))
      descending(rows)
    }
    const shown = rows.slice(from, end)
    return {
      rows: shown,
      total: query.withoutTotal ? shown.length : Math.max(rows.length, this.#count(widest(), narrow)),
    }
  }

  #count(expression: string, narrow: Narrowing | undefined): number {
    return this.#connection.count(`SELECT count(*) FROM (SELECT 1 FROM ${this.#source(narrow)} LIMIT ?)`, [
      expression,
      ...(narrow?.filter.values ?? []),
      MAX_WINDOW,
    ])
  }

  similar(
    self: { rid: number; doc: JsonObject },
    { size, filter, fields }: { size: number; filter?: Filter; fields?: string[] },
  ): RankedRow[] {
    const weights = similarScope(this.#layout, fields)
    const scope = this.#scopeOf(weights)
    const counted = tellingWords(this.#layout, self.doc, weights).map((term) => {
      const word = this.#exactly({ term, stem: stem(term), isPrefix: false, rows: [] }, scope)
      return { word, count: this.#frequency(word, SIMILAR_FREQUENCY_CAP) }
    })
    const words = rarest(counted)
    if (words.length === 0) return []
    const narrow = this.#narrowing(filter)
    const expression = words.join(' OR ')
    const rows = this.#taken(
      (expression, narrow, scope, size) => this.#takeRanked(expression, narrow, scope, size),
      expression,
      narrow,
      scope,
      size + 1,
    )
      .filter(({ rid }) => rid !== self.rid)
      .slice(0, size)
    return descending(rows)
  }

  #scopeOf(fields: Partial<Record<string, number>> | undefined): Scope {
    const asked = new Map(searchScope(this.#layout, fields).map(({ plan, weight }) => [plan, weight]))
    const weightOf = (plan: FieldPlan) => asked.get(plan) ?? 0
    const withStem = this.#stemmed.filter((plan) => asked.has(plan))
    const list = (columns: string[]) => `{${columns.map((name) => `"${name}"`).join(' ')}}`
    return {
      weights: [...this.#searched.map(weightOf), ...this.#stemmed.map((plan) => weightOf(plan) * STEM_WEIGHT)],
      columns: list([...asked.keys()].map((plan) => plan.name)),
      stemmed: withStem.length > 0 ? list(withStem.map((plan) => plan.name)) : '',
      stems: withStem.length > 0 ? list(withStem.map(stemColumn)) : '',
    }
  }

  /**
   * Exact, stemmed and, if asked, prefix. A user's word is never syntax: it is quoted, and of ASCII text.ts leaves
   * letters and digits only.
   */
  #exactly({ term, stem: root, isPrefix, rows }: Exact, { columns, stemmed: withStem, stems }: Scope): string {
    const ways = [term, ...rows.map((row) => row.join(' '))].map((found) => `${columns} : "${found}"`)
    if (isPrefix) ways.push(`${columns} : "${term}" *`)
    if (stems) ways.push(`${stems} : "${root}"`)
    if (withStem && root !== term && stem(root) === root) ways.push(`${withStem} : "${root}"`)
    return `(${ways.join(' OR ')})`
  }

  #frequency(expression: string, cap: number): number {
    return this.#connection.count(this.#frequencySql, [expression, cap])
  }

  /**
   * So many words and stems near this word, with the columns that each is asked for in: nearest first, then most
   * frequent.
   */
  #nearTerms(word: QueryWord, { columns, stemmed: withStem, stems }: Scope, most: number): InColumns[] {
    const near = [
      ...among(columns, this.#vocabulary.words.near(word.term, word.edits)),
      ...(withStem === '' || word.stemEdits === 0
        ? []
        : [
            ...(word.stem === word.term ? [] : among(withStem, this.#vocabulary.words.near(word.stem, word.stemEdits))),
            ...among(stems, this.#vocabulary.stems.near(word.stem, word.stemEdits)),
          ]),
    ].sort((a, b) => a.distance - b.distance)
    if (near.length <= most) return near
    const counted = near.slice(0, MOST_COUNTED).map((each) => ({
      ...each,
      count: this.#pluck<number>(this.#frequencySql).get(`${each.columns} : "${each.term}"`, 100)!,
    }))
    return counted.sort((a, b) => a.distance - b.distance || b.count - a.count).slice(0, most)
  }

  #nearly(word: QueryWord, scope: Scope, most: number): string {
    const near = word.edits > 0 ? this.#nearTerms(word, scope, most) : []
    const ways = [...new Set(near.map(({ columns }) => columns))].map((columns) => {
      const terms = near.filter((each) => each.columns === columns).map(({ term }) => `"${term}"`)
      return `${columns} : (${terms.join(' OR ')})`
    })
    return ways.length === 0 ? this.#exactly(word, scope) : `(${[this.#exactly(word, scope), ...ways].join(' OR ')})`
  }

  /**
   * Expressions from the best class to the widest. `all`: every word. `any`: every word, all but one, all but two, down
   * to one.
   */
  #classesOf(words: readonly string[], match: TextQuery['match']): string[] {
    const all = words.join(' AND ')
    if (match !== 'any' || words.length === 1) return [all]
    if (words.length <= MOST_COMBINED) return words.map((_, left) => atLeast(words, words.length - left))
    // What stands nowhere is in no class: it would take the places of the rarest.
    const counted = words
      .map((word) => ({ word, count: this.#frequency(word, MAX_WINDOW + 1) }))
      .filter(({ count }) => count > 0)
    if (counted.length === 0) return [all]
    if (counted.length < words.length)
      return this.#classesOf(
        counted.map(({ word }) => word),
        match,
      )
    const rarest = counted
      .sort((a, b) => a.count - b.count)
      .slice(0, MOST_COMBINED)
      .map(({ word }) => word)
    const butOne = words.length <= MOST_LEFT_OUT ? [atLeast(words, words.length - 1)] : []
    return [all, ...butOne, ...this.#classesOf(rarest, match), atLeast(words, 1)]
  }

  #exactClasses(words: readonly QueryWord[], match: TextQuery['match'], scope: Scope): string[] {
    return this.#classesOf(
      words.map((word) => this.#exactly(word, scope)),
      match,
    )
  }

  #nearClasses(words: readonly QueryWord[], match: TextQuery['match'], scope: Scope): readonly string[] {
    if (words.every((word) => word.edits === 0)) return []
    const most = mostNearTerms(words.length)
    const find = () =>
      this.#classesOf(
        words.map((word) => this.#nearly(word, scope, most)),
        match,
      )
    return this.#connection.kept(JSON.stringify([this.#names.text, words, match, scope]), find)
  }

  #narrowing(filter: Filter | undefined): Narrowing | undefined {
    if (!filter) return undefined
    const where = filterSql(this.#layout, this.#names, filter)
    const { text, values } = countSql(this.#layout, this.#names, filter, MAX_WINDOW + 1)
    const count = this.#connection.count(text, values)
    return { filter: where, count, isSmall: count <= MAX_WINDOW }
  }

  #source(narrow: Narrowing | undefined): string {
    if (!narrow) return `${this.#table} f WHERE f.${this.#table} MATCH ?`
    if (narrow.isSmall)
      return `${this.#table} f WHERE f.${this.#table} MATCH ? AND +f.rowid IN (SELECT m.rid FROM "${this.#names.main}" m WHERE ${narrow.filter.text})`
    return `${this.#table} f CROSS JOIN "${this.#names.main}" m ON m.rid = f.rowid WHERE f.${this.#table} MATCH ? AND ${narrow.filter.text}`
  }

  #scored(scope: Scope, narrow: Narrowing | undefined): string {
    return `SELECT f.rowid AS rid, -bm25(f.${this.#table}${', ?'.repeat(scope.weights.length)}) AS score FROM ${this.#source(narrow)}`
  }

  #best(rows: string): string {
    return `SELECT r.*, i.id FROM (SELECT * FROM (${rows}) ORDER BY score DESC, rid DESC LIMIT ?) r
     CROSS JOIN "${this.#names.main}" i ON i.rid = r.rid ORDER BY r.score DESC, r.rid DESC`
  }

  #newest(rows: string): string {
    return `${rows} ORDER BY f.rowid DESC LIMIT ?`
  }

  // Ranking scores every match. A word that more than ten thousand documents have tells nothing: then the newest are
  // the best.
  // Counting is cheap beside ranking, and most words stand in no name of most kinds.
  #takeRanked(expression: string, narrow: Narrowing | undefined, scope: Scope, size: number): RankedRow[] {
    const values = [expression, ...(narrow?.filter.values ?? [])]
    const count = narrow?.isSmall ? undefined : this.#frequency(expression, MAX_WINDOW + 1)
    if (count === 0) return []
    if (count !== undefined && count > MAX_WINDOW) {
      const rids = this.#pluck<number>(this.#newest(`SELECT f.rowid FROM ${this.#source(narrow)}`)).all(
        ...values,
        Math.max(size, FEW),
      )
      if (rids.length >= FEW) return this.#unranked(rids.slice(0, size))
    }
    return this.#sql<RankedRow>(this.#best(this.#scored(scope, narrow))).all(...scope.weights, ...values, size)
  }

  #takeNear(expression: string, narrow: Narrowing | undefined, scope: Scope, size: number): RankedRow[] {
    return this.#sql<RankedRow>(this.#best(this.#newest(this.#scored(scope, narrow)))).all(
      ...scope.weights,
      expression,
      ...(narrow?.filter.values ?? []),
      Math.max(size, NEAR_RANKED),
      size,
    )
  }

  #idOf(rid: number): string {
    return this.#pluck<string>(`SELECT id FROM "${this.#names.main}" WHERE rid = ?`).get(rid)!
  }

  #unranked(rids: readonly number[]): RankedRow[] {
    return rids.map((rid) => ({ rid, id: this.#idOf(rid), score: LEAST_SCORE }))
  }

  /** Kept for who asks again: for misspelt words too, for another page, or for what was just typed. */
  #taken(
    take: Take,
    ...[expression, narrow, scope, size]: Parameters<Take>
  ): { rid: number; id: string; score: number }[] {
    return this.#connection
      .kept(
        JSON.stringify([this.#names.text, expression, narrow?.filter, scope.weights, size]),
        () => take(expression, narrow, scope, size),
        ({ length }) => length <= MOST_KEPT,
      )
      .map(({ rid, id, score }) => ({ rid, id, score }))
  }

  #sorted(expression: string, query: FindQuery, end: number): RankedRow[] {
    const where = query.filter ? filterSql(this.#layout, this.#names, query.filter) : undefined
    const rids = this.#pluck<number>(
      `SELECT m.rid FROM ${this.#table} f CROSS JOIN "${this.#names.main}" m ON m.rid = f.rowid WHERE f.${this.#table} MATCH ?` +
        `${where ? ` AND ${where.text}` : ''}${sortSql(this.#layout, query.sort)} LIMIT ?`,
    ).all(expression, ...(where?.values ?? []), end)
    return this.#unranked(rids)
  }
}

export function openSearcher(
  connection: Connection,
  layout: Layout,
  names: TableNames,
  vocabulary: Vocabulary,
): Searcher {
  return new FtsSearcher(connection, layout, names, vocabulary)
}

const among = (columns: string, near: readonly Near[]): InColumns[] => near.map((each) => ({ ...each, columns }))

/** A class never scores above the one before it; what is found scores more than nothing. */
function descending(rows: RankedRow[]): RankedRow[] {
  let highest = Infinity
  for (const row of rows) row.score = highest = Math.max(LEAST_SCORE, Math.min(highest, row.score))
  return rows
}

/** Every way of having at least so many of these. */
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

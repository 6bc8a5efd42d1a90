/**
 * Text queries on the full-text table: converts words to expressions, from the best matches to the widest, and takes
 * the newest rows of each until a page is full.
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
/** After a search with fewer hits, the next one in this collection is expected to have few hits, too. */
const FEW = 2
const SIMILAR_FREQUENCY_CAP = 2000
/** Cached rows of one search: about a page. */
const MOST_CACHED = 60

interface Row {
  rid: number
  id: string
}

interface RankedRow extends Row {
  score: number
}

/** Column filters of an FTS5 expression. */
interface Columns {
  columns: string
  /** The searched columns that have stems, and the columns with these stems; '': no column has any. */
  stemmed: string
  stems: string
}

interface Scope extends Columns {
  weights: number[]
  /** The columns with the greatest weight; undefined: all have the same. */
  best: Columns | undefined
}

/** A word that is matched exactly. */
type Exact = Pick<QueryWord, 'term' | 'stem' | 'isPrefix' | 'rows'>

/** A word that is searched in some columns only. */
interface InColumns extends Near {
  columns: string
}

/** Expressions of one class, the best first; the last one matches all that the others match. */
type Steps = readonly string[]

interface Narrowing {
  filter: Sql
  /** Counted up to `MAX_WINDOW + 1`. */
  count: number
  /** The filter leaves so few rows that they are listed instead of tested for each hit. */
  isSmall: boolean
}

export type Searcher = ReturnType<typeof openSearcher>

export function openSearcher(connection: Connection, layout: Layout, names: TableNames, vocabulary: Vocabulary) {
  const { sql, pluck } = connection
  const { searched, stemmed } = layout
  const table = `"${names.text}"`
  let isSparse = false
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
    const greatest = Math.max(...asked.values())
    const best = [...asked.keys()].filter((plan) => weightOf(plan) === greatest)
    return {
      weights: [...searched.map(weightOf), ...stemmed.map((plan) => weightOf(plan) * STEM_WEIGHT)],
      ...columnsOf([...asked.keys()]),
      best: best.length < asked.size ? columnsOf(best) : undefined,
    }
  }

  function columnsOf(plans: readonly FieldPlan[]): Columns {
    const withStem = stemmed.filter((plan) => plans.includes(plan))
    const list = (columns: readonly string[]) => `{${columns.map((name) => `"${name}"`).join(' ')}}`
    return {
      columns: list(plans.map((plan) => plan.name)),
      stemmed: withStem.length > 0 ? list(withStem.map((plan) => plan.name)) : '',
      stems: withStem.length > 0 ? list(withStem.map(stemColumn)) : '',
    }
  }

  /**
   * Matches a whole word as it was typed. A user's word is never syntax: it is quoted, and text.ts leaves only letters
   * and digits of ASCII.
   */
  function whole({ term, rows }: Pick<Exact, 'term' | 'rows'>, { columns }: Columns): string {
    const ways = [term, ...rows.map((row) => row.join(' '))].map((found) => `${columns} : "${found}"`)
    return `(${ways.join(' OR ')})`
  }

  /** Matches a word also by its stem and, if requested, as a prefix. */
  function exactly(word: Exact, scope: Columns): string {
    const { term, stem: root, isPrefix, rows } = word
    const { columns, stemmed: withStem, stems } = scope
    // Each way costs a lookup, and a prefix matches the whole word, too.
    const ways = isPrefix && rows.length === 0 ? [] : [whole(word, scope)]
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

  /** @param edits  maximum distance of the near words */
  function nearly(word: QueryWord, near: readonly InColumns[], edits: number, scope: Scope): string {
    const within = near.filter(({ distance }) => distance <= edits)
    const ways = [...new Set(within.map(({ columns }) => columns))].map((columns) => {
      const terms = within.filter((each) => each.columns === columns).map(({ term }) => `"${term}"`)
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

  /** Each class with the words in all these forms, the narrowest first; a long query only uses the widest form. */
  function inSteps(
    forms: ReadonlyArray<(word: QueryWord, at: number) => string>,
    words: readonly QueryWord[],
    match: TextQuery['match'],
  ): Steps[] {
    const used = words.length > MOST_COMBINED ? forms.slice(-1) : forms
    const classes = used.map((form) => classesOf(words.map(form), match))
    return classes.at(-1)!.map((_, at) => classes.flatMap((each) => each[at] ?? []))
  }

  /** Whole words rank before prefixes and stems; the fields with the greatest weight rank before the others. */
  function exactClasses(words: readonly QueryWord[], match: TextQuery['match'], scope: Scope): Steps[] {
    const first = scope.best ?? scope
    const widened = scope.best ? [first, scope] : [scope]
    const forms = widened.map((columns) => (word: QueryWord) => exactly(word, columns))
    return inSteps([(word) => whole(word, first), ...forms], words, match)
  }

  /**
   * The words of an `any` query that few documents contain, the rarest first: they are more relevant than the newest
   * hits.
   */
  function rareOnes(
    words: readonly QueryWord[],
    scope: Scope,
    narrow: Narrowing | undefined,
    size: number,
  ): readonly string[] {
    return words
      .map((word) => exactly(word, scope))
      .map((expression) => ({ expression, count: takeNewest(expression, narrow, size).length }))
      .filter(({ count }) => count > 0 && count < size)
      .sort((a, b) => a.count - b.count)
      .map(({ expression }) => expression)
  }

  /** Nearer words before others. */
  function nearClasses(words: readonly QueryWord[], match: TextQuery['match'], scope: Scope): readonly Steps[] {
    const most = Math.max(...words.map((word) => word.edits))
    if (most === 0) return []
    const find = () => {
      const near = words.map((word) => (word.edits > 0 ? nearTerms(word, scope, mostNearTerms(words.length)) : []))
      if (near.every(({ length }) => length === 0)) return []
      const forms = Array.from({ length: most }, (_, at) => (word: QueryWord, of: number) => {
        return nearly(word, near[of]!, at + 1, scope)
      })
      return inSteps(forms, words, match)
    }
    return connection.cached(JSON.stringify([names.text, words, match, scope]), find)
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

  /** The newest rows that match. The full-text table yields them in this order, so it reads no further than needed. */
  function takeNewest(expression: string, narrow: Narrowing | undefined, size: number): readonly Row[] {
    const rids = `SELECT f.rowid AS rid FROM ${source(narrow)} ORDER BY f.rowid DESC LIMIT ?`
    const rows = `SELECT r.rid, i.id FROM (${rids}) r CROSS JOIN "${names.main}" i ON i.rid = r.rid ORDER BY r.rid DESC`
    return connection.cached(
      JSON.stringify([names.text, expression, narrow?.filter, size]),
      () => sql<Row>(rows).all(expression, ...(narrow?.filter.values ?? []), size),
      ({ length }) => length <= MOST_CACHED,
    )
  }

  /** Ranks by bm25, which costs a microsecond per match: with too many matches, the newest count as the best. */
  function takeRanked(expression: string, narrow: Narrowing | undefined, scope: Scope, size: number): RankedRow[] {
    const find = (): readonly RankedRow[] => {
      if (!narrow?.isSmall && frequency(expression, MAX_WINDOW + 1) > MAX_WINDOW)
        return takeNewest(expression, narrow, size).map((row) => ({ score: LEAST_SCORE, ...row }))
      const rank = `-bm25(f.${table}${', ?'.repeat(scope.weights.length)})`
      const ranked = `SELECT f.rowid AS rid, ${rank} AS score FROM ${source(narrow)} ORDER BY score DESC, rid DESC LIMIT ?`
      return sql<RankedRow>(
        `SELECT r.*, i.id FROM (${ranked}) r CROSS JOIN "${names.main}" i ON i.rid = r.rid ORDER BY r.score DESC, r.rid DESC`,
      ).all(...scope.weights, expression, ...(narrow?.filter.values ?? []), size)
    }
    const key = JSON.stringify([names.text, expression, narrow?.filter, scope.weights, size])
    return connection.cached(key, find, ({ length }) => length <= MOST_CACHED).map((row) => ({ ...row }))
  }

  function idOf(rid: number): string {
    return pluck<string>(`SELECT id FROM "${names.main}" WHERE rid = ?`).get(rid)!
  }

  function unranked(rids: readonly number[]): RankedRow[] {
    return rids.map((rid) => ({ rid, id: idOf(rid), score: LEAST_SCORE }))
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
    /** undefined: the words are blank, so there is no text query. */
    find(query: FindQuery): { rows: RankedRow[]; total: number } | undefined {
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
      let near: readonly Steps[] | undefined
      const nearOnes = () => (near ??= nearClasses(words, text.match, scope))
      const widest = () => (nearOnes().at(-1) ?? exact.at(-1)!).at(-1)!

      const end = Math.min(from + size, MAX_WINDOW)
      let rows: RankedRow[] = []
      if (query.sort && query.sort.length > 0) rows = sorted(widest(), query, end)
      else {
        const page = openPage(end, (expression) => takeNewest(expression, narrow, end))
        for (const steps of exact.slice(0, -1)) page.fill(steps, isSparse || narrow?.isSmall === true)
        if (exact.length > 1 && !page.isFull()) page.fill(rareOnes(words, scope, narrow, end), false)
        page.fill(exact.at(-1)!, isSparse || narrow?.isSmall === true)
        isSparse = page.rows.length < FEW
        if (!page.isFull()) for (const steps of nearOnes()) page.fill(steps, true)
        rows = page.rows
      }
      const shown = rows.slice(from, end)
      return {
        rows: shown,
        total: query.withoutTotal ? shown.length : Math.max(rows.length, count(widest(), narrow)),
      }
    },

    similar(
      self: { rid: number; doc: JsonObject },
      { size, filter, fields }: { size: number; filter?: Filter; fields?: string[] },
    ): RankedRow[] {
      const weights = similarScope(layout, fields)
      const scope = scopeOf(weights)
      const counted = tellingWords(layout, self.doc, weights).map((term) => {
        const word = exactly({ term, stem: stem(term), isPrefix: false, rows: [] }, scope)
        return { word, count: frequency(word, SIMILAR_FREQUENCY_CAP) }
      })
      const words = rarest(counted)
      if (words.length === 0) return []
      const narrow = narrowing(filter)
      const rows = takeRanked(words.join(' OR '), narrow, scope, size + 1)
        .filter(({ rid }) => rid !== self.rid)
        .slice(0, size)
      return descending(rows)
    },
  }
}

/** A page, filled from the best matches to the widest. */
function openPage(end: number, take: (expression: string) => readonly Row[]) {
  const rows: RankedRow[] = []
  const seen = new Set<number>()
  let classes = 0
  const isFull = () => rows.length >= end

  function add(found: readonly Row[], score: number): void {
    for (const { rid, id } of found) {
      if (isFull()) return
      if (!seen.has(rid)) rows.push({ rid, id, score })
      seen.add(rid)
    }
  }

  return {
    rows,
    isFull,
    /**
     * @param isWidestFirst  the widest step probably adds at most one row, so that the narrower steps are unnecessary
     */
    fill(steps: Steps, isWidestFirst: boolean): void {
      const last = steps.length - 1
      if (last < 0) return
      // One score for the class: which of its steps run depends on how many rows are found.
      const score = Math.max(LEAST_SCORE, 1 / ++classes)
      const widest = isWidestFirst && !isFull() ? take(steps[last]!) : undefined
      const isEnough = widest && widest.length < end && widest.filter(({ rid }) => !seen.has(rid)).length <= 1
      if (!isEnough) for (let at = 0; at < last && !isFull(); at++) add(take(steps[at]!), score)
      if (!isFull()) add(widest ?? take(steps[last]!), score)
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
function atLeast(words: readonly string[], count: number): string {
  return choose(words, count)
    .map((some) => `(${some.join(' AND ')})`)
    .join(' OR ')
}

function choose(words: readonly string[], count: number): string[][] {
  if (count === 0) return [[]]
  return words.flatMap((word, at) =>
    words.length - at < count ? [] : choose(words.slice(at + 1), count - 1).map((rest) => [word, ...rest]),
  )
}

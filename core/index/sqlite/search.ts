/** Text queries on the full-text table: words to expressions, expressions in classes, ranked where ranking can be paid. */
import { queryWords, stem, STOP_WORDS, tokens, type QueryWord } from '../text.ts'
import { valuesOf, type FieldPlan, type JsonObject } from '../document.ts'
import { MAX_WINDOW, type Filter, type FindQuery, type TextQuery } from '../port.ts'
import type { Connection } from './connection.ts'
import { countSql, filterSql, orderOf, orderSql, type Sql } from './filter.ts'
import type { TermList } from './fuzzy.ts'
import { stemColumn, type Layout, type TableNames } from './layout.ts'

const MOST_NEAR_TERMS = 50
/** How many near words are counted to find the most frequent. */
const MOST_COUNTED = 300
/** More ways of leaving words out than this are not told apart. */
const MOST_COMBINATIONS = 70
const SIMILAR_WORDS = 8
const SIMILAR_WORDS_COUNTED = 48
const SIMILAR_FREQUENCY_CAP = 2000
const STEM_WEIGHT = 0.8
const LEAST_SCORE = 0.01

export interface RankedRow {
  rid: number
  score: number
}

export interface Searcher {
  /** undefined: the words are blank, there is no text query. */
  find(query: FindQuery): { rows: RankedRow[]; total: number } | undefined
  similar(self: { rid: number; doc: JsonObject }, query: { size: number; filter?: Filter; fields?: string[] }): RankedRow[]
}

interface Scope {
  weights: number[]
  /** Column filters of the words and of their stems. */
  columns: string
  stemmed: string
  stems: string
}

export function openSearcher(connection: Connection, layout: Layout, names: TableNames, terms: () => TermList): Searcher {
  const { sql, pluck } = connection
  const { searched, stemmed } = layout
  const table = `"${names.text}"`

  const scopeOf = (fields: Partial<Record<string, number>> | undefined): Scope => {
    const weightOf = (plan: FieldPlan) => (fields ? (fields[plan.name] ?? 0) : plan.weight)
    for (const name of Object.keys(fields ?? {})) {
      if (!searched.some((plan) => plan.name === name)) throw new Error(`${layout.data.name}: "${name}" is not declared as searched`)
    }
    const asked = searched.filter((plan) => weightOf(plan) > 0)
    const withStem = asked.filter((plan) => plan.isStemmed)
    const list = (columns: string[]) => `{${columns.map((name) => `"${name}"`).join(' ')}}`
    return {
      weights: [...searched.map(weightOf), ...stemmed.map((plan) => weightOf(plan) * STEM_WEIGHT)],
      columns: list(asked.map((plan) => plan.name)),
      stemmed: withStem.length > 0 ? list(withStem.map((plan) => plan.name)) : '',
      stems: withStem.length > 0 ? list(withStem.map(stemColumn)) : '',
    }
  }

  /** Exact, stemmed and, if asked, prefix. A user's word is never syntax: it is quoted, and text.ts leaves letters and digits only. */
  const exactly = ({ term, stem: root, isPrefix }: QueryWord, { columns, stemmed: withStem, stems }: Scope): string => {
    const ways = [`${columns} : "${term}"`]
    if (isPrefix) ways.push(`${columns} : "${term}" *`)
    if (stems) ways.push(`${stems} : "${root}"`)
    if (withStem && root !== term && stem(root) === root) ways.push(`${withStem} : "${root}"`)
    return `(${ways.join(' OR ')})`
  }

  const frequency = (expression: string, cap: number): number =>
    connection.count(`SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?)`, [expression, cap])

  /** At most fifty words near this one: nearest first, then most frequent. */
  const nearTerms = (word: QueryWord, { columns }: Scope): string[] => {
    const near = terms().near(word.term, word.edits).slice(0, MOST_COUNTED)
    if (near.length <= MOST_NEAR_TERMS) return near.map(({ term }) => term)
    const counted = near.map(({ term, distance }) => ({ term, distance, count: frequency(`${columns} : "${term}"`, 100) }))
    counted.sort((a, b) => a.distance - b.distance || b.count - a.count)
    return counted.slice(0, MOST_NEAR_TERMS).map(({ term }) => term)
  }

  const nearly = (word: QueryWord, scope: Scope): string => {
    const near = word.edits > 0 ? nearTerms(word, scope) : []
    return near.length === 0 ? exactly(word, scope) : `(${exactly(word, scope)} OR ${scope.columns} : (${near.map((term) => `"${term}"`).join(' OR ')}))`
  }

  /** Expressions from the best class to the widest; each holds the ones before it, apart from `except`. */
  interface Class {
    expression: string
    except?: string
  }
  const exactClasses = (words: readonly QueryWord[], match: TextQuery['match'], scope: Scope): Class[] =>
    nested(words.map((word) => exactly(word, scope)), match)

  const nearClasses = (words: readonly QueryWord[], match: TextQuery['match'], scope: Scope, exact: readonly Class[]): Class[] => {
    if (words.every((word) => word.edits === 0)) return []
    const found = nested(words.map((word) => nearly(word, scope)), match)
    const widestExact = exact.at(-1)!.expression
    return found.map(({ expression, except }) => ({ expression, except: except ? `${except} OR ${widestExact}` : widestExact }))
  }

  interface Narrowing {
    filter: Sql
    /** The filter leaves so few rows that they are listed rather than looked up for each hit. */
    isSmall: boolean
  }
  const narrowing = (filter: Filter | undefined): Narrowing | undefined => {
    if (!filter) return undefined
    const where = filterSql(layout, names, filter)
    const { text, values } = countSql(layout, names, filter, MAX_WINDOW + 1)
    const count = connection.count(text, values)
    return { filter: where, isSmall: count <= MAX_WINDOW }
  }

  const source = (narrow: Narrowing | undefined): string => {
    if (!narrow) return `${table} f WHERE f.${table} MATCH ?`
    if (narrow.isSmall) return `${table} f WHERE f.${table} MATCH ? AND +f.rowid IN (SELECT m.rid FROM "${names.main}" m WHERE ${narrow.filter.text})`
    return `${table} f CROSS JOIN "${names.main}" m ON m.rid = f.rowid WHERE f.${table} MATCH ? AND ${narrow.filter.text}`
  }

  const take = ({ expression, except }: Class, narrow: Narrowing | undefined, scope: Scope, size: number): RankedRow[] => {
    const asked = except ? `(${expression}) NOT (${except})` : expression
    const values = narrow?.filter.values ?? []
    // Ranking scores every match. A word that more than ten thousand documents have tells nothing: then the newest are the best.
    if (!narrow?.isSmall && frequency(asked, MAX_WINDOW + 1) > MAX_WINDOW) {
      const rids = pluck<number>(`SELECT f.rowid FROM ${source(narrow)} ORDER BY f.rowid DESC LIMIT ?`).all(asked, ...values, size)
      return rids.map((rid) => ({ rid, score: LEAST_SCORE }))
    }
    const rank = `bm25(f.${table}${', ?'.repeat(scope.weights.length)})`
    return sql<RankedRow>(`SELECT f.rowid AS rid, -${rank} AS score FROM ${source(narrow)} ORDER BY score DESC, f.rowid DESC LIMIT ?`)
      .all(...scope.weights, asked, ...values, size)
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
      const exact = exactClasses(words, text.match, scope)
      const near = () => nearClasses(words, text.match, scope, exact)

      const rows: RankedRow[] = []
      const end = Math.min(from + size, MAX_WINDOW)
      let all: Class[] | undefined
      if (query.sort && query.sort.length > 0) {
        all = [...exact, ...near()]
        rows.push(...sorted(all.at(-1)!.expression, query, end))
      } else {
        const fill = (classes: readonly Class[]) => {
          for (const each of classes) if (rows.length < end) rows.push(...take(each, narrow, scope, end - rows.length))
        }
        fill(exact)
        if (rows.length < end) {
          all = [...exact, ...near()]
          fill(all.slice(exact.length))
        }
        descending(rows)
      }
      const shown = rows.slice(from, end)
      return { rows: shown, total: query.withoutTotal ? shown.length : Math.max(rows.length, count()) }

      function count(): number {
        const widest = (all ?? [...exact, ...near()]).at(-1)!.expression
        return pluck<number>(`SELECT count(*) FROM (SELECT 1 FROM ${source(narrow)} LIMIT ?)`).get(widest, ...(narrow?.filter.values ?? []), MAX_WINDOW)!
      }
    },

    similar(self, { size, filter, fields }) {
      const plans = fields ? searched.filter((plan) => fields.includes(plan.name)) : searched
      if (plans.length === 0) return []
      const scope = scopeOf(Object.fromEntries(plans.map((plan) => [plan.name, plan.weight])))
      const own = new Set(plans.flatMap((plan) => valuesOf(plan, self.doc).flatMap((value) => tokens(String(value)))))
      const telling = [...own].filter((term) => term.length > 1 && !STOP_WORDS.has(term)).slice(0, SIMILAR_WORDS_COUNTED)
      const counted = telling.map((term) => {
        const expression = exactly({ term, stem: stem(term), isPrefix: false, edits: 0 }, scope)
        return { expression, count: frequency(expression, SIMILAR_FREQUENCY_CAP) }
      })
      // A word that only this document has finds nothing else.
      const rarest = counted.filter(({ count }) => count > 1).sort((a, b) => a.count - b.count).slice(0, SIMILAR_WORDS)
      if (rarest.length === 0) return []
      const narrow = narrowing(filter)
      const expression = rarest.map((word) => word.expression).join(' OR ')
      const rows = take({ expression }, narrow, scope, size + 1).filter(({ rid }) => rid !== self.rid).slice(0, size)
      return descending(rows)
    },
  }

  function sorted(expression: string, query: FindQuery, end: number): RankedRow[] {
    const where = query.filter ? filterSql(layout, names, query.filter) : undefined
    const rids = pluck<number>(
      `SELECT m.rid FROM ${table} f CROSS JOIN "${names.main}" m ON m.rid = f.rowid WHERE f.${table} MATCH ?` +
        `${where ? ` AND ${where.text}` : ''}${orderSql(orderOf(layout, query.sort))} LIMIT ?`,
    ).all(expression, ...(where?.values ?? []), end)
    return rids.map((rid) => ({ rid, score: LEAST_SCORE }))
  }
}

/** A class never scores above the one before it; what is found scores more than nothing. */
function descending(rows: RankedRow[]): RankedRow[] {
  let highest = Infinity
  for (const row of rows) row.score = highest = Math.max(LEAST_SCORE, Math.min(highest, row.score))
  return rows
}

/** `all`: one class, every word. `any`: every word, all but one, all but two, down to one. */
function nested(words: readonly string[], match: TextQuery['match']): Array<{ expression: string; except?: string }> {
  const classes: Array<{ expression: string; except?: string }> = [{ expression: words.join(' AND ') }]
  if (match !== 'any') return classes
  for (let kept = words.length - 1; kept >= 1; kept--) {
    if (kept > 1 && combinations(words.length, kept) > MOST_COMBINATIONS) continue
    const expression = choose(words, kept).map((some) => (some.length > 1 ? `(${some.join(' AND ')})` : some[0]!)).join(' OR ')
    classes.push({ expression, except: classes.at(-1)!.expression })
  }
  return classes
}

function combinations(of: number, kept: number): number {
  let count = 1
  for (let at = 1; at <= kept; at++) count = (count * (of - kept + at)) / at
  return count
}

function choose(words: readonly string[], kept: number): string[][] {
  if (kept === 0) return [[]]
  return words.flatMap((word, at) => (words.length - at < kept ? [] : choose(words.slice(at + 1), kept - 1).map((rest) => [word, ...rest])))
}

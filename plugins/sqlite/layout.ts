/** Derives tables from a mapping: names, columns, indexes, and the shape that is compared to detect changes. */
import {
  type DefinitionData,
  type FieldPlan,
  type IndexPlan,
  isWordy,
  planIndex,
  restOfShape,
  type Shape,
} from 'archivolt/index'
import { createFlat, type DocSql, docSql, type FlatForm, flatFormOf } from './stored-form.ts'

/** Increase when the table layout or the tokens (`index-kit/text.ts`) change: the next start rebuilds every table. */
const LAYOUT = 3

interface Column {
  /** The field's name, followed by `~` if the column has the folded text for sorting. */
  name: string
  plan: FieldPlan
  isFolded: boolean
  sql: 'INTEGER' | 'REAL' | 'TEXT'
}

interface IndexColumn {
  name: string
  order: 'asc' | 'desc'
}

export interface TableIndex {
  columns: IndexColumn[]
  /** Ends with the id, so that rows come out in the order of a list. */
  isOrdered: boolean
}

/** The documents with, or without, a value of this field, in descending order of `sort`. */
export interface ValueList {
  /** Number of the list in its table. */
  number: number
  plan: FieldPlan
  /** The sort column. */
  sort: string
}

export interface Layout extends IndexPlan {
  /** Single-value fields, in the narrow table (`TableNames.main`). */
  columns: Column[]
  /** Multi-value fields, in the table of values. */
  multi: FieldPlan[]
  valueLists: ValueList[]
  indexes: TableIndex[]
  shape: Shape
  /** undefined: all documents are stored as texts. */
  flat: FlatForm | undefined
}

/** Names of the tables of one version of a collection. */
export interface TableNames {
  main: string
  doc: string
  flat: string
  values: string
  lists: string
  text: string
  terms: string
}

export function tableNames(name: string, version: number): TableNames {
  const main = `${name}_v${version}`
  return {
    main,
    doc: `${main}_doc`,
    flat: `${main}_flat`,
    values: `${main}_kw`,
    lists: `${main}_list`,
    text: `${main}_fts`,
    terms: `${main}_term`,
  }
}

const SQL_TYPES = {
  keyword: 'TEXT',
  text: 'TEXT',
  long: 'INTEGER',
  date: 'INTEGER',
  boolean: 'INTEGER',
  double: 'REAL',
} as const

export function layoutOf(data: DefinitionData): Layout {
  const index = planIndex(data, ['rid', 'id'])
  const columns: Column[] = []
  for (const plan of index.plans) {
    if (plan.isMulti) continue
    if (plan.isFilter || plan.isParts || (plan.isSort && !isWordy(plan)))
      columns.push({ name: plan.name, plan, isFolded: false, sql: SQL_TYPES[plan.type] })
    if (plan.isSort && isWordy(plan)) columns.push({ name: `${plan.name}~`, plan, isFolded: true, sql: 'TEXT' })
  }
  const partial = {
    ...index,
    columns,
    multi: index.plans.filter((plan) => plan.isMulti && plan.isFilter),
    valueLists: valueListsOf(index),
  }
  const isColumn = (plan: FieldPlan) =>
    plan.type !== 'boolean' && plan.type !== 'double' && columns.some((one) => one.plan === plan && !one.isFolded)
  return {
    ...partial,
    indexes: indexesOf(partial),
    shape: shapeOf(partial),
    flat: flatFormOf(data, index.plans, isColumn),
  }
}

/** SQL that reads the documents of the current version. */
export const docsOf = ({ flat }: Layout, names: TableNames): DocSql => docSql(flat, names)

/** @throws Error  a list that begins with a multi-value field has an order that cannot be stored */
function valueListsOf({ data, byName }: IndexPlan): ValueList[] {
  return data.lists
    .filter(([first = '']) => byName.get(first)?.isMulti)
    .map(([first = '', second = '', ...others], number) => {
      const [name = '', order = 'desc'] = second.split(' ')
      const sort = byName.get(name)
      if (!sort?.isSort || !sort.isAlways || order !== 'desc' || others.length > 0)
        throw new Error(
          `${data.name}: a list of ${first}, which has several values, must be sorted in descending order by exactly one field that every document has`,
        )
      return { number, plan: byName.get(first)!, sort: sortColumn(sort) }
    })
}

/** The sort column of a field. */
export function sortColumn(plan: FieldPlan): string {
  return isWordy(plan) ? `${plan.name}~` : plan.name
}

/**
 * One ordered index per sort field and list, one covering index per statistic, and one per filter field that is not
 * first in any of them.
 */
function indexesOf(layout: Pick<Layout, 'data' | 'byName' | 'columns' | 'plans' | 'multi'>): TableIndex[] {
  const { data, byName, columns, plans, multi } = layout
  const exists = new Set(columns.map((column) => column.name))
  const found = new Map<string, TableIndex>()
  const add = (index: TableIndex) => {
    if (index.columns.every((column) => exists.has(column.name))) found.set(indexKey(index), index)
    else
      throw new Error(
        `${data.name}: a list or statistic names a field that is neither filtered nor sorted: ${index.columns.map((column) => column.name).join(', ')}`,
      )
  }
  const planOf = (name: string): FieldPlan => {
    const plan = byName.get(name)
    if (!plan) throw new Error(`${data.name}: there is no field "${name}"`)
    return plan
  }
  for (const plan of plans) if (plan.isSort) add({ columns: [sortEntry(plan)], isOrdered: true })
  for (const list of data.lists) {
    if (multi.some(({ name }) => name === list[0])) continue // stored in a separate table
    const entries = list.map((entry, at) => {
      const [name = '', order] = entry.split(' ')
      const plan = planOf(name)
      const isLast = at === list.length - 1
      if (isLast || order !== undefined || !plan.isFilter) return sortEntry(plan, order)
      return { name: plan.name, order: sortEntry(plan).order }
    })
    add({ columns: entries, isOrdered: true })
  }
  for (const cover of data.covers)
    add({ columns: cover.map((name) => ({ name: planOf(name).name, order: 'asc' })), isOrdered: false })
  for (const { name, plan } of columns) {
    const leads = [...found.values()].some((index) => index.columns[0]?.name === name)
    // A flag selects about half of all rows, so it is worth an index only in a list.
    if (plan.isFilter && name === plan.name && !leads && plan.type !== 'boolean')
      add({ columns: [{ name, order: 'asc' }], isOrdered: false })
  }
  return [...found.values()]
}

function sortEntry(plan: FieldPlan, order?: string): IndexColumn {
  if (order === 'asc' || order === 'desc') return { name: sortColumn(plan), order }
  return { name: sortColumn(plan), order: plan.type === 'text' ? 'asc' : 'desc' }
}

function indexKey(index: TableIndex): string {
  return [
    ...index.columns.map(({ name, order }) => (order === 'asc' ? name : `${name}-`)),
    ...(index.isOrdered ? ['id'] : []),
  ].join('.')
}

/** Name of an index in the file, unique across all tables. */
export function indexName(names: TableNames, index: TableIndex): string {
  return `${names.main}.${indexKey(index)}`
}

function shapeOf(layout: Omit<Layout, 'indexes' | 'shape' | 'flat'>): Shape {
  const fields: Record<string, string> = {}
  for (const { name, plan, sql } of layout.columns)
    fields[`column ${name}`] = `${plan.type} ${sql} ${plan.path.join('.')}`
  for (const plan of layout.multi) fields[`values ${plan.name}`] = `${plan.type} ${plan.path.join('.')}`
  const valueLists = layout.valueLists.map(({ plan, sort }) => `${plan.name} ${sort}`)
  return { fields, rest: { ...restOfShape(layout, LAYOUT), ...(valueLists.length > 0 && { valueLists }) } }
}

const quote = (name: string) => `"${name}"`

/**
 * SQL that creates the empty tables of one version, without indexes: loading is ten times as fast if the indexes are
 * created afterwards.
 */
export function createTables(layout: Layout, names: TableNames): string[] {
  const columns = layout.columns.map(({ name, sql }) => `, ${quote(name)} ${sql}`).join('')
  const statements = [
    `CREATE TABLE ${quote(names.main)}(rid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE${columns}) STRICT`,
    // The reply's text and the internal values are stored separately, so that pages need no parsing.
    `CREATE TABLE ${quote(names.doc)}(rid INTEGER PRIMARY KEY, text TEXT NOT NULL, internal TEXT) STRICT`,
  ]
  if (layout.flat) statements.push(createFlat(layout.flat, names))
  if (layout.multi.length > 0) {
    statements.push(
      `CREATE TABLE ${quote(names.values)}(field TEXT NOT NULL, value ANY NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY (field, value, rid)) STRICT, WITHOUT ROWID`,
      `CREATE INDEX ${quote(`${names.values}.rid`)} ON ${quote(names.values)}(rid)`,
    )
  }
  if (layout.valueLists.length > 0) {
    // `has` 1: documents with the value; 0: documents without it.
    statements.push(
      `CREATE TABLE ${quote(names.lists)}(list INTEGER NOT NULL, value ANY NOT NULL, has INTEGER NOT NULL, sort ANY NOT NULL, id TEXT NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY (list, value, has, sort DESC, id)) STRICT, WITHOUT ROWID`,
    )
  }
  if (layout.searched.length > 0) {
    // `index-kit/text.ts` has already folded, split and stemmed the words: the tokenizer treats everything beyond ASCII
    // as letters and splits at spaces.
    statements.push(
      `CREATE VIRTUAL TABLE ${quote(names.text)} USING fts5(${textColumns(layout).map(quote).join(', ')}, content='', contentless_delete=1, prefix='1 2 3', tokenize='ascii')`,
      `CREATE TABLE ${quote(names.terms)}(term TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`,
    )
  }
  return statements
}

export function createIndex(names: TableNames, index: TableIndex): string {
  const columns = index.columns.map(({ name, order }) => `${quote(name)} ${order.toUpperCase()}`)
  if (index.isOrdered) columns.push('id ASC')
  return `CREATE INDEX ${quote(indexName(names, index))} ON ${quote(names.main)}(${columns.join(', ')})`
}

/** Stems that differ from their words have a column of their own: a prefix is searched in words, not in stems. */
export const stemColumn = (plan: FieldPlan): string => `${plan.name}~`

export function textColumns(layout: Layout): string[] {
  return [...layout.searched.map((plan) => plan.name), ...layout.stemmed.map(stemColumn)]
}

/** Reads single values of documents: from the narrow table, or from the stored text if the table has no such column. */
import type { Collection, Part, PartsQuery, Scalar } from 'archivolt'
import { STAMP } from 'archivolt/index'
import { type Sql, whereSql } from './filter.ts'
import { docsOf, type Layout, type TableNames } from './layout.ts'
import type { Link } from './link.ts'
import type { PartRow } from './protocol.ts'
import type { DocSql } from './stored-form.ts'

const BATCH = 1000

/** Bind the values, then the id to start after, then the number of rows. */
export function partsSql(
  layout: Layout,
  names: TableNames,
  { filter, paths }: Pick<PartsQuery, 'filter' | 'paths'>,
): Sql {
  const where = whereSql(layout, names, filter)
  const docs = docsOf(layout, names)
  const columns = paths.map((path) => columnSql(layout, docs, path))
  // A stamp needs no parsing, so it also works for a text that is not valid JSON.
  const isParsed = columns.some((column) => column.startsWith('json_'))
  const isInTexts = isParsed || paths.includes(STAMP)
  return {
    text: `SELECT ${['m.id', ...columns].join(', ')} FROM "${names.main}" m${isInTexts ? docs.join : ''}${where.text || ' WHERE 1'}${isParsed ? ` AND ${docs.isSound}` : ''} AND m.id > ? ORDER BY m.id LIMIT ?`,
    values: where.values,
  }
}

const planAt = ({ plans }: Layout, path: string) => plans.find((plan) => plan.path.join('.') === path)

function columnSql(layout: Layout, { text, internal }: DocSql, path: string): string {
  if (path === STAMP) return `stamp(CAST(${text} AS BLOB))`
  const plan = planAt(layout, path)
  if (plan && layout.columns.some(({ name, isFolded }) => name === plan.name && !isFolded)) return `m."${plan.name}"`
  return `json_extract(${plan?.isInternal ? internal : text}, '${jsonPath(path)}')`
}

/** @throws Error  the code itself gave an invalid path: paths never come from outside */
function jsonPath(path: string): string {
  if (!/^[a-z0-9_]+(\.[a-z0-9_]+)*$/i.test(path)) throw new Error(`"${path}" is not a valid path`)
  return `$${path
    .split('.')
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
    .join('')}`
}

export const openParts = (name: string, layout: Layout, link: () => Link): Pick<Collection, 'parts'> => ({
  async *parts({ filter, paths, batch = BATCH }) {
    // SQLite has no booleans.
    const booleans = paths.map((path) => planAt(layout, path)?.type === 'boolean')
    const valueAt = (value: string | number | null, at: number): Scalar | null =>
      booleans[at] && value !== null ? value === 1 : value
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: PartRow[] = await link().call('parts', { name, filter, paths, after, size: batch })
      after = rows.length < batch ? undefined : rows.at(-1)![0]
      if (rows.length > 0) yield rows.map(([id, ...values]): Part => ({ id, values: values.map(valueAt) }))
    }
  },
})

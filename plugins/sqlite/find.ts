/** Lists and searches of one collection: indexed pages are read here, everything else in the worker. */
import type { Collection, Filter, FindQuery, Found, Hit } from 'archivolt'
import { checkCount, MAX_WINDOW, windowOf } from 'archivolt/index'
import { countSql, equalColumns, isOfColumns, pageSql } from './filter.ts'
import { docsOf } from './layout.ts'
import type { FoundRows } from './protocol.ts'
import { type Points, rowSql, splitRow, type Target } from './read-by-id.ts'
import { listedCount, listedPage } from './value-lists.ts'

export function openSearches(
  target: Target,
  points: Pick<Points, 'getTexts' | 'isWhole'>,
): Pick<Collection, 'find' | 'similar' | 'count'> {
  function isIndexed(filter: Filter | undefined): boolean {
    const { layout } = target
    const equal = equalColumns(layout, filter)
    if (equal === undefined) return false
    const isMet = ({ name }: { name: string }) => equal.has(name)
    return equal.size === 0 || layout.indexes.some(({ columns }) => columns.slice(0, equal.size).every(isMet))
  }

  function isListed(filter: Filter | undefined, cap: number): boolean {
    const { layout } = target
    return target.read((reader) => listedCount(reader, layout, target.names(), filter, cap) !== undefined)
  }

  function countNow(filter: Filter | undefined, cap: number): number {
    const { layout } = target
    const names = target.names()
    return target.read((reader) => {
      const { text, values } = listedCount(reader, layout, names, filter, cap) ?? countSql(layout, names, filter, cap)
      return reader.count(text, values, isOfColumns(layout, filter))
    })
  }

  /** @returns undefined: the query must run in the worker */
  function page(query: FindQuery): Found | undefined {
    const { from = 0, size = 10 } = query
    const { layout } = target
    const names = target.names()
    const sql = docsOf(layout, names)
    const rowsOf = (page: string) =>
      layout.flat ? `(${page}) p CROSS JOIN "${names.main}" m ON m.rid = p.rid${sql.join}` : `(${page}) m${sql.join}`
    return target.read((reader) =>
      reader.together(() => {
        const page = listedPage(reader, layout, names, query) ?? pageSql(layout, names, query)
        if (!page.isLight) return undefined
        if (query.withoutTexts) {
          const ids = reader.pluck<string>(`SELECT m.id FROM (${page.text}) m`).all(...page.values, size, from)
          return { hits: ids.map((id) => ({ id, text: '', score: 0 })), total: totalOf(query, ids.length) }
        }
        const rows = reader.pluck<string>(`SELECT ${rowSql(layout, sql)} FROM ${rowsOf(page.text)}`)
        const found = rows
          .all(...page.values, size, from)
          .map(splitRow)
          .filter((row) => points.isWhole(row, names.main))
        const hits = found.map(({ id, text }): Hit => ({ id, text, score: 0 }))
        return { hits, total: totalOf(query, hits.length) }
      }),
    )
  }

  const totalOf = ({ withoutTotal, filter }: FindQuery, hits: number) =>
    withoutTotal ? hits : countNow(filter, MAX_WINDOW)

  async function toHits({ ids, scores }: FoundRows, withoutTexts = false): Promise<Hit[]> {
    if (withoutTexts) return ids.map((id, at) => ({ id, text: '', score: scores[at]! }))
    const found = await points.getTexts(ids)
    return ids.flatMap((id, at) => {
      const text = found.get(id)
      return text === undefined ? [] : [{ id, text, score: scores[at]! }]
    })
  }

  return {
    async find(query) {
      const { definition } = target
      windowOf(definition, query)
      const hasWords = query.text !== undefined && query.text.words.trim() !== ''
      if (query.ids) checkCount(definition, query.ids)
      const here = hasWords || query.ids ? undefined : page(query)
      if (here) return here
      const found = await target.link().call('find', { name: definition.name, query })
      return { hits: await toHits(found, query.withoutTexts), total: found.total }
    },

    async similar(id, query) {
      const { definition } = target
      return toHits(await target.link().call('similar', { name: definition.name, id, query }))
    },

    async count(filter, cap = MAX_WINDOW) {
      const { definition } = target
      const isLight = cap <= MAX_WINDOW && (isIndexed(filter) || isListed(filter, cap))
      return isLight ? countNow(filter, cap) : target.link().call('count', { name: definition.name, filter, cap })
    },
  }
}

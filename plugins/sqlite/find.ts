/** Lists and searches of one collection: indexed pages are read here, everything else in the worker. */
import type { Collection, Filter, FindQuery, Found, Hit } from 'archivolt'
import { checkCount, MAX_WINDOW, windowOf } from 'archivolt/index'
import { countSql, equalColumns, isOfColumns, pageSql } from './filter.ts'
import { docsOf } from './layout.ts'
import { type Points, splitRow, type Target } from './points.ts'
import type { FoundRows } from './protocol.ts'
import { listedCount, listedPage } from './value-lists.ts'

export function openSearches(
  target: Target,
  points: Pick<Points, 'getTexts'>,
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
    const { join, soundText } = docsOf(layout, names)
    const rowsOf = (page: string) =>
      layout.flat ? `(${page}) p CROSS JOIN "${names.main}" m ON m.rid = p.rid${join}` : `(${page}) m${join}`
    return target.read((reader) =>
      reader.together(() => {
        const page = listedPage(reader, layout, names, query) ?? pageSql(layout, names, query)
        if (!page.isLight) return undefined
        const rows = query.withoutTexts
          ? `SELECT m.id || char(10) FROM (${page.text}) m`
          : `SELECT m.id || char(10) || ${soundText} FROM ${rowsOf(page.text)}`
        const hits = reader
          .pluck<string>(rows)
          .all(...page.values, size, from)
          .flatMap((row): Hit[] => {
            const hit = { ...splitRow(row), score: 0 }
            if (hit.text !== '' || query.withoutTexts) return [hit]
            target.onGarbled(hit.id)
            return []
          })
        return { hits, total: query.withoutTotal ? hits.length : countNow(query.filter, MAX_WINDOW) }
      }),
    )
  }

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

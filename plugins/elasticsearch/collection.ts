/**
 * One collection on Elasticsearch, always accessed by its alias. Reads by id see every write at once, lists and
 * searches only after a refresh.
 */

import type { Collection, IndexDefinition } from 'archivolt'
import { chunksOf, errors } from 'archivolt'
import { aggregate } from './aggregate.ts'
import { deleting, putAll, type Target, write } from './bulk.ts'
import { openDocumentChanges } from './change.ts'
import { BY_ID, filterQuery, type Sort } from './filter.ts'
import { openSearches } from './find.ts'
import { type Layout, sortField } from './layout.ts'
import { openParts } from './parts.ts'
import { openPoints } from './points.ts'
import { pages, parsed } from './scan.ts'

const BATCH = 200
const REMOVED_AT_ONCE = 1000

export function openCollection(
  target: Target,
  definition: IndexDefinition,
  layout: Layout,
): Collection<Record<string, unknown>, string> {
  const { connection, index } = target
  const points = openPoints(target, definition)
  const changes = openDocumentChanges(target, layout)

  return {
    definition,
    ...points,
    ...openSearches(target, definition, layout, points),
    ...openParts(target, layout),
    aggregate: (query) => aggregate(connection, index, layout, query),

    async put(id, doc, options = {}) {
      const { failed } = await putAll(target, layout, [{ id, doc }], { visible: options.visible ?? false })
      if (failed[0]) throw errors.unprocessable(failed[0].reason)
    },
    putMany: (docs, options = {}) => putAll(target, layout, docs, options),
    async create(id, doc, options = {}) {
      const { failed, written } = await putAll(target, layout, [{ id, doc }], { ...options, onlyNew: true })
      if (failed[0]) throw errors.unprocessable(failed[0].reason)
      if (written > 0) return true
      const isDamaged = (await points.known([id])).has(id) && (await points.get(id)) === undefined
      // A damaged document is replaced as a whole, because a patch cannot change it.
      if (isDamaged) await putAll(target, layout, [{ id, doc }], { visible: options.visible ?? false })
      return isDamaged
    },
    patch: (id, change, options = {}) => changes.patch(id, change, options),
    patchWhere: (filter, change, options = {}) => changes.patchWhere(filter, change, options),

    async remove(ids, { visible } = {}) {
      const list = (typeof ids === 'string' ? [ids] : [...new Set(ids)]).filter((id) => id !== '')
      let removed = 0
      for (const some of chunksOf(list, REMOVED_AT_ONCE)) {
        const isVisible = visible && some.at(-1) === list.at(-1)
        const operations = some.map((id) => deleting(id))
        const outcomes = await write(target, operations, { isVisible })
        removed += outcomes.filter(({ state }) => state === 'done').length
      }
      return removed
    },
    removeWhere: (filter, options = {}) => changes.removeWhere(filter, options),

    async *scan({ filter, batch = BATCH, order = 'id' } = {}) {
      const { newest } = layout
      const sort: Sort =
        order === 'id' || !newest ? BY_ID : [{ [sortField(newest)]: { order: 'asc', missing: '_first' } }, ...BY_ID]
      for await (const hits of pages(connection, { index, query: filterQuery(layout, filter), batch, sort })) {
        yield (await parsed(hits, target)).map(({ id, doc }) => ({ id, doc }))
      }
    },
  }
}

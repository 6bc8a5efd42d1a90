/** Single values of documents: those that are kept for filters, or read from the stored text. */
import type { Collection, Part, Scalar } from 'archivolt'
import { partOf } from 'archivolt/index'
import type { Target } from './bulk.ts'
import { filterQuery } from './filter.ts'
import type { Layout } from './layout.ts'
import { pages, parsed } from './scan.ts'

const BATCH = 1000

export const openParts = (target: Target, layout: Layout): Pick<Collection, 'parts'> => ({
  async *parts({ filter, paths, batch = BATCH }) {
    const { connection, index } = target
    const names = paths.map((path) => layout.values.find((plan) => !plan.isMulti && plan.path.join('.') === path)?.name)
    const isKept = names.every((name) => name !== undefined)
    const query = filterQuery(layout, filter)
    const only = isKept ? names.map((name) => `value.${name}`) : undefined
    for await (const hits of pages(connection, { index, query, batch, ...(only && { only }) })) {
      yield isKept
        ? hits.map(({ _id: id, _source: source }): Part => {
            const { value = {} } = (source ?? {}) as { value?: Record<string, Scalar> }
            return { id: id!, values: names.map((name) => value[name] ?? null) }
          })
        : (await parsed(hits, target)).map(
            ({ id, doc }): Part => ({ id, values: paths.map((path) => partOf(doc, path)) }),
          )
    }
  },
})

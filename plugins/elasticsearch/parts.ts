/** Single values of documents, read from the stored text. */
import { type Collection, type Part, STAMP } from 'archivolt'
import { partOf } from 'archivolt/index'
import type { Target } from './bulk.ts'
import { filterQuery } from './filter.ts'
import type { Layout } from './layout.ts'
import { pages, parsed } from './scan.ts'

const BATCH = 1000

export const openParts = (target: Target, layout: Layout): Pick<Collection, 'parts'> => ({
  async *parts({ filter, paths, batch = BATCH }) {
    const { connection, index } = target
    for await (const hits of pages(connection, { index, query: filterQuery(layout, filter), batch }))
      yield (await parsed(hits, target)).map(
        ({ id, doc, hit }): Part => ({
          id,
          values: paths.map((path) => (path === STAMP ? `${hit._seq_no}.${hit._primary_term}` : partOf(doc, path))),
        }),
      )
  },
})

/**
 * Reads a collection on the server that no plugin declares any more, once, for the plugin that now stores the data
 * elsewhere.
 */
import type { Leftover, OnGarbled } from 'archivolt/index'
import type { ElasticConnection } from './connection.ts'
import { EVERYTHING } from './filter.ts'
import { pages, parsed } from './scan.ts'
import type { Store } from './store.ts'

const BATCH = 500

interface Left {
  store: Store
  connection: ElasticConnection
  name: string
  declared: ReadonlyMap<string, unknown>
  onGarbled: OnGarbled | undefined
}

/** undefined: the server has no index of this name, or one that this program has not created. */
export async function leftoverOf({
  store,
  connection,
  name,
  declared,
  onGarbled,
}: Left): Promise<Leftover | undefined> {
  if (declared.has(name)) return undefined
  const { inUse, shape } = await store.stateOf(name)
  if (inUse === undefined || shape === undefined) return undefined
  return {
    async *scan() {
      await connection.run((client) => client.indices.refresh({ index: inUse }))
      for await (const hits of pages(connection, { index: inUse, query: EVERYTHING, batch: BATCH })) {
        const found = await parsed(hits, { onGarbled: (id) => onGarbled?.(name, id) })
        yield found.map(({ id, doc }) => ({ id, doc }))
      }
    },
    async remove() {
      const { others } = await store.stateOf(name)
      // The index that was in use is removed last, because a repetition starts with it.
      await store.remove([...others.map(({ index }) => index), inUse])
    },
  }
}

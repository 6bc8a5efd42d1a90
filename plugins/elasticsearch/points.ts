/** Reads and writes documents of one collection by id. Reads see every write at once. */
import type { estypes } from '@elastic/elasticsearch'
import { type Collection, chunksOf, type IndexDefinition } from 'archivolt'
import { checkCount, MAX_WINDOW } from 'archivolt/index'
import type { Target } from './bulk.ts'
import { decode, type Stored } from './encode.ts'
import { FaultyItem, faultOfServer } from './fault.ts'
import { parsed } from './scan.ts'

const IDS_AT_ONCE = 500

interface StoredText {
  id: string
  text: string
  internal?: string
}

/**
 * The documents that exist. Their ids are sent in the body, never in a URL path.
 * @throws unavailable  the server cannot read one of them, so it may or may not exist
 */
export const readAll = (
  { connection, index }: Pick<Target, 'connection' | 'index'>,
  ids: readonly string[],
  isBare = false,
): Promise<Array<estypes.GetGetResult<Stored>>> =>
  connection.run(async (client) => {
    const { docs } = await client.mget<Stored>({ index, ids: [...ids], ...(isBare && { _source: false }) })
    return docs.filter((doc) => {
      if ('error' in doc)
        throw new FaultyItem(faultOfServer(503, { type: doc.error.type, reason: doc.error.reason ?? '' })!)
      return doc.found
    }) as Array<estypes.GetGetResult<Stored>>
  })

export function openPoints(
  target: Target,
  definition: IndexDefinition,
): Pick<Collection, 'get' | 'getText' | 'getTexts' | 'getMany' | 'known'> {
  async function getTexts(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for await (const each of read(ids))
      if (decode(each)) found.set(each.id, each.text)
      else target.onGarbled?.(each.id)
    return found
  }

  async function getMany(ids: readonly string[]): Promise<Map<string, Record<string, unknown>>> {
    const found: Array<{ _id: string; _source: Stored }> = []
    for await (const each of read(ids)) found.push({ _id: each.id, _source: each })
    return new Map((await parsed(found, target)).map(({ id, doc }) => [id, doc]))
  }

  async function* read(ids: readonly string[], isBare = false): AsyncGenerator<StoredText> {
    checkCount(definition, ids)
    const unique = [...new Set(ids)].filter((id) => id !== '' && id.length <= 512)
    for (const some of chunksOf(unique, IDS_AT_ONCE))
      for (const doc of await readAll(target, some, isBare)) yield { id: doc._id, text: '', ...doc._source }
  }

  return {
    getTexts,
    getMany,

    get: async (id) => (await getMany([id])).get(id),

    getText: async (id) => (await getTexts([id])).get(id),

    async known(ids) {
      const found = new Set<string>()
      for (const some of chunksOf(ids, MAX_WINDOW)) for await (const { id } of read(some, true)) found.add(id)
      return found
    },
  }
}

/**
 * Stores the number shared by ledger and index in a document next to the lock, which belongs to no collection or
 * snapshot.
 */
import type { IndexAdapter } from 'archivolt/index'
import type { ElasticConnection } from './connection.ts'
import { makeLockIndex } from './lock.ts'

const ID = 'generation'

/** @param index  the index of the lock */
export const openGeneration = (
  connection: ElasticConnection,
  index: string,
): NonNullable<IndexAdapter['generation']> => ({
  async read() {
    const found = await connection.run((client) => client.get<{ number: number }>({ index, id: ID }, { ignore: [404] }))
    return found.found ? (found._source?.number ?? 0) : 0
  },
  async keep(number) {
    await connection.run(async (client) => {
      await makeLockIndex(client, index)
      await client.index({ index, id: ID, document: { number } })
    })
  },
})

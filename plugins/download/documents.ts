/** Reads and restores the queue in backups (contract 9.10). */
import type { StoredDocuments } from 'archivolt'
import type { QueueTable } from './queue-rows.ts'
import { DownloadDoc } from './schema.ts'

export const openDocuments = (items: QueueTable): StoredDocuments => ({
  name: 'download',
  doc: DownloadDoc,
  count: async (_filter, cap) => items.count({}, cap),
  getMany: async (ids) => items.getMany(ids),
  async *scan({ batch }) {
    for await (const docs of items.scan(batch)) yield docs.map((doc) => ({ id: doc.platform_id, doc }))
  },
  async replacement() {
    const { write, commit } = await items.replacement()
    return { commit, write: (docs) => write(docs.map(({ id, doc }) => ({ ...doc, platform_id: id }) as DownloadDoc)) }
  },
})

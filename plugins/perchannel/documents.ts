/** The own values of channels in backups, one document for each channel (contract 9.10). */
import { isAmong, type Static, type StoredDocuments, Type } from 'archivolt'
import type { App } from './app.ts'

const OwnDoc = Type.Object({
  values: Type.Array(
    Type.Object({ section: Type.String(), key: Type.String(), value: Type.String({ description: 'JSON' }) }),
  ),
})

/** Collects the values that a restore has read, until all take effect at once. */
export const restoredTable = {
  number: 2,
  sql: `
CREATE TABLE perchannel_restored (
  channel_id TEXT NOT NULL,
  section TEXT NOT NULL,
  key TEXT NOT NULL,
  -- JSON
  value TEXT NOT NULL,
  PRIMARY KEY (channel_id, section, key)
) STRICT, WITHOUT ROWID`,
}

type Own = Static<typeof OwnDoc>

/** Includes values of plugins that are not installed any more. */
export function ownDocuments({ ledger }: App): StoredDocuments {
  function getMany(ids: readonly string[]): Map<string, Own> {
    const [isAsked, asked] = isAmong('channel_id', ids)
    const rows = ledger
      .sql<Own['values'][number] & { id: string }>(
        `SELECT channel_id AS id, section, key, value FROM perchannel_value WHERE ${isAsked}`,
      )
      .all(asked)
    const docs = new Map<string, Own>()
    for (const { id, ...value } of rows) docs.set(id, { values: [...(docs.get(id)?.values ?? []), value] })
    return docs
  }

  return {
    name: 'perchannel',
    doc: OwnDoc,
    getMany: async (ids) => getMany(ids),
    count: async () =>
      ledger.sql<{ n: number }>('SELECT count(DISTINCT channel_id) AS n FROM perchannel_value').get()!.n,

    async *scan({ batch }) {
      const next = 'SELECT DISTINCT channel_id FROM perchannel_value WHERE channel_id > ? ORDER BY channel_id LIMIT ?'
      for (let last: string | undefined = ''; last !== undefined; ) {
        const ids = ledger.sql<{ channel_id: string }>(next).all(last, batch)
        const docs = getMany(ids.map(({ channel_id: id }) => id))
        if (docs.size > 0) yield [...docs].map(([id, doc]) => ({ id, doc }))
        last = ids.at(-1)?.channel_id
      }
    },

    async replacement() {
      const clear = () => ledger.sql('DELETE FROM perchannel_restored').run()
      await ledger.write(clear)
      return {
        async write(docs) {
          await ledger.write(() => {
            for (const { id, doc } of docs)
              for (const { section, key, value } of (doc as Own).values)
                ledger
                  .sql('INSERT OR REPLACE INTO perchannel_restored VALUES (?, ?, ?, ?)')
                  .run(id, section, key, value)
          })
          return { written: docs.length, failed: [] }
        },
        commit: () =>
          ledger.write(() => {
            // Only if something was restored: the backup may be older than channels' own values.
            ledger.sql('DELETE FROM perchannel_value WHERE EXISTS (SELECT 1 FROM perchannel_restored)').run()
            ledger.sql('INSERT OR REPLACE INTO perchannel_value SELECT * FROM perchannel_restored').run()
            clear()
          }),
      }
    },
  }
}

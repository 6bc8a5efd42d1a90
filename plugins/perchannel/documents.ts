/** The own values of channels in backups, one document for each channel (contract 9.10). */
import { isAmong, type Static, type StoredDocuments, Type } from 'archivolt'
import type { App } from './app.ts'

const OwnDoc = Type.Object({
  preferences: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
    description: 'by section and key',
  }),
})

/** What a restore has read, until it takes effect at once. */
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

interface Row {
  channel_id: string
  section: string
  key: string
  value: string
}

/** Values of plugins that are away are among them, too. */
export function ownDocuments({ ledger }: App): StoredDocuments {
  function getMany(ids: readonly string[]): Map<string, Static<typeof OwnDoc>> {
    const [isAsked, asked] = isAmong('channel_id', ids)
    const docs = new Map<string, Static<typeof OwnDoc>>()
    for (const { channel_id: id, section, key, value } of ledger
      .sql<Row>(`SELECT * FROM perchannel_value WHERE ${isAsked}`)
      .all(asked)) {
      const { preferences } = docs.get(id) ?? { preferences: {} }
      ;(preferences[section] ??= {})[key] = ledger.json<unknown>(value, `perchannel_value of ${id}`, null)
      docs.set(id, { preferences })
    }
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
        const ids = ledger.sql<Row>(next).all(last, batch)
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
              for (const [section, keys] of Object.entries((doc as Static<typeof OwnDoc>).preferences))
                for (const [key, value] of Object.entries(keys))
                  ledger
                    .sql('INSERT OR REPLACE INTO perchannel_restored VALUES (?, ?, ?, ?)')
                    .run(id, section, key, JSON.stringify(value))
          })
          return { written: docs.length, failed: [] }
        },
        commit: () =>
          ledger.write(() => {
            // A backup may be of a time before it had them.
            ledger.sql('DELETE FROM perchannel_value WHERE EXISTS (SELECT 1 FROM perchannel_restored)').run()
            ledger.sql('INSERT OR REPLACE INTO perchannel_value SELECT * FROM perchannel_restored').run()
            clear()
          }),
      }
    },
  }
}

/**
 * How far down each tab of a channel everything is known: only there does a scan end where known videos come in a row.
 */
import type { App } from './app.ts'

export const depthTables = {
  number: 2,
  sql: 'CREATE TABLE subscription_depth (channel_id TEXT NOT NULL, tab TEXT NOT NULL, entries INTEGER NOT NULL, PRIMARY KEY (channel_id, tab)) STRICT, WITHOUT ROWID',
}

/** As the last whole scan of this tab has left it. */
export function openDepth(channelId: string, tab: string, { ledger }: App) {
  return {
    /** So many of the newest; 0: nobody knows. */
    read: () =>
      ledger
        .sql<{ entries: number }>('SELECT entries FROM subscription_depth WHERE channel_id = ? AND tab = ?')
        .get(channelId, tab)?.entries ?? 0,
    /** 0: until it is written anew, nothing is known to be whole. */
    write: (entries: number) =>
      ledger.write(() => {
        const insert =
          'INSERT INTO subscription_depth (channel_id, tab, entries) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET entries = excluded.entries'
        ledger.sql(insert).run(channelId, tab, entries)
      }),
  }
}

/**
 * Forgets how deep a channel was read; without `channelId`, of all, as after a restore nothing read before may be
 * there.
 */
export async function forgetDepth({ ledger }: App, channelId?: string): Promise<void> {
  await ledger.write(() => {
    if (channelId === undefined) ledger.sql('DELETE FROM subscription_depth').run()
    else ledger.sql('DELETE FROM subscription_depth WHERE channel_id = ?').run(channelId)
  })
}

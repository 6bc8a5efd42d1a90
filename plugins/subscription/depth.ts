/**
 * How many entries of each channel tab were read completely: a row of known videos ends a scan only within this depth.
 */
import type { App } from './app.ts'

export const depthTables = {
  number: 2,
  sql: 'CREATE TABLE subscription_depth (channel_id TEXT NOT NULL, tab TEXT NOT NULL, entries INTEGER NOT NULL, PRIMARY KEY (channel_id, tab)) STRICT, WITHOUT ROWID',
}

/** The result of the last complete scan of this tab. */
export function openDepth(channelId: string, tab: string, { ledger }: App) {
  return {
    /** The number of the newest entries that were read; 0: unknown. */
    read: () =>
      ledger
        .sql<{ entries: number }>('SELECT entries FROM subscription_depth WHERE channel_id = ? AND tab = ?')
        .get(channelId, tab)?.entries ?? 0,
    /** Stores the depth. 0 means, until the next call, that no depth is certain. */
    write: (entries: number) =>
      ledger.write(() => {
        const insert =
          'INSERT INTO subscription_depth (channel_id, tab, entries) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET entries = excluded.entries WHERE subscription_depth.entries <> excluded.entries'
        ledger.sql(insert).run(channelId, tab, entries)
      }),
  }
}

/**
 * Deletes the scan depth of a channel; without `channelId`, of all channels, because a restore may have removed videos.
 */
export async function forgetDepth({ ledger }: App, channelId?: string): Promise<void> {
  await ledger.write(() => {
    if (channelId === undefined) ledger.sql('DELETE FROM subscription_depth').run()
    else ledger.sql('DELETE FROM subscription_depth WHERE channel_id = ?').run(channelId)
  })
}

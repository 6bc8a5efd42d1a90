/** Resolves handles to channels: archived ones permanently, others for a day after the platform was asked. */
import type { App } from './app.ts'

const REMEMBERED_MS = 24 * 3_600_000
const LONGEST_HANDLE = 200

interface Row {
  channel_id: string | null
  asked_at: number
  is_kept: number
}

export const handleTables = {
  number: 1,
  sql: `CREATE TABLE channel_handles (
    handle TEXT PRIMARY KEY,
    channel_id TEXT,
    asked_at INTEGER NOT NULL,
    is_kept INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX channel_handles_channel ON channel_handles (channel_id)`,
}

const keyOf = (handle: string): string => handle.toLowerCase().slice(0, LONGEST_HANDLE)

export type Handles = ReturnType<typeof openHandles>

export function openHandles(app: App) {
  const { ledger, clock } = app
  /** Whether an entry is not too old. An entry from the future was made with a wrong clock, and is ignored. */
  const isFresh = (askedAt: number): boolean => askedAt > clock.now() - REMEMBERED_MS && askedAt <= clock.now()

  return {
    /** The channel id of a handle; undefined: only the platform knows; null: no channel has this handle. */
    lookUp(handle: string): string | null | undefined {
      const row = ledger
        .sql<Row>('SELECT channel_id, asked_at, is_kept FROM channel_handles WHERE handle = ?')
        .get(keyOf(handle))
      return row && (row.is_kept || isFresh(row.asked_at)) ? row.channel_id : undefined
    },

    /** @param isArchived  whether the channel is archived: then the handle is stored until the channel is removed */
    async remember(handle: string, channelId: string | null, isArchived: boolean): Promise<void> {
      await ledger.write(() => {
        ledger
          .sql('DELETE FROM channel_handles WHERE is_kept = 0 AND NOT (asked_at > ? AND asked_at <= ?)')
          .run(clock.now() - REMEMBERED_MS, clock.now())
        ledger
          .sql(
            `INSERT INTO channel_handles (handle, channel_id, asked_at, is_kept) VALUES (?, ?, ?, ?)
             ON CONFLICT (handle) DO UPDATE SET channel_id = excluded.channel_id, asked_at = excluded.asked_at, is_kept = excluded.is_kept`,
          )
          .run(keyOf(handle), channelId, clock.now(), isArchived ? 1 : 0)
      })
    },

    /** The stored handles of a channel. */
    of: (channelId: string): string[] =>
      ledger
        .sql<{ handle: string }>('SELECT handle FROM channel_handles WHERE channel_id = ? AND is_kept')
        .all(channelId)
        .map(({ handle }) => handle),

    async forget(channelId: string): Promise<void> {
      await ledger.write(() => ledger.sql('DELETE FROM channel_handles WHERE channel_id = ?').run(channelId))
    },

    /** Forgets former handles of a channel that has this one now, because they may belong to another channel. */
    async forgetFormer(channelId: string, handle: string): Promise<void> {
      await ledger.write(() =>
        ledger
          .sql("DELETE FROM channel_handles WHERE channel_id = ? AND handle <> ? AND handle GLOB '@*'")
          .run(channelId, keyOf(handle)),
      )
    },
  }
}

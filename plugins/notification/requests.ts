/**
 * Requested videos and their outcome. They are reported only to the accounts that have requested them, because admins
 * see the whole queue (contract 8.4).
 */
import { randomUUID } from 'node:crypto'
import { chunksOf, type NotificationMessage, saidOf, say, type Words } from 'archivolt'
import type { App } from './app.ts'

export const requestTables = [
  {
    number: 1,
    sql: `
-- message_id, level, said, ended_at (epoch milliseconds): null while the video waits in the queue.
CREATE TABLE notification_request (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  message_id TEXT,
  level TEXT CHECK (level IN ('info', 'error')),
  said TEXT,
  ended_at INTEGER,
  PRIMARY KEY (user_id, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_request_video ON notification_request (video_id);
CREATE INDEX notification_request_ended ON notification_request (ended_at);
`,
  },
  {
    number: 2,
    // Messages were plain texts before; now they may be a template with values.
    sql: 'UPDATE notification_request SET said = json_quote(said) WHERE said IS NOT NULL',
  },
]

/** How long the end of a download is reported: the user may be busy with something else meanwhile. */
const TOLD_MS = 3_600_000
/** Maximum number of messages per account, the newest first: nobody reads a longer list. */
const MOST_TOLD = 20
const CHUNK = 500

interface Ending {
  level: NotificationMessage['level']
  said: Words
}

export interface Requests {
  /** @param listener  called with each account whose messages have changed */
  begin(listener: (userId: number) => void): void
  end(): void
  /** Records that an account has requested these videos, which are in the queue. A repetition is a new request. */
  asked(userId: number, videoIds: readonly string[]): Promise<void>
  changed(videoId: string): Promise<void>
  lookAtAll(signal: AbortSignal): Promise<void>
  hasOpen(): boolean
  /** The messages of an account, oldest first. */
  messagesOf(userId: number): NotificationMessage[]
}

export function openRequests({ ledger, accounts, clock, log, queue, videos }: App): Requests {
  const { sql, write, json } = ledger
  /** Called with an account whose messages have changed. */
  let onChange: (userId: number) => void = () => undefined
  let expiry: { cancel(): void } | undefined

  function isOpen(videoId: string): boolean {
    return (
      sql('SELECT 1 FROM notification_request WHERE video_id = ? AND said IS NULL LIMIT 1').get(videoId) !== undefined
    )
  }

  function openAfter(videoId: string): string[] {
    return sql<{ id: string }>(
      'SELECT DISTINCT video_id AS id FROM notification_request WHERE video_id > ? AND said IS NULL ORDER BY video_id LIMIT ?',
    )
      .all(videoId, CHUNK)
      .map(({ id }) => id)
  }

  function whoAsked(videoId: string): number[] {
    return sql<{ id: number }>('SELECT user_id AS id FROM notification_request WHERE video_id = ? AND said IS NULL')
      .all(videoId)
      .map(({ id }) => id)
  }

  async function forget(videoId: string): Promise<void> {
    await write(() => void sql('DELETE FROM notification_request WHERE video_id = ? AND said IS NULL').run(videoId))
  }

  async function end(videoId: string, { level, said }: Ending): Promise<void> {
    const asked = await write(() => {
      const ids = whoAsked(videoId)
      const put = sql(
        'UPDATE notification_request SET message_id = ?, level = ?, said = ?, ended_at = ? WHERE user_id = ? AND video_id = ?',
      )
      for (const userId of ids) put.run(randomUUID(), level, JSON.stringify(said), clock.now(), userId, videoId)
      return ids
    })
    for (const userId of asked) onChange(userId)
    awaitExpiry()
  }

  /** Records the outcome of requested videos. A video that still waits is checked at its next change. */
  async function check(videoIds: readonly string[]): Promise<void> {
    const items = queue.getMany(videoIds)
    for (const id of videoIds) {
      const item = items.get(id)
      const title = item?.title ?? (await videos.outline(id))?.title
      if (!item && title !== undefined) await end(id, { level: 'info', said: say`“${{ title }}” is ready to watch` })
      // Somebody has removed the video from the queue, or ignored it.
      else if (!item || item.status === 'ignore') await forget(id)
      else if (queue.hasFailed(item))
        await end(id, {
          level: 'error',
          said: say`“${{ title: title ?? id }}” could not be downloaded: ${{ reason: item.message }}`,
        })
    }
  }

  function awaitExpiry(): void {
    expiry?.cancel()
    const { first } = sql<{ first: number | null }>('SELECT min(ended_at) AS first FROM notification_request').get()!
    expiry =
      first === null
        ? undefined
        : clock.at(first + TOLD_MS, () => {
            expire().catch((err: unknown) => log.error({ err }, 'messages of requests could not be removed'))
          })
  }

  async function expire(): Promise<void> {
    const before = clock.now() - TOLD_MS
    const told = await write(() => {
      const users = sql<{ id: number }>(
        'SELECT DISTINCT user_id AS id FROM notification_request WHERE ended_at <= ?',
      ).all(before)
      sql('DELETE FROM notification_request WHERE ended_at <= ?').run(before)
      return users
    })
    for (const { id } of told) onChange(id)
    awaitExpiry()
  }

  return {
    begin(listener) {
      onChange = listener
      awaitExpiry()
    },

    end() {
      expiry?.cancel()
      onChange = () => undefined
    },

    async asked(userId, videoIds) {
      for (const ids of chunksOf(videoIds, CHUNK)) {
        await write(() => {
          const account = accounts.get(userId)
          if (!account || account.is_staff) return
          const put = sql(
            `INSERT INTO notification_request (user_id, video_id) VALUES (?, ?)
             ON CONFLICT DO UPDATE SET message_id = NULL, level = NULL, said = NULL, ended_at = NULL`,
          )
          for (const id of ids) put.run(userId, id)
        })
        // Some videos may have failed, or been archived, before this was written.
        await check(ids.filter((videoId) => isOpen(videoId)))
      }
    },

    async changed(videoId) {
      if (isOpen(videoId)) await check([videoId])
    },

    async lookAtAll(signal) {
      for (let ids = openAfter(''); ids.length > 0; ids = openAfter(ids.at(-1)!)) {
        signal.throwIfAborted()
        await check(ids)
      }
    },

    hasOpen: () => openAfter('').length > 0,

    messagesOf: (userId) =>
      sql<{ id: string; level: Ending['level']; said: string }>(
        `SELECT message_id AS id, level, said FROM notification_request
         WHERE user_id = ? AND said IS NOT NULL AND ended_at > ? ORDER BY ended_at DESC, video_id DESC LIMIT ?`,
      )
        .all(userId, clock.now() - TOLD_MS, MOST_TOLD)
        .reverse()
        .map(({ id, level, said: words }) => {
          const { texts: messages, said } = saidOf([json<Words>(words, `notification_request.said of ${id}`, '')])
          return {
            id,
            task_name: null,
            title: say`Your download`,
            group: 'download:request',
            'api-start': false,
            'api-stop': false,
            api_start: false,
            api_stop: false,
            level,
            command: false,
            messages,
            said,
            progress: 1,
          }
        }),
  }
}

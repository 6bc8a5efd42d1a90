/**
 * Videos that accounts have asked for, and what has become of them: told to those accounts alone, as admins see the
 * whole queue (contract 8.4).
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
    // What was a text is one as JSON; since then it may be words and values apart.
    sql: 'UPDATE notification_request SET said = json_quote(said) WHERE said IS NOT NULL',
  },
]

/** So long it is told how a download has ended: who asked for it may look at something else meanwhile. */
const TOLD_MS = 3_600_000
/** Of an account at once, the newest: whoever asks for a whole channel reads no longer list. */
const MOST_TOLD = 20
const CHUNK = 500

interface Ending {
  level: NotificationMessage['level']
  said: Words
}

export interface Requests {
  /** @param listener  told of accounts for which something has changed */
  begin(listener: (userId: number) => void): void
  end(): void
  /** An account wants these videos; they are in the queue. Asking again is a request of its own. */
  asked(userId: number, videoIds: readonly string[]): Promise<void>
  changed(videoId: string): Promise<void>
  lookAtAll(signal: AbortSignal): Promise<void>
  hasOpen(): boolean
  /** Oldest first. */
  messagesOf(userId: number): NotificationMessage[]
}

class AskedVideos implements Requests {
  readonly #accounts: App['accounts']
  readonly #clock: App['clock']
  readonly #log: App['log']
  readonly #queue: App['queue']
  readonly #videos: App['videos']
  readonly #sql: App['ledger']['sql']
  readonly #json: App['ledger']['json']
  readonly #write: App['ledger']['write']
  /** Called with an account whose messages have changed. */
  #onChange: (userId: number) => void = () => undefined
  #expiry: { cancel(): void } | undefined

  constructor({ ledger, accounts, clock, log, queue, videos }: App) {
    this.#accounts = accounts
    this.#clock = clock
    this.#log = log
    this.#queue = queue
    this.#videos = videos
    const { sql, write, json } = ledger
    this.#sql = sql
    this.#json = json
    this.#write = write
  }

  begin(listener: (userId: number) => void): void {
    this.#onChange = listener
    this.#awaitExpiry()
  }

  end(): void {
    this.#expiry?.cancel()
    this.#onChange = () => undefined
  }

  async asked(userId: number, videoIds: readonly string[]): Promise<void> {
    for (const ids of chunksOf(videoIds, CHUNK)) {
      await this.#write(() => {
        const account = this.#accounts.get(userId)
        if (!account || account.is_staff) return
        const put = this.#sql(
          `INSERT INTO notification_request (user_id, video_id) VALUES (?, ?)
             ON CONFLICT DO UPDATE SET message_id = NULL, level = NULL, said = NULL, ended_at = NULL`,
        )
        for (const id of ids) put.run(userId, id)
      })
      // Some may have failed, or come, before this was written.
      await this.#look(ids.filter((videoId) => this.#isOpen(videoId)))
    }
  }

  async changed(videoId: string): Promise<void> {
    if (this.#isOpen(videoId)) await this.#look([videoId])
  }

  async lookAtAll(signal: AbortSignal): Promise<void> {
    for (let ids = this.#openAfter(''); ids.length > 0; ids = this.#openAfter(ids.at(-1)!)) {
      signal.throwIfAborted()
      await this.#look(ids)
    }
  }

  hasOpen(): boolean {
    return this.#openAfter('').length > 0
  }

  messagesOf(userId: number): NotificationMessage[] {
    return this.#sql<{ id: string; level: Ending['level']; said: string }>(
      `SELECT message_id AS id, level, said FROM notification_request
         WHERE user_id = ? AND said IS NOT NULL AND ended_at > ? ORDER BY ended_at DESC, video_id DESC LIMIT ?`,
    )
      .all(userId, this.#clock.now() - TOLD_MS, MOST_TOLD)
      .reverse()
      .map(({ id, level, said: words }) => {
        const { texts: messages, said } = saidOf([this.#json<Words>(words, `notification_request.said of ${id}`, '')])
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
      })
  }

  #isOpen(videoId: string): boolean {
    return (
      this.#sql('SELECT 1 FROM notification_request WHERE video_id = ? AND said IS NULL LIMIT 1').get(videoId) !==
      undefined
    )
  }

  #openAfter(videoId: string): string[] {
    return this.#sql<{ id: string }>(
      'SELECT DISTINCT video_id AS id FROM notification_request WHERE video_id > ? AND said IS NULL ORDER BY video_id LIMIT ?',
    )
      .all(videoId, CHUNK)
      .map(({ id }) => id)
  }

  #whoAsked(videoId: string): number[] {
    return this.#sql<{ id: number }>(
      'SELECT user_id AS id FROM notification_request WHERE video_id = ? AND said IS NULL',
    )
      .all(videoId)
      .map(({ id }) => id)
  }

  async #forget(videoId: string): Promise<void> {
    await this.#write(
      () => void this.#sql('DELETE FROM notification_request WHERE video_id = ? AND said IS NULL').run(videoId),
    )
  }

  async #end(videoId: string, { level, said }: Ending): Promise<void> {
    const asked = await this.#write(() => {
      const ids = this.#whoAsked(videoId)
      const put = this.#sql(
        'UPDATE notification_request SET message_id = ?, level = ?, said = ?, ended_at = ? WHERE user_id = ? AND video_id = ?',
      )
      for (const userId of ids) put.run(randomUUID(), level, JSON.stringify(said), this.#clock.now(), userId, videoId)
      return ids
    })
    for (const userId of asked) this.#onChange(userId)
    this.#awaitExpiry()
  }

  /** What has become of a video that was asked for; one that waits is asked for again by the next change. */
  async #look(videoIds: readonly string[]): Promise<void> {
    const items = this.#queue.getMany(videoIds)
    for (const id of videoIds) {
      const item = items.get(id)
      const title = item?.title ?? (await this.#videos.outline(id))?.title
      if (!item && title !== undefined)
        await this.#end(id, { level: 'info', said: say`“${{ title }}” is ready to watch` })
      // Somebody has taken it off the queue, or wants nobody to have it.
      else if (!item || item.status === 'ignore') await this.#forget(id)
      else if (item.message !== undefined && (item.retry_at === undefined || item.noted_at !== undefined))
        await this.#end(id, {
          level: 'error',
          said: say`“${{ title: title ?? id }}” could not be downloaded: ${{ reason: item.message }}`,
        })
    }
  }

  #awaitExpiry(): void {
    this.#expiry?.cancel()
    const { first } = this.#sql<{ first: number | null }>(
      'SELECT min(ended_at) AS first FROM notification_request',
    ).get()!
    this.#expiry =
      first === null
        ? undefined
        : this.#clock.at(first + TOLD_MS, () => {
            this.#expire().catch((err: unknown) =>
              this.#log.error({ err }, 'messages of requests could not be removed'),
            )
          })
  }

  async #expire(): Promise<void> {
    const before = this.#clock.now() - TOLD_MS
    const told = await this.#write(() => {
      const users = this.#sql<{ id: number }>(
        'SELECT DISTINCT user_id AS id FROM notification_request WHERE ended_at <= ?',
      ).all(before)
      this.#sql('DELETE FROM notification_request WHERE ended_at <= ?').run(before)
      return users
    })
    for (const { id } of told) this.#onChange(id)
    this.#awaitExpiry()
  }
}

export function openRequests(parts: App): Requests {
  return new AskedVideos(parts)
}

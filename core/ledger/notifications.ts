/** The messages that are shown now: one per run of a job, and some that belong to none. */
import type { Words } from '../say.ts'
import type { JobCommand } from './jobs.ts'
import type { Ledger } from './sqlite.ts'

type Level = 'info' | 'error'

interface NotificationRow {
  id: string
  /** Null where it belongs to no job. */
  task: string | null
  /** The task whose title it has, where it belongs to no job. */
  about: string | null
  title: string
  group_name: string
  level: Level
  messages: Words[]
  progress: number
  command: JobCommand | null
}

export interface NewNotification {
  id: string
  task: string | null
  about?: string | undefined
  title: string
  group: string
  level: Level
  messages: readonly Words[]
  expiresAt: number | null
}

/** Of those that belong to no job, so that a fault which repeats does not fill the page. */
const KEPT_WITHOUT_A_JOB = 20

/** All that reads may be called at any time, all that writes only inside `ledger.write`. */
export class NotificationRows {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Oldest first. */
  shown(now: number): NotificationRow[] {
    return this.#ledger
      .sql<Omit<NotificationRow, 'messages'> & { messages: string }>(
        `SELECT n.id, n.task, n.about, n.title, n.group_name, n.level, n.messages, n.progress, j.command
           FROM notifications n LEFT JOIN jobs j ON j.id = n.id
           WHERE n.expires_at IS NULL OR n.expires_at > ? ORDER BY n.seq`,
      )
      .all(now)
      .map((row) => ({
        ...row,
        messages: this.#ledger.json<Words[]>(row.messages, `notifications.messages of ${row.id}`, []),
      }))
  }

  /** A job that runs once more gets a new one, at the end. */
  add({ id, task, about, title, group, level, messages, expiresAt }: NewNotification): void {
    this.#ledger
      .sql(
        'INSERT OR REPLACE INTO notifications (id, task, about, title, group_name, level, messages, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(id, task, about ?? null, title, group, level, JSON.stringify(messages), expiresAt)
    if (task === null) {
      this.#ledger
        .sql(
          'DELETE FROM notifications WHERE task IS NULL AND seq NOT IN (SELECT seq FROM notifications WHERE task IS NULL ORDER BY seq DESC LIMIT ?)',
        )
        .run(KEPT_WITHOUT_A_JOB)
    }
  }

  /** Not after its closing message. */
  report(id: string, messages: readonly Words[], progress: number): void {
    this.#ledger
      .sql('UPDATE notifications SET messages = ?, progress = ? WHERE id = ? AND expires_at IS NULL')
      .run(JSON.stringify(messages), progress, id)
  }

  /** The last message, which goes by itself. @param progress  kept where left out */
  close(id: string, level: Level, messages: readonly Words[], expiresAt: number, progress?: number): void {
    this.#ledger
      .sql(
        'UPDATE notifications SET level = ?, messages = ?, expires_at = ?, progress = coalesce(?, progress) WHERE id = ?',
      )
      .run(level, JSON.stringify(messages), expiresAt, progress ?? null, id)
  }

  remove(id: string): number {
    return this.#ledger.sql('DELETE FROM notifications WHERE id = ?').run(id).changes
  }

  /** All but these. */
  clear(kept: readonly string[]): number {
    return this.#ledger
      .sql('DELETE FROM notifications WHERE id NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(kept)).changes
  }

  expire(now: number): number {
    return this.#ledger.sql('DELETE FROM notifications WHERE expires_at <= ?').run(now).changes
  }

  nextExpiry(): number | undefined {
    return (
      this.#ledger.sql<{ at: number | null }>('SELECT min(expires_at) AS at FROM notifications').get()?.at ?? undefined
    )
  }
}

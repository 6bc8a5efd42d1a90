/** The messages currently shown: one per run of a job, and some without a job. */
import type { Words } from '../base/say.ts'
import type { JobCommand } from './jobs.ts'
import type { Ledger } from './sqlite.ts'

type Level = 'info' | 'error'

interface NotificationRow {
  id: string
  /** null: without a job. */
  task: string | null
  /** For a message without a job: the task whose title it has. */
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

/** Limit of messages without a job, so that a repeated fault does not fill the page. */
const KEPT_WITHOUT_A_JOB = 20

/** Call reads at any time, writes only inside `ledger.write`. */
export function openNotificationRows({ sql, json }: Pick<Ledger, 'sql' | 'json'>) {
  return {
    /** Oldest first. */
    shown: (now: number): NotificationRow[] =>
      sql<Omit<NotificationRow, 'messages'> & { messages: string }>(
        `SELECT n.id, n.task, n.about, n.title, n.group_name, n.level, n.messages, n.progress, j.command
             FROM notifications n LEFT JOIN jobs j ON j.id = n.id
             WHERE n.expires_at IS NULL OR n.expires_at > ? ORDER BY n.seq`,
      )
        .all(now)
        .map((row) => ({ ...row, messages: json<Words[]>(row.messages, `notifications.messages of ${row.id}`, []) })),

    /** Adds a message; a job that runs once more gets a new one, at the end. */
    add({ id, task, about, title, group, level, messages, expiresAt }: NewNotification): void {
      sql(
        'INSERT OR REPLACE INTO notifications (id, task, about, title, group_name, level, messages, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      ).run(id, task, about ?? null, title, group, level, JSON.stringify(messages), expiresAt)
      if (task === null) {
        sql(
          'DELETE FROM notifications WHERE task IS NULL AND seq NOT IN (SELECT seq FROM notifications WHERE task IS NULL ORDER BY seq DESC LIMIT ?)',
        ).run(KEPT_WITHOUT_A_JOB)
      }
    },

    /** Changes nothing after the closing message. */
    report(id: string, messages: readonly Words[], progress: number): void {
      sql('UPDATE notifications SET messages = ?, progress = ? WHERE id = ? AND expires_at IS NULL').run(
        JSON.stringify(messages),
        progress,
        id,
      )
    },

    /** Sets the closing message, which expires. @param progress  default: unchanged */
    close(id: string, level: Level, messages: readonly Words[], expiresAt: number, progress?: number): void {
      sql(
        'UPDATE notifications SET level = ?, messages = ?, expires_at = ?, progress = coalesce(?, progress) WHERE id = ?',
      ).run(level, JSON.stringify(messages), expiresAt, progress ?? null, id)
    },

    remove: (id: string): number => sql('DELETE FROM notifications WHERE id = ?').run(id).changes,

    clear: (kept: readonly string[]): number =>
      sql('DELETE FROM notifications WHERE id NOT IN (SELECT value FROM json_each(?))').run(JSON.stringify(kept))
        .changes,

    expire: (now: number): number => sql('DELETE FROM notifications WHERE expires_at <= ?').run(now).changes,

    nextExpiry: (): number | undefined =>
      sql<{ at: number | null }>('SELECT min(expires_at) AS at FROM notifications').get()?.at ?? undefined,
  }
}

/** The rows of schedules, and of addresses that are notified of runs. */
import type { Words } from '../base/say.ts'
import type { EndState } from './jobs.ts'
import { OUTGOING_URL } from './sealed-columns.ts'
import type { Ledger } from './sqlite.ts'

export interface ScheduleRow {
  task: string
  /** Three fields; never `auto`. */
  cron: string
  config: Record<string, unknown>
  /** Epoch milliseconds. */
  last_run_at: number | null
  next_run_at: number | null
  /** How the task ended last, whoever started it. */
  last_state: EndState | null
  last_ended_at: number | null
  last_words: Words | null
}

interface StoredSchedule extends Omit<ScheduleRow, 'config' | 'last_words'> {
  config: string
  last_words: string | null
}

const DAMAGED: Record<string, unknown> = {}
/** Prefix of the keys in `meta` that mark the tasks whose initial schedule was created, or skipped for good. */
export const INITIAL = 'schedule.initial.'

export type ScheduleRows = ReturnType<typeof openScheduleRows>

/** Call reads at any time, writes only inside `ledger.write`. */
export function openScheduleRows({ sql, json, seal, unseal }: Ledger) {
  /** undefined: `config` is damaged. A task never runs with a config that nobody chose. */
  function read(row: StoredSchedule): ScheduleRow | undefined {
    const { task, last_words: words } = row
    const config = json<Record<string, unknown>>(row.config, `schedules.config of ${task}`, DAMAGED)
    if (config === DAMAGED) return undefined
    return { ...row, config, last_words: words && json<Words | null>(words, `schedules.last_words of ${task}`, null) }
  }

  /** The URLs of a task, as stored (`sealed`) and opened. `url` undefined: sealed with another secret key. */
  function storedUrls(task: string): { sealed: string; url: string | undefined }[] {
    return sql<{ url: string }>('SELECT url FROM outgoing_urls WHERE task = ?')
      .all(task)
      .map((row) => ({ sealed: row.url, url: unseal(OUTGOING_URL, row.url) }))
  }

  return {
    list: (): ScheduleRow[] =>
      sql<StoredSchedule>('SELECT * FROM schedules ORDER BY task')
        .all()
        .flatMap((row) => read(row) ?? []),

    get(task: string): ScheduleRow | undefined {
      const row = sql<StoredSchedule>('SELECT * FROM schedules WHERE task = ?').get(task)
      return row && read(row)
    },

    put(task: string, cron: string, config: Record<string, unknown>, nextRunAt: number | null): void {
      sql(
        `INSERT INTO schedules (task, cron, config, next_run_at) VALUES (?, ?, ?, ?)
             ON CONFLICT (task) DO UPDATE SET cron = excluded.cron, config = excluded.config, next_run_at = excluded.next_run_at`,
      ).run(task, cron, JSON.stringify(config), nextRunAt)
    },

    remove: (task: string): boolean => sql('DELETE FROM schedules WHERE task = ?').run(task).changes > 0,

    /** Records a run at `ranAt` (null: there was none), and when the next one is due, unless the times were changed. */
    advance({ task, cron }: Pick<ScheduleRow, 'task' | 'cron'>, ranAt: number | null, nextRunAt: number | null): void {
      sql(
        `UPDATE schedules SET last_run_at = coalesce(?, last_run_at), next_run_at = iif(cron = ?, ?, next_run_at) WHERE task = ?`,
      ).run(ranAt, cron, nextRunAt, task)
    },

    ended(task: string, state: string, at: number, words: Words | null): void {
      const put = sql('UPDATE schedules SET last_state = ?, last_ended_at = ?, last_words = ? WHERE task = ?')
      put.run(state, at, words && JSON.stringify(words), task)
    },

    /** Whether the task's initial schedule was created (and perhaps removed since), or skipped for good. */
    hadInitial: (task: string): boolean => sql('SELECT 1 FROM meta WHERE key = ?').get(INITIAL + task) !== undefined,

    /** false in a new data folder. */
    hadAnyInitial: (): boolean => sql('SELECT 1 FROM meta WHERE key GLOB ? LIMIT 1').get(`${INITIAL}*`) !== undefined,

    markInitial(task: string): void {
      sql(`INSERT OR IGNORE INTO meta (key, value) VALUES (?, '1')`).run(INITIAL + task)
    },

    /** By task, each in the order of addition; without those sealed with another secret key. */
    urls: (): Array<{ task: string; url: string }> =>
      sql<{ task: string; url: string }>('SELECT task, url FROM outgoing_urls ORDER BY task, number')
        .all()
        .flatMap((row) => {
          const url = unseal(OUTGOING_URL, row.url)
          return url === undefined ? [] : { task: row.task, url }
        }),

    addUrl(task: string, url: string): void {
      if (storedUrls(task).some((known) => known.url === url)) return
      sql(
        'INSERT INTO outgoing_urls (task, url, number) VALUES (?, ?, (SELECT coalesce(max(number), 0) + 1 FROM outgoing_urls WHERE task = ?))',
      ).run(task, seal(OUTGOING_URL, url), task)
    },

    countUrls: (task: string): number => storedUrls(task).length,

    /** @param url  undefined: all URLs of the task. @returns the number of removed URLs */
    removeUrls(task: string, url: string | undefined): number {
      if (url === undefined) return sql('DELETE FROM outgoing_urls WHERE task = ?').run(task).changes
      const known = storedUrls(task).find((one) => one.url === url)
      if (!known) return 0
      return sql('DELETE FROM outgoing_urls WHERE task = ? AND url = ?').run(task, known.sealed).changes
    },
  }
}

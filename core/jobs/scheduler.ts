/** croner; only ever adds a row. */

/** Contract 5.11, with `next_run_at` of appendix B. */
export interface ScheduleRecord {
  name: string
  schedule: string
  schedule_human: string
  last_run_at: string | null
  next_run_at: string | null
  config: Record<string, unknown>
}

export interface Schedules {
  list(): ScheduleRecord[]
  get(task: string): ScheduleRecord | undefined
  /** @throws bad_request: not schedulable, bad cron, unknown config key */
  set(task: string, schedule: string, config?: Record<string, unknown>): Promise<ScheduleRecord>
  /** @throws not_found */
  remove(task: string): Promise<void>
  /** Outgoing notification URLs by task (contract 5.11, 8.5). */
  outgoing(): Record<string, { urls: string[]; title: string }>
  /** @throws bad_request: the task takes none, or the URL cannot be one */
  addOutgoing(task: string, url: string): Promise<void>
  /** Without `url` all of the task's. @throws not_found */
  removeOutgoing(task: string, url?: string): Promise<void>
}

/**
 * Messages about jobs: what each says when, and when it goes. Contract 8.4. Each start begins without any, so their
 * ends are of the steady clock.
 */
import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '../clock.ts'
import { withoutPaths } from '../error.ts'
import type { Job } from '../ledger/jobs.ts'
import { type NewNotification, notificationRows } from '../ledger/notifications.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { AnyTask } from './task.ts'
import type { Jobs, NotificationMessage } from './types.ts'

const SHOWN_AFTER_SUCCESS_MS = 5_000
const SHOWN_AFTER_FAILURE_MS = 20_000
const WARNING_SHOWN_SECONDS = 3600

export interface NotifyOptions {
  ledger: Ledger
  clock: Clock
  log: Log
  tasks: ReadonlyMap<string, AnyTask>
  /** Called after each change of what is shown. */
  onChange: () => void
}

export type Notices = ReturnType<typeof openNotices>

/** The methods named `write…` are called inside `ledger.write`; `changed` once that is on disk. */
export function openNotices({ ledger, clock, log, tasks, onChange }: NotifyOptions) {
  const rows = notificationRows(ledger)
  let timer: Timer | undefined
  let isClosed = false
  /** Messages from before the first look at what an earlier process has left. */
  const early = new Set<string>()
  let hasLooked = false
  const add = (message: NewNotification): void => {
    if (!hasLooked) early.add(message.id)
    rows.add(message)
  }

  /** Internal tasks have no name on the wire, silent ones want none. */
  const isShown = (task: AnyTask | undefined): task is AnyTask => task !== undefined && !task.internal && !task.silent

  const expireInTime = () => {
    timer?.cancel()
    const next = rows.nextExpiry()
    if (next === undefined || isClosed) return
    timer = clock.after(next - clock.steady(), () => {
      ledger
        .write(() => rows.expire(clock.steady()))
        .then(changed, (error: unknown) => log.error({ err: error }, 'old messages could not be removed'))
    })
  }
  const changed = () => {
    expireInTime()
    onChange()
  }

  const notify: Jobs['notify'] = async ({ title, group, level, messages, shownForSeconds }) => {
    const shownMs = shownForSeconds === undefined ? SHOWN_AFTER_FAILURE_MS : shownForSeconds * 1000
    await ledger.write(() =>
      add({ id: randomUUID(), task: null, title, group, level, messages, expiresAt: clock.steady() + shownMs }),
    )
    changed()
  }

  return {
    changed,

    /** What an earlier process has left. */
    writeNothing(): void {
      hasLooked = true
      rows.clear([...early])
    },

    writeBegun(job: Job): void {
      const task = tasks.get(job.task)
      if (!isShown(task)) return
      add({
        id: job.id,
        task: job.task,
        title: task.title,
        group: task.group ?? '',
        level: 'info',
        messages: ['new task received'],
        expiresAt: null,
      })
    },

    report(job: Job, messages: readonly string[], fraction: number): void {
      if (!isShown(tasks.get(job.task))) return
      ledger
        .write(() => rows.report(job.id, messages, fraction))
        .then(onChange, (error: unknown) => log.error({ err: error }, 'progress could not be written'))
    },

    /** @param run  the run as it has ended, or as it will be tried again */
    writeEnded(run: Job): void {
      if (!isShown(tasks.get(run.task))) return
      const { id, result } = run
      if (run.state === 'SUCCESS')
        rows.close(id, 'info', [result || 'Task completed'], clock.steady() + SHOWN_AFTER_SUCCESS_MS, 1)
      else if (run.state === 'FAILURE' || run.state === 'RETRY')
        rows.close(id, 'error', [result || 'Task failed'], clock.steady() + SHOWN_AFTER_FAILURE_MS)
      else rows.remove(id)
    },

    shown: (): NotificationMessage[] =>
      rows.shown(clock.steady()).map((row) => {
        const task = row.task === null ? undefined : tasks.get(row.task)
        const start = task?.apiStart ?? false
        const stop = task?.apiStop ?? false
        return {
          id: row.id,
          title: row.title,
          group: row.group_name,
          'api-start': start,
          'api-stop': stop,
          api_start: start,
          api_stop: stop,
          level: row.level,
          command: row.command ?? false,
          messages: row.messages.map(withoutPaths),
          progress: row.progress,
        }
      }),

    notify,

    warn: (title: string, message: string): Promise<void> =>
      notify({
        title,
        group: 'setting:application',
        level: 'error',
        messages: [message],
        shownForSeconds: WARNING_SHOWN_SECONDS,
      }),

    close() {
      isClosed = true
      timer?.cancel()
    },
  }
}

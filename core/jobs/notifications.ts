/** Messages about jobs (contract 8.4). A start begins without any, so they expire by the steady clock. */
import { randomUUID } from 'node:crypto'
import type { Timer } from '../base/clock.ts'
import { errors, withoutPaths } from '../base/error.ts'
import { saidOf, say, type Words } from '../base/say.ts'
import type { Job } from '../ledger/jobs.ts'
import { type NewNotification, openNotificationRows } from '../ledger/notifications.ts'
import type { AnyTask, JobParts } from './task-definition.ts'
import type { Jobs, NotificationMessage } from './types.ts'

const SHOWN_AFTER_SUCCESS_MS = 5_000
const SHOWN_AFTER_FAILURE_MS = 20_000
const WARNING_SHOWN_SECONDS = 3600

interface NotificationsOptions extends JobParts {
  /** Called after each change of what is shown. */
  onChange: () => void
}

export type Notifications = ReturnType<typeof openNotifications>

/** Call the methods named `write…` inside `ledger.write`, and `changed` after the commit. */
export function openNotifications({ ledger, clock, log, tasks, onChange }: NotificationsOptions) {
  const rows = openNotificationRows(ledger)
  let timer: Timer | undefined
  /** Message id → who sees it, and until when. */
  const limits = new Map<string, { isOver: (() => boolean) | undefined; isForAdmins: boolean }>()
  /** Messages that this process wrote before it removed those of an earlier process. */
  const early = new Set<string>()
  let isCleared = false
  let isClosed = false

  function close(): void {
    isClosed = true
    timer?.cancel()
  }

  function changed(): void {
    expireInTime()
    onChange()
  }

  /** Removes the messages of an earlier process. */
  function writeCleared(): void {
    isCleared = true
    rows.clear([...early])
  }

  function writeBegun({ id, task: name }: Job): void {
    const task = tasks.get(name)
    if (!isShown(task)) return
    const { title, group = '' } = task
    add({ id, task: name, title, group, level: 'info', messages: [say`new task received`], expiresAt: null })
  }

  function report({ id, task }: Job, messages: readonly Words[], fraction: number): void {
    if (!isShown(tasks.get(task))) return
    ledger
      .write(() => rows.report(id, messages, fraction))
      .then(onChange, (error: unknown) => log.error({ err: error }, 'progress could not be written'))
  }

  /** Stores the last message of a run that has ended or will be retried. */
  function writeEnded({ id, task, state, result, said }: Job): void {
    if (!isShown(tasks.get(task))) return
    const now = clock.steady()
    const words = said ?? result
    if (state === 'SUCCESS') rows.close(id, 'info', [words || say`Task completed`], now + SHOWN_AFTER_SUCCESS_MS, 1)
    else if (state === 'FAILURE' || state === 'RETRY')
      rows.close(id, 'error', [words || say`Task failed`], now + SHOWN_AFTER_FAILURE_MS)
    else rows.remove(id)
  }

  async function notify(message: Parameters<Jobs['notify']>[0]): Promise<void> {
    const { of, title, group, level, messages, shownForSeconds, isOver, isForAdmins } = message
    if (level !== 'info' && level !== 'error') throw errors.badRequest('A message has the level info or error')
    const id = randomUUID()
    const shownMs = shownForSeconds === undefined ? SHOWN_AFTER_FAILURE_MS : shownForSeconds * 1000
    await ledger.write(() => {
      // In one step with the row: a limit without a row is forgotten.
      const still = new Set(rows.shown(clock.steady()).map((row) => row.id))
      for (const known of limits.keys()) if (!still.has(known)) limits.delete(known)
      if (isOver || isForAdmins) limits.set(id, { isOver, isForAdmins: isForAdmins === true })
      add({
        ...{ id, task: null, about: of?.name, level, messages, expiresAt: clock.steady() + shownMs },
        ...{ title: title ?? of?.title ?? '', group: group ?? of?.group ?? '' },
      })
    })
    changed()
  }

  function warn(title: string, message: Words, shownForSeconds = WARNING_SHOWN_SECONDS, isOver?: () => boolean) {
    const group = 'setting:application'
    return notify({ title, group, level: 'error', messages: [message], shownForSeconds, ...(isOver && { isOver }) })
  }

  function shown(isAdmin = true): NotificationMessage[] {
    const still = rows.shown(clock.steady()).filter(({ id }) => {
      const { isOver, isForAdmins } = limits.get(id) ?? {}
      return isOver?.() !== true && (isAdmin || !isForAdmins)
    })
    return still.map((row) => {
      const task = row.task === null ? undefined : tasks.get(row.task)
      const start = task?.apiStart ?? false
      const stop = task?.apiStop ?? false
      const { texts, said } = saidOf(row.messages, withoutPaths)
      return {
        id: row.id,
        task_name: row.task ?? row.about,
        title: row.title,
        group: row.group_name,
        'api-start': start,
        'api-stop': stop,
        api_start: start,
        api_stop: stop,
        level: row.level,
        command: row.command ?? false,
        messages: texts,
        ...(said && { said }),
        progress: row.progress,
      }
    })
  }

  function add(message: NewNotification): void {
    if (!isCleared) early.add(message.id)
    rows.add(message)
  }

  function expireInTime(): void {
    timer?.cancel()
    const next = rows.nextExpiry()
    if (next === undefined || isClosed) return
    timer = clock.after(next - clock.steady(), () => {
      ledger
        .write(() => rows.expire(clock.steady()))
        .then(
          () => changed(),
          (error: unknown) => log.error({ err: error }, 'old messages could not be removed'),
        )
    })
  }

  return { close, changed, writeCleared, writeBegun, report, writeEnded, notify, warn, shown }
}

/** Internal tasks have no name on the wire, and silent ones send no messages. */
const isShown = (task: AnyTask | undefined): task is AnyTask => task !== undefined && !task.internal && !task.silent

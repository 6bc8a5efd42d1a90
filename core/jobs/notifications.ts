/**
 * Messages about jobs: what each says when, and when it goes. Contract 8.4. Each start begins without any, so their
 * ends are of the steady clock.
 */
import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '../clock.ts'
import { withoutPaths } from '../error.ts'
import type { Job } from '../ledger/jobs.ts'
import { type NewNotification, NotificationRows } from '../ledger/notifications.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { saidOf, say, type Words } from '../say.ts'
import type { AnyTask } from './task.ts'
import type { Jobs, NotificationMessage } from './types.ts'

const SHOWN_AFTER_SUCCESS_MS = 5_000
const SHOWN_AFTER_FAILURE_MS = 20_000
const WARNING_SHOWN_SECONDS = 3600

interface NotificationsOptions {
  ledger: Ledger
  clock: Clock
  log: Log
  tasks: ReadonlyMap<string, AnyTask>
  /** Called after each change of what is shown. */
  onChange: () => void
}

/** The methods named `write…` are called inside `ledger.write`; `changed` once that is on disk. */
export class Notifications {
  readonly #of: NotificationsOptions
  readonly #rows: NotificationRows
  /** Those that this process wrote before it removed what an earlier one has left. */
  /** What messages tell of, and whether it is over. */
  readonly #over = new Map<string, () => boolean>()
  readonly #early = new Set<string>()
  #isCleared = false
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: NotificationsOptions) {
    this.#of = options
    this.#rows = new NotificationRows(options.ledger)
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  changed(): void {
    this.#expireInTime()
    this.#of.onChange()
  }

  /** Removes what an earlier process has left. */
  writeCleared(): void {
    this.#isCleared = true
    this.#rows.clear([...this.#early])
  }

  writeBegun({ id, task: name }: Job): void {
    const task = this.#of.tasks.get(name)
    if (!isShown(task)) return
    const { title, group = '' } = task
    this.#add({ id, task: name, title, group, level: 'info', messages: [say`new task received`], expiresAt: null })
  }

  report({ id, task }: Job, messages: readonly Words[], fraction: number): void {
    const { ledger, log, tasks, onChange } = this.#of
    if (!isShown(tasks.get(task))) return
    ledger
      .write(() => this.#rows.report(id, messages, fraction))
      .then(onChange, (error: unknown) => log.error({ err: error }, 'progress could not be written'))
  }

  /** @param run  the run as it has ended, or as it will be tried again */
  writeEnded({ id, task, state, result, said }: Job): void {
    if (!isShown(this.#of.tasks.get(task))) return
    const now = this.#of.clock.steady()
    const words = said ?? result
    if (state === 'SUCCESS')
      this.#rows.close(id, 'info', [words || say`Task completed`], now + SHOWN_AFTER_SUCCESS_MS, 1)
    else if (state === 'FAILURE' || state === 'RETRY')
      this.#rows.close(id, 'error', [words || say`Task failed`], now + SHOWN_AFTER_FAILURE_MS)
    else this.#rows.remove(id)
  }

  async notify(message: Parameters<Jobs['notify']>[0]): Promise<void> {
    const { of, title, group, level, messages, shownForSeconds, isOver } = message
    const { ledger, clock } = this.#of
    const id = randomUUID()
    const still = new Set(this.#rows.shown(clock.steady()).map((row) => row.id))
    for (const known of this.#over.keys()) if (!still.has(known)) this.#over.delete(known)
    if (isOver) this.#over.set(id, isOver)
    const shownMs = shownForSeconds === undefined ? SHOWN_AFTER_FAILURE_MS : shownForSeconds * 1000
    await ledger.write(() =>
      this.#add({
        ...{ id, task: null, about: of?.name, level, messages, expiresAt: clock.steady() + shownMs },
        ...{ title: title ?? of?.title ?? '', group: group ?? of?.group ?? '' },
      }),
    )
    this.changed()
  }

  warn(title: string, message: Words, shownForSeconds = WARNING_SHOWN_SECONDS): Promise<void> {
    const group = 'setting:application'
    return this.notify({ title, group, level: 'error', messages: [message], shownForSeconds })
  }

  shown(): NotificationMessage[] {
    const { clock, tasks } = this.#of
    const rows = this.#rows.shown(clock.steady()).filter(({ id }) => this.#over.get(id)?.() !== true)
    return rows.map((row) => {
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

  #add(message: NewNotification): void {
    if (!this.#isCleared) this.#early.add(message.id)
    this.#rows.add(message)
  }

  /** Waits for the next message whose time is over. */
  #expireInTime(): void {
    const { ledger, clock, log } = this.#of
    this.#timer?.cancel()
    const next = this.#rows.nextExpiry()
    if (next === undefined || this.#isClosed) return
    this.#timer = clock.after(next - clock.steady(), () => {
      ledger
        .write(() => this.#rows.expire(clock.steady()))
        .then(
          () => this.changed(),
          (error: unknown) => log.error({ err: error }, 'old messages could not be removed'),
        )
    })
  }
}

/** Internal tasks have no name on the wire, silent ones want none. */
const isShown = (task: AnyTask | undefined): task is AnyTask => task !== undefined && !task.internal && !task.silent

/**
 * Messages about jobs: what each one says, when it appears and when it expires (contract 8.4). They are in memory only:
 * each start of the server begins without messages.
 */
import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '../clock.ts'
import { withoutPaths } from '../error.ts'
import type { Job, JobRows } from '../ledger/jobs.ts'
import { saidOf, say, type Words } from '../say.ts'
import type { AnyTask } from './task.ts'
import type { Jobs, NotificationMessage } from './types.ts'

const SHOWN_AFTER_SUCCESS_MS = 5_000
const SHOWN_AFTER_FAILURE_MS = 20_000
const WARNING_SHOWN_SECONDS = 3600
/** Limit of messages without a job, so that a repeated fault does not fill the page. */
const KEPT_WITHOUT_A_JOB = 20

interface NotificationsOptions {
  clock: Clock
  rows: Pick<JobRows, 'get'>
  tasks: ReadonlyMap<string, AnyTask>
  /** Called after each change of what is shown. */
  onChange: () => void
}

interface Message {
  /** The task of the job; undefined: a message without a job. */
  task?: AnyTask
  /** For a message without a job: the task that it is about. */
  about?: string | undefined
  title: string
  group: string
  level: NotificationMessage['level']
  messages: readonly Words[]
  progress: number
  /** In steady milliseconds; Infinity while the job runs. */
  expiresAt: number
  isOver?: (() => boolean) | undefined
}

export type Notifications = ReturnType<typeof openNotifications>

export function openNotifications({ clock, rows, tasks, onChange }: NotificationsOptions) {
  /** By the id of the job, or of the message itself; oldest first. */
  const known = new Map<string, Message>()
  let timer: Timer | undefined
  let isClosed = false

  function close(): void {
    isClosed = true
    timer?.cancel()
  }

  /** A job that runs once more gets a new message, at the end. */
  function begun({ id, task: name }: Job): void {
    const task = tasks.get(name)
    if (!isShown(task)) return
    const { title, group = '' } = task
    add(id, { task, title, group, level: 'info', messages: [say`new task received`], progress: 0, expiresAt: Infinity })
  }

  function report({ id }: Job, messages: readonly Words[], progress: number): void {
    const message = known.get(id)
    if (message?.expiresAt !== Infinity) return
    Object.assign(message, { messages, progress })
    onChange()
  }

  /** @param run  the run that has ended or will be tried again */
  function ended({ id, state, result, said }: Job): void {
    const message = known.get(id)
    if (!message) return
    const words = said ?? result
    const close = (shownMs: number, closing: Partial<Message>) =>
      Object.assign(message, { ...closing, expiresAt: clock.steady() + shownMs })
    if (state === 'SUCCESS')
      close(SHOWN_AFTER_SUCCESS_MS, { level: 'info', messages: [words || say`Task completed`], progress: 1 })
    else if (state === 'FAILURE' || state === 'RETRY')
      close(SHOWN_AFTER_FAILURE_MS, { level: 'error', messages: [words || say`Task failed`] })
    else known.delete(id)
    changed()
  }

  async function notify(message: Parameters<Jobs['notify']>[0]): Promise<void> {
    const { of, title = of?.title ?? '', group = of?.group ?? '', level, messages, shownForSeconds, isOver } = message
    const shownMs = shownForSeconds === undefined ? SHOWN_AFTER_FAILURE_MS : shownForSeconds * 1000
    const withoutJob = [...known].filter(([, { task }]) => !task)
    for (const [id] of withoutJob.slice(0, -(KEPT_WITHOUT_A_JOB - 1))) known.delete(id)
    const expiresAt = clock.steady() + shownMs
    add(randomUUID(), { about: of?.name, title, group, level, messages, progress: 0, expiresAt, isOver })
  }

  function warn(title: string, message: Words, shownForSeconds = WARNING_SHOWN_SECONDS): Promise<void> {
    const group = 'setting:application'
    return notify({ title, group, level: 'error', messages: [message], shownForSeconds })
  }

  function shown(): NotificationMessage[] {
    const now = clock.steady()
    const still = [...known].filter(([, { expiresAt, isOver }]) => expiresAt > now && isOver?.() !== true)
    return still.map(([id, { task, about, title, group, level, messages, progress }]) => {
      const start = task?.apiStart ?? false
      const stop = task?.apiStop ?? false
      const { texts, said } = saidOf(messages, withoutPaths)
      return {
        id,
        task_name: task?.name ?? about ?? null,
        ...{ title, group },
        'api-start': start,
        'api-stop': stop,
        api_start: start,
        api_stop: stop,
        level,
        command: (task && rows.get(id)?.command) ?? false,
        messages: texts,
        ...(said && { said }),
        progress,
      }
    })
  }

  function add(id: string, message: Message): void {
    known.delete(id)
    known.set(id, message)
    changed()
  }

  /** Tells of a change, and waits until the next message expires. */
  function changed(): void {
    timer?.cancel()
    const next = Math.min(...[...known.values()].map(({ expiresAt }) => expiresAt))
    if (next < Infinity && !isClosed) timer = clock.after(next - clock.steady(), expire)
    onChange()
  }

  function expire(): void {
    for (const [id, { expiresAt }] of known) if (expiresAt <= clock.steady()) known.delete(id)
    changed()
  }

  return { close, changed, begun, report, ended, notify, warn, shown }
}

/** Internal tasks have no name on the wire, and silent ones send no messages. */
const isShown = (task: AnyTask | undefined): task is AnyTask => task !== undefined && !task.internal && !task.silent

/** Logs when the event loop was blocked, so that no request was answered, and which requests and jobs were running. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type AnswerTold, type App, answers } from 'archivolt'

const CHECK_EVERY_MS = 500
const LONGEST_MS = 1000
const MOST_NAMED = 10

/** @returns a function that stops the checks */
export function watchStalls({ registry, jobs, settings, log }: App): () => void {
  /** Routes of long requests that ended since the last check. */
  let ended: Array<{ route: string; ms: number }> = []
  /** Running jobs, and those that ended since the last check, with the time. */
  const running = new Map<string, { task: string; endedAt: number }>()
  let tasks = new Set<string>()
  let stoodMs = 0
  let checkedAt = performance.now()

  function note(told: unknown): void {
    const { settings: whose, method, route, seconds } = told as AnswerTold
    if (whose === settings && seconds * 1000 >= LONGEST_MS)
      ended.push({ route: `${method} ${route}`, ms: seconds * 1000 })
  }
  subscribe(answers.name, note)

  const unwatch = jobs.watch(({ job }) => {
    if (job?.state === 'STARTED') running.set(job.id, { task: job.task, endedAt: Number.POSITIVE_INFINITY })
    else if (job && running.has(job.id)) running.get(job.id)!.endedAt = performance.now()
  })

  /** Checks for a stall, and reports it at the next check, because a blocked request is answered a moment later. */
  function check(): void {
    const now = performance.now()
    const dueAt = checkedAt + CHECK_EVERY_MS
    checkedAt = now
    if (stoodMs > 0) tell()
    stoodMs = now - dueAt >= LONGEST_MS ? now - dueAt : 0
    if (stoodMs === 0) ended = []
    // Jobs that ended before this check was due did not delay it.
    else tasks = new Set([...running.values()].flatMap(({ task, endedAt }) => (endedAt >= dueAt ? [task] : [])))
    for (const [id, { endedAt }] of running) if (endedAt < now) running.delete(id)
  }

  function tell(): void {
    const routes = new Set(ended.flatMap(({ route, ms }) => (ms >= stoodMs ? [route] : [])))
    const atWork = registry.plugins.flatMap(({ name, routes: own = [], tasks: ownTasks = [] }) => [
      ...own.flatMap(({ method, path }) => (routes.has(`${method} ${path}`) ? [`${method} ${path} (${name})`] : [])),
      ...ownTasks.flatMap((task) => (tasks.has(task.name) ? [`${task.name} (${name})`] : [])),
    ])
    log.warn(
      { seconds: Math.round(stoodMs / 100) / 10, atWork: atWork.slice(0, MOST_NAMED) },
      'the event loop was blocked by one of these',
    )
  }

  const timer = setInterval(check, CHECK_EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    unsubscribe(answers.name, note)
    unwatch()
  }
}

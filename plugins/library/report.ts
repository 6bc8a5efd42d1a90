/** What a run could not do: each in the log, the first few shown to people at its end. */
import type { JobContext, Task } from 'archivolt'
import type { App } from './app.ts'

const SHOWN = 10

export interface Report {
  readonly count: number
  /** @param name  of a file, as it is on disk */
  add(name: string, why: string): void
  /** A message beside the task's own, where there is something to say. */
  show(): Promise<void>
}

export function openReport(
  { title, group = '' }: Pick<Task, 'title' | 'group'>,
  job: Pick<JobContext<object>, 'log'>,
  app: Pick<App, 'jobs'>,
): Report {
  const lines: string[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    add(name, why) {
      count++
      job.log.warn({ file: name }, `left as it is: ${why}`)
      if (lines.length < SHOWN) lines.push(`${name.slice(0, 100)}: ${why}`)
    },
    async show() {
      if (count === 0) return
      const more = count > lines.length ? [`and ${count - lines.length} more: the log names them`] : []
      await app.jobs.notify({ title, group, level: 'error', messages: [...lines, ...more] })
    },
  }
}

/**
 * Why one file could not be taken in, where the next one may: what the platform or the file itself is to blame for.
 * Anything else is thrown.
 */
export function reasonOf(thrown: unknown, app: Pick<App, 'platform'>): string {
  const failure = app.platform.failureOf(thrown)
  if (failure) return failure.message
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'unprocessable') return thrown.message
  throw thrown
}

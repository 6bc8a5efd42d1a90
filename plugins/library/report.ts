/** What a run could not do: each in the log, the first few shown to people at its end. */
import { inEnglish, type JobContext, type Sentence, say, sentenceOf, type Task, type Words, wordsOf } from 'archivolt'
import type { Failure } from '../platform/types.ts'
import type { App } from './app.ts'

const SHOWN = 10

export interface Report {
  readonly count: number
  /** @param name  of a file, as it is on disk; or what is meant instead of one */
  add(name: string | Sentence, why: Words): void
  /** A message beside the task's own, where there is something to say. */
  show(): Promise<void>
}

export function openReport(
  task: Pick<Task, 'name' | 'title' | 'group'>,
  job: Pick<JobContext<object>, 'log'>,
  app: Pick<App, 'jobs'>,
): Report {
  const lines: Words[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    add(name, why) {
      count++
      job.log.warn({ file: inEnglish(name) }, `left as it is: ${inEnglish(why)}`)
      if (lines.length >= SHOWN) return
      const named = typeof name === 'string' ? name.slice(0, 100) : name
      lines.push(say`${{ name: named }}: ${{ reason: sentenceOf(why) }}`)
    },
    async show() {
      if (count === 0) return
      const more = count > lines.length ? [say`and ${{ count: count - lines.length }} more: the log names them`] : []
      await app.jobs.notify({ of: task, level: 'error', messages: [...lines, ...more] })
    },
  }
}

/**
 * Why one file could not be taken in, where the next one may: what the platform or the file itself is to blame for.
 * Anything else is thrown.
 */
export function reasonOf(thrown: unknown, app: Pick<App, 'platform'>): Words {
  const failure = app.platform.failureOf(thrown)
  if (failure) return ofPlatform(failure, app)
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'unprocessable') return wordsOf(thrown)
  throw thrown
}

/** In our words, else as the platform or yt-dlp says it. */
const ofPlatform = ({ failure, message }: Failure, { platform }: Pick<App, 'platform'>): Words =>
  platform.reasonOf(failure, message) ?? message

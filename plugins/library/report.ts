/** Collects the problems of a run: all are logged, and people are notified of the first few at the end. */
import { inEnglish, type JobContext, type Sentence, say, sentenceOf, type Task, type Words, wordsOf } from 'archivolt'
import type { Failure } from '../platform/types.ts'
import type { App } from './app.ts'

const SHOWN = 10

export type Report = ReturnType<typeof openReport>

export function openReport(
  task: Pick<Task, 'name' | 'title' | 'group'>,
  job: Pick<JobContext<object>, 'log'>,
  app: Pick<App, 'jobs'>,
) {
  const lines: Words[] = []
  let count = 0
  return {
    get count(): number {
      return count
    },
    /** @param name  name of the file on disk, or a sentence */
    add(name: string | Sentence, why: Words): void {
      count++
      job.log.warn({ file: inEnglish(name) }, `skipped: ${inEnglish(why)}`)
      if (lines.length >= SHOWN) return
      const named = typeof name === 'string' ? [...name].slice(0, 100).join('') : name
      lines.push(say`${{ name: named }}: ${{ reason: sentenceOf(why) }}`)
    },
    /** Sends a message if anything was reported. */
    async show(): Promise<void> {
      if (count === 0) return
      const more = count > lines.length ? [say`and ${{ count: count - lines.length }} more: see the log`] : []
      await app.jobs.notify({ of: task, level: 'error', messages: [...lines, ...more] })
    },
  }
}

/**
 * The reason if the platform or the file itself is responsible, so that the run can continue with the next file. Any
 * other error is thrown.
 */
export function reasonOf(thrown: unknown, app: Pick<App, 'platform'>): Words {
  const failure = app.platform.failureOf(thrown)
  if (failure) return ofPlatform(failure, app)
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'unprocessable') return wordsOf(thrown)
  throw thrown
}

/** The failure in our words, otherwise in those of the platform or yt-dlp. */
const ofPlatform = ({ failure, message }: Failure, { platform }: Pick<App, 'platform'>): Words =>
  platform.reasonOf(failure, message) ?? message

/** Notifies external addresses of failed downloads: combines many in one message, and sends at most one an hour. */
import { defineTask, type Timer, Type } from 'archivolt'
import type { App } from './app.ts'

export const downloadFailed = defineTask({
  name: 'download_failed',
  title: 'Downloads have failed',
  payload: Type.Object({ count: Type.Integer(), lines: Type.Array(Type.String()) }),
  lane: 'light',
  silent: true,
  resumable: true,
  outgoing: 'news',
  run: async ({ payload: { count, lines } }) =>
    [...lines, ...(count > lines.length ? [`and ${count - lines.length} more`] : [])].join('\n'),
})

/** Failures within this time are combined. */
const GATHER_MS = 60_000
const APART_MS = 3_600_000
const MOST_NAMED = 10
const LONGEST_LINE = 300

export interface FailureNews {
  /** Reports an item that is not retried until somebody requests it. */
  hear(failed: { title: string; message: string }): void
  end(): void
}

export function openFailureNews(app: App): FailureNews {
  let count = 0
  let lines: string[] = []
  let timer: Timer | undefined
  let toldAtMs = Number.NEGATIVE_INFINITY

  async function tell(): Promise<void> {
    const payload = { count, lines }
    timer = undefined
    count = 0
    lines = []
    toldAtMs = app.clock.steady()
    await app.jobs.start(downloadFailed, payload)
  }

  return {
    hear({ title, message }) {
      if (!app.schedules.outgoing()[downloadFailed.name]) return
      count++
      if (lines.length < MOST_NAMED) lines.push(`${title}: ${message}`.slice(0, LONGEST_LINE))
      timer ??= app.clock.after(Math.max(GATHER_MS, toldAtMs + APART_MS - app.clock.steady()), () => {
        tell().catch((err: unknown) => app.log.error({ err }, 'the notification of failed downloads could not be sent'))
      })
    },
    end: () => timer?.cancel(),
  }
}

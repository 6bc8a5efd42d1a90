/** Reports that the platform is not being asked: by an event, and to external addresses. */
import { defineTask, inEnglish, Type, Words } from 'archivolt'
import type { App } from './app.ts'
import { PLATFORM } from './name.ts'
import type { PlatformState } from './types.ts'

export const platformStopped = defineTask({
  name: 'platform_stopped',
  title: `Downloads from ${PLATFORM} have stopped`,
  payload: Type.Object({ reason: Words }),
  lane: 'light',
  unique: true,
  silent: true,
  resumable: true,
  outgoing: 'news',
  run: async ({ payload }) => payload.reason,
})

/** Minimum time between two reports, because the gate may open and close many times during a recovery. */
const SPELL_MS = 3_600_000

export function openNews(app: App): (state: PlatformState) => Promise<void> {
  let toldAtMs = Number.NEGATIVE_INFINITY
  return async ({ state, reason, next_attempt: nextAttempt }) => {
    const now = app.clock.steady()
    const isSame = now - toldAtMs < SPELL_MS
    toldAtMs = now
    if (isSame) return
    await app.emit('platform.stopped', { state, reason: inEnglish(reason), nextAttempt })
    if (app.schedules.outgoing()[platformStopped.name]) await app.jobs.start(platformStopped, { reason })
  }
}

declare module 'archivolt' {
  interface Events {
    /**
     * Emitted when the gate closes: the platform refuses us or does not respond, or this machine lacks something. At
     * most once an hour. `nextAttempt` in epoch seconds.
     */
    'platform.stopped': { state: string; reason: string; nextAttempt: number }
  }
}

/** Where this person is in a video, kept on the server: now and then while it plays, and when they leave. */
import { ask } from '../api.ts'
import { forget } from '../load.ts'

const EVERY_S = 10
/** A look at the beginning is no place. */
const FROM_S = 3

export function openPlace(id: string) {
  let saved = 0

  async function save(seconds: number, isLast = false): Promise<void> {
    if (seconds < FROM_S || Math.abs(seconds - saved) < 1) return
    const before = saved
    saved = seconds
    try {
      await ask('POST', `/api/video/${id}/progress/`, { body: { position: Math.round(seconds * 10) / 10 }, isLast })
      forget('home/')
    } catch {
      saved = before // the next one tries again; nobody is held up for it
    }
  }

  return {
    save: (seconds: number, isLast = false): void => void save(seconds, isLast),
    at(seconds: number): void {
      if (Math.abs(seconds - saved) >= EVERY_S) void save(seconds)
    },
    /** Seen to its end: the mark says so from now on. */
    end(): void {
      saved = Number.POSITIVE_INFINITY
    },
  }
}

/** Where this person is in a video, kept on the server: now and then while it plays, and when they leave. */
import { ask } from '../server/api.ts'
import { deleted } from '../stores/deleted.ts'

const EVERY_S = 10
/** A look at the beginning is no place. */
const FROM_S = 3

let saving: Promise<void> | undefined

/**
 * While the newest place is on its way to the server: lists of what was begun are right once it is there, or has
 * failed.
 */
export const placeSaving = (): Promise<void> | undefined => saving

export function openPlace(id: string) {
  let saved = 0

  function save(seconds: number, isLast = false): void {
    if (seconds < FROM_S || Math.abs(seconds - saved) < 1 || deleted.peek().has(id)) return
    const mine = send(seconds, isLast).then(() => {
      if (saving === mine) saving = undefined
    })
    saving = mine
  }

  async function send(seconds: number, isLast: boolean): Promise<void> {
    const before = saved
    saved = seconds
    try {
      await ask('POST', `/api/video/${id}/progress/`, { body: { position: Math.round(seconds * 10) / 10 }, isLast })
    } catch {
      saved = before // the next one tries again; nobody is held up for it
    }
  }

  return {
    save,
    at(seconds: number): void {
      if (Math.abs(seconds - saved) >= EVERY_S) save(seconds)
    },
    /** Seen to its end: the mark says so from now on. */
    end(): void {
      saved = Number.POSITIVE_INFINITY
    },
  }
}

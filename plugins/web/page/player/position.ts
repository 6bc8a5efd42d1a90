/** The position in a video, sent to the server: now and then while it plays, and when the page is left. */
import { ask, isPassing } from '../server/api.ts'
import { connection } from '../server/events.ts'
import { deleted } from '../stores/deleted.ts'
import { noteUnsent, settleUnsent } from '../stores/unsent.ts'

const EVERY_S = 10
/** A glance at the beginning is no position. */
const FROM_S = 3

let saving: Promise<void> | undefined

/**
 * While the newest position is on its way to the server: lists of what was begun are right once it is there, or has
 * failed.
 */
export const positionSaving = (): Promise<void> | undefined => saving

export function openPosition(id: string) {
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
    const position = Math.round(seconds * 10) / 10
    // The document may be gone before it is known that there was no answer.
    if (connection.peek() === 'lost') noteUnsent(id, position)
    try {
      await ask('POST', `/api/video/${id}/progress/`, { body: { position }, isLast })
      settleUnsent(id)
    } catch (error) {
      if (isPassing(error)) noteUnsent(id, position)
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

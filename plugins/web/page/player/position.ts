/** Sends the position to the server: regularly during playback, and when the page is left. */
import { ask, isPassing } from '../server/api.ts'
import { connection } from '../server/events.ts'
import { deleted } from '../stores/deleted.ts'
import { noteUnsent, settleUnsent } from '../stores/unsent.ts'

const EVERY_S = 10
/** Minimum position that is sent. */
const FROM_S = 3

let saving: Promise<void> | undefined

/** Pending while the newest position is being sent. Lists of started videos are up to date once it settles. */
export const positionSaving = (): Promise<void> | undefined => saving

export function openPosition(id: string) {
  let saved = 0
  /** The position of the last request, which may have failed. */
  let tried = 0

  function save(seconds: number, isLast = false): void {
    if (seconds < FROM_S || Math.abs(seconds - saved) < 1 || deleted.peek().has(id)) return
    const mine = send(seconds, isLast).then(() => {
      if (saving === mine) saving = undefined
    })
    saving = mine
  }

  async function send(seconds: number, isLast: boolean): Promise<void> {
    const before = saved
    saved = tried = seconds
    const position = Math.round(seconds * 10) / 10
    // The document may be closed before the request fails, so the position is stored first.
    if (connection.peek() === 'lost') noteUnsent(id, position)
    try {
      await ask('POST', `/api/video/${id}/progress/`, { body: { position }, isLast })
      settleUnsent(id)
    } catch (error) {
      if (isPassing(error)) noteUnsent(id, position)
      saved = before // a later save tries again; nobody waits for this one
    }
  }

  return {
    save,
    at(seconds: number): void {
      if (Math.abs(seconds - tried) >= EVERY_S) save(seconds)
    },
    /** The film has ended, and the video is marked as watched: the next position is sent in any case. */
    end(): void {
      saved = tried = Number.POSITIVE_INFINITY
    },
  }
}

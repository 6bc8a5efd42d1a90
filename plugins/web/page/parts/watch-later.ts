/** Adds a video to Watch later or removes it, with Undo. The change is shown immediately wherever the video appears. */
import { post } from '../server/api.ts'
import type { Rows } from '../stores/list.ts'
import { cachedUnder, forget } from '../stores/load.ts'
import { countTurns } from '../stores/turns.ts'
import { t } from '../texts/lookup.ts'
import { say, sayFailure } from './toast.ts'

/** The id of the playlist that every account has. */
export const WATCH_LATER = 'watchlater'

/** The part of a row that shows whether the video is in Watch later. */
interface Mark {
  id: string
  isLater: boolean
}

const begin = countTurns()

/** @param also  updates a view that shows the video outside of lists */
export async function toggleLater({ id, isLater: was }: Mark, also?: (isLater: boolean) => void): Promise<void> {
  const isNewest = begin(id)
  const show = (isLater: boolean) => {
    if (!isNewest()) return // only the newest change of a video is shown
    showLater(id, isLater)
    also?.(isLater)
  }
  show(!was)
  try {
    await post(`/api/playlist/${WATCH_LATER}/`, { action: was ? 'remove' : 'create', video_id: id })
  } catch (error) {
    show(was)
    return sayFailure(error)
  }
  // A reply to an earlier request may have arrived meanwhile.
  show(!was)
  forgetLater()
  say(was ? t('later.removed') : t('later.added'), {
    undo: () => void toggleLater({ id, isLater: !was }, also),
  })
}

/** Updates all cards of a video. */
export function showLater(id: string, isLater: boolean): void {
  for (const list of cachedUnder<Rows<Mark>>('list /api/')) list.change(id, (row) => ({ ...row, isLater }))
}

/** Drops cached lists that are out of date. */
function forgetLater(): void {
  for (const key of [`list /api/playlist/${WATCH_LATER}/`, `playlist/${WATCH_LATER}`, 'list playlists', 'playlists'])
    forget(key)
}

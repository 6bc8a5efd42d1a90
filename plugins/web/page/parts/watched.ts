/** Marks a video as watched or unwatched, with Undo. The change is shown immediately wherever the video appears. */
import { hereNow } from '../browser/router.ts'
import { ask, post } from '../server/api.ts'
import type { Rows } from '../stores/list.ts'
import { cachedUnder, forget } from '../stores/load.ts'
import { countTurns } from '../stores/turns.ts'
import { t } from '../texts/lookup.ts'
import { say, sayFailure } from './toast.ts'
import type { VideoRow } from './video-row.ts'

export type Mark = Pick<VideoRow, 'isWatched' | 'progress'>

/** Begins a change of the video with this id: only its newest change is shown. */
export const beginMark = countTurns()

/** @param also  updates a view that shows the video outside of lists */
export async function toggleWatched(
  { id, isWatched: was, progress }: Mark & Pick<VideoRow, 'id'>,
  also?: (mark: Mark) => void,
): Promise<void> {
  const mark: Mark = { isWatched: !was, progress: 0 }
  const isNewest = beginMark(id)
  const show = (now: Mark) => {
    if (!isNewest()) return
    for (const list of cachedUnder<Rows<VideoRow>>('list /api/')) list.change(id, (row) => ({ ...row, ...now }))
    also?.(now)
  }
  show(mark)
  try {
    await ask('POST', '/api/watched/', { body: { id, is_watched: mark.isWatched }, part: id })
    // A reply to an earlier request may have arrived meanwhile.
    show(mark)
    say(was ? t('video.nowUnwatched') : t('video.nowWatched'), {
      undo: () => void toggleWatched({ id, ...mark }, also),
    })
  } catch (error) {
    show({ isWatched: was, progress })
    sayFailure(error)
  }
}

/**
 * Marks all videos of a channel or playlist as watched, with Undo if possible.
 * @param shown  called to show the change
 */
export async function markAllWatched(id: string, shown: () => void): Promise<void> {
  const isHere = hereNow()
  const { marking } = await post<{ marking?: number }>('/api/watched/', { id, is_watched: true })
  const show = () => {
    forget('list ')
    if (isHere()) shown()
  }
  show()
  const undo = async () => {
    await post('/api/watched/undo/', { marking: marking! })
    show()
    say(t('channel.markedBack'))
  }
  say(t('channel.nowWatched'), marking === undefined ? {} : { undo })
}

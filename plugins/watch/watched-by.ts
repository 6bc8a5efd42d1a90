/** By whom a video must have been watched, and when, so that it may be deleted. */
import type { VideoFilter } from '../video/listing.ts'
import type { Mark } from './marks.ts'
import type { WatchState } from './state.ts'
import type { Watch } from './types.ts'

/** Whose watching counts for deletion: that of one at least, of all who watch here, of all admins who do. */
export const WHOSE = ['anyone', 'everyone', 'admins'] as const
type Whose = (typeof WHOSE)[number]

export function openWatchedBy(state: WatchState) {
  const { app } = state

  return {
    async *watchedBefore(epoch, where) {
      const whose = whoseCounts(state)
      const accounts = accountsThatCount(state, whose)
      if (accounts.length === 0) return
      const byEach = accounts.map((id): VideoFilter => ({ eq: ['watched_by', String(id)] }))
      const watched: VideoFilter = whose === 'anyone' ? { or: byEach } : { and: byEach }
      for await (const batch of app.videos.outlines({ and: where ? [where, watched] : [watched] })) {
        const ids = batch.map(({ id }) => id)
        const found = watchedByThen(state, ids, whose, accounts, epoch)
        yield batch.filter(({ id }) => found.has(id))
      }
    },

    isWatchedBefore(id, epoch) {
      const whose = whoseCounts(state)
      return watchedByThen(state, [id], whose, accountsThatCount(state, whose), epoch).has(id)
    },
  } satisfies Partial<Watch>
}

const whoseCounts = ({ app }: WatchState): Whose => app.preferences.section('progress').watchedBy

function accountsThatCount({ app, marks }: WatchState, whose: Whose): number[] {
  const accounts = app.accounts.list()
  if (whose === 'anyone') return accounts.map(({ id }) => id)
  const viewers = new Set(marks.viewers())
  return accounts
    .filter(({ id, is_active, is_staff }) => is_active && viewers.has(id) && (whose === 'everyone' || is_staff))
    .map(({ id }) => id)
}

/** Of these videos, those that were watched by all who count before that time. */
function watchedByThen(
  { marks }: WatchState,
  ids: readonly string[],
  whose: Whose,
  accounts: readonly number[],
  epoch: number,
): Set<string> {
  const isThen = ({ at }: Mark) => at !== null && at < epoch
  const count = new Map<string, number>()
  for (const mark of marks.ofVideos(ids)) {
    if (isThen(mark) && accounts.includes(mark.userId)) count.set(mark.videoId, (count.get(mark.videoId) ?? 0) + 1)
  }
  const needed = whose === 'anyone' ? 1 : Math.max(1, accounts.length)
  return new Set(ids.filter((id) => (count.get(id) ?? 0) >= needed))
}

/** Which accounts must have watched a video, and when, before it may be deleted. */
import type { VideoFilter } from '../video/listing.ts'
import type { WatchState } from './state.ts'
import type { Watch, Whose } from './types.ts'

/** The values of the preference. */
export const WHOSE = ['anyone', 'everyone', 'admins'] as const satisfies readonly Whose[]

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

    watchedSince: (ids, whose = whoseCounts(state)) => watchedSince(state, ids, whose, accountsThatCount(state, whose)),

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

/**
 * Those of these videos that all relevant accounts have watched, with the time since which they have, in epoch seconds.
 */
function watchedSince(
  { marks }: WatchState,
  ids: readonly string[],
  whose: Whose,
  accounts: readonly number[],
): Map<string, number> {
  const counting = new Set(accounts)
  const times = new Map<string, number[]>()
  for (const { userId, videoId, at } of marks.ofVideos(ids)) {
    if (at === null || !counting.has(userId)) continue
    const known = times.get(videoId)
    if (known) known.push(at)
    else times.set(videoId, [at])
  }
  const needed = whose === 'anyone' ? 1 : Math.max(1, accounts.length)
  const found = [...times].filter(([, at]) => at.length >= needed)
  return new Map(found.map(([id, at]) => [id, whose === 'anyone' ? Math.min(...at) : Math.max(...at)]))
}

/** Those of these videos that all relevant accounts watched before that time. */
function watchedByThen(
  state: WatchState,
  ids: readonly string[],
  whose: Whose,
  accounts: readonly number[],
  epoch: number,
): Set<string> {
  const since = watchedSince(state, ids, whose, accounts)
  return new Set(ids.filter((id) => (since.get(id) ?? epoch) < epoch))
}

/** The videos of a face as a filter of the index: its selection, within the view of its account. */
import { errors, type Filter, say, seenFilter } from 'archivolt'
import type { App } from './app.ts'
import type { Selection } from './types.ts'

export type VideoFilter = Filter<'channel_id' | 'playlist' | 'watched_by' | 'platform_id' | 'published'>

/** Where a video has the ids of its channel and its playlists. */
const SEEN = { by: { channel: 'channel_id', playlist: 'playlist' } } as const

/** @throws conflict: the account no longer exists, so the face must not show anything */
export function filterOf(
  { channels, playlists, account, watched }: Selection,
  app: Pick<App, 'accounts'>,
): VideoFilter[] {
  const filters: VideoFilter[] = []
  if (channels || playlists) filters.push(seenFilter(SEEN, { channel: channels ?? [], playlist: playlists ?? [] }))
  if (account === undefined) return filters
  const found = app.accounts.get(account)
  if (!found) throw errors.conflict(say`The account for this folder no longer exists: choose another one`)
  const view = app.accounts.viewOf(account)
  if (view) filters.push(seenFilter(SEEN, view))
  if (watched !== undefined) {
    const mark: VideoFilter = { eq: ['watched_by', String(account)] }
    filters.push(watched ? mark : { not: mark })
  }
  return filters
}

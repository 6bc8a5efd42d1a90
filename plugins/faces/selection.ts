/** The videos and playlists of a face as filters of the index: its selection, within the view of its account. */
import { errors, say, showsId } from 'archivolt'
import type { PlaylistFilter } from '../playlist/schema.ts'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'
import type { Selection } from './types.ts'

/** The selection with the channels and playlists of its groups. @throws conflict: a group no longer exists */
export function withMembers(selection: Selection, app: Pick<App, 'channels'>): Selection {
  const { groups: ids, channels = [], playlists = [], ...rest } = selection
  if (!ids) return selection
  const groups = ids.map((id) => {
    const found = app.channels.group(id)
    if (!found) throw errors.conflict(say`A group for this folder no longer exists: choose another one`)
    return found
  })
  return {
    ...rest,
    channels: [...new Set([...channels, ...groups.flatMap((group) => group.channels)])],
    playlists: [...new Set([...playlists, ...groups.flatMap((group) => group.playlists)])],
  }
}

/**
 * @param selection  with the members of its groups
 * @throws conflict: the account no longer exists, so the face must not show anything
 */
export function filterOf(
  { channels, playlists, account, watched }: Selection,
  app: Pick<App, 'accounts' | 'videos'>,
): VideoFilter[] {
  const filters: VideoFilter[] = []
  if (channels || playlists) filters.push(app.videos.seenIn({ channel: channels ?? [], playlist: playlists ?? [] }))
  if (account === undefined) return filters
  const found = app.accounts.get(account)
  if (!found) throw errors.conflict(say`The account for this folder no longer exists: choose another one`)
  const view = app.accounts.viewOf(account)
  if (view) filters.push(app.videos.seenIn(view))
  if (watched !== undefined) {
    const mark: VideoFilter = { eq: ['watched_by', String(account)] }
    filters.push(watched ? mark : { not: mark })
  }
  return filters
}

/**
 * The playlists that the account sees; undefined: all.
 * @param selection  its account must exist
 */
export function listsOf(
  { account }: Selection,
  { accounts, playlists }: Pick<App, 'accounts' | 'playlists'>,
): PlaylistFilter | undefined {
  const view = account === undefined ? undefined : accounts.viewOf(account)
  return view && playlists.seenIn(view)
}

/**
 * Whether the account does not see a channel itself: if it sees only single videos, a face shows only id and name of
 * their channel.
 * @param selection  its account must exist
 */
export function hidesOf({ account }: Selection, { accounts }: Pick<App, 'accounts'>): (channel: string) => boolean {
  const view = account === undefined ? undefined : accounts.viewOf(account)
  return (channel) => view !== undefined && !showsId(view, 'channel', channel)
}

/**
 * Everything that belongs to a playlist itself, as the bin stores it: collected before its removal, and restored
 * completely.
 */
import { errors, faultIn, say, Type } from 'archivolt'
import type { Renaming } from '../video/types.ts'
import type { App } from './app.ts'
import { type CustomPlaylist, type CustomRows, type PositionedEntry, renamedId } from './custom-rows.ts'
import type { Projection } from './projection.ts'
import { PlaylistDoc } from './schema.ts'

export interface PlaylistBelongings {
  id: string
  name: string
  /** Set for a playlist of the platform. */
  doc?: PlaylistDoc
  /** Set for a custom playlist. The positions of videos that are removed with it are stored with the videos. */
  list?: CustomPlaylist
  entries?: PositionedEntry[]
  /** Accounts whose view names the playlist. */
  seenBy: number[]
}

const Account = Type.Union([Type.Integer(), Type.String()])
const Owner = Type.Union([Account, Type.Null()])

const Record = Type.Object({
  id: Type.String(),
  name: Type.String(),
  doc: Type.Optional(PlaylistDoc),
  list: Type.Optional(
    Type.Object({
      id: Type.String(),
      ownerId: Owner,
      privateTo: Owner,
      isShared: Type.Boolean(),
      name: Type.Union([Type.String(), Type.Null()]),
      changedAt: Type.Integer(),
    }),
  ),
  entries: Type.Optional(
    Type.Array(
      Type.Object({
        videoId: Type.String(),
        title: Type.String(),
        uploader: Type.Union([Type.String(), Type.Null()]),
        place: Type.Integer(),
      }),
    ),
  ),
  seenBy: Type.Array(Account),
})

/** Converts the ids of accounts. undefined: the playlist's own account has none */
export function renamedBelongings(belongings: PlaylistBelongings, as: Renaming): PlaylistBelongings | undefined {
  const id = renamedId(belongings.id, as)
  if (id === undefined) return undefined
  const of = (account: number | null) => (account === null ? null : ((as(account) as number | undefined) ?? null))
  const { list } = belongings
  return {
    ...{ ...belongings, id },
    ...(list && { list: { ...list, id, ownerId: of(list.ownerId), privateTo: of(list.privateTo) } }),
    seenBy: belongings.seenBy.flatMap((account) => (as(account) as number | undefined) ?? []),
  }
}

/**
 * Checks a record that was read from a file and names accounts. undefined: the playlist's own account does not exist.
 * @throws unprocessable: it is damaged, or about another playlist
 */
export function checkBelongings(id: string, told: unknown, as: Renaming): PlaylistBelongings | undefined {
  const fault = faultIn(Record, told)
  if (fault !== undefined) throw errors.unprocessable(say`The record of ${{ id }} is damaged: ${{ fault }}`)
  const belongings = told as PlaylistBelongings
  const { list, doc } = belongings
  const isOwn =
    belongings.id === id &&
    (list
      ? doc === undefined && list.id === id && list.isShared === (list.privateTo === null)
      : doc?.playlist_id === id && doc.playlist_type === 'regular')
  if (!isOwn) throw errors.unprocessable(say`The record of ${{ id }} is about another playlist`)
  return renamedBelongings(belongings, as)
}

/** Stores removed playlists for a while; implements the hook `playlist.bin`. */
export interface PlaylistBin {
  isOn(): boolean
  /**
   * Called before the playlist is removed. May be repeated. @param removal  id of everything that is removed together
   */
  keep(jobId: string, removal: string, by: number, belongings: PlaylistBelongings): Promise<void>
  /** Called when the removal has failed. */
  takeBack(jobId: string): Promise<void>
  /**
   * Called when a video is restored whose custom playlist is still in the bin: adds its position to the stored
   * playlist.
   */
  amend(playlistId: string, entries: readonly PositionedEntry[]): Promise<void>
}

interface Parts {
  rows: CustomRows
  projection: Projection
  get(id: string): Promise<PlaylistDoc | undefined>
  giveBack(docs: readonly PlaylistDoc[]): Promise<void>
}

export function openPlaylistBelongings(app: App, { rows, projection, get, giveBack }: Parts) {
  const { accounts } = app

  /** Restores the rows of a playlist, with those entries whose videos exist or may be restored. */
  async function putRows(list: CustomPlaylist, entries: readonly PositionedEntry[]): Promise<void> {
    const isOwnerHere = list.ownerId !== null && accounts.get(list.ownerId) !== undefined
    if (!isOwnerHere && !list.isShared) throw errors.conflict('The account that owned this playlist no longer exists')
    const known = await app.videos.known(entries.map(({ videoId }) => videoId))
    for (const { videoId } of entries) if (await app.media.isKept('video', videoId)) known.add(videoId)
    await rows.restore(
      isOwnerHere ? list : { ...list, ownerId: null, privateTo: null },
      entries.filter(({ videoId }) => known.has(videoId)),
    )
    if (!list.isShared) return
    await rows.unsettle(list.id, 'ledger')
    await projection.project(list.id)
  }

  return {
    /** undefined: there is no such playlist. */
    async collectBelongings(id: string): Promise<PlaylistBelongings | undefined> {
      const doc = await get(id)
      if (doc?.playlist_type === 'custom') await projection.taken(id)
      const list = doc?.playlist_type === 'regular' ? undefined : rows.get(id)
      const seenBy = accounts
        .list()
        .filter(({ view }) => view?.['playlist']?.includes(id))
        .map((account) => account.id)
      if (list) return { id, name: list.name ?? doc?.playlist_name ?? id, list, entries: rows.entries(id), seenBy }
      return doc && { id, name: doc.playlist_name, doc, seenBy }
    },

    /** May be repeated. @throws conflict: a private playlist whose account no longer exists */
    async restoreBelongings({ id, doc, list, entries = [], seenBy }: PlaylistBelongings): Promise<void> {
      if (list) await putRows(list, entries)
      else if (doc) await giveBack([doc])
      for (const account of seenBy) {
        const view = accounts.get(account)?.view
        const shown = view?.['playlist'] // a view that hides has none
        if (shown && !shown.includes(id))
          await accounts.change(account, { view: { ...view, playlist: [...shown, id] } })
      }
    },
  }
}

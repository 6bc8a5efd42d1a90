/**
 * Everything that belongs to a playlist itself, as the bin stores it: collected before its removal, and restored
 * completely.
 */
import { errors, faultIn, say, Type } from 'archivolt'
import type { Renaming } from '../video/types.ts'
import type { App } from './app.ts'
import { type CustomEntry, type CustomPlaylist, type CustomRows, renamedId } from './custom-rows.ts'
import type { Projection } from './projection.ts'
import { PlaylistDoc } from './schema.ts'

export type KeptEntry = CustomEntry & { place: number }

export interface KeptPlaylist {
  id: string
  name: string
  /** Set for a playlist of the platform. */
  doc?: PlaylistDoc
  /** Set for a custom playlist. The positions of videos that are removed with it are stored with the videos. */
  list?: CustomPlaylist
  entries?: KeptEntry[]
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
export function renamedKept(kept: KeptPlaylist, as: Renaming): KeptPlaylist | undefined {
  const id = renamedId(kept.id, as)
  if (id === undefined) return undefined
  const of = (account: number | null) => (account === null ? null : ((as(account) as number | undefined) ?? null))
  const { list } = kept
  return {
    ...{ ...kept, id },
    ...(list && { list: { ...list, id, ownerId: of(list.ownerId), privateTo: of(list.privateTo) } }),
    seenBy: kept.seenBy.flatMap((account) => (as(account) as number | undefined) ?? []),
  }
}

/**
 * Checks a record that was read from a file and names accounts. undefined: the playlist's own account does not exist.
 * @throws unprocessable: it is damaged, or about another playlist
 */
export function checkKept(id: string, told: unknown, as: Renaming): KeptPlaylist | undefined {
  const fault = faultIn(Record, told)
  if (fault !== undefined) throw errors.unprocessable(say`The record of ${{ id }} is damaged: ${{ fault }}`)
  const kept = told as KeptPlaylist
  const isOwn =
    kept.id === id &&
    (kept.list
      ? kept.doc === undefined && kept.list.id === id && kept.list.isShared === (kept.list.privateTo === null)
      : kept.doc?.playlist_id === id && kept.doc.playlist_type === 'regular')
  if (!isOwn) throw errors.unprocessable(say`The record of ${{ id }} is about another playlist`)
  return renamedKept(kept, as)
}

/** Stores removed playlists for a while; implements the hook `playlist.bin`. */
export interface PlaylistBin {
  isOn(): boolean
  /**
   * Called before the playlist is removed. May be repeated. @param removal  id of everything that is removed together
   */
  keep(jobId: string, removal: string, by: number, kept: KeptPlaylist): Promise<void>
  /** Called when the removal has failed. */
  takeBack(jobId: string): Promise<void>
  /**
   * Called when a video is restored whose custom playlist is still in the bin: adds its position to the stored
   * playlist.
   */
  amend(playlistId: string, entries: readonly KeptEntry[]): Promise<void>
}

interface Parts {
  rows: CustomRows
  projection: Projection
  get(id: string): Promise<PlaylistDoc | undefined>
  giveBack(docs: readonly PlaylistDoc[]): Promise<void>
}

export function openKept(app: App, { rows, projection, get, giveBack }: Parts) {
  const { ledger, accounts } = app

  /** Restores the rows of a playlist, with those entries whose videos exist or may be restored. */
  async function putRows(list: CustomPlaylist, entries: readonly KeptEntry[]): Promise<void> {
    const isOwnerHere = list.ownerId !== null && accounts.get(list.ownerId) !== undefined
    if (!isOwnerHere && !list.isShared) throw errors.conflict('The account that owned this playlist no longer exists')
    const known = await app.videos.known(entries.map(({ videoId }) => videoId))
    for (const { videoId } of entries) if (await app.media.isKept('video', videoId)) known.add(videoId)
    await ledger.write(() => {
      ledger
        .sql(
          `INSERT INTO playlist_custom (playlist_id, owner_id, private_to, is_shared, name, changed_at)
           VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        )
        .run(
          list.id,
          isOwnerHere ? list.ownerId : null,
          isOwnerHere ? list.privateTo : null,
          Number(list.isShared),
          list.name,
          list.changedAt,
        )
      const put = ledger.sql('INSERT INTO playlist_custom_entry VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
      for (const { videoId, title, uploader, place } of entries)
        if (known.has(videoId)) put.run(list.id, videoId, title, uploader, place)
    })
    if (!list.isShared) return
    await rows.unsettle(list.id, 'ledger')
    await projection.project(list.id)
  }

  return {
    /** undefined: there is no such playlist. */
    async collectKept(id: string): Promise<KeptPlaylist | undefined> {
      const doc = await get(id)
      if (doc?.playlist_type === 'custom') await projection.taken(id)
      const list = doc?.playlist_type === 'regular' ? undefined : rows.get(id)
      const seenBy = accounts
        .list()
        .filter(({ view }) => view?.['playlist']?.includes(id))
        .map((account) => account.id)
      if (list) {
        const entries = ledger
          .sql<KeptEntry>(
            'SELECT video_id AS videoId, title, uploader, place FROM playlist_custom_entry WHERE playlist_id = ? ORDER BY place',
          )
          .all(id)
        return { id, name: list.name ?? doc?.playlist_name ?? id, list, entries, seenBy }
      }
      return doc && { id, name: doc.playlist_name, doc, seenBy }
    },

    /** May be repeated. @throws conflict: a private playlist whose account no longer exists */
    async giveBackKept({ id, doc, list, entries = [], seenBy }: KeptPlaylist): Promise<void> {
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

/** The rows of custom playlists, private and shared, in the ledger: the source of truth. */
import { chunksOf, epochSeconds, errors, isAmong, say } from 'archivolt'
import type { Renaming } from '../video/types.ts'
import type { App } from './app.ts'

/** The id of the playlist that every account has from the start. The API uses it for the caller's own one. */
export const WATCH_LATER = 'watchlater'

export interface CustomPlaylist {
  id: string
  ownerId: number | null
  /** null: shared, so its document is visible to all. */
  privateTo: number | null
  isShared: boolean
  name: string | null
  changedAt: number
}

export interface CustomEntry {
  videoId: string
  title: string
  uploader: string | null
}

/** With its position, as in the row. */
export type PositionedEntry = CustomEntry & { place: number }

/** The positions of a video: `[playlist, position, title, uploader]` for each playlist that contains it. */
export type Positions = Array<[playlistId: string, position: number, title: string, uploader: string | null]>

/** Rows and document of a playlist that may differ. */
export interface Unsettled {
  number: number
  id: string
  truth: 'ledger' | 'index'
}

/** Used instead of an id: stands for all documents without rows. */
export const UNKNOWN = '*'
/** Maximum number per account, without Watch later: few enough for a list without pages. */
const MOST_PLAYLISTS = 500
/**
 * The platform's limit. More are not possible, because a record lists all entries, and a list of videos ends at
 * `MAX_WINDOW`.
 */
const MOST_ENTRIES = 5000
/** Entries per transaction, which bounds the time on the event loop. */
const CHUNK = 500

const COLUMNS =
  'playlist_id AS id, owner_id AS ownerId, private_to AS privateTo, is_shared AS isShared, name, changed_at AS changedAt'
const OF_LIST = 'WHERE playlist_id = ?'
const UNSETTLED = 'SELECT number, playlist_id AS id, truth FROM playlist_unsettled'

export const watchLaterOf = (userId: number): string => `${WATCH_LATER}/${userId}`
export const isWatchLater = ({ id }: Pick<CustomPlaylist, 'id'>): boolean => id.startsWith(`${WATCH_LATER}/`)

/**
 * Converts the id for another account: only that of Watch later contains an account. undefined: there is no such
 * account
 */
export function renamedId(id: string, as: Renaming): string | undefined {
  if (!isWatchLater({ id })) return id
  const other = as(id.slice(WATCH_LATER.length + 1))
  return other === undefined ? undefined : `${WATCH_LATER}/${other}`
}

export type CustomRows = ReturnType<typeof openCustomRows>

/** A change of a shared playlist records in the same transaction that its document is outdated. */
export function openCustomRows({ ledger, accounts, clock }: Pick<App, 'ledger' | 'accounts' | 'clock'>) {
  const { sql, write } = ledger

  function lists(where: string, ...values: unknown[]): CustomPlaylist[] {
    return sql<Omit<CustomPlaylist, 'isShared'> & { isShared: number }>(
      `SELECT ${COLUMNS} FROM playlist_custom ${where}`,
    )
      .all(...values)
      .map((row) => ({ ...row, isShared: row.isShared === 1 }))
  }

  const get = (id: string): CustomPlaylist | undefined => lists(OF_LIST, id)[0]

  function idsOf(text: string, ...values: unknown[]): string[] {
    return sql<{ id: string }>(text)
      .all(...values)
      .map(({ id }) => id)
  }

  const unsettled = (id: string): Unsettled | undefined => sql<Unsettled>(`${UNSETTLED} ${OF_LIST}`).get(id)

  function note(id: string, truth: Unsettled['truth']): void {
    sql('INSERT OR REPLACE INTO playlist_unsettled (playlist_id, truth) VALUES (?, ?)').run(id, truth)
  }

  /** Records that the rows have changed. If the document is still to be imported, it remains the source of truth. */
  function noteLedger(id: string): void {
    if (unsettled(id)?.truth !== 'index') note(id, 'ledger')
  }

  /** The same for the shared playlists that contain one of these videos; omitted: for all. @returns their ids */
  function noteShared(videoIds?: readonly string[]): string[] {
    const shared = 'SELECT playlist_id AS id FROM playlist_custom WHERE is_shared'
    const having = `AND playlist_id IN (
      SELECT playlist_id FROM playlist_custom_entry WHERE video_id IN (SELECT value FROM json_each(?)))`
    const ids = videoIds ? idsOf(`${shared} ${having}`, JSON.stringify(videoIds)) : idsOf(shared)
    for (const id of ids) noteLedger(id)
    return ids
  }

  function endSettling({ number, id }: Unsettled): void {
    if (sql('DELETE FROM playlist_unsettled WHERE number = ?').run(number).changes > 0)
      sql(`UPDATE playlist_custom SET private_to = NULL ${OF_LIST} AND is_shared`).run(id)
  }

  function believeIndex(id: string): void {
    sql(`UPDATE playlist_custom SET is_shared = 1, private_to = NULL ${OF_LIST}`).run(id)
    note(id, 'index')
  }

  function keepPrivate(id: string, userId: number): void {
    sql(`UPDATE playlist_custom SET is_shared = 0, owner_id = ?, private_to = ? ${OF_LIST}`).run(userId, userId, id)
  }

  /** Fails if the account was removed while its own request was running. */
  function refuseGone(userId: number): void {
    if (!accounts.get(userId)) throw errors.notFound('user')
  }

  function refuseOneMore(userId: number): void {
    refuseGone(userId)
    if (ofOwner(userId).length >= MOST_PLAYLISTS)
      throw errors.conflict(say`You already have ${{ most: MOST_PLAYLISTS }} playlists, the maximum: remove one first`)
  }

  /** The playlists of an account, without Watch later. */
  function ofOwner(userId: number): CustomPlaylist[] {
    return lists('WHERE owner_id = ? AND playlist_id <> ?', userId, watchLaterOf(userId))
  }

  /** @returns false: there is no such playlist */
  function touch(id: string): boolean {
    sql(`UPDATE playlist_custom SET changed_at = ? ${OF_LIST}`).run(epochSeconds(clock), id)
    const list = get(id)
    if (list?.isShared) noteLedger(id)
    return list !== undefined
  }

  /** Like `touch`, but fails with not_found if the playlist was removed meanwhile. */
  function touchHere(id: string): void {
    if (!touch(id)) throw errors.notFound('playlist', id)
  }

  function insert({ id, ownerId, privateTo, isShared, name, changedAt }: CustomPlaylist): void {
    sql('INSERT INTO playlist_custom VALUES (?, ?, ?, ?, ?, ?)').run(
      ...[id, ownerId, privateTo, Number(isShared), name, changedAt],
    )
  }

  function putEntry(id: string, { videoId, title, uploader }: CustomEntry, position: number): void {
    sql('INSERT INTO playlist_custom_entry VALUES (?, ?, ?, ?, ?)').run(id, videoId, title, uploader, position)
  }

  function positionOf(id: string, videoId: string): number | undefined {
    const place = sql<{ place: number }>(`SELECT place FROM playlist_custom_entry ${OF_LIST} AND video_id = ?`)
    return place.get(id, videoId)?.place
  }

  function edges(id: string): { count: number; first: number | null; last: number | null } {
    return sql<ReturnType<typeof edges>>(
      `SELECT count(*) AS count, min(place) AS first, max(place) AS last FROM playlist_custom_entry ${OF_LIST}`,
    ).get(id)!
  }

  function setPosition(id: string, videoId: string, position: number): void {
    sql(`UPDATE playlist_custom_entry SET place = ? ${OF_LIST} AND video_id = ?`).run(position, id, videoId)
  }

  /** Shifts all positions from `from` to `to` (inclusive) by one. */
  function shift(id: string, by: -1 | 1, from: number, to: number): void {
    sql(`UPDATE playlist_custom_entry SET place = place + ? ${OF_LIST} AND place BETWEEN ? AND ?`).run(by, id, from, to)
  }

  return {
    ...{ get, ofOwner, unsettled },

    watchLater(userId: number): CustomPlaylist {
      const id = watchLaterOf(userId)
      return get(id) ?? { id, ownerId: userId, privateTo: userId, isShared: false, name: null, changedAt: 0 }
    },

    /** The next playlists after an id, in order of ids. */
    after: (id: string, limit: number): CustomPlaylist[] =>
      lists('WHERE playlist_id > ? ORDER BY playlist_id LIMIT ?', id, limit),

    /** The owners of those of these playlists that are shared and have one. */
    ownersOf(ids: readonly string[]): Map<string, number> {
      const found = sql<{ id: string; ownerId: number }>(
        `SELECT playlist_id AS id, owner_id AS ownerId FROM playlist_custom
           WHERE private_to IS NULL AND owner_id IS NOT NULL AND playlist_id IN (SELECT value FROM json_each(?))`,
      )
      return new Map(found.all(JSON.stringify(ids)).map(({ id, ownerId }) => [id, ownerId]))
    },

    /**
     * Playlists whose document may still exist although they are private or removed: nobody may see it until it is
     * deleted.
     */
    hidden: (): string[] =>
      idsOf(
        `SELECT u.playlist_id AS id FROM playlist_unsettled u LEFT JOIN playlist_custom c USING (playlist_id)
           WHERE u.truth = 'ledger' AND (c.playlist_id IS NULL OR c.private_to IS NOT NULL)`,
      ),

    isEmpty: (id: string): boolean =>
      sql(`SELECT 1 FROM playlist_custom_entry ${OF_LIST} LIMIT 1`).get(id) === undefined,

    /** The entries of a playlist, in order. */
    entries: (id: string): PositionedEntry[] =>
      sql<PositionedEntry>(
        `SELECT video_id AS videoId, title, uploader, place FROM playlist_custom_entry ${OF_LIST} ORDER BY place`,
      ).all(id),

    /** The video ids of a playlist, in order. */
    videoIds: (id: string): string[] =>
      idsOf(`SELECT video_id AS id FROM playlist_custom_entry ${OF_LIST} ORDER BY place`, id),

    /** Those of these videos that the playlist contains. */
    among(id: string, videoIds: readonly string[]): Set<string> {
      const [isOne, value] = isAmong('video_id', videoIds)
      return new Set(idsOf(`SELECT video_id AS id FROM playlist_custom_entry ${OF_LIST} AND ${isOne}`, id, value))
    },

    /** The next ones after a number, oldest first. */
    unsettledAfter: (number: number, limit: number): Unsettled[] =>
      sql<Unsettled>(`${UNSETTLED} WHERE number > ? ORDER BY number LIMIT ?`).all(number, limit),

    /** Records that rows and document of a playlist must be reconciled; for `UNKNOWN`, all documents without rows. */
    unsettle: (id: string, truth: Unsettled['truth']): Promise<void> => write(() => note(id, truth)),

    /** The same for those of these documents that have no rows. */
    unsettleUnknown: (ids: readonly string[]): Promise<void> =>
      write(
        () =>
          void sql(
            `INSERT OR IGNORE INTO playlist_unsettled (playlist_id, truth)
               SELECT value, 'index' FROM json_each(?) WHERE value NOT IN (SELECT playlist_id FROM playlist_custom)`,
          ).run(JSON.stringify(ids)),
      ),

    /** Records that rows and document agree, unless there was a further change. */
    noteSettled: (mark: Unsettled): Promise<void> => write(() => endSettling(mark)),

    /** Marks as outdated the shared playlists whose videos may be in the archive again. @returns their ids */
    unsettleShared: (videoId: string | undefined): Promise<string[]> =>
      write(() => noteShared(videoId === undefined ? undefined : [videoId])),

    /** @throws conflict: too many; not_found: the account no longer exists */
    create: (id: string, ownerId: number, name: string, isShared: boolean): Promise<void> =>
      write(() => {
        refuseOneMore(ownerId)
        insert({ id, ownerId, privateTo: ownerId, isShared, name, changedAt: epochSeconds(clock) })
        if (isShared) note(id, 'ledger')
      }),

    /** Adds the rows of a removed playlist; existing ones stay unchanged. */
    restore: (list: CustomPlaylist, entries: readonly PositionedEntry[]): Promise<void> =>
      write(() => {
        if (!get(list.id)) insert(list)
        for (const entry of entries)
          if (positionOf(list.id, entry.videoId) === undefined) putEntry(list.id, entry, entry.place)
      }),

    /** @throws not_found: the playlist no longer exists */
    rename: (id: string, name: string): Promise<void> =>
      write(() => {
        sql(`UPDATE playlist_custom SET name = ? ${OF_LIST}`).run(name, id)
        touchHere(id)
      }),

    /** @throws not_found: the playlist no longer exists */
    share: (id: string): Promise<void> =>
      write(() => {
        sql(`UPDATE playlist_custom SET is_shared = 1 ${OF_LIST}`).run(id)
        touchHere(id)
      }),

    /**
     * Makes a playlist private; if it has no owner, the account becomes its owner.
     * @throws not_found: the account or the playlist no longer exists; permission_denied: it belongs to another
     * account; conflict: too many playlists, or too many videos in it
     */
    makePrivate: (id: string, userId: number): Promise<void> =>
      write(() => {
        const list = get(id)
        if (!list) throw errors.notFound('playlist', id)
        if (list.ownerId === null) refuseOneMore(userId)
        else if (list.ownerId !== userId) throw errors.permissionDenied('Only its owner can make this playlist private')
        const { count } = edges(id)
        if (count > MOST_ENTRIES)
          throw errors.conflict(
            say`A private playlist can hold ${{ most: MOST_ENTRIES }} videos; this one has ${{ count }}`,
          )
        keepPrivate(id, userId)
        note(id, 'ledger')
      }),

    /**
     * Reconciles rows with documents after one of them was replaced by a copy.
     * @param known  those of these playlists that have a document
     * @param older  which of the two was replaced by an older copy
     */
    compare: (lists: readonly CustomPlaylist[], known: ReadonlySet<string>, older: 'ledger' | 'index'): Promise<void> =>
      write(() => {
        for (const { id, ownerId, isShared } of lists) {
          if (known.has(id) && (isShared || older === 'ledger')) believeIndex(id)
          else if (isShared && older === 'ledger' && ownerId !== null) keepPrivate(id, ownerId)
          else if (isShared || known.has(id)) note(id, 'ledger')
        }
      }),

    /** Removes a playlist with its entries. */
    remove: (id: string): Promise<void> =>
      write(() => {
        sql(`DELETE FROM playlist_custom ${OF_LIST}`).run(id)
        note(id, 'ledger')
      }),

    /**
     * Appends a video; in Watch later, prepends it. A video that is already in the playlist keeps its position.
     * @throws conflict: the playlist is private and full; not_found: the account or the playlist no longer exists
     */
    add(list: CustomPlaylist, entry: CustomEntry): Promise<void> {
      const { id } = list
      return write(() => {
        if (isWatchLater(list) && !get(id)) {
          refuseGone(list.ownerId!)
          insert(list)
        }
        touchHere(id)
        if (positionOf(id, entry.videoId) !== undefined) return
        const { count, first, last } = edges(id)
        if (count >= MOST_ENTRIES && !get(id)?.isShared)
          throw errors.conflict(
            say`This playlist already has ${{ most: MOST_ENTRIES }} videos, the maximum for a private one: remove some first`,
          )
        putEntry(id, entry, isWatchLater(list) ? (first ?? 0) - 1 : (last ?? 0) + 1)
      })
    },

    /** @returns false: the video was not in the playlist */
    take: (id: string, videoId: string): Promise<boolean> =>
      write(() => {
        const isTaken =
          sql(`DELETE FROM playlist_custom_entry ${OF_LIST} AND video_id = ?`).run(id, videoId).changes > 0
        if (isTaken) touch(id)
        return isTaken
      }),

    /**
     * Moves a video to the beginning or end, or to the position of another one; the videos in between shift by one.
     * @returns false: the video was not in the playlist
     */
    move: (id: string, videoId: string, to: 'first' | 'last' | { videoId: string }): Promise<boolean> =>
      write(() => {
        const from = positionOf(id, videoId)
        if (from === undefined) return false
        touch(id)
        if (typeof to === 'object') {
          const target = positionOf(id, to.videoId) ?? from
          if (target < from) shift(id, 1, target, from - 1)
          else shift(id, -1, from + 1, target)
          setPosition(id, videoId, target)
        } else {
          const { first, last } = edges(id)
          if (to === 'first' && from !== first) setPosition(id, videoId, first! - 1)
          if (to === 'last' && from !== last) setPosition(id, videoId, last! + 1)
        }
        return true
      }),

    /**
     * Replaces all rows with the document's content, in chunks: the playlist stays marked as outdated until the last
     * one.
     */
    async replace(
      mark: Unsettled,
      { name, changedAt, entries }: { name: string; changedAt: number; entries: readonly CustomEntry[] },
    ): Promise<void> {
      const { id, number } = mark
      const isDue = await write(() => {
        // The playlist may have been removed since its document was read.
        if (unsettled(id)?.number !== number) return false
        if (!get(id)) insert({ id, ownerId: null, privateTo: null, isShared: true, name, changedAt })
        return true
      })
      if (!isDue) return
      const take = sql(
        `DELETE FROM playlist_custom_entry ${OF_LIST} AND video_id IN (SELECT video_id FROM playlist_custom_entry ${OF_LIST} LIMIT ?)`,
      )
      while ((await write(() => take.run(id, id, CHUNK).changes)) > 0);
      let position = 0
      for (const chunk of chunksOf(entries, CHUNK))
        await write(() => {
          if (!get(id)) throw errors.notFound('playlist', id)
          for (const entry of chunk) putEntry(id, entry, ++position)
        })
      await write(() => {
        sql(`UPDATE playlist_custom SET name = ?, changed_at = ? ${OF_LIST}`).run(name, changedAt, id)
        endSettling(mark)
      })
    },

    /** Removes these videos from all playlists. @returns the shared playlists among them */
    forgetVideos: (videoIds: readonly string[]): Promise<string[]> =>
      write(() => {
        const ids = noteShared(videoIds)
        const forget = sql('DELETE FROM playlist_custom_entry WHERE video_id IN (SELECT value FROM json_each(?))')
        forget.run(JSON.stringify(videoIds))
        return ids
      }),

    /** The positions of these videos in all playlists, by video. */
    positionsOf(videoIds: readonly string[]): Map<string, Positions> {
      const found = new Map<string, Positions>()
      const rows = sql<PositionedEntry & { id: string }>(
        `SELECT playlist_id AS id, video_id AS videoId, place, title, uploader FROM playlist_custom_entry
           WHERE video_id IN (SELECT value FROM json_each(?)) ORDER BY playlist_id`,
      ).all(JSON.stringify(videoIds))
      for (const { id, videoId, place, title, uploader } of rows)
        found.set(videoId, [...(found.get(videoId) ?? []), [id, place, title, uploader]])
      return found
    },

    /**
     * Restores these videos to their positions in playlists that still exist; a video that was added again meanwhile
     * keeps its current position. Videos at those positions move back. @returns the shared playlists among them
     */
    putBack: (binned: ReadonlyMap<string, Positions>, videoIds: readonly string[]): Promise<string[]> =>
      write(() => {
        const taken = sql(`SELECT 1 FROM playlist_custom_entry ${OF_LIST} AND place = ?`)
        for (const [videoId, positions] of binned)
          for (const [id, position, title, uploader] of positions) {
            if (!get(id) || positionOf(id, videoId) !== undefined) continue
            if (taken.get(id, position)) shift(id, 1, position, edges(id).last!)
            putEntry(id, { videoId, title, uploader }, position)
          }
        // A playlist that was restored before its videos already had their rows.
        return noteShared([...binned.keys(), ...videoIds])
      }),
  }
}

/** Custom playlists in the ledger, private and shared ones: the one home of these rows, which are the truth. */
import { chunksOf, epochSeconds, errors, isAmong, say } from 'archivolt'
import type { App } from './app.ts'

/** The one playlist that every account has from the start. Clients know each account's own by this id. */
export const WATCH_LATER = 'watchlater'

export interface CustomPlaylist {
  id: string
  ownerId: number | null
  /** Null: everybody sees its document. */
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

/** Rows and document may differ. */
export interface Unsettled {
  number: number
  id: string
  truth: 'ledger' | 'index'
}

/** In place of an id: all documents that have no rows. */
export const UNKNOWN = '*'
/** Of one account, Watch later left out: so a list of them needs no pages of its own. */
const MOST_PLAYLISTS = 500
/** As many as the platform takes: a record names all its entries, and a list of videos ends at `MAX_WINDOW`. */
const MOST_ENTRIES = 5000
/** Entries that one transaction writes, so that none holds the loop. */
const CHUNK = 500

const COLUMNS =
  'playlist_id AS id, owner_id AS ownerId, private_to AS privateTo, is_shared AS isShared, name, changed_at AS changedAt'
const OF_LIST = 'WHERE playlist_id = ?'

export const watchLaterOf = (userId: number): string => `${WATCH_LATER}/${userId}`
export const isWatchLater = ({ id }: Pick<CustomPlaylist, 'id'>): boolean => id.startsWith(`${WATCH_LATER}/`)

type Row = Omit<CustomPlaylist, 'isShared'> & { isShared: number }
const toList = (row: Row): CustomPlaylist => ({ ...row, isShared: row.isShared === 1 })

/** What changes a shared playlist notes in the same transaction that its document is not settled. */
export class CustomRows {
  readonly #accounts: App['accounts']
  readonly #clock: App['clock']
  readonly #sql: App['ledger']['sql']
  readonly #write: App['ledger']['write']

  constructor({ ledger, accounts, clock }: Pick<App, 'ledger' | 'accounts' | 'clock'>) {
    this.#accounts = accounts
    this.#clock = clock
    const { sql, write } = ledger
    this.#sql = sql
    this.#write = write
  }

  get(id: string): CustomPlaylist | undefined {
    const row = this.#sql<Row>(`SELECT ${COLUMNS} FROM playlist_custom ${OF_LIST}`).get(id)
    return row && toList(row)
  }

  watchLater(userId: number): CustomPlaylist {
    const id = watchLaterOf(userId)
    return this.get(id) ?? { id, ownerId: userId, privateTo: userId, isShared: false, name: null, changedAt: 0 }
  }

  /** Without Watch later. */
  ofOwner(userId: number): CustomPlaylist[] {
    return this.#sql<Row>(`SELECT ${COLUMNS} FROM playlist_custom WHERE owner_id = ? AND playlist_id <> ?`)
      .all(userId, watchLaterOf(userId))
      .map(toList)
  }

  /** The next ones after one, in order of their ids. */
  after(id: string, limit: number): CustomPlaylist[] {
    return this.#sql<Row>(`SELECT ${COLUMNS} FROM playlist_custom WHERE playlist_id > ? ORDER BY playlist_id LIMIT ?`)
      .all(id, limit)
      .map(toList)
  }

  /** Of these, those that everybody sees and somebody owns. */
  ownersOf(ids: readonly string[]): Map<string, number> {
    const found = this.#sql<{ id: string; ownerId: number }>(
      `SELECT playlist_id AS id, owner_id AS ownerId FROM playlist_custom
         WHERE private_to IS NULL AND owner_id IS NOT NULL AND playlist_id IN (SELECT value FROM json_each(?))`,
    )
    return new Map(found.all(JSON.stringify(ids)).map(({ id, ownerId }) => [id, ownerId]))
  }

  /** Those whose document, if any, is about to be dropped, or to be written: nobody is to see it. */
  hidden(): string[] {
    return this.#idsOf(
      `SELECT u.playlist_id AS id FROM playlist_unsettled u LEFT JOIN playlist_custom c USING (playlist_id)
         WHERE u.truth = 'ledger' AND (c.playlist_id IS NULL OR c.private_to IS NOT NULL)`,
    )
  }

  isEmpty(id: string): boolean {
    return this.#sql(`SELECT 1 FROM playlist_custom_entry ${OF_LIST} LIMIT 1`).get(id) === undefined
  }

  /** In their order. */
  entries(id: string): CustomEntry[] {
    return this.#sql<CustomEntry>(
      `SELECT video_id AS videoId, title, uploader FROM playlist_custom_entry ${OF_LIST} ORDER BY place`,
    ).all(id)
  }

  /** In their order. */
  videoIds(id: string): string[] {
    return this.#idsOf(`SELECT video_id AS id FROM playlist_custom_entry ${OF_LIST} ORDER BY place`, id)
  }

  /** Of these videos, those that are in it. */
  among(id: string, videoIds: readonly string[]): Set<string> {
    const [isOne, value] = isAmong('video_id', videoIds)
    return new Set(this.#idsOf(`SELECT video_id AS id FROM playlist_custom_entry ${OF_LIST} AND ${isOne}`, id, value))
  }

  unsettled(id: string): Unsettled | undefined {
    return this.#sql<Unsettled>(`SELECT number, playlist_id AS id, truth FROM playlist_unsettled ${OF_LIST}`).get(id)
  }

  /** The next ones after one, oldest first. */
  unsettledAfter(number: number, limit: number): Unsettled[] {
    return this.#sql<Unsettled>(
      'SELECT number, playlist_id AS id, truth FROM playlist_unsettled WHERE number > ? ORDER BY number LIMIT ?',
    ).all(number, limit)
  }

  /** From now on rows or document, or those of these that have no rows, are to be settled. */
  unsettle(id: string, truth: Unsettled['truth']): Promise<void> {
    return this.#write(() => this.#note(id, truth))
  }

  /** Those of these documents that have no rows. */
  unsettleUnknown(ids: readonly string[]): Promise<void> {
    return this.#write(
      () =>
        void this.#sql(
          `INSERT OR IGNORE INTO playlist_unsettled (playlist_id, truth)
             SELECT value, 'index' FROM json_each(?) WHERE value NOT IN (SELECT playlist_id FROM playlist_custom)`,
        ).run(JSON.stringify(ids)),
    )
  }

  /** Its document is as the rows are, or the other way round, unless there was a further change. */
  noteSettled({ number, id }: Unsettled): Promise<void> {
    return this.#write(() => this.#endSettling(number, id))
  }

  /** All of these shared playlists may lack videos that are in the archive again. @returns their ids */
  unsettleShared(videoId: string | undefined): Promise<string[]> {
    return this.#write(() => {
      const [where, values] =
        videoId === undefined
          ? ['', []]
          : ['AND playlist_id IN (SELECT playlist_id FROM playlist_custom_entry WHERE video_id = ?)', [videoId]]
      const ids = this.#idsOf(`SELECT playlist_id AS id FROM playlist_custom WHERE is_shared ${where}`, ...values)
      for (const id of ids) this.#noteLedger(id)
      return ids
    })
  }

  /** @throws conflict: too many; not_found: the account is gone */
  create(id: string, ownerId: number, name: string, isShared: boolean): Promise<void> {
    return this.#write(() => {
      this.#refuseOneMore(ownerId)
      this.#insert({ id, ownerId, privateTo: ownerId, isShared, name })
      if (isShared) this.#note(id, 'ledger')
    })
  }

  /** @throws not_found: the playlist is gone */
  rename(id: string, name: string): Promise<void> {
    return this.#write(() => {
      this.#touchHere(id)
      this.#sql(`UPDATE playlist_custom SET name = ? ${OF_LIST}`).run(name, id)
    })
  }

  /** @throws not_found: the playlist is gone */
  share(id: string): Promise<void> {
    return this.#write(() => {
      this.#sql(`UPDATE playlist_custom SET is_shared = 1 ${OF_LIST}`).run(id)
      this.#touchHere(id)
    })
  }

  /**
   * To its owner; one that nobody owns becomes the account's.
   * @throws not_found: the account or the playlist is gone; permission_denied: somebody else's; conflict: too many, or
   * too many videos in it
   */
  makePrivate(id: string, userId: number): Promise<void> {
    return this.#write(() => {
      const list = this.get(id)
      if (!list) throw errors.notFound('playlist', id)
      if (list.ownerId === null) this.#refuseOneMore(userId)
      else if (list.ownerId !== userId) throw errors.permissionDenied('Only its owner can make this playlist private')
      const { count } = this.#edges(id)
      if (count > MOST_ENTRIES)
        throw errors.conflict(
          say`A private playlist can hold ${{ most: MOST_ENTRIES }} videos; this one has ${{ count }}`,
        )
      this.#keepPrivate(id, userId)
      this.#note(id, 'ledger')
    })
  }

  /**
   * Beside documents from another time.
   * @param known  those of these lists that have a document
   * @param older  which of the two comes from an earlier time
   */
  compare(lists: readonly CustomPlaylist[], known: ReadonlySet<string>, older: 'ledger' | 'index'): Promise<void> {
    return this.#write(() => {
      for (const { id, ownerId, isShared } of lists) {
        if (known.has(id)) {
          if (isShared || older === 'ledger') this.#believeIndex(id)
          else this.#note(id, 'ledger')
        } else if (isShared) {
          if (older === 'ledger' && ownerId !== null) this.#keepPrivate(id, ownerId)
          else this.#note(id, 'ledger')
        }
      }
    })
  }

  /** With its entries. */
  remove(id: string): Promise<void> {
    return this.#write(() => {
      this.#sql(`DELETE FROM playlist_custom ${OF_LIST}`).run(id)
      this.#note(id, 'ledger')
    })
  }

  /**
   * At the end; of Watch later at the top. One that is in it already stays where it is.
   * @throws conflict: it is private and full; not_found: the account or the playlist is gone
   */
  add(list: Pick<CustomPlaylist, 'id' | 'ownerId'>, { videoId, title, uploader }: CustomEntry): Promise<void> {
    const { id } = list
    const isFirst = isWatchLater(list)
    return this.#write(() => {
      if (isFirst && !this.get(id)) this.#insertWatchLater(list)
      this.#touchHere(id)
      if (this.#placeOf(id, videoId) !== undefined) return
      const { count, first, last } = this.#edges(id)
      if (count >= MOST_ENTRIES && !this.get(id)?.isShared)
        throw errors.conflict(
          say`This playlist has ${{ most: MOST_ENTRIES }} videos, which is the most a private one can hold: take some out first`,
        )
      this.#putEntry(id, { videoId, title, uploader }, isFirst ? (first ?? 0) - 1 : (last ?? 0) + 1)
    })
  }

  /** @returns false: it was not in it */
  take(id: string, videoId: string): Promise<boolean> {
    return this.#write(() => {
      const isTaken =
        this.#sql(`DELETE FROM playlist_custom_entry ${OF_LIST} AND video_id = ?`).run(id, videoId).changes > 0
      if (isTaken) this.#touch(id)
      return isTaken
    })
  }

  /**
   * Puts a video to an end, or into the place of another, which makes room towards where it came from.
   * @returns false: it was not in it
   */
  move(id: string, videoId: string, to: 'first' | 'last' | { videoId: string }): Promise<boolean> {
    return this.#write(() => {
      const from = this.#placeOf(id, videoId)
      if (from === undefined) return false
      this.#touch(id)
      if (typeof to === 'object') {
        const target = this.#placeOf(id, to.videoId)
        if (target === undefined || target === from) return true
        if (target < from) this.#shift(id, 1, target, from - 1)
        else this.#shift(id, -1, from + 1, target)
        this.#setPlace(id, videoId, target)
        return true
      }
      const { first, last } = this.#edges(id)
      if (to === 'first' && from !== first) this.#setPlace(id, videoId, first! - 1)
      if (to === 'last' && from !== last) this.#setPlace(id, videoId, last! + 1)
      return true
    })
  }

  /** What its document says takes the place of all that the rows have, in pieces: not settled before the last one. */
  async replace(
    mark: Unsettled,
    { name, changedAt, entries }: { name: string; changedAt: number; entries: readonly CustomEntry[] },
  ): Promise<void> {
    const { id, number } = mark
    const isDue = await this.#write(() => {
      // It may have been removed since its document was read.
      if (this.unsettled(id)?.number !== number) return false
      if (!this.get(id)) this.#insert({ id, ownerId: null, privateTo: null, isShared: true, name })
      return true
    })
    if (!isDue) return
    const take = this.#sql(
      `DELETE FROM playlist_custom_entry ${OF_LIST} AND video_id IN (SELECT video_id FROM playlist_custom_entry ${OF_LIST} LIMIT ?)`,
    )
    while ((await this.#write(() => take.run(id, id, CHUNK).changes)) > 0);
    let place = 0
    for (const chunk of chunksOf(entries, CHUNK))
      await this.#write(() => {
        if (!this.get(id)) throw errors.notFound('playlist', id)
        for (const entry of chunk) this.#putEntry(id, entry, ++place)
      })
    await this.#write(() => {
      this.#sql(`UPDATE playlist_custom SET name = ?, changed_at = ? ${OF_LIST}`).run(name, changedAt, id)
      this.#endSettling(number, id)
    })
  }

  /** These videos are gone: out of all of them. @returns the shared ones that had some */
  forgetVideos(videoIds: readonly string[]): Promise<string[]> {
    const gone = JSON.stringify(videoIds)
    return this.#write(() => {
      const ids = this.#idsOf(
        `SELECT DISTINCT playlist_id AS id FROM playlist_custom_entry JOIN playlist_custom USING (playlist_id)
           WHERE is_shared AND video_id IN (SELECT value FROM json_each(?))`,
        gone,
      )
      for (const id of ids) this.#noteLedger(id)
      this.#sql('DELETE FROM playlist_custom_entry WHERE video_id IN (SELECT value FROM json_each(?))').run(gone)
      return ids
    })
  }

  #idsOf(text: string, ...values: unknown[]): string[] {
    return this.#sql<{ id: string }>(text)
      .all(...values)
      .map(({ id }) => id)
  }

  #note(id: string, truth: Unsettled['truth']): void {
    this.#sql('INSERT OR REPLACE INTO playlist_unsettled (playlist_id, truth) VALUES (?, ?)').run(id, truth)
  }

  /** The rows have changed. Where the document is yet to be taken, it stays the truth. */
  #noteLedger(id: string): void {
    if (this.unsettled(id)?.truth !== 'index') this.#note(id, 'ledger')
  }

  #endSettling(number: number, id: string): void {
    if (this.#sql('DELETE FROM playlist_unsettled WHERE number = ?').run(number).changes > 0)
      this.#sql(`UPDATE playlist_custom SET private_to = NULL ${OF_LIST} AND is_shared`).run(id)
  }

  #believeIndex(id: string): void {
    this.#sql(`UPDATE playlist_custom SET is_shared = 1, private_to = NULL ${OF_LIST}`).run(id)
    this.#note(id, 'index')
  }

  #keepPrivate(id: string, userId: number): void {
    this.#sql(`UPDATE playlist_custom SET is_shared = 0, owner_id = ?, private_to = ? ${OF_LIST}`).run(
      userId,
      userId,
      id,
    )
  }

  /** An account may be removed while a request of its own is under way. */
  #refuseGone(userId: number): void {
    if (!this.#accounts.get(userId)) throw errors.notFound('user')
  }

  #refuseOneMore(userId: number): void {
    this.#refuseGone(userId)
    const { count } = this.#sql<{ count: number }>(
      'SELECT count(*) AS count FROM playlist_custom WHERE owner_id = ? AND playlist_id <> ?',
    ).get(userId, watchLaterOf(userId))!
    if (count >= MOST_PLAYLISTS)
      throw errors.conflict(say`You have ${{ most: MOST_PLAYLISTS }} playlists, which is the most: remove one first`)
  }

  /** @returns false: there is none */
  #touch(id: string): boolean {
    const now = epochSeconds(this.#clock)
    const isHere = this.#sql(`UPDATE playlist_custom SET changed_at = ? ${OF_LIST}`).run(now, id).changes > 0
    if (this.get(id)?.isShared) this.#noteLedger(id)
    return isHere
  }

  /** Whoever changes a list that was removed meanwhile hears that it is not there. */
  #touchHere(id: string): void {
    if (!this.#touch(id)) throw errors.notFound('playlist', id)
  }

  #insert({ id, ownerId, privateTo, isShared, name }: Omit<CustomPlaylist, 'changedAt'>): void {
    this.#sql('INSERT INTO playlist_custom VALUES (?, ?, ?, ?, ?, ?)').run(
      id,
      ownerId,
      privateTo,
      Number(isShared),
      name,
      epochSeconds(this.#clock),
    )
  }

  #insertWatchLater({ id, ownerId }: Pick<CustomPlaylist, 'id' | 'ownerId'>): void {
    this.#refuseGone(ownerId!)
    this.#insert({ id, ownerId, privateTo: ownerId, isShared: false, name: null })
  }

  #putEntry(id: string, { videoId, title, uploader }: CustomEntry, place: number): void {
    this.#sql('INSERT INTO playlist_custom_entry VALUES (?, ?, ?, ?, ?)').run(id, videoId, title, uploader, place)
  }

  #placeOf(id: string, videoId: string): number | undefined {
    return this.#sql<{ place: number }>(`SELECT place FROM playlist_custom_entry ${OF_LIST} AND video_id = ?`).get(
      id,
      videoId,
    )?.place
  }

  #edges(id: string): { count: number; first: number | null; last: number | null } {
    return this.#sql<{ count: number; first: number | null; last: number | null }>(
      `SELECT count(*) AS count, min(place) AS first, max(place) AS last FROM playlist_custom_entry ${OF_LIST}`,
    ).get(id)!
  }

  #setPlace(id: string, videoId: string, place: number): void {
    this.#sql(`UPDATE playlist_custom_entry SET place = ? ${OF_LIST} AND video_id = ?`).run(place, id, videoId)
  }

  /** Places between two, both included, one further. */
  #shift(id: string, by: -1 | 1, from: number, to: number): void {
    this.#sql(`UPDATE playlist_custom_entry SET place = place + ? ${OF_LIST} AND place BETWEEN ? AND ?`).run(
      by,
      id,
      from,
      to,
    )
  }
}

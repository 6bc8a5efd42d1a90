/** Playlists of accounts in the ledger: whose a playlist is, and private ones whole. The one home of these rows. */
import { chunksOf, epochSeconds, errors, isAmong, say } from 'archivolt'
import type { App } from './app.ts'

/** The one playlist that every account has from the start. Each account's own goes by this id. */
export const WATCH_LATER = 'watchlater'

export const ownTables = {
  number: 1,
  sql: `
-- stage private: all of it is here. shared: its document is in the index, and this row says whose it is. moving: all
-- of it is here, and perhaps in the index too; a job is about to end that. name: null where the document has it, and
-- of the list that everybody has; one that was private before it was shared keeps its name and entries as they were
-- then. changed_at: epoch seconds.
CREATE TABLE playlist_own (
  playlist_id TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  stage TEXT NOT NULL CHECK (stage IN ('private', 'moving', 'shared')),
  name TEXT,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (playlist_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX playlist_own_user ON playlist_own (user_id);
CREATE INDEX playlist_own_moving ON playlist_own (playlist_id) WHERE stage = 'moving';
-- Title and uploader as they were when the video was added, as in documents. place: ascending, with gaps.
CREATE TABLE playlist_own_entry (
  playlist_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  title TEXT NOT NULL,
  uploader TEXT,
  place INTEGER NOT NULL,
  PRIMARY KEY (playlist_id, user_id, video_id),
  FOREIGN KEY (playlist_id, user_id) REFERENCES playlist_own (playlist_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX playlist_own_entry_place ON playlist_own_entry (playlist_id, user_id, place);
CREATE INDEX playlist_own_entry_video ON playlist_own_entry (video_id);
`,
}

export interface OwnPlaylist {
  id: string
  userId: number
  stage: 'private' | 'moving' | 'shared'
  name: string | null
  changedAt: number
}

export interface OwnEntry {
  videoId: string
  title: string
  uploader: string | null
}

/** Of one account, Watch later left out: so a list of them needs no pages of its own. */
const MOST_PLAYLISTS = 500
/** As many as the platform takes: a record names all its entries, and a list of videos ends at `MAX_WINDOW`. */
export const MOST_ENTRIES = 5000
/** Entries that one transaction writes, so that none holds the loop. */
const CHUNK = 500

const COLUMNS = 'playlist_id AS id, user_id AS userId, stage, name, changed_at AS changedAt'
const OF_LIST = 'playlist_id = ? AND user_id = ?'

export interface OwnRows {
  /** @param id  of any but Watch later, of which there are many */
  get(id: string): OwnPlaylist | undefined
  watchLater(userId: number): OwnPlaylist
  /** Without Watch later. */
  ofUser(userId: number): OwnPlaylist[]
  /** Of these, those that are shared and have an owner. */
  ownersOf(ids: readonly string[]): Map<string, number>
  /** Those whose document, where there is one, nobody is to see. */
  moving(): string[]
  /** The next private ones after one, in order of their ids, whosever they are. */
  privateAfter(id: string, limit: number): string[]
  /** The same of shared ones that were private before: what the ledger has of them is from then. */
  onceOwnAfter(id: string, limit: number): string[]
  isEmpty(key: Key): boolean
  /** In their order. */
  entries(key: Key): OwnEntry[]
  videoIds(key: Key): string[]
  /** Of these videos, those that are in it. */
  among(key: Key, videoIds: readonly string[]): Set<string>
  /** @throws conflict: too many; not_found: the account is gone */
  create(id: string, userId: number, how: { stage: 'private'; name: string } | { stage: 'shared' }): Promise<void>
  /** A shared one that nobody owned gets an owner. @returns false: it has one already */
  claim(id: string, userId: number): Promise<boolean>
  /** @throws not_found: the account or the playlist is gone */
  rename(key: Key, name: string): Promise<void>
  /** @param name  of a private one; a shared one has its name of today in its document */
  setStage(key: Key, stage: OwnPlaylist['stage'], name: string | null): Promise<void>
  /** From now on nobody sees those of them that are private: they are on their way. */
  hide(ids: readonly string[]): Promise<void>
  /** With its entries. */
  remove(id: string): Promise<void>
  /**
   * At the end; with `isFirst` at the top. One that is in it already stays where it is.
   * @throws conflict: it is full; not_found: the account or the playlist is gone
   */
  add(key: Key, entry: OwnEntry, how: { isFirst: boolean }): Promise<void>
  /** @returns false: it was not in it */
  take(key: Key, videoId: string): Promise<boolean>
  /**
   * Puts a video to an end, or into the place of another, which makes room towards where it came from.
   * @returns false: it was not in it
   */
  move(key: Key, videoId: string, to: 'first' | 'last' | { videoId: string }): Promise<boolean>
  /** All that are in it, in pieces. */
  takeEntries(key: Key): Promise<void>
  /** Other entries take the place of all that are there. Nobody sees those of a shared one. */
  replaceEntries(key: Key, entries: readonly OwnEntry[]): Promise<void>
  /** These videos are gone: out of all of them. */
  forgetVideos(videoIds: readonly string[]): Promise<void>
}
type Key = Pick<OwnPlaylist, 'id' | 'userId'>

class LedgerRows implements OwnRows {
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

  async takeEntries({ id, userId }: Key): Promise<void> {
    const take = this.#sql(
      `DELETE FROM playlist_own_entry WHERE ${OF_LIST} AND video_id IN (SELECT video_id FROM playlist_own_entry WHERE ${OF_LIST} LIMIT ?)`,
    )
    while ((await this.#write(() => take.run(id, userId, id, userId, CHUNK).changes)) > 0);
  }

  get(id: string): OwnPlaylist | undefined {
    return this.#sql<OwnPlaylist>(`SELECT ${COLUMNS} FROM playlist_own WHERE playlist_id = ?`).get(id)
  }

  watchLater(userId: number): OwnPlaylist {
    return (
      this.#sql<OwnPlaylist>(`SELECT ${COLUMNS} FROM playlist_own WHERE ${OF_LIST}`).get(WATCH_LATER, userId) ?? {
        id: WATCH_LATER,
        userId,
        stage: 'private',
        name: null,
        changedAt: 0,
      }
    )
  }

  ofUser(userId: number): OwnPlaylist[] {
    return this.#sql<OwnPlaylist>(`SELECT ${COLUMNS} FROM playlist_own WHERE user_id = ? AND playlist_id <> ?`).all(
      userId,
      WATCH_LATER,
    )
  }

  ownersOf(ids: readonly string[]): Map<string, number> {
    const found = this.#sql<{ id: string; userId: number }>(
      `SELECT playlist_id AS id, user_id AS userId FROM playlist_own
         WHERE stage = 'shared' AND playlist_id IN (SELECT value FROM json_each(?))`,
    )
    return new Map(found.all(JSON.stringify(ids)).map(({ id, userId }) => [id, userId]))
  }

  moving(): string[] {
    return this.#sql<{ id: string }>(`SELECT playlist_id AS id FROM playlist_own WHERE stage = 'moving'`)
      .all()
      .map(({ id }) => id)
  }

  privateAfter(id: string, limit: number): string[] {
    return this.#sql<{ id: string }>(
      `SELECT playlist_id AS id FROM playlist_own
         WHERE playlist_id > ? AND playlist_id <> ? AND stage <> 'shared' ORDER BY playlist_id LIMIT ?`,
    )
      .all(id, WATCH_LATER, limit)
      .map((row) => row.id)
  }

  onceOwnAfter(id: string, limit: number): string[] {
    return this.#sql<{ id: string }>(
      `SELECT playlist_id AS id FROM playlist_own
         WHERE playlist_id > ? AND stage = 'shared' AND name IS NOT NULL ORDER BY playlist_id LIMIT ?`,
    )
      .all(id, limit)
      .map((row) => row.id)
  }

  isEmpty({ id, userId }: Key): boolean {
    return this.#sql(`SELECT 1 FROM playlist_own_entry WHERE ${OF_LIST} LIMIT 1`).get(id, userId) === undefined
  }

  entries({ id, userId }: Key): OwnEntry[] {
    return this.#sql<OwnEntry>(
      `SELECT video_id AS videoId, title, uploader FROM playlist_own_entry WHERE ${OF_LIST} ORDER BY place`,
    ).all(id, userId)
  }

  videoIds({ id, userId }: Key): string[] {
    return this.#sql<{ id: string }>(`SELECT video_id AS id FROM playlist_own_entry WHERE ${OF_LIST} ORDER BY place`)
      .all(id, userId)
      .map((row) => row.id)
  }

  among({ id, userId }: Key, videoIds: readonly string[]): Set<string> {
    const [isOne, value] = isAmong('video_id', videoIds)
    const found = this.#sql<{ id: string }>(
      `SELECT video_id AS id FROM playlist_own_entry WHERE ${OF_LIST} AND ${isOne}`,
    )
    return new Set(found.all(id, userId, value).map((row) => row.id))
  }

  create(id: string, userId: number, how: { stage: 'private'; name: string } | { stage: 'shared' }): Promise<void> {
    return this.#write(() => {
      this.#refuseOneMore(userId)
      this.#insert(id, userId, how.stage, how.stage === 'private' ? how.name : null)
    })
  }

  claim(id: string, userId: number): Promise<boolean> {
    return this.#write(() => {
      if (this.#sql('SELECT 1 FROM playlist_own WHERE playlist_id = ?').get(id)) return false
      this.#refuseOneMore(userId)
      this.#insert(id, userId, 'shared', null)
      return true
    })
  }

  rename(key: Key, name: string): Promise<void> {
    return this.#write(() => {
      this.#touchHere(key)
      this.#sql(`UPDATE playlist_own SET name = ? WHERE ${OF_LIST}`).run(name, key.id, key.userId)
    })
  }

  setStage({ id, userId }: Key, stage: OwnPlaylist['stage'], name: string | null): Promise<void> {
    return this.#write(
      () => void this.#sql(`UPDATE playlist_own SET stage = ?, name = ? WHERE ${OF_LIST}`).run(stage, name, id, userId),
    )
  }

  hide(ids: readonly string[]): Promise<void> {
    return this.#write(
      () =>
        void this.#sql(
          `UPDATE playlist_own SET stage = 'moving'
             WHERE stage = 'private' AND playlist_id IN (SELECT value FROM json_each(?))`,
        ).run(JSON.stringify(ids)),
    )
  }

  remove(id: string): Promise<void> {
    return this.#write(() => void this.#sql('DELETE FROM playlist_own WHERE playlist_id = ?').run(id))
  }

  add(key: Key, { videoId, title, uploader }: OwnEntry, { isFirst }: { isFirst: boolean }): Promise<void> {
    return this.#write(() => {
      this.#refuseGone(key.userId)
      if (this.#touch(key) === 0) {
        if (key.id !== WATCH_LATER) throw errors.notFound('playlist', key.id)
        this.#insert(WATCH_LATER, key.userId, 'private', null)
      }
      if (this.#placeOf(key, videoId) !== undefined) return
      const { count, first, last } = this.#edges(key)
      if (count >= MOST_ENTRIES)
        throw errors.conflict(
          say`This playlist has ${{ most: MOST_ENTRIES }} videos, which is the most a private one can hold: take some out first`,
        )
      const place = isFirst ? (first ?? 0) - 1 : (last ?? 0) + 1
      this.#sql('INSERT INTO playlist_own_entry VALUES (?, ?, ?, ?, ?, ?)').run(
        key.id,
        key.userId,
        videoId,
        title,
        uploader,
        place,
      )
    })
  }

  take(key: Key, videoId: string): Promise<boolean> {
    return this.#write(() => {
      const isTaken =
        this.#sql(`DELETE FROM playlist_own_entry WHERE ${OF_LIST} AND video_id = ?`).run(key.id, key.userId, videoId)
          .changes > 0
      if (isTaken) this.#touch(key)
      return isTaken
    })
  }

  move(key: Key, videoId: string, to: 'first' | 'last' | { videoId: string }): Promise<boolean> {
    return this.#write(() => {
      const from = this.#placeOf(key, videoId)
      if (from === undefined) return false
      this.#touch(key)
      if (typeof to === 'object') {
        const target = this.#placeOf(key, to.videoId)
        if (target === undefined || target === from) return true
        if (target < from) this.#shift(key, 1, target, from - 1)
        else this.#shift(key, -1, from + 1, target)
        this.#setPlace(key, videoId, target)
        return true
      }
      const { first, last } = this.#edges(key)
      if (to === 'first' && from !== first) this.#setPlace(key, videoId, first! - 1)
      if (to === 'last' && from !== last) this.#setPlace(key, videoId, last! + 1)
      return true
    })
  }

  async replaceEntries(key: Key, entries: readonly OwnEntry[]): Promise<void> {
    await this.takeEntries(key)
    let place = 0
    const put = this.#sql('INSERT INTO playlist_own_entry VALUES (?, ?, ?, ?, ?, ?)')
    for (const chunk of chunksOf(entries, CHUNK)) {
      await this.#write(() => {
        if (!this.#sql(`SELECT 1 FROM playlist_own WHERE ${OF_LIST}`).get(key.id, key.userId))
          throw errors.notFound('playlist', key.id)
        for (const { videoId, title, uploader } of chunk) put.run(key.id, key.userId, videoId, title, uploader, ++place)
      })
    }
  }

  forgetVideos(videoIds: readonly string[]): Promise<void> {
    return this.#write(
      () =>
        void this.#sql('DELETE FROM playlist_own_entry WHERE video_id IN (SELECT value FROM json_each(?))').run(
          JSON.stringify(videoIds),
        ),
    )
  }

  /** An account may be removed while a request of its own is under way. */
  #refuseGone(userId: number): void {
    if (!this.#accounts.get(userId)) throw errors.notFound('user')
  }

  #refuseOneMore(userId: number): void {
    this.#refuseGone(userId)
    const { count } = this.#sql<{ count: number }>(
      'SELECT count(*) AS count FROM playlist_own WHERE user_id = ? AND playlist_id <> ?',
    ).get(userId, WATCH_LATER)!
    if (count >= MOST_PLAYLISTS)
      throw errors.conflict(say`You have ${{ most: MOST_PLAYLISTS }} playlists, which is the most: remove one first`)
  }

  #touch({ id, userId }: Key): number {
    return this.#sql(`UPDATE playlist_own SET changed_at = ? WHERE ${OF_LIST}`).run(
      epochSeconds(this.#clock),
      id,
      userId,
    ).changes
  }

  /** Whoever changes a list that was removed or shared meanwhile hears that it is not there. */
  #touchHere(key: Key): void {
    if (this.#touch(key) === 0) throw errors.notFound('playlist', key.id)
  }

  #insert(id: string, userId: number, stage: OwnPlaylist['stage'], name: string | null): void {
    this.#sql('INSERT INTO playlist_own (playlist_id, user_id, stage, name, changed_at) VALUES (?, ?, ?, ?, ?)').run(
      id,
      userId,
      stage,
      name,
      epochSeconds(this.#clock),
    )
  }

  #placeOf({ id, userId }: Key, videoId: string): number | undefined {
    return this.#sql<{ place: number }>(`SELECT place FROM playlist_own_entry WHERE ${OF_LIST} AND video_id = ?`).get(
      id,
      userId,
      videoId,
    )?.place
  }

  #edges({ id, userId }: Key): { count: number; first: number | null; last: number | null } {
    return this.#sql<{ count: number; first: number | null; last: number | null }>(
      `SELECT count(*) AS count, min(place) AS first, max(place) AS last FROM playlist_own_entry WHERE ${OF_LIST}`,
    ).get(id, userId)!
  }

  #setPlace({ id, userId }: Key, videoId: string, place: number): void {
    this.#sql(`UPDATE playlist_own_entry SET place = ? WHERE ${OF_LIST} AND video_id = ?`).run(
      place,
      id,
      userId,
      videoId,
    )
  }

  /** Places between two, both included, one further. */
  #shift({ id, userId }: Key, by: -1 | 1, from: number, to: number): void {
    this.#sql(`UPDATE playlist_own_entry SET place = place + ? WHERE ${OF_LIST} AND place BETWEEN ? AND ?`).run(
      by,
      id,
      userId,
      from,
      to,
    )
  }
}

export function openOwnRows(parts: Pick<App, 'ledger' | 'accounts' | 'clock'>): OwnRows {
  return new LedgerRows(parts)
}

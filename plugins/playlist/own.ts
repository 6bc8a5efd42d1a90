/** Whose playlist is whose: what an account sees, and what it may change (contract 9.6). */
import { randomUUID } from 'node:crypto'
import {
  type Actor,
  type Collection,
  type DocOf,
  errors,
  type Filter,
  isAppError,
  MAX_WINDOW,
  type NamesOf,
  say,
} from 'archivolt'
import type { App } from './app.ts'
import type { CustomAction, CustomPlaylists } from './custom.ts'
import type { PlaylistRecords } from './join-records.ts'
import { type OwnPlaylist, type OwnRows, WATCH_LATER } from './own-rows.ts'
import type { PrivatePlaylists } from './private.ts'
import { makePrivate, sharePlaylist } from './removal-and-sharing-tasks.ts'
import type { PlaylistDoc, playlistIndex } from './schema.ts'

export const VISIBILITIES = ['private', 'shared'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** Where a playlist is for who asks, and whose. */
export type Seen = { list: OwnPlaylist } | { list?: undefined; ownerId: number | undefined }

interface Parts {
  rows: OwnRows
  collection: Collection<DocOf<typeof playlistIndex>, NamesOf<typeof playlistIndex>>
  custom: CustomPlaylists
  privates: PrivatePlaylists
  records: PlaylistRecords
  archivedOf(id: string): Promise<string[]>
  /** Runs what changes a playlist or its entries: not while one moves between ledger and index. */
  beside<Result>(work: () => Promise<Result>): Promise<Result>
}

type PlaylistFilter = Filter<NamesOf<typeof playlistIndex>>

export interface OwnQuery {
  type?: PlaylistDoc['playlist_type'] | undefined
  channel?: string | undefined
  subscribed?: boolean | undefined
  visibility?: Visibility | undefined
  /** Only those of who asks, or only those of others and of nobody. */
  isOwn?: boolean | undefined
  from: number
  size: number
}

const refuseWatchLater = (id: string, what: string): void => {
  if (id === WATCH_LATER)
    throw errors.badRequest(say`Watch later cannot be ${{ what }}: everybody has one, for themselves`)
}

export class OwnPlaylists {
  readonly #app: App
  readonly #rows: OwnRows
  readonly #collection: Parts['collection']
  readonly #custom: CustomPlaylists
  readonly #privates: PrivatePlaylists
  readonly #records: PlaylistRecords
  readonly #archivedOf: (id: string) => Promise<string[]>
  readonly #beside: Parts['beside']

  constructor(app: App, { rows, collection, custom, privates, records, archivedOf, beside }: Parts) {
    this.#app = app
    this.#rows = rows
    this.#collection = collection
    this.#custom = custom
    this.#privates = privates
    this.#records = records
    this.#archivedOf = archivedOf
    this.#beside = beside
  }

  /** @throws not_found; permission_denied; bad_request: it is the platform's */
  async mayChange(id: string, actor: Actor): Promise<Seen> {
    const found = await this.#mayTouch(id, actor)
    if (!found.list) await this.#custom.mustBeCustom(id)
    return found
  }

  /**
   * @throws not_found: playlist, video, or the video is not in it; permission_denied; bad_request: it is not custom;
   * conflict: it is full
   */
  async act(id: string, action: CustomAction, actor: Actor): Promise<void> {
    const change = () =>
      this.#beside(async () => {
        const { list } = await this.mayChange(id, actor)
        return list ? void (await this.#privates.act(list, action)) : this.#custom.act(id, action)
      })
    // A removal of the video, which takes it out of its playlists, is over or has not begun. It edits while it is
    // alone: not the other way round.
    const done = await (action.action === 'create' ? this.#app.videos.exclusive(action.videoId, change) : change())
    if (done) await this.#custom.takeThumbnail(id, done.before, done.after)
  }

  /** One's own private ones first, then those that all see; each by name. */
  async find(query: OwnQuery, actor: Actor): Promise<{ texts: string[]; total: number }> {
    const lists = this.#hasPrivate(query) ? this.#privates.of(actor.id) : []
    const shown = lists.slice(query.from, query.from + query.size)
    const from = Math.max(0, query.from - lists.length)
    const shared =
      query.visibility === 'private'
        ? { texts: [], total: 0 }
        : await this.#findShared({ ...query, from, size: query.size - shown.length }, actor)
    return {
      texts: [...(await this.#privates.recordsOf(shown)), ...shared.texts],
      total: Math.min(MAX_WINDOW, lists.length + shared.total),
    }
  }

  /** The record as it is sent. */
  async record(id: string, actor: Actor): Promise<string | undefined> {
    const found = await this.#seen(id, actor)
    if (found?.list) return (await this.#privates.recordsOf([found.list]))[0]
    const text = found && (await this.#collection.getText(id))
    return text === undefined ? undefined : this.#records.of([{ id, text }])[0]
  }

  /** Its archived videos, in its order; undefined: there is none for who asks. */
  async videosOf(id: string, actor: Actor): Promise<string[] | undefined> {
    const found = await this.#seen(id, actor)
    if (found?.list) return this.#rows.videoIds(found.list)
    return found && (await this.#archivedOf(id)).slice(0, MAX_WINDOW)
  }

  /** What records of videos say to an account: which it keeps to watch later. */
  keysOf(videoIds: readonly string[], userId: number): Map<string, { watch_later: true }> {
    return new Map(
      [...this.#rows.among({ id: WATCH_LATER, userId }, videoIds)].map((videoId) => [videoId, { watch_later: true }]),
    )
  }

  /** @param id  default: a new one @returns its id. @throws conflict: the account has too many */
  async create(
    name: string,
    visibility: Visibility,
    actor: Actor,
    id = `${this.#app.settings.prefix}_playlist_${randomUUID()}`,
  ): Promise<string> {
    if (visibility === 'private') {
      await this.#rows.create(id, actor.id, { stage: 'private', name })
      return id
    }
    await this.#rows.create(id, actor.id, { stage: 'shared' })
    try {
      await this.#custom.put(id, name, [])
    } catch (thrown) {
      await this.#rows.remove(id)
      throw thrown
    }
    return id
  }

  /**
   * Chosen videos one after the other, in their order; those that are not there, or not in it, are left out.
   * @returns how many were there. @throws as `act`
   */
  async actOnChosen(
    id: string,
    action: 'create' | 'remove',
    videoIds: readonly string[],
    actor: Actor,
  ): Promise<number> {
    const known = await this.#app.videos.known(videoIds)
    let done = 0
    for (const videoId of new Set(videoIds)) {
      if (!known.has(videoId)) continue
      try {
        await this.act(id, { action, videoId }, actor)
        done++
      } catch (thrown) {
        if (!isAppError(thrown, 'not_found')) throw thrown
      }
    }
    return done
  }

  /** @throws not_found, permission_denied, bad_request */
  rename(id: string, name: string, actor: Actor): Promise<void> {
    return this.#beside(async () => {
      const { list } = await this.mayChange(id, actor)
      refuseWatchLater(id, 'renamed')
      await (list ? this.#rows.rename(list, name) : this.#custom.rename(id, name))
    })
  }

  /** @throws not_found; permission_denied; bad_request; conflict: too many playlists, or too many videos in it */
  async setVisibility(id: string, visibility: Visibility, actor: Actor): Promise<void> {
    const { list } = await this.mayChange(id, actor)
    refuseWatchLater(id, 'shared')
    if (visibility === 'shared') {
      if (list) await this.#app.jobs.run(sharePlaylist, { id })
      return
    }
    // One that nobody owns becomes that of the admin who takes it away from the others.
    if (!list && !(await this.#rows.claim(id, actor.id)) && this.#rows.get(id)?.userId !== actor.id)
      throw errors.permissionDenied('Only its owner can make this playlist private')
    if (list?.stage !== 'private') await this.#app.jobs.run(makePrivate, { id })
  }

  /** @throws not_found; permission_denied; bad_request: it is always there */
  async mayRemove(id: string, actor: Actor, { withVideos }: { withVideos: boolean }): Promise<void> {
    await this.#mayTouch(id, actor)
    refuseWatchLater(id, 'removed')
    if (withVideos && !actor.isAdmin) throw errors.permissionDenied('Only an admin can delete videos')
  }

  async #seen(id: string, actor: Actor): Promise<Seen | undefined> {
    if (id === WATCH_LATER) return { list: this.#rows.watchLater(actor.id) }
    const list = this.#rows.get(id)
    if (list && list.stage !== 'shared') return list.userId === actor.id ? { list } : undefined
    return (await this.#collection.known([id])).has(id) ? { ownerId: list?.userId } : undefined
  }

  /** @throws not_found; permission_denied: neither its owner nor an admin */
  async #mayTouch(id: string, actor: Actor): Promise<Seen> {
    const found = await this.#seen(id, actor)
    if (!found) throw errors.notFound('playlist', id)
    if (!found.list && !actor.isAdmin && found.ownerId !== actor.id)
      throw errors.permissionDenied('Only its owner or an admin can change this playlist')
    return found
  }

  #sharedFilters({ type, channel, subscribed, isOwn }: OwnQuery, actor: Actor): PlaylistFilter[] {
    const [moving, own] = [
      this.#rows.moving(),
      isOwn === undefined ? [] : this.#rows.ofUser(actor.id).map(({ id }) => id),
    ]
    const among: PlaylistFilter = { in: ['playlist_id', own] }
    return [
      ...(type === undefined ? [] : [{ eq: ['playlist_type', type] } satisfies PlaylistFilter]),
      ...(channel === undefined ? [] : [{ eq: ['playlist_channel_id', channel] } satisfies PlaylistFilter]),
      ...(subscribed === undefined ? [] : [{ eq: ['playlist_subscribed', subscribed] } satisfies PlaylistFilter]),
      ...(isOwn === undefined ? [] : [isOwn ? among : ({ not: among } satisfies PlaylistFilter)]),
      ...(moving.length === 0 ? [] : [{ not: { in: ['playlist_id', moving] } } satisfies PlaylistFilter]),
    ]
  }

  /** From a place on in those that the index has. */
  async #findShared(query: OwnQuery, actor: Actor): Promise<{ texts: string[]; total: number }> {
    const filters = this.#sharedFilters(query, actor)
    const filter = filters.length > 0 ? { and: filters } : undefined
    const { from, size } = query
    if (size === 0) return { texts: [], total: await this.#collection.count(filter) }
    const { hits, total } = await this.#collection.find({
      filter,
      sort: [{ by: 'playlist_name', order: 'asc' }],
      from,
      size,
    })
    return { texts: this.#records.of(hits), total }
  }

  #hasPrivate({ type, channel, subscribed, visibility, isOwn }: OwnQuery): boolean {
    return type !== 'regular' && channel === undefined && !subscribed && visibility !== 'shared' && isOwn !== false
  }
}

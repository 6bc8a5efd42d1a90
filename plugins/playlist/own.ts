/** Rights to playlists: which ones an account sees, and which ones it may change (contract 9.6). */
import { randomUUID } from 'node:crypto'
import { type Actor, errors, isAppError, MAX_WINDOW, say } from 'archivolt'
import type { App } from './app.ts'
import type { CustomAction, CustomPlaylists } from './custom.ts'
import { type CustomPlaylist, type CustomRows, isWatchLater, WATCH_LATER, watchLaterOf } from './custom-rows.ts'
import type { PlaylistRecords } from './join-records.ts'
import type { Projection } from './projection.ts'
import type { PlaylistCollection, PlaylistDoc, PlaylistFilter } from './schema.ts'

export const VISIBILITIES = ['private', 'shared'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** A playlist as the caller sees it; `list`: its rows, if it has any. */
interface Seen {
  list?: CustomPlaylist | undefined
  isPrivate: boolean
}

interface Parts {
  rows: CustomRows
  collection: PlaylistCollection
  custom: CustomPlaylists
  projection: Projection
  records: PlaylistRecords
  archivedOf(id: string): Promise<string[]>
}

export interface OwnQuery {
  type?: PlaylistDoc['playlist_type'] | undefined
  channel?: string | undefined
  subscribed?: boolean | undefined
  visibility?: Visibility | undefined
  /** true: only the caller's own; false: only those of others or without an owner. */
  isOwn?: boolean | undefined
  from: number
  size: number
}

const refuseWatchLater = (list: Pick<CustomPlaylist, 'id'> | undefined, what: string): void => {
  if (list && isWatchLater(list))
    throw errors.badRequest(say`Watch later cannot be ${{ what }}: every account has its own`)
}

const hasPrivate = ({ type, channel, subscribed, visibility, isOwn }: OwnQuery): boolean =>
  type !== 'regular' && channel === undefined && !subscribed && visibility !== 'shared' && isOwn !== false

/** The rights of a caller: private playlists are visible only to their owner. */
export type OwnPlaylists = ReturnType<typeof openOwnPlaylists>

export function openOwnPlaylists(app: App, { rows, collection, custom, projection, records, archivedOf }: Parts) {
  async function seen(id: string, actor: Actor): Promise<Seen | undefined> {
    const list = id === WATCH_LATER ? rows.watchLater(actor.id) : rows.get(id)
    if (list && list.privateTo !== null) return list.privateTo === actor.id ? { list, isPrivate: true } : undefined
    return (await collection.known([id])).has(id) ? { list, isPrivate: false } : undefined
  }

  /** @throws not_found; permission_denied: the caller is neither its owner nor an admin */
  async function mayTouch(id: string, actor: Actor): Promise<Seen> {
    const found = await seen(id, actor)
    if (!found) throw errors.notFound('playlist', id)
    if (!actor.isAdmin && found.list?.ownerId !== actor.id)
      throw errors.permissionDenied('Only its owner or an admin can change this playlist')
    return found
  }

  /** @throws not_found; permission_denied; bad_request: it belongs to the platform */
  async function mayChange(id: string, actor: Actor): Promise<CustomPlaylist> {
    const { list, isPrivate } = await mayTouch(id, actor)
    return list && isPrivate ? list : projection.taken(id)
  }

  /**
   * @throws not_found: no such playlist or video, or the video is not in it; permission_denied; bad_request: it is not
   * a custom playlist; conflict: it is full
   */
  async function act(id: string, action: CustomAction, actor: Actor): Promise<void> {
    const change = async () => {
      const list = await mayChange(id, actor)
      await projection.change(list, () => custom.act(list, action))
    }
    // Locks the video, so that it is not removed at the same time: a removal also removes it from its playlists.
    await (action.action === 'create' ? app.videos.exclusive(action.videoId, change) : change())
  }

  function sharedFilters({ type, channel, subscribed, isOwn }: OwnQuery, actor: Actor): PlaylistFilter[] {
    const [hidden, own] = [rows.hidden(), isOwn === undefined ? [] : rows.ofOwner(actor.id).map(({ id }) => id)]
    const among: PlaylistFilter = { in: ['playlist_id', own] }
    const filters: Array<PlaylistFilter | false> = [
      type !== undefined && { eq: ['playlist_type', type] },
      channel !== undefined && { eq: ['playlist_channel_id', channel] },
      subscribed !== undefined && { eq: ['playlist_subscribed', subscribed] },
      isOwn !== undefined && (isOwn ? among : { not: among }),
      hidden.length > 0 && { not: { in: ['playlist_id', hidden] } },
    ]
    return filters.filter((filter) => filter !== false)
  }

  /** A page of the playlists that are in the index. */
  async function findShared(query: OwnQuery, actor: Actor): Promise<{ texts: string[]; total: number }> {
    const filters = sharedFilters(query, actor)
    const filter = filters.length > 0 ? { and: filters } : undefined
    const { from, size } = query
    if (size === 0) return { texts: [], total: await collection.count(filter) }
    const { hits, total } = await collection.find({ filter, sort: [{ by: 'playlist_name', order: 'asc' }], from, size })
    return { texts: records.of(hits, actor.view), total }
  }

  return {
    mayChange,
    act,

    /**
     * Changes several videos, in their order; missing ones are skipped.
     * @returns the number of changed ones. @throws as `act`
     */
    async actOnChosen(
      id: string,
      action: 'create' | 'remove',
      videoIds: readonly string[],
      actor: Actor,
    ): Promise<number> {
      const known = await app.videos.known(videoIds)
      let done = 0
      for (const videoId of new Set(videoIds)) {
        if (!known.has(videoId)) continue
        try {
          await act(id, { action, videoId }, actor)
          done++
        } catch (thrown) {
          if (!isAppError(thrown, 'not_found')) throw thrown
        }
      }
      return done
    },

    /** The account's private playlists first, then the shared ones; each group by name. */
    async find(query: OwnQuery, actor: Actor): Promise<{ texts: string[]; total: number }> {
      const lists = hasPrivate(query) ? custom.privateTo(actor.id) : []
      const shown = lists.slice(query.from, query.from + query.size)
      const from = Math.max(0, query.from - lists.length)
      const shared =
        query.visibility === 'private'
          ? { texts: [], total: 0 }
          : await findShared({ ...query, from, size: query.size - shown.length }, actor)
      return {
        texts: [...(await custom.recordsOf(shown)), ...shared.texts],
        total: Math.min(MAX_WINDOW, lists.length + shared.total),
      }
    },

    /** The record in the form of a reply. */
    async record(id: string, actor: Actor): Promise<string | undefined> {
      const found = await seen(id, actor)
      if (found?.isPrivate) return (await custom.recordsOf([found.list!]))[0]
      const text = found && (await collection.getText(id))
      return text === undefined ? undefined : records.of([{ id, text }], actor.view)[0]
    },

    /** The archived videos of a playlist, in its order; undefined: the caller sees no such playlist. */
    async videosOf(id: string, actor: Actor): Promise<string[] | undefined> {
      const found = await seen(id, actor)
      if (found?.isPrivate) return rows.videoIds(found.list!.id)
      return found && (await archivedOf(id)).slice(0, MAX_WINDOW)
    },

    /** Keys for the records of videos: whether they are in the account's Watch later. */
    keysOf: (videoIds: readonly string[], userId: number): Map<string, { watch_later: true }> =>
      new Map([...rows.among(watchLaterOf(userId), videoIds)].map((videoId) => [videoId, { watch_later: true }])),

    /** @param id  default: a new one @returns the id. @throws conflict: the account has too many playlists */
    async create(
      name: string,
      visibility: Visibility,
      actor: Actor,
      id = `${app.settings.prefix}_playlist_${randomUUID()}`,
    ): Promise<string> {
      const isShared = visibility === 'shared'
      if (isShared) await app.index.writable()
      await rows.create(id, actor.id, name, isShared)
      try {
        await projection.project(id)
      } catch (thrown) {
        await rows.remove(id)
        throw thrown
      }
      return id
    },

    /** @throws not_found, permission_denied, bad_request */
    async rename(id: string, name: string, actor: Actor): Promise<void> {
      const list = await mayChange(id, actor)
      refuseWatchLater(list, 'renamed')
      await projection.change(list, () => rows.rename(id, name))
    },

    /** @throws not_found; permission_denied; bad_request; conflict: too many playlists, or too many videos in it */
    async setVisibility(id: string, visibility: Visibility, actor: Actor): Promise<void> {
      const list = await mayChange(id, actor)
      refuseWatchLater(list, 'shared')
      const isShared = visibility === 'shared'
      await projection.change({ id, isShared: isShared || list.isShared }, async () => {
        if (isShared && !list.isShared) await rows.share(id)
        if (!isShared && list.isShared) await rows.makePrivate(id, actor.id)
      })
    },

    /** @throws not_found; permission_denied; bad_request: Watch later cannot be removed */
    async mayRemove(id: string, actor: Actor, { withVideos }: { withVideos: boolean }): Promise<void> {
      const { list } = await mayTouch(id, actor)
      refuseWatchLater(list, 'removed')
      if (withVideos && !actor.isAdmin) throw errors.permissionDenied('Only an admin can delete videos')
    },
  }
}

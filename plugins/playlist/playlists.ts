/** The service `playlists`: the one home of playlist documents, and of what they say in videos. */
import {
  epochSeconds,
  errors,
  type Filter,
  isAppError,
  localDay,
  type NamesOf,
  openLocks,
  type Step,
  say,
} from 'archivolt'
import type { PlaylistMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { openCustom } from './custom.ts'
import { openEdits } from './edits.ts'
import { numbered } from './entry-order.ts'
import { gathered } from './gather.ts'
import { openMembership } from './membership.ts'
import { openMoves } from './moves.ts'
import { openOwn } from './own.ts'
import { openOwnRows } from './own-rows.ts'
import { openPrivate } from './private.ts'
import { openRecords } from './records.ts'
import { type PlaylistDoc, type PlaylistEntry, playlistIndex } from './schema.ts'
import { makePrivate, removePlaylist } from './tasks.ts'

interface IndexOptions {
  /**
   * A job's id: its turns at the platform, where the playlist's channel has to be read. Without one the channel is left
   * alone.
   */
  asker?: string
  signal?: AbortSignal | undefined
  /** Left out: as it was; a new one is not. */
  subscribed?: boolean
  /** One that is not ours stays so: its removal meanwhile holds. */
  mustExist?: boolean
}

/** Ids that are looked up together. */
const CHUNK = 1000
/** What they change in other playlists is then written once. */
const REMOVED_TOGETHER = 20

type PlaylistFilter = Filter<NamesOf<typeof playlistIndex>>

export type Playlists = ReturnType<typeof openPlaylists>

export function openPlaylists(app: App) {
  const collection = app.index.collection(playlistIndex)
  const edit = openEdits(collection, app)
  const membership = openMembership(app)
  const rows = openOwnRows(app)
  const records = openRecords(app, rows)
  const custom = openCustom(app, collection, edit)
  const privates = openPrivate(app, { rows, custom, membership, records })
  const known = (ids: readonly string[]) => collection.known(ids)
  const has = async (id: string) => (await known([id])).has(id)
  /**
   * Playlists whose removal takes their videos along: what those removals would change in them is gone in a moment
   * anyway.
   */
  const leaving = new Set<string>()

  /** What is read of a playlist and its removal go one after the other, each with all that it writes. */
  const locks = openLocks()

  const moving = openLocks()
  /** One playlist moves between ledger and index at a time, and nothing else changes one meanwhile. */
  const alone = <Result>(work: () => Promise<Result>) => moving.exclusive('all', work)
  const beside = <Result>(work: () => Promise<Result>) => moving.shared('all', work)

  /** As groups: the documents, which may have thousands of entries, are not read. */
  async function idsWhere(filter: PlaylistFilter): Promise<string[]> {
    const rows = await collection.aggregate({ filter, groupBy: ['playlist_id'] })
    return rows.map(({ key }) => String(key[0])).sort()
  }

  const holding = (videoId: string) => idsWhere({ eq: ['entry', videoId] })

  /** Placeholders of what is gone from the platform are left out, unless we have it. */
  function toEntries(metadata: PlaylistMetadata, archived: ReadonlySet<string>): PlaylistEntry[] {
    return metadata.entries.flatMap(({ id, title, uploader, isThere }, idx) =>
      isThere || archived.has(id) ? [{ platform_id: id, title, uploader, idx, downloaded: archived.has(id) }] : [],
    )
  }

  function toFields(metadata: PlaylistMetadata, archived: ReadonlySet<string>) {
    const now = epochSeconds(app.clock)
    return {
      playlist_name: metadata.name,
      playlist_description: metadata.description,
      playlist_channel: metadata.channelName,
      playlist_channel_id: metadata.channelId,
      playlist_active: true,
      playlist_last_refresh: localDay(now),
      playlist_entries: toEntries(metadata, archived),
      refreshed_at: now,
      ...(metadata.thumbnail !== undefined && { art: metadata.thumbnail }),
    }
  }

  async function fetchArt(
    metadata: PlaylistMetadata,
    old: PlaylistDoc | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    if (metadata.thumbnail === undefined) return
    if (old?.art === metadata.thumbnail && (await app.media.hasArt('playlist', metadata.id))) return
    await app.media.fetchArt('playlist', metadata.id, metadata.thumbnail, signal)
  }

  async function add(fields: ReturnType<typeof toFields>, metadata: PlaylistMetadata): Promise<void> {
    const doc: PlaylistDoc = {
      playlist_id: metadata.id,
      playlist_type: 'regular',
      playlist_subscribed: false,
      playlist_thumbnail: app.media.artUrl('playlist', metadata.id),
      playlist_sort_order: 'top',
      ...fields,
    }
    await collection.put(metadata.id, doc, { visible: true })
  }

  /** What a playlist says of its entries, from what is archived now: after something has gone wrong half way. */
  async function recount(id: string): Promise<void> {
    await edit(id, async (doc) => {
      const archived = await membership.archived(doc.playlist_entries.map(({ platform_id }) => platform_id))
      return { playlist_entries: withFlags(doc, (videoId) => archived.has(videoId)) }
    })
  }

  /** Its archived videos, in its order, each once. */
  async function archivedOf(id: string): Promise<string[]> {
    const entries = (await collection.get(id))?.playlist_entries ?? []
    return [...new Set(entries.filter(({ downloaded }) => downloaded).map(({ platform_id }) => platform_id))]
  }

  const forgetVideos = gathered((lists: Array<readonly string[]>) =>
    beside(async () => {
      const videoIds = lists.flat()
      await rows.forgetVideos(videoIds)
      const gone = new Set(videoIds)
      for (const id of await idsWhere({ in: ['entry', videoIds] })) {
        if (leaving.has(id)) continue
        await edit(id, (doc) => ({
          playlist_entries: withFlags(doc, (entryId, isDownloaded) => isDownloaded && !gone.has(entryId)),
        }))
      }
    }),
  )

  const drop = (id: string): Promise<void> =>
    locks.exclusive(id, async () => {
      await membership.takeAll(id)
      await app.media.removeArt('playlist', id)
      await app.accounts.dropFromViews('playlist', id)
      await collection.remove(id, { visible: true })
    })

  /** In the ledger or in the index, whoever sees it. */
  const exists = async (id: string): Promise<boolean> => rows.get(id) !== undefined || has(id)

  const moves = openMoves({ rows, collection, membership, custom, drop })
  const { mayChange, find, record, videosOf, keysOf, create, act, actOnChosen, rename, setVisibility, mayRemove } =
    openOwn(app, {
      rows,
      collection,
      custom,
      privates,
      records,
      archivedOf,
      beside,
    })

  return {
    collection,
    known,
    has,
    exists,
    recount,
    drop,
    get: (id: string): Promise<PlaylistDoc | undefined> => collection.get(id),
    /** Records of contract 5.3 for documents that a search has found. */
    records: records.of,
    ...{ mayChange, find, record, videosOf, keysOf, create, act, actOnChosen, rename, setVisibility, mayRemove },

    share: (id: string, step: Step): Promise<void> => alone(() => moves.share(id, step)),
    unshare: (id: string, step: Step): Promise<void> => alone(() => moves.unshare(id, step)),

    /** A restore brings documents of what was shared then, and is private now: nobody is to see them. */
    async hideRestored(): Promise<void> {
      for (let ids = rows.privateAfter('', CHUNK); ids.length > 0; ids = rows.privateAfter(ids.at(-1)!, CHUNK)) {
        const restored = [...(await known(ids))]
        await rows.hide(restored)
        for (const id of restored) await app.jobs.start(makePrivate, { id })
      }
    },

    /** Ids of all that are subscribed to and still on the platform. */
    subscribed: (): Promise<string[]> =>
      idsWhere({ and: [{ eq: ['playlist_subscribed', true] }, { eq: ['playlist_active', true] }] }),

    /**
     * Writes what the platform says of a playlist: its channel, art, entries with their flags, and the membership of
     * archived videos.
     * Doing it twice is harmless. A custom playlist is no playlist of the platform: bad_request.
     * @returns false: not ours, where it must be
     */
    async index(
      metadata: PlaylistMetadata,
      { asker, signal, subscribed, mustExist = false }: IndexOptions = {},
    ): Promise<boolean> {
      const { id, channelId, channelName } = metadata
      const known = await collection.get(id)
      if (known?.playlist_type === 'custom')
        throw errors.badRequest(say`A custom playlist is not on ${{ platform: app.platform.name }}`)
      if (!known && mustExist) return false
      if (channelId !== null && asker !== undefined)
        await app.channels.ensure(channelId, { asker, signal, name: channelName ?? undefined })
      await fetchArt(metadata, known, signal)
      return locks.exclusive(id, async () => {
        const old = await collection.get(id)
        if (!old && mustExist) {
          await app.media.removeArt('playlist', id)
          return false
        }
        const left = (old?.playlist_entries ?? []).map(({ platform_id }) => platform_id)
        const present = new Set(metadata.entries.map((entry) => entry.id))
        await membership.take(
          id,
          left.filter((videoId) => !present.has(videoId)),
        )
        const archived = await membership.archived([...present])
        const isSubscribed = subscribed !== undefined && { playlist_subscribed: subscribed }
        const isThere = await edit(id, () => ({ ...toFields(metadata, archived), ...isSubscribed }))
        if (!isThere) await add({ ...toFields(metadata, archived), ...isSubscribed }, metadata)
        await membership.add(id, [...archived])
        return true
      })
    },

    /** @returns false: not ours */
    setSubscribed: (id: string, isSubscribed: boolean): Promise<boolean> =>
      collection.patch(id, { set: { playlist_subscribed: isSubscribed } }, { visible: true }),

    /** Which end of the platform's list is new. @returns false: not ours */
    setSortOrder: (id: string, order: 'top' | 'bottom'): Promise<boolean> =>
      collection.patch(id, { set: { playlist_sort_order: order } }, { visible: true }),

    /** Whether the platform still has them. @returns how many were ours */
    async setActive(ids: readonly string[], isActive: boolean): Promise<number> {
      let changed = 0
      for (const id of ids)
        if (await collection.patch(id, { set: { playlist_active: isActive } }, { visible: true })) changed++
      return changed
    },

    /** A video has come into the archive: playlists of the platform that list it say so, and it says so too. */
    async takeIn(videoId: string): Promise<void> {
      for (const id of await holding(videoId)) {
        await edit(id, (doc) => {
          const isNews = doc.playlist_entries.some(
            ({ platform_id, downloaded }) => platform_id === videoId && !downloaded,
          )
          return isNews
            ? {
                playlist_entries: doc.playlist_entries.map((entry) =>
                  entry.platform_id === videoId ? { ...entry, downloaded: true } : entry,
                ),
              }
            : undefined
        })
        await membership.add(id, [videoId])
      }
    },

    /** Many videos have come at once: each playlist of the platform says what it has now, and so do they. */
    async takeInAll(): Promise<void> {
      for (const id of await idsWhere({ eq: ['playlist_type', 'regular'] })) {
        await recount(id)
        const archived = await archivedOf(id)
        if (archived.length > 0) await membership.add(id, archived)
      }
    },

    /** Videos go: playlists of the platform keep their entries, custom ones do not. */
    forgetVideos,
    forgetVideo: (videoId: string): Promise<void> => forgetVideos([videoId]),

    /**
     * Removes the playlist, and with `withVideos` all archived videos in it.
     * @throws not_found; unavailable: a file cannot be moved; then the playlist and that video stay
     */
    remove: (id: string, { withVideos = false } = {}): Promise<void> =>
      // Two that are asked for at once may want different things: the later one hears that the playlist is gone.
      locks.exclusive(`removal of ${id}`, async () => {
        if (!(await exists(id))) throw errors.notFound('playlist', id)
        await app.jobs.run(removePlaylist, { id, withVideos })
      }),

    /** The videos of a playlist that is about to go. */
    async removeVideos(
      id: string,
      { signal, progress }: { signal: AbortSignal; progress: (fraction: number) => void },
    ): Promise<void> {
      const list = rows.get(id)
      const ids = list && list.stage !== 'shared' ? rows.videoIds(list) : await archivedOf(id)
      leaving.add(id)
      try {
        for (let done = 0; done < ids.length; done += REMOVED_TOGETHER) {
          signal.throwIfAborted()
          const removals = await Promise.allSettled(
            ids.slice(done, done + REMOVED_TOGETHER).map((videoId) => app.videos.remove(videoId)),
          )
          for (const removal of removals) {
            // Gone already, in an earlier run or by somebody else, is as good.
            if (removal.status === 'rejected' && !isAppError(removal.reason, 'not_found')) throw removal.reason
          }
          progress(Math.min(1, (done + REMOVED_TOGETHER) / ids.length))
        }
      } catch (thrown) {
        leaving.delete(id)
        await recount(id)
        throw thrown
      }
    },

    /** The last part of a removal: the id in videos, art, document, and what the ledger has of it. */
    finishRemoval: (id: string): Promise<void> =>
      beside(async () => {
        await drop(id)
        await rows.remove(id)
        leaving.delete(id)
      }),

    /** A channel goes, and with it what it has listed; its videos are gone already. */
    async removeOfChannel(channelId: string, step: Step): Promise<void> {
      for (const id of await idsWhere({ eq: ['playlist_channel_id', channelId] }))
        await step('playlist.drop', () => drop(id))
    },
  }
}

/**
 * A custom playlist holds archived videos only; one of the platform says which it lists are.
 * Entries that stay are not copied: a removal of many videos comes here once for each, over lists of thousands.
 */
function withFlags(doc: PlaylistDoc, isArchived: (videoId: string, isDownloaded: boolean) => boolean): PlaylistEntry[] {
  const flagged = doc.playlist_entries.map((entry) => {
    const downloaded = isArchived(entry.platform_id, entry.downloaded)
    return downloaded === entry.downloaded ? entry : { ...entry, downloaded }
  })
  return doc.playlist_type === 'custom' ? numbered(flagged.filter(({ downloaded }) => downloaded)) : flagged
}

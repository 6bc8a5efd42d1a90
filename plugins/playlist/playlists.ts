/** The service `playlists`: owns the documents of playlists, and the playlist ids in the documents of videos. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  chunksOf,
  epochSeconds,
  errors,
  localDay,
  openLocks,
  type Step,
  say,
  seenFilter,
  type ToldRows,
  told,
  type View,
  type Words,
} from 'archivolt'
import type { PlaylistMetadata } from '../platform/types.ts'
import type { Renaming } from '../video/types.ts'
import type { App } from './app.ts'
import { openCustomPlaylists } from './custom.ts'
import { openCustomRows, type PositionedEntry, type Positions } from './custom-rows.ts'
import { isCut } from './cut-listing.ts'
import { openEdits } from './edits.ts'
import { numbered } from './entry-order.ts'
import { gathered } from './gather.ts'
import { openPlaylistRecords, type PlaylistRecords } from './join-records.ts'
import { openMembership } from './membership.ts'
import { type OwnPlaylists, openOwnPlaylists } from './own.ts'
import {
  checkBelongings,
  openPlaylistBelongings,
  type PlaylistBelongings,
  renamedBelongings,
} from './playlist-belongings.ts'
import { openProjection } from './projection.ts'
import {
  type PlaylistCollection,
  type PlaylistDoc,
  type PlaylistEntry,
  type PlaylistFilter,
  playlistIndex,
  SEEN,
} from './schema.ts'
import { BINNED, removePlaylist } from './tasks.ts'
import { openTwins } from './twins.ts'

interface IndexOptions {
  /**
   * A job's id, for its turns at the platform if the playlist's channel must be read. Omitted: the channel is not read.
   */
  asker?: string
  signal?: AbortSignal | undefined
  /** Omitted: unchanged; for a new playlist, false. */
  subscribed?: boolean
  /** Only updates an existing playlist, so that a removal meanwhile is final. */
  mustExist?: boolean
  /** Called if the listing was truncated: its videos were added, but none was removed. */
  onCut?: (told: Words) => void
}

/** Number of videos that are removed together, so that their changes in other playlists become one write. */
const REMOVED_TOGETHER = 20
/** Number of playlists that are changed concurrently: each may have thousands of entries. */
const EDITED_TOGETHER = 20

export interface Playlists extends OwnPlaylists {
  readonly collection: PlaylistCollection
  /** Records of contract 5.3 for documents found by a search. */
  readonly records: PlaylistRecords['of']
  /** Playlists that nobody may see in the index: they are private or removed, but still have their document. */
  hidden(): string[]
  known(ids: readonly string[]): Promise<Set<string>>
  /** The filter for the playlists that a view shows: jobs see everything. */
  seenIn(view: View): PlaylistFilter
  has(id: string): Promise<boolean>
  /** Corrects after an interruption which entries of a playlist are marked as archived. */
  recount(id: string): Promise<void>
  drop(id: string): Promise<void>
  /** Whether the playlist exists in the ledger or in the index, private or shared. */
  exists(id: string): Promise<boolean>
  get(id: string): Promise<PlaylistDoc | undefined>
  /** Reconciles rows and documents of custom playlists after an interruption, once everything is open. */
  begin(): Promise<void>
  settle(step: Step): Promise<void>
  /** Stores the second id key of all entries. May be repeated. */
  addTwins(signal: AbortSignal): Promise<void>
  /** Corrects custom playlists after an older copy has replaced the ledger or the index. */
  compare(older: 'ledger' | 'index'): Promise<void>
  /** Ids of all subscribed playlists that are still on the platform. */
  subscribed(): Promise<string[]>
  /**
   * Writes the platform's data of a playlist: its channel, pictures, entries with their flags, and the playlist ids of
   * archived videos. Values that the platform does not give stay unchanged.
   * May be repeated. @throws bad_request: it is a custom playlist
   * @returns false: with `mustExist`, the playlist is not in the archive
   */
  index(metadata: PlaylistMetadata, options?: IndexOptions): Promise<boolean>
  /** Whether the platform's listing was truncated: entries that it lacks may still be in the playlist. */
  isCut(metadata: PlaylistMetadata, known: PlaylistDoc): boolean
  /** @returns false: not in the archive */
  setSubscribed(id: string, isSubscribed: boolean): Promise<boolean>
  /** Sets at which end of the platform's list new videos appear. @returns false: not in the archive */
  setSortOrder(id: string, order: 'top' | 'bottom'): Promise<boolean>
  /** Records whether the platform still has the playlists. @returns the number of those that are in the archive */
  setActive(ids: readonly string[], isActive: boolean): Promise<number>
  /** The playlists that list these videos, archived or not, by video; only shared ones of the custom playlists. */
  listing(videoIds: readonly string[]): Promise<Map<string, string[]>>
  /** A video was archived: updates the playlists that contain it, and the playlists in its document. */
  takeIn(videoId: string): Promise<void>
  /** Many videos were archived: updates all playlists, and the playlists in the videos' documents. */
  takeInAll(): Promise<void>
  /** Called when videos are removed: the platform's playlists keep their entries, custom ones do not. */
  forgetVideos(videoIds: readonly string[]): Promise<void>
  forgetVideo(videoId: string): Promise<void>
  /** The positions of these videos in custom playlists. */
  positionsOf(videoIds: readonly string[]): Map<string, Positions>
  /**
   * Called when videos were restored: updates all playlists that contain them, and removes missing playlists from them.
   */
  putBack(binned: ReadonlyMap<string, Positions>, videoIds: readonly string[]): Promise<void>
  /** The platform's playlists that a channel has listed. */
  ofChannel(channelId: string): Promise<PlaylistDoc[]>
  /** Restores playlists; one that exists stays unchanged. */
  giveBack(docs: readonly PlaylistDoc[]): Promise<void>
  /** Everything that belongs to the playlist itself; undefined: the playlist does not exist. */
  collectBelongings(id: string): Promise<PlaylistBelongings | undefined>
  /** The same with other ids of accounts. undefined: the playlist's own account has none */
  renamedBelongings(belongings: PlaylistBelongings, as: Renaming): PlaylistBelongings | undefined
  /**
   * Checks a record that was read from a file and names accounts. undefined: the playlist's own account does not exist.
   * @throws unprocessable: it is damaged, or about another playlist
   */
  checkBelongings(id: string, told: unknown, as: Renaming): PlaylistBelongings | undefined
  /** The tables of custom playlists: plugins that store copies of playlists watch them for changes. */
  readonly customRows: readonly ToldRows[]
  /** The ids of the next custom playlists after an id, in order, private ones included. */
  customAfter(id: string, limit: number): string[]
  /** Restores a playlist, before its videos. May be repeated. @throws conflict: its account no longer exists */
  restoreBelongings(belongings: PlaylistBelongings): Promise<void>
  /**
   * Removes the playlist, and with `withVideos` all archived videos in it.
   * @param options.by  the account that requested it. Omitted: the playlist does not go into the bin
   * @returns the id of the removal, for a restore; undefined: the playlist is not in the bin
   * @throws not_found; unavailable: a file cannot be moved; then the playlist and that video stay
   */
  remove(
    id: string,
    options?: { withVideos?: boolean | undefined; by?: number | undefined },
  ): Promise<string | undefined>
  /** Removes the videos of a playlist that is about to be removed. */
  removeVideos(
    id: string,
    options: { signal: AbortSignal; progress: (fraction: number) => void; removal?: string; by?: number },
  ): Promise<void>
  /** The last part of a removal: removes the playlist's id from videos, its pictures, its document and its rows. */
  finishRemoval(id: string, options?: { isArtKept: boolean }): Promise<void>
  /** Removes the playlists of a channel that is being removed; its videos have already been removed. */
  removeOfChannel(channelId: string, step: Step): Promise<void>
}

export function openPlaylists(app: App): Playlists {
  const twins = openTwins(app)
  const collection = twins.wrap(app.index.collection(playlistIndex))
  const edit = openEdits(collection, app)
  const membership = openMembership(app)
  const rows = openCustomRows(app)
  const records = openPlaylistRecords(app, rows, twins)
  const projection = openProjection(app, { rows, collection, membership, drop })
  const custom = openCustomPlaylists(app, { rows, membership, records })
  const own = openOwnPlaylists(app, { rows, collection, custom, projection, records, archivedOf })
  const forgetVideos = gathered((lists: Array<readonly string[]>) => forget(lists.flat()))
  /** Playlists that are removed together with their videos: changing them for each video would be useless. */
  const leaving = new Set<string>()
  /** Serializes updates of a playlist from the platform and its removal. */
  const locks = openLocks()

  async function has(id: string): Promise<boolean> {
    return (await collection.known([id])).has(id)
  }

  async function recount(id: string): Promise<void> {
    await edit(id, async (doc) => {
      const archived = await membership.archived(doc.playlist_entries.map(({ platform_id }) => platform_id))
      return { playlist_entries: withFlags(doc, (videoId) => archived.has(videoId)) }
    })
  }

  async function prepareEnd(id: string): Promise<void> {
    for (const prepare of app.hook('playlist.unsubscribe')) await prepare(id)
  }

  function drop(id: string, { isArtKept = false } = {}): Promise<void> {
    return locks.exclusive(id, async () => {
      await prepareEnd(id)
      await membership.takeAll(id)
      if (!isArtKept) await app.media.removeArt('playlist', id)
      await app.accounts.dropFromViews('playlist', id)
      await collection.remove(id, { visible: true })
      await app.emit('playlist.renewed', { id })
    })
  }

  async function exists(id: string): Promise<boolean> {
    return rows.get(id) !== undefined || has(id)
  }

  /** Removes the entries from custom playlists, and marks them as not archived in the platform's. */
  async function forget(videoIds: readonly string[]): Promise<void> {
    const holding: PlaylistFilter = { in: ['entry', videoIds] }
    const custom = await idsWhere({ and: [holding, { eq: ['playlist_type', 'custom'] }] })
    await rows.unsettleUnknown(custom)
    for (const id of custom) if (!leaving.has(id)) await projection.project(id)
    for (const id of await rows.forgetVideos(videoIds)) if (!leaving.has(id)) await projection.project(id)
    await flag(videoIds, false)
  }

  /**
   * Marks these videos as archived or not archived in the platform's playlists.
   * @returns by video, the playlists that list it
   */
  async function flag(videoIds: readonly string[], isArchived: boolean): Promise<Map<string, Set<string>>> {
    const meant = new Set(videoIds)
    const listed = new Map<string, Set<string>>()
    const filter: PlaylistFilter = { and: [{ in: ['entry', videoIds] }, { eq: ['playlist_type', 'regular'] }] }
    const ids = (await idsWhere(filter)).filter((id) => !leaving.has(id))
    // Edited together, because each commit of the index costs more than the playlists in it.
    for (const some of chunksOf(ids, EDITED_TOGETHER))
      await Promise.all(
        some.map((id) =>
          edit(id, (doc) => {
            for (const { platform_id: one } of doc.playlist_entries)
              if (meant.has(one)) listed.set(one, (listed.get(one) ?? new Set()).add(id))
            return { playlist_entries: withFlags(doc, (one, was) => (meant.has(one) ? isArchived : was)) }
          }),
        ),
      )
    return listed
  }

  /** Finds the ids by an aggregation, because reading the documents takes long: they may have thousands of entries. */
  async function idsWhere(filter: PlaylistFilter): Promise<string[]> {
    const rows = await collection.aggregate({ filter, groupBy: ['playlist_id'] })
    return rows.map(({ key }) => String(key[0])).sort()
  }

  function reportCut({ id, name = id, count, entries }: PlaylistMetadata, onCut: IndexOptions['onCut']): void {
    const came = entries.length
    app.log.warn({ playlist: id, came, count }, 'a listing ended early: nothing was removed from the playlist')
    onCut?.(
      count === undefined
        ? say`the list of ${{ name }} ended after ${{ came }} entries: nothing was removed from it`
        : say`the list of ${{ name }} ended after ${{ came }} of ${{ count }} entries: nothing was removed from it`,
    )
  }

  /** Omits placeholders of deleted videos, unless the video is archived: its entry then keeps its title. */
  function toEntries(
    metadata: PlaylistMetadata,
    archived: ReadonlySet<string>,
    before: readonly PlaylistEntry[],
  ): PlaylistEntry[] {
    const known = new Map(before.map((entry) => [entry.platform_id, entry]))
    return metadata.entries.flatMap(({ id, title, uploader, isThere }, idx) => {
      if (!isThere && !archived.has(id)) return []
      const entry = known.get(id)
      const isNamed = isThere && title !== id
      return [
        {
          platform_id: id,
          title: isNamed ? title : (entry?.title ?? title),
          uploader: uploader ?? entry?.uploader ?? null,
          idx,
          downloaded: archived.has(id),
        },
      ]
    })
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

  /** @returns false: another request has added it meanwhile */
  function add(fields: ReturnType<typeof toFields>, metadata: PlaylistMetadata): Promise<boolean> {
    const doc: PlaylistDoc = {
      playlist_id: metadata.id,
      playlist_type: 'regular',
      playlist_subscribed: false,
      playlist_thumbnail: app.media.artUrl('playlist', metadata.id),
      playlist_sort_order: 'top',
      ...{ playlist_name: metadata.id, playlist_description: '', playlist_channel: null, playlist_channel_id: null },
      ...fields,
    }
    return collection.create(metadata.id, doc, { visible: true })
  }

  /** Adds restored videos to the playlists that contained them and that are still in the bin. */
  async function amendBinned(binned: ReadonlyMap<string, Positions>): Promise<void> {
    const absent = new Map<string, PositionedEntry[]>()
    for (const [videoId, positions] of binned)
      for (const [id, place, title, uploader] of positions)
        if (!rows.get(id)) absent.set(id, [...(absent.get(id) ?? []), { videoId, title, uploader, place }])
    for (const [id, entries] of absent) for (const { amend } of app.hook('playlist.bin')) await amend(id, entries)
  }

  async function giveBack(docs: readonly PlaylistDoc[]): Promise<void> {
    for (const { playlist_id: id, ...doc } of docs) {
      await collection.create(id, { playlist_id: id, ...doc }, { visible: true })
      await recount(id)
      // Videos of other channels were not removed with the playlist, but its id was removed from them.
      await membership.add(id, await archivedOf(id))
    }
  }

  /** The archived videos of a playlist, in its order, each once. */
  async function archivedOf(id: string): Promise<string[]> {
    const entries = (await collection.get(id))?.playlist_entries ?? []
    return [...new Set(entries.filter(({ downloaded }) => downloaded).map(({ platform_id }) => platform_id))]
  }

  return {
    ...own,
    ...{ collection, records: records.of, hidden: rows.hidden, has, recount, drop, exists, forgetVideos },
    settle: projection.settleAll,
    addTwins: (signal) => twins.addAll(collection, edit, signal),

    async begin() {
      await projection.begin()
      await twins.begin()
    },

    async compare(older) {
      await projection.compare(older)
      await twins.renew()
    },

    known: (ids) => collection.known(ids),
    seenIn: (view) => seenFilter(SEEN, view),

    get: (id) => collection.get(id),

    subscribed: () => idsWhere({ and: [{ eq: ['playlist_subscribed', true] }, { eq: ['playlist_active', true] }] }),

    async index(metadata, { asker, signal, subscribed, mustExist = false, onCut } = {}) {
      const { id, channelId, channelName } = metadata
      const known = await collection.get(id)
      if (known?.playlist_type === 'custom')
        throw errors.badRequest(say`This is a custom playlist, which is not on ${{ platform: app.platform.name }}`)
      if (mustExist && !(await has(id))) return false
      if (channelId !== null && asker !== undefined)
        await app.channels.ensure(channelId, { asker, signal, name: channelName ?? undefined })
      await fetchArt(metadata, known, signal)
      return locks.exclusive(id, async () => {
        const old = await collection.get(id)
        if (mustExist && !(await has(id))) {
          await app.media.removeArt('playlist', id)
          return false
        }
        const before = old?.playlist_entries ?? []
        const left = before.map(({ platform_id }) => platform_id)
        const present = new Set(metadata.entries.map((entry) => entry.id))
        const lost = new Set(left.filter((videoId) => !present.has(videoId)))
        const kept = isCut(metadata, left) ? before.filter(({ platform_id }) => lost.has(platform_id)) : undefined
        if (kept) reportCut(metadata, onCut)
        else await membership.take(id, [...lost])
        const archived = await membership.archived([...present])
        const isSubscribed = subscribed !== undefined && { playlist_subscribed: subscribed }
        const entries = [...toEntries(metadata, archived, before), ...(kept ?? [])]
        const fields = {
          ...toFields(metadata, kept ? numbered(entries) : entries, epochSeconds(app.clock)),
          ...isSubscribed,
        }
        const isThere = (await edit(id, () => fields)) || (await add(fields, metadata))
        if (!isThere) await edit(id, () => fields)
        // A video that was archived or removed meanwhile could not change its entry, which was not written yet.
        const now = await membership.archived([...present])
        if (!isDeepStrictEqual(now, archived)) await recount(id)
        await membership.add(id, [...now])
        await app.emit('playlist.renewed', { id })
        return true
      })
    },

    isCut: (metadata, { playlist_entries: known }) =>
      isCut(
        metadata,
        known.map(({ platform_id }) => platform_id),
      ),

    async setSubscribed(id, isSubscribed) {
      if (!isSubscribed) await prepareEnd(id)
      return collection.patch(id, { set: { playlist_subscribed: isSubscribed } }, { visible: true })
    },

    setSortOrder: (id, order) => collection.patch(id, { set: { playlist_sort_order: order } }, { visible: true }),

    async setActive(ids, isActive) {
      let changed = 0
      for (const id of ids)
        if (await collection.patch(id, { set: { playlist_active: isActive } }, { visible: true })) changed++
      return changed
    },

    async listing(videoIds) {
      const lists = new Map<string, string[]>()
      // Most videos that are imported together are in no playlist.
      const isAny = (await collection.count({ in: ['entry', videoIds] }, 1)) > 0
      for (const videoId of isAny ? videoIds : []) lists.set(videoId, await idsWhere({ eq: ['entry', videoId] }))
      for (const [videoId, positions] of rows.positionsOf(videoIds)) {
        const shared = positions.flatMap(([id]) => (rows.get(id)?.isShared ? id : []))
        lists.set(videoId, [...new Set([...(lists.get(videoId) ?? []), ...shared])])
      }
      return lists
    },

    async takeIn(videoId) {
      for (const id of await idsWhere({ eq: ['entry', videoId] })) {
        await edit(id, (doc) => {
          const isNew = doc.playlist_entries.some((entry) => entry.platform_id === videoId && !entry.downloaded)
          return isNew ? { playlist_entries: withFlags(doc, (one, was) => was || one === videoId) } : undefined
        })
        await membership.add(id, [videoId])
      }
      await projection.takeIn(videoId)
    },

    async takeInAll() {
      for (const id of await idsWhere({ eq: ['playlist_type', 'regular'] })) {
        await recount(id)
        const archived = await archivedOf(id)
        if (archived.length > 0) await membership.add(id, archived)
      }
      await projection.takeIn()
    },

    forgetVideo: (videoId) => forgetVideos([videoId]),
    positionsOf: rows.positionsOf,

    async putBack(binned, videoIds) {
      for (const id of await rows.putBack(binned, videoIds)) await projection.project(id)
      await amendBinned(binned)
      const listed = await flag(videoIds, true)
      const docs = await app.videos.collection.getMany(videoIds)
      const known = await collection.known([...new Set([...docs.values()].flatMap(({ playlist }) => playlist))])
      await Promise.all(
        [...docs].map(async ([videoId, { playlist }]) => {
          const missing = [...(listed.get(videoId) ?? [])].filter((id) => !playlist.includes(id))
          const lost = playlist.filter((id) => !known.has(id))
          if (missing.length + lost.length > 0)
            await app.videos.change(videoId, { add: { playlist: missing }, remove: { playlist: lost } })
        }),
      )
    },

    async ofChannel(channelId) {
      const ids = await idsWhere({ eq: ['playlist_channel_id', channelId] })
      return [...(await collection.getMany(ids)).values()]
    },

    giveBack,
    ...{ renamedBelongings, checkBelongings },
    customRows: ['playlist_custom', 'playlist_custom_entry'].map((table) => ({
      table,
      id: (row) => `${row}.playlist_id`,
    })),
    customAfter: (id, limit) => rows.after(id, limit).map((list) => list.id),
    ...openPlaylistBelongings(app, { rows, projection, get: (id) => collection.get(id), giveBack }),

    remove: (id, { withVideos = false, by } = {}) =>
      locks.exclusive(`removal of ${id}`, async () => {
        if (!(await exists(id))) throw errors.notFound('playlist', id)
        const removal = randomUUID()
        const outcome = await app.jobs.run(removePlaylist, { id, withVideos, removal, ...(by !== undefined && { by }) })
        return outcome === BINNED ? removal : undefined
      }),

    async removeVideos(id, { signal, progress, removal, by }) {
      const isCustom = rows.get(id) !== undefined || (await collection.get(id))?.playlist_type === 'custom'
      if (isCustom) await projection.taken(id)
      const ids = isCustom ? rows.videoIds(id) : await archivedOf(id)
      leaving.add(id)
      try {
        for (let done = 0; done < ids.length; done += REMOVED_TOGETHER) {
          signal.throwIfAborted()
          // A video that no longer exists is no error.
          await app.videos.removeMany(ids.slice(done, done + REMOVED_TOGETHER), { why: 'playlist', by }, removal)
          progress(Math.min(1, (done + REMOVED_TOGETHER) / ids.length))
        }
      } catch (thrown) {
        leaving.delete(id)
        await (isCustom ? projection.project(id) : recount(id))
        throw thrown
      }
    },

    async finishRemoval(id, options) {
      if ((await collection.get(id))?.playlist_type === 'regular') await drop(id, options)
      else {
        await rows.remove(id)
        await projection.project(id)
      }
      leaving.delete(id)
    },

    async removeOfChannel(channelId, step) {
      for (const id of await idsWhere({ eq: ['playlist_channel_id', channelId] }))
        await step('playlist.drop', () => drop(id))
    },
  }
}

/** The platform's values as a patch; missing ones stay unchanged. */
const toFields = (metadata: PlaylistMetadata, entries: PlaylistEntry[], now: number) => ({
  ...told({
    playlist_name: metadata.name,
    playlist_description: metadata.description,
    playlist_channel: metadata.channelName,
    playlist_channel_id: metadata.channelId,
    art: metadata.thumbnail,
  }),
  playlist_active: true,
  playlist_last_refresh: localDay(now),
  playlist_entries: entries,
  refreshed_at: now,
})

/** Unchanged entries are not copied, because the removal of many videos calls this often, with thousands of entries. */
const withFlags = (
  doc: PlaylistDoc,
  isArchived: (videoId: string, isDownloaded: boolean) => boolean,
): PlaylistEntry[] =>
  doc.playlist_entries.map((entry) => {
    const downloaded = isArchived(entry.platform_id, entry.downloaded)
    return downloaded === entry.downloaded ? entry : { ...entry, downloaded }
  })

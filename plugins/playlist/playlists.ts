/** The service `playlists`: the one home of playlist documents, and of what they say in videos. */
import {
  type Collection,
  epochSeconds,
  errors,
  type Filter,
  isAppError,
  localDay,
  type NamesOf,
  openLocks,
  type Step,
  say,
  told,
  type Words,
} from 'archivolt'
import type { PlaylistMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { CustomPlaylists } from './custom.ts'
import { CustomRows } from './custom-rows.ts'
import { isCut } from './cut-listing.ts'
import { type EditPlaylist, openEdits } from './edits.ts'
import { numbered } from './entry-order.ts'
import { gathered } from './gather.ts'
import { openPlaylistRecords, type PlaylistRecords } from './join-records.ts'
import { Membership } from './membership.ts'
import { type OwnPlaylists, openOwnPlaylists } from './own.ts'
import { Projection } from './projection.ts'
import { type PlaylistDoc, type PlaylistEntry, playlistIndex } from './schema.ts'
import { removePlaylist } from './tasks.ts'

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
  /** Told where the listing ended early: what it names was added, and nothing was taken away. */
  onCut?: (told: Words) => void
}

/** What they change in other playlists is then written once. */
const REMOVED_TOGETHER = 20

type PlaylistName = NamesOf<typeof playlistIndex>
type PlaylistFilter = Filter<PlaylistName>

export interface Playlists extends OwnPlaylists {
  readonly collection: Collection<PlaylistDoc, PlaylistName>
  /** Records of contract 5.3 for documents that a search has found. */
  readonly records: PlaylistRecords['of']
  known(ids: readonly string[]): Promise<Set<string>>
  has(id: string): Promise<boolean>
  /** What a playlist says of its entries, from what is archived now: after something has gone wrong half way. */
  recount(id: string): Promise<void>
  drop(id: string): Promise<void>
  /** In the ledger or in the index, whoever sees it. */
  exists(id: string): Promise<boolean>
  get(id: string): Promise<PlaylistDoc | undefined>
  /** Rows and documents of custom playlists agree where something was cut off: once all is open. */
  begin(): Promise<void>
  settle(step: Step): Promise<void>
  /** Rows and documents of custom playlists are of different times. @param older  which of them is from the earlier */
  compare(older: 'ledger' | 'index'): Promise<void>
  /** Ids of all that are subscribed to and still on the platform. */
  subscribed(): Promise<string[]>
  /**
   * Writes what the platform says of a playlist: its channel, art, entries with their flags, and the membership of
   * archived videos. What the platform says nothing of stays as it was known.
   * Doing it twice is harmless. A custom playlist is no playlist of the platform: bad_request.
   * @returns false: not ours, where it must be
   */
  index(metadata: PlaylistMetadata, options?: IndexOptions): Promise<boolean>
  /** @returns false: not ours */
  setSubscribed(id: string, isSubscribed: boolean): Promise<boolean>
  /** Which end of the platform's list is new. @returns false: not ours */
  setSortOrder(id: string, order: 'top' | 'bottom'): Promise<boolean>
  /** Whether the platform still has them. @returns how many were ours */
  setActive(ids: readonly string[], isActive: boolean): Promise<number>
  /** A video has come into the archive: playlists of the platform that list it say so, and it says so too. */
  takeIn(videoId: string): Promise<void>
  /** Many videos have come at once: each playlist of the platform says what it has now, and so do they. */
  takeInAll(): Promise<void>
  /** Videos go: playlists of the platform keep their entries, custom ones do not. */
  forgetVideos(videoIds: readonly string[]): Promise<void>
  forgetVideo(videoId: string): Promise<void>
  /**
   * Removes the playlist, and with `withVideos` all archived videos in it.
   * @throws not_found; unavailable: a file cannot be moved; then the playlist and that video stay
   */
  remove(id: string, options?: { withVideos?: boolean | undefined }): Promise<void>
  /** The videos of a playlist that is about to go. */
  removeVideos(id: string, options: { signal: AbortSignal; progress: (fraction: number) => void }): Promise<void>
  /** The last part of a removal: the id in videos, art, document, and what the ledger has of it. */
  finishRemoval(id: string): Promise<void>
  /** A channel goes, and with it what it has listed; its videos are gone already. */
  removeOfChannel(channelId: string, step: Step): Promise<void>
}

class PlaylistDocs implements Omit<Playlists, keyof OwnPlaylists> {
  readonly #app: App
  readonly collection: Playlists['collection']
  readonly #edit: EditPlaylist
  readonly #membership: Membership
  readonly #rows: CustomRows
  readonly #projection: Projection
  /**
   * Playlists whose removal takes their videos along: what those removals would change in them is gone in a moment
   * anyway.
   */
  readonly #leaving = new Set<string>()
  /** What is read of a playlist and its removal go one after the other, each with all that it writes. */
  readonly #locks = openLocks()
  readonly #forgetTogether: (videoIds: readonly string[]) => Promise<void>
  readonly own: OwnPlaylists
  readonly records: Playlists['records']

  constructor(app: App) {
    this.#app = app
    const collection = app.index.collection(playlistIndex)
    this.collection = collection
    this.#edit = openEdits(collection, app)
    const membership = new Membership(app)
    this.#membership = membership
    const rows = new CustomRows(app)
    this.#rows = rows
    const records = openPlaylistRecords(app, rows)
    this.records = records.of
    const projection = new Projection(app, { rows, collection, membership, drop: (id) => this.drop(id) })
    this.#projection = projection
    const custom = new CustomPlaylists(app, { rows, membership, records })
    const archivedOf = (id: string) => this.#archivedOf(id)
    this.own = openOwnPlaylists(app, { rows, collection, custom, projection, records, archivedOf })
    this.#forgetTogether = gathered((lists: Array<readonly string[]>) => this.#forget(lists.flat()))
  }

  known(ids: readonly string[]): Promise<Set<string>> {
    return this.collection.known(ids)
  }

  async has(id: string): Promise<boolean> {
    return (await this.known([id])).has(id)
  }

  async recount(id: string): Promise<void> {
    await this.#edit(id, async (doc) => {
      const archived = await this.#membership.archived(doc.playlist_entries.map(({ platform_id }) => platform_id))
      return { playlist_entries: withFlags(doc, (videoId) => archived.has(videoId)) }
    })
  }

  drop(id: string): Promise<void> {
    return this.#locks.exclusive(id, async () => {
      await this.#membership.takeAll(id)
      await this.#app.media.removeArt('playlist', id)
      await this.#app.accounts.dropFromViews('playlist', id)
      await this.collection.remove(id, { visible: true })
    })
  }

  async exists(id: string): Promise<boolean> {
    return this.#rows.get(id) !== undefined || this.has(id)
  }

  get(id: string): Promise<PlaylistDoc | undefined> {
    return this.collection.get(id)
  }

  begin(): Promise<void> {
    return this.#projection.begin()
  }

  settle(step: Step): Promise<void> {
    return this.#projection.settleAll(step)
  }

  compare(older: 'ledger' | 'index'): Promise<void> {
    return this.#projection.compare(older)
  }

  subscribed(): Promise<string[]> {
    return this.#idsWhere({ and: [{ eq: ['playlist_subscribed', true] }, { eq: ['playlist_active', true] }] })
  }

  async index(
    metadata: PlaylistMetadata,
    { asker, signal, subscribed, mustExist = false, onCut }: IndexOptions = {},
  ): Promise<boolean> {
    const { id, channelId, channelName } = metadata
    const known = await this.collection.get(id)
    if (known?.playlist_type === 'custom')
      throw errors.badRequest(say`A custom playlist is not on ${{ platform: this.#app.platform.name }}`)
    if (mustExist && !(await this.has(id))) return false
    if (channelId !== null && asker !== undefined)
      await this.#app.channels.ensure(channelId, { asker, signal, name: channelName ?? undefined })
    await this.#fetchArt(metadata, known, signal)
    return this.#locks.exclusive(id, async () => {
      const old = await this.collection.get(id)
      if (mustExist && !(await this.has(id))) {
        await this.#app.media.removeArt('playlist', id)
        return false
      }
      const before = old?.playlist_entries ?? []
      const left = before.map(({ platform_id }) => platform_id)
      const present = new Set(metadata.entries.map((entry) => entry.id))
      const lost = new Set(left.filter((videoId) => !present.has(videoId)))
      const kept = isCut(metadata, left) ? before.filter(({ platform_id }) => lost.has(platform_id)) : undefined
      if (kept) this.#tellCut(metadata, onCut)
      else await this.#membership.take(id, [...lost])
      const archived = await this.#membership.archived([...present])
      const isSubscribed = subscribed !== undefined && { playlist_subscribed: subscribed }
      const entries = [...this.#toEntries(metadata, archived, before), ...(kept ?? [])]
      const fields = {
        ...toFields(metadata, kept ? numbered(entries) : entries, epochSeconds(this.#app.clock)),
        ...isSubscribed,
      }
      const isThere = (await this.#edit(id, () => fields)) || (await this.#add(fields, metadata))
      if (!isThere) await this.#edit(id, () => fields)
      await this.#membership.add(id, [...archived])
      return true
    })
  }

  setSubscribed(id: string, isSubscribed: boolean): Promise<boolean> {
    return this.collection.patch(id, { set: { playlist_subscribed: isSubscribed } }, { visible: true })
  }

  setSortOrder(id: string, order: 'top' | 'bottom'): Promise<boolean> {
    return this.collection.patch(id, { set: { playlist_sort_order: order } }, { visible: true })
  }

  async setActive(ids: readonly string[], isActive: boolean): Promise<number> {
    let changed = 0
    for (const id of ids)
      if (await this.collection.patch(id, { set: { playlist_active: isActive } }, { visible: true })) changed++
    return changed
  }

  async takeIn(videoId: string): Promise<void> {
    for (const id of await this.#holding(videoId)) {
      await this.#edit(id, (doc) => {
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
      await this.#membership.add(id, [videoId])
    }
    await this.#projection.takeIn(videoId)
  }

  async takeInAll(): Promise<void> {
    for (const id of await this.#idsWhere({ eq: ['playlist_type', 'regular'] })) {
      await this.recount(id)
      const archived = await this.#archivedOf(id)
      if (archived.length > 0) await this.#membership.add(id, archived)
    }
    await this.#projection.takeIn()
  }

  forgetVideo(videoId: string): Promise<void> {
    return this.forgetVideos([videoId])
  }

  forgetVideos(videoIds: readonly string[]): Promise<void> {
    return this.#forgetTogether(videoIds)
  }

  remove(id: string, { withVideos = false } = {}): Promise<void> {
    return this.#locks.exclusive(`removal of ${id}`, async () => {
      if (!(await this.exists(id))) throw errors.notFound('playlist', id)
      await this.#app.jobs.run(removePlaylist, { id, withVideos })
    })
  }

  async removeVideos(
    id: string,
    { signal, progress }: { signal: AbortSignal; progress: (fraction: number) => void },
  ): Promise<void> {
    const isCustom = this.#rows.get(id) !== undefined || (await this.get(id))?.playlist_type === 'custom'
    if (isCustom) await this.#projection.taken(id)
    const ids = isCustom ? this.#rows.videoIds(id) : await this.#archivedOf(id)
    this.#leaving.add(id)
    try {
      for (let done = 0; done < ids.length; done += REMOVED_TOGETHER) {
        signal.throwIfAborted()
        const removals = await Promise.allSettled(
          ids.slice(done, done + REMOVED_TOGETHER).map((videoId) => this.#app.videos.remove(videoId)),
        )
        for (const removal of removals) {
          // Gone already, in an earlier run or by somebody else, is as good.
          if (removal.status === 'rejected' && !isAppError(removal.reason, 'not_found')) throw removal.reason
        }
        progress(Math.min(1, (done + REMOVED_TOGETHER) / ids.length))
      }
    } catch (thrown) {
      this.#leaving.delete(id)
      await (isCustom ? this.#projection.project(id) : this.recount(id))
      throw thrown
    }
  }

  async finishRemoval(id: string): Promise<void> {
    if ((await this.get(id))?.playlist_type === 'regular') await this.drop(id)
    else {
      await this.#rows.remove(id)
      await this.#projection.project(id)
    }
    this.#leaving.delete(id)
  }

  async removeOfChannel(channelId: string, step: Step): Promise<void> {
    for (const id of await this.#idsWhere({ eq: ['playlist_channel_id', channelId] }))
      await step('playlist.drop', () => this.drop(id))
  }

  /** Custom playlists lose the entries; those of the platform say that they are not archived. */
  async #forget(videoIds: readonly string[]): Promise<void> {
    const holding: PlaylistFilter = { in: ['entry', videoIds] }
    const custom = await this.#idsWhere({ and: [holding, { eq: ['playlist_type', 'custom'] }] })
    await this.#rows.unsettleUnknown(custom)
    for (const id of custom) if (!this.#leaving.has(id)) await this.#projection.project(id)
    for (const id of await this.#rows.forgetVideos(videoIds))
      if (!this.#leaving.has(id)) await this.#projection.project(id)
    const gone = new Set(videoIds)
    for (const id of await this.#idsWhere({ and: [holding, { eq: ['playlist_type', 'regular'] }] })) {
      if (this.#leaving.has(id)) continue
      await this.#edit(id, (doc) => ({
        playlist_entries: withFlags(doc, (entryId, isDownloaded) => isDownloaded && !gone.has(entryId)),
      }))
    }
  }

  /** As groups: the documents, which may have thousands of entries, are not read. */
  async #idsWhere(filter: PlaylistFilter): Promise<string[]> {
    const rows = await this.collection.aggregate({ filter, groupBy: ['playlist_id'] })
    return rows.map(({ key }) => String(key[0])).sort()
  }

  #holding(videoId: string): Promise<string[]> {
    return this.#idsWhere({ eq: ['entry', videoId] })
  }

  #tellCut({ id, name = id, count, entries }: PlaylistMetadata, onCut: IndexOptions['onCut']): void {
    const came = entries.length
    this.#app.log.warn({ playlist: id, came, count }, 'a listing ended early: nothing was taken out of the playlist')
    onCut?.(
      count === undefined
        ? say`the list of ${{ name }} ended after ${{ came }} entries: nothing was taken out of it`
        : say`the list of ${{ name }} ended after ${{ came }} of ${{ count }} entries: nothing was taken out of it`,
    )
  }

  /** Placeholders of what is gone from the platform are left out, unless we have it: then it keeps its title. */
  #toEntries(
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

  async #fetchArt(metadata: PlaylistMetadata, old: PlaylistDoc | undefined, signal?: AbortSignal): Promise<void> {
    if (metadata.thumbnail === undefined) return
    if (old?.art === metadata.thumbnail && (await this.#app.media.hasArt('playlist', metadata.id))) return
    await this.#app.media.fetchArt('playlist', metadata.id, metadata.thumbnail, signal)
  }

  /** @returns false: somebody else has added it meanwhile */
  #add(fields: ReturnType<typeof toFields>, metadata: PlaylistMetadata): Promise<boolean> {
    const doc: PlaylistDoc = {
      playlist_id: metadata.id,
      playlist_type: 'regular',
      playlist_subscribed: false,
      playlist_thumbnail: this.#app.media.artUrl('playlist', metadata.id),
      playlist_sort_order: 'top',
      ...{ playlist_name: metadata.id, playlist_description: '', playlist_channel: null, playlist_channel_id: null },
      ...fields,
    }
    return this.collection.create(metadata.id, doc, { visible: true })
  }

  /** Its archived videos, in its order, each once. */
  async #archivedOf(id: string): Promise<string[]> {
    const entries = (await this.collection.get(id))?.playlist_entries ?? []
    return [...new Set(entries.filter(({ downloaded }) => downloaded).map(({ platform_id }) => platform_id))]
  }
}

export function openPlaylists(app: App): Playlists {
  const docs = new PlaylistDocs(app)
  return Object.assign(docs, docs.own)
}

/** What the platform says, for a patch: what it says nothing of stays as it was known. */
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

/** Entries that stay are not copied: a removal of many videos comes here once for each, over lists of thousands. */
const withFlags = (
  doc: PlaylistDoc,
  isArchived: (videoId: string, isDownloaded: boolean) => boolean,
): PlaylistEntry[] =>
  doc.playlist_entries.map((entry) => {
    const downloaded = isArchived(entry.platform_id, entry.downloaded)
    return downloaded === entry.downloaded ? entry : { ...entry, downloaded }
  })

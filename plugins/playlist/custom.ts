/** Custom playlists that are shared: of archived videos, in an order of somebody's own (contract 9.6). */
import { type Collection, chunksOf, type DocOf, epochSeconds, errors, localDay, type NamesOf, say } from 'archivolt'
import type { App } from './app.ts'
import type { EditPlaylist } from './edits.ts'
import { type Action, moved, neighbour, numbered } from './entry-order.ts'
import type { OwnEntry } from './own-rows.ts'
import type { PlaylistDoc, PlaylistEntry, playlistIndex } from './schema.ts'

const CHUNK = 1000
/** Entries whose art is looked for: beyond them the playlist goes without a picture. */
const ART_AMONG = 50

export interface CustomAction {
  action: Action
  videoId: string
  /** With `move`: the place in the whole list, from 0. */
  index?: number
  /** Up and down jump over what this account has watched. */
  hideWatchedBy?: number | undefined
}

export class CustomPlaylists {
  readonly #app: App
  readonly #collection: Collection<DocOf<typeof playlistIndex>, NamesOf<typeof playlistIndex>>
  readonly #edit: EditPlaylist

  constructor(
    app: App,
    collection: Collection<DocOf<typeof playlistIndex>, NamesOf<typeof playlistIndex>>,
    edit: EditPlaylist,
  ) {
    this.#app = app
    this.#collection = collection
    this.#edit = edit
  }

  async toEntry(videoId: string): Promise<PlaylistEntry> {
    const video = await this.#app.videos.get(videoId)
    if (!video) throw errors.notFound('video', videoId)
    const names = await this.#app.channels.names([video.channel_id])
    return {
      platform_id: videoId,
      title: video.title,
      uploader: names.get(video.channel_id) ?? null,
      idx: 0,
      downloaded: true,
    }
  }

  /** Of some entries the first that an account sees which hides what it has watched. undefined: nothing is hidden. */
  firstShown(
    hideWatchedBy: number | undefined,
  ): (ids: readonly string[]) => string | Promise<string | undefined> | undefined {
    return (ids: readonly string[]) => (hideWatchedBy === undefined ? ids[0] : this.#firstUnwatched(ids, hideWatchedBy))
  }

  /** The first picture of its videos is its own. One that cannot be had is no error. */
  async takeThumbnail(id: string, before: readonly string[], after: readonly string[]): Promise<void> {
    try {
      const first = await this.#firstWithArt(after)
      if (first === undefined) return await this.#app.media.removeArt('playlist', id)
      if (first === (await this.#firstWithArt(before)) && (await this.#app.media.hasArt('playlist', id))) return
      await this.#app.media.keepArt('playlist', id, this.#app.media.artPathOf('video', first))
    } catch (err) {
      this.#app.log.warn({ err, playlist: id }, 'the thumbnail of a custom playlist could not be made')
    }
  }

  /** @throws not_found; bad_request: it is not custom */
  async mustBeCustom(id: string): Promise<void> {
    this.#refuseUnlessCustom(await this.#collection.get(id), id)
  }

  /** Writes all of it. */
  async put(id: string, name: string, entries: readonly OwnEntry[]): Promise<void> {
    const thumbnail = this.#app.media.artUrl('playlist', id)
    await this.#collection.put(
      id,
      customDoc({ id, name, thumbnail, entries, changedAt: epochSeconds(this.#app.clock) }),
      {
        visible: true,
      },
    )
  }

  /** @throws not_found; bad_request: it is not custom */
  async rename(id: string, name: string): Promise<void> {
    const isThere = await this.#edit(id, (doc) => {
      this.#refuseUnlessCustom(doc, id)
      return { playlist_name: name, ...this.#edited() }
    })
    if (!isThere) throw errors.notFound('playlist', id)
  }

  /**
   * @returns its videos before and after, for `takeThumbnail`
   * @throws not_found: playlist, video, or the video is not in it; bad_request: it is not custom
   */
  async act(id: string, action: CustomAction): Promise<{ before: string[]; after: string[] }> {
    let before: PlaylistEntry[] = []
    let after: PlaylistEntry[] = []
    const isThere = await this.#edit(id, async (doc) => {
      this.#refuseUnlessCustom(doc, id)
      before = doc.playlist_entries
      after = await this.#entriesAfter(doc, action)
      return { ...(after !== before && { playlist_entries: numbered(after) }), ...this.#edited() }
    })
    if (!isThere) throw errors.notFound('playlist', id)
    return { before: idsOf(before), after: idsOf(after) }
  }

  #edited(): { playlist_last_refresh: string; refreshed_at: number } {
    const now = epochSeconds(this.#app.clock)
    return { playlist_last_refresh: localDay(now), refreshed_at: now }
  }

  /** @throws not_found, bad_request: it is the platform's */
  #refuseUnlessCustom(doc: PlaylistDoc | undefined, id: string): asserts doc is PlaylistDoc {
    if (!doc) throw errors.notFound('playlist', id)
    if (doc.playlist_type !== 'custom')
      throw errors.badRequest(
        say`Only custom playlists can be edited; this one is read from ${{ platform: this.#app.platform.name }}`,
      )
  }

  async #firstUnwatched(ids: readonly string[], userId: number): Promise<string | undefined> {
    for (const some of chunksOf(ids, CHUNK)) {
      const { hits } = await this.#app.videos.collection.find({
        ids: some,
        filter: { not: { eq: ['watched_by', String(userId)] } },
        size: 1,
        withoutTotal: true,
        withoutTexts: true,
      })
      if (hits[0]) return hits[0].id
    }
    return undefined
  }

  /** The entries after an action, or the same ones where nothing changes. */
  async #entriesAfter(
    { playlist_id, playlist_entries: entries }: PlaylistDoc,
    { action, videoId, index = 0, hideWatchedBy }: CustomAction,
  ): Promise<PlaylistEntry[]> {
    const at = entries.findIndex(({ platform_id }) => platform_id === videoId)
    if (action === 'create') {
      const entry = await this.toEntry(videoId)
      // The video says it first: when this is cut off, a repetition finds what is left to do.
      await this.#app.videos.change(videoId, { add: { playlist: [playlist_id] } })
      return at < 0 ? [...entries, entry] : entries
    }
    if (at < 0) throw errors.notFound('video in this playlist', videoId)
    if (action === 'remove') {
      await this.#app.videos.change(videoId, { remove: { playlist: [playlist_id] } })
      return entries.toSpliced(at, 1)
    }
    const to = await this.#placeAfter(entries, at, action, index, hideWatchedBy)
    return to === undefined || to === at ? entries : moved(entries, at, to)
  }

  async #placeAfter(
    entries: readonly PlaylistEntry[],
    at: number,
    action: Action,
    index: number,
    hideWatchedBy: number | undefined,
  ): Promise<number | undefined> {
    if (action === 'top') return 0
    if (action === 'bottom') return entries.length - 1
    if (action === 'move') return Math.min(index, entries.length - 1)
    return neighbour(idsOf(entries), at, action === 'up' ? -1 : 1, this.firstShown(hideWatchedBy))
  }

  async #firstWithArt(ids: readonly string[]): Promise<string | undefined> {
    for (const id of ids.slice(0, ART_AMONG)) if (await this.#app.media.hasArt('video', id)) return id
    return undefined
  }
}

const idsOf = (entries: readonly PlaylistEntry[]): string[] => entries.map(({ platform_id }) => platform_id)

/** A custom playlist of archived videos, whoever sees it. */
export function customDoc({
  id,
  name,
  thumbnail,
  entries,
  changedAt,
}: {
  id: string
  name: string
  thumbnail: string
  entries: readonly OwnEntry[]
  /** Epoch seconds. */
  changedAt: number
}): PlaylistDoc {
  return {
    playlist_id: id,
    playlist_type: 'custom',
    playlist_name: name,
    playlist_description: '',
    playlist_channel: null,
    playlist_channel_id: null,
    playlist_subscribed: false,
    playlist_active: false,
    playlist_last_refresh: localDay(changedAt),
    playlist_thumbnail: thumbnail,
    playlist_sort_order: 'top',
    playlist_entries: entries.map(({ videoId, title, uploader }, idx) => ({
      platform_id: videoId,
      title,
      uploader,
      idx,
      downloaded: true,
    })),
    refreshed_at: changedAt,
  }
}

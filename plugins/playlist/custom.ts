/** Custom playlists: made here, of archived videos, in an order of the user's own (contract 9.6). */
import { randomUUID } from 'node:crypto'
import { type Collection, chunksOf, type DocOf, epochSeconds, errors, localDay, type NamesOf } from 'archivolt'
import type { App } from './app.ts'
import type { openEdits } from './edits.ts'
import { type Action, moved, neighbour, numbered } from './entry-order.ts'
import type { PlaylistDoc, PlaylistEntry, playlistIndex } from './schema.ts'

const CHUNK = 1000
/** Entries whose art is looked for: beyond them the playlist goes without a picture. */
const ART_AMONG = 50

interface CustomAction {
  action: Action
  videoId: string
  /** With `move`: the place in the whole list, from 0. */
  index?: number
  /** Up and down jump over watched videos. */
  hideWatched: boolean
}

export function openCustom(
  app: App,
  collection: Collection<DocOf<typeof playlistIndex>, NamesOf<typeof playlistIndex>>,
  edit: ReturnType<typeof openEdits>,
) {
  const edited = () => {
    const now = epochSeconds(app.clock)
    return { playlist_last_refresh: localDay(now), refreshed_at: now }
  }

  /** @throws not_found, bad_request: it is the platform's */
  function refuseUnlessCustom(doc: PlaylistDoc | undefined, id: string): asserts doc is PlaylistDoc {
    if (!doc) throw errors.notFound('playlist', id)
    if (doc.playlist_type !== 'custom')
      throw errors.badRequest(`Only custom playlists can be edited; this one is read from ${app.platform.name}`)
  }

  async function toEntry(videoId: string): Promise<PlaylistEntry> {
    const video = await app.videos.get(videoId)
    if (!video) throw errors.notFound('video', videoId)
    const names = await app.channels.names([video.channel_id])
    return {
      platform_id: videoId,
      title: video.title,
      uploader: names.get(video.channel_id) ?? null,
      idx: 0,
      downloaded: true,
    }
  }

  async function firstUnwatched(ids: readonly string[]): Promise<string | undefined> {
    for (const some of chunksOf(ids, CHUNK)) {
      const { hits } = await app.videos.collection.find({
        ids: some,
        filter: { eq: ['watched', false] },
        size: 1,
        withoutTotal: true,
      })
      if (hits[0]) return hits[0].id
    }
    return undefined
  }

  /** The entries after an action, or the same ones where nothing changes. */
  async function entriesAfter(
    { playlist_id, playlist_entries: entries }: PlaylistDoc,
    { action, videoId, index = 0, hideWatched }: CustomAction,
  ): Promise<PlaylistEntry[]> {
    const at = entries.findIndex(({ platform_id }) => platform_id === videoId)
    if (action === 'create') {
      const entry = await toEntry(videoId)
      // The video says it first: when this is cut off, a repetition finds what is left to do.
      await app.videos.change(videoId, { add: { playlist: [playlist_id] } })
      return at < 0 ? [...entries, entry] : entries
    }
    if (at < 0) throw errors.notFound('video in this playlist', videoId)
    if (action === 'remove') {
      await app.videos.change(videoId, { remove: { playlist: [playlist_id] } })
      return entries.toSpliced(at, 1)
    }
    const to = await placeAfter(entries, at, action, index, hideWatched)
    return to === undefined || to === at ? entries : moved(entries, at, to)
  }

  async function placeAfter(
    entries: readonly PlaylistEntry[],
    at: number,
    action: Action,
    index: number,
    hideWatched: boolean,
  ): Promise<number | undefined> {
    if (action === 'top') return 0
    if (action === 'bottom') return entries.length - 1
    if (action === 'move') return Math.min(index, entries.length - 1)
    return neighbour(entries, at, action === 'up' ? -1 : 1, hideWatched ? firstUnwatched : (ids) => ids[0])
  }

  async function firstWithArt(entries: readonly PlaylistEntry[]): Promise<string | undefined> {
    for (const { platform_id } of entries.slice(0, ART_AMONG))
      if (await app.media.hasArt('video', platform_id)) return platform_id
    return undefined
  }

  /** The first picture of its videos is its own. One that cannot be had is no error. */
  async function takeThumbnail(
    id: string,
    before: readonly PlaylistEntry[],
    after: readonly PlaylistEntry[],
  ): Promise<void> {
    try {
      const first = await firstWithArt(after)
      if (first === undefined) return await app.media.removeArt('playlist', id)
      if (first === (await firstWithArt(before)) && (await app.media.hasArt('playlist', id))) return
      await app.media.keepArt('playlist', id, app.media.artPathOf('video', first))
    } catch (err) {
      app.log.warn({ err, playlist: id }, 'the thumbnail of a custom playlist could not be made')
    }
  }

  return {
    /** @throws not_found; bad_request: it is not custom */
    async mustBeCustom(id: string): Promise<void> {
      refuseUnlessCustom(await collection.get(id), id)
    },

    /** @returns its id */
    async create(name: string): Promise<string> {
      const id = `${app.settings.prefix}_playlist_${randomUUID()}`
      const doc: PlaylistDoc = {
        playlist_id: id,
        playlist_type: 'custom',
        playlist_name: name,
        playlist_description: '',
        playlist_channel: null,
        playlist_channel_id: null,
        playlist_subscribed: false,
        playlist_active: false,
        playlist_thumbnail: app.media.artUrl('playlist', id),
        playlist_sort_order: 'top',
        playlist_entries: [],
        ...edited(),
      }
      await collection.put(id, doc, { visible: true })
      return id
    },

    /** @throws not_found: playlist, video, or the video is not in it; bad_request: it is not custom */
    async act(id: string, action: CustomAction): Promise<void> {
      let before: PlaylistEntry[] = []
      let after: PlaylistEntry[] = []
      const change = () =>
        edit(id, async (doc) => {
          refuseUnlessCustom(doc, id)
          before = doc.playlist_entries
          after = await entriesAfter(doc, action)
          return { ...(after !== before && { playlist_entries: numbered(after) }), ...edited() }
        })
      // A removal of the video, which takes it out of its playlists, is over or has not begun. It edits while it is
      // alone: not the other way round.
      const isThere = await (action.action === 'create' ? app.videos.exclusive(action.videoId, change) : change())
      if (!isThere) throw errors.notFound('playlist', id)
      await takeThumbnail(id, before, after)
    },
  }
}

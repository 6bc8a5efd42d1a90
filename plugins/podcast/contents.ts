/** The contents of a feed for its account: title, picture and videos. The index applies the view of the account. */
import { type Actor, chunksOf, errors } from 'archivolt'
import type { ArtKind } from '../media/types.ts'
import type { VideoFilter, VideoQuery } from '../video/listing.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import type { Feed } from './feeds.ts'

/** The number of items that podcast apps accept. */
export const MOST_ITEMS = 1000
const READ_TOGETHER = 100

export interface FeedHead {
  title: string
  description: string
  author: string
  /** Path of the page, relative to the base address. */
  page: string
  /** Omitted: the target has no picture of its own. */
  art?: { kind: ArtKind; id: string }
}

type Shown = Pick<Feed, 'kind' | 'target'>

export function openContents({ channels, media, playlists, videos }: App) {
  /** @throws not_found: the target does not exist, or is hidden from this account */
  async function headOf({ kind, target }: Shown, actor: Actor): Promise<FeedHead> {
    if (kind === 'search') {
      const page = `search/?q=${encodeURIComponent(`video:${target}`)}`
      return { title: target, description: '', author: 'Archivolt', page }
    }
    if (kind === 'group') {
      const group = channels.group(Number(target), actor)
      if (!group) throw errors.notFound('group', target)
      return { title: group.name, description: '', author: 'Archivolt', page: '' }
    }
    if (kind === 'channel') {
      const channel = await channels.get(target)
      if (!channel) throw errors.notFound('channel', target)
      const { channel_name: title, channel_description: description } = channel
      return {
        title,
        description,
        author: title,
        page: `channel/${target}/`,
        art: { kind: 'channel_thumb', id: target },
      }
    }
    const text = await playlists.record(target, actor)
    if (text === undefined) throw errors.notFound('playlist', target)
    const list = JSON.parse(text) as PlaylistText
    const author = list.playlist_channel ?? 'Archivolt'
    const art = { kind: 'playlist', id: list.playlist_id } as const
    return {
      ...{ title: list.playlist_name, description: list.playlist_description, author },
      ...{ page: `playlist/${target}/`, ...(media.showsArt('playlist', actor.view) && { art }) },
    }
  }

  async function queryOf({ kind, target }: Shown, actor: Actor): Promise<VideoQuery> {
    if (kind === 'playlist') return { ids: ((await playlists.videosOf(target, actor)) ?? []).slice(0, MOST_ITEMS) }
    const sort: VideoQuery['sort'] = [{ by: 'published', order: 'desc' }]
    if (kind === 'channel') return { filter: ofChannel(target), sort }
    if (kind === 'group') return { filter: videos.ofGroup(Number(target), actor), sort }
    return { text: { words: target, match: 'all' }, sort }
  }

  /** The ids of a feed's videos, newest first, or in the playlist's order. */
  async function idsOf(feed: Shown, actor: Actor): Promise<string[]> {
    const query = { ...(await queryOf(feed, actor)), size: MOST_ITEMS, withoutTotal: true, withoutTexts: true }
    const { hits } = await videos.collection.find(query)
    return hits.map(({ id }) => id)
  }

  /** The videos in the same order, in batches, so that a long read does not block others. */
  async function* videosOf(feed: Shown, actor: Actor): AsyncGenerator<VideoDoc[]> {
    for (const ids of chunksOf(await idsOf(feed, actor), READ_TOGETHER)) {
      const docs = await videos.collection.getMany(ids)
      // Some videos may have been removed in the meantime.
      yield ids.flatMap((id) => docs.get(id) ?? [])
    }
  }

  /** @throws not_found: the video is not in this feed */
  async function videoIn(feed: Shown, id: string, actor: Actor): Promise<VideoDoc> {
    const { ids, text, filter } = await queryOf(feed, actor)
    const only: VideoFilter = { eq: ['platform_id', id] }
    const isIn = !ids || ids.includes(id)
    const query: VideoQuery = { text, filter: filter ? { and: [filter, only] } : only, size: 1, withoutTexts: true }
    const video = isIn && (await videos.collection.find(query)).total > 0 ? await videos.get(id) : undefined
    if (!video) throw errors.notFound('video', id)
    return video
  }

  return { headOf, idsOf, videosOf, videoIn }
}

const ofChannel = (id: string): VideoFilter => ({ eq: ['channel_id', id] })

interface PlaylistText {
  playlist_id: string
  playlist_name: string
  playlist_description: string
  playlist_channel: string | null
}

export type Contents = ReturnType<typeof openContents>

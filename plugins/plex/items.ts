/**
 * Finds the document of a rating key, and the items below it, with the view of the account to which the address
 * belongs.
 */
import { type Actor, chunksOf, errors, MAX_WINDOW, Slice } from 'archivolt'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import type { Key } from './keys.ts'
import { type Item, openRecords, type Show } from './records.ts'
import { type Episode, seasonsIn } from './shelf.ts'

/** The account of the request, and the address that was used. */
export interface Asker {
  actor: Actor
  /** Address of the provider, without a trailing slash. */
  address: string
}

export interface Page {
  /** From 0. */
  offset: number
  size: number
}

export interface Part {
  items: Item[]
  offset: number
  total: number
}

const WHOLE: Page = { offset: 0, size: MAX_WINDOW }
const READ_TOGETHER = 50

export function openItems(app: App, { actor, address }: Asker) {
  const { videos, channels, playlists, shelf } = app
  const records = openRecords(app, address)
  const shows = new Map<string, Promise<Show | undefined>>()

  async function readShow(id: string): Promise<Show | undefined> {
    const channel = await channels.get(id)
    // The account may see single videos of a hidden channel.
    if (!channel && (await shelf.episodesOf(id, actor)).length === 0) return undefined
    const { hits } = await videos.collection.find({
      filter: { and: [{ eq: ['channel_id', id] }, { range: ['published', { gt: '' }] }] },
      sort: [{ by: 'published', order: 'asc' }],
      ...{ size: 1, withoutTotal: true },
    })
    const published = hits[0] ? (JSON.parse(hits[0].text) as { published: string }).published : ''
    const name = channel?.channel_name ?? (await channels.names([id])).get(id) ?? id
    return { id, name, description: channel?.channel_description ?? '', published, isHidden: !channel }
  }

  /** undefined: the account sees none of the channel's videos */
  function show(id: string): Promise<Show | undefined> {
    const found = shows.get(id) ?? readShow(id)
    shows.set(id, found)
    return found
  }

  async function existing(id: string): Promise<Show> {
    const found = await show(id)
    if (!found) throw errors.notFound('show')
    return found
  }

  const seasonItems = async (of: Show): Promise<Item[]> =>
    Promise.all(
      seasonsIn(await shelf.episodesOf(of.id, actor)).map(({ season, published }) =>
        records.seasonOf(of, season, published),
      ),
    )

  const inSeason = async (id: string, season: number): Promise<Episode[]> =>
    (await shelf.episodesOf(id, actor)).filter((one) => one.season === season)

  async function episodeItem(video: VideoDoc | undefined): Promise<Item[]> {
    const episode = video && shelf.episodeOf(video)
    const of = video && (await show(video.channel_id))
    return video && episode && of ? [await records.episodeOf(video, episode, of)] : []
  }

  /** The items of these ids, in the same order; omits documents that are not episodes or were removed meanwhile. */
  async function episodeItems(ids: readonly string[]): Promise<Item[]> {
    const items: Item[] = []
    const slice = new Slice()
    for (const some of chunksOf(ids, READ_TOGETHER)) {
      const docs = await videos.collection.getMany(some)
      const found = await Promise.all(some.map((id) => episodeItem(docs.get(id))))
      items.push(...found.flat())
      if (slice.isOver) await slice.next()
    }
    return items
  }

  async function episodesIn(ids: readonly string[], { offset, size }: Page): Promise<Part> {
    return { items: await episodeItems(ids.slice(offset, offset + size)), offset, total: ids.length }
  }

  /** @throws not_found */
  async function collection(id: string): Promise<Item> {
    const text = await playlists.record(id, actor)
    if (text === undefined) throw errors.notFound('collection')
    const list = JSON.parse(text) as { playlist_id: string; playlist_name: string; playlist_description: string }
    return records.collectionOf({
      ...{ id: list.playlist_id, name: list.playlist_name, description: list.playlist_description },
      hasPicture: app.media.showsArt('playlist', actor.view),
    })
  }

  async function videosIn(playlist: string): Promise<string[]> {
    const ids = ((await playlists.videosOf(playlist, actor)) ?? []).slice(0, MAX_WINDOW)
    const { hits } = await videos.collection.find({ ids, size: ids.length, withoutTotal: true, withoutTexts: true })
    return hits.map(({ id }) => id)
  }

  /** @throws not_found: the account does not see this item */
  async function item(key: Key): Promise<Item> {
    switch (key.type) {
      case 'show':
        return records.showOf(await existing(key.show))
      case 'season': {
        const of = await existing(key.show)
        const [first] = seasonsIn(await inSeason(key.show, key.season))
        if (!first) throw errors.notFound('season')
        return records.seasonOf(of, key.season, first.published)
      }
      case 'episode': {
        const [found] = await episodeItems([key.video])
        if (!found) throw errors.notFound('episode')
        return found
      }
      case 'collection':
        return collection(key.playlist)
    }
  }

  /** The items directly below an item. An episode has none. @throws not_found */
  async function children(key: Key, page: Page = WHOLE): Promise<Part> {
    switch (key.type) {
      case 'show': {
        const all = await seasonItems(await existing(key.show))
        const { offset, size } = page
        return { items: all.slice(offset, offset + size), offset, total: all.length }
      }
      case 'season': {
        const found = await inSeason(key.show, key.season)
        if (found.length === 0) throw errors.notFound('season')
        return episodesIn(idsOf(found), page)
      }
      case 'episode':
        await item(key)
        return { items: [], offset: page.offset, total: 0 }
      case 'collection':
        await collection(key.playlist)
        return episodesIn(await videosIn(key.playlist), page)
    }
  }

  /** All episodes of a show. @throws not_found */
  async function grandchildren(key: Key, page: Page): Promise<Part> {
    if (key.type === 'show') {
      await existing(key.show)
      return episodesIn(idsOf(await shelf.episodesOf(key.show, actor)), page)
    }
    await item(key)
    return { items: [], offset: page.offset, total: 0 }
  }

  /** Adds all items directly below, which Plex requests in one reply. */
  async function withChildren(one: Item, key: Key): Promise<Item> {
    if (key.type !== 'show' && key.type !== 'season') return one
    const { items } = await children(key)
    return { ...one, Children: { size: items.length, Metadata: items } }
  }

  return { show, item, children, grandchildren, withChildren }
}

export type Items = ReturnType<typeof openItems>

const idsOf = (episodes: readonly Episode[]): string[] => episodes.map(({ id }) => id)

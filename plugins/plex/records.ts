/** The objects that Plex reads (shows, seasons, episodes and collections), in their documented form. */
import { stat } from 'node:fs/promises'
import { isId, xmlText } from 'archivolt'
import type { ArtKind } from '../media/types.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { guidOf, IDENTIFIER, type Key, keyOf } from './keys.ts'
import type { Episode } from './shelf.ts'

const METADATA = '/library/metadata'
const COLLECTIONS = '/library/collections'

export interface Image {
  type: 'coverPoster' | 'background' | 'snapshot'
  url: string
  alt: string
}

export interface Item {
  ratingKey: string
  key: string
  guid: string
  type: Key['type']
  title: string
  originallyAvailableAt: string
  [more: string]: unknown
}

export interface Show {
  id: string
  name: string
  description: string
  /** The day of the first video; '': unknown. */
  published: string
  /** The account sees only single videos of the channel, so only the channel's id and name are shown. */
  isHidden: boolean
}

/** @param address  address of the provider, with which the addresses of pictures begin */
export function openRecords({ media }: Pick<App, 'media'>, address: string) {
  /** Cached, because each episode includes the pictures of its show. */
  const times = new Map<string, Promise<number | undefined>>()
  function timeOf(kind: ArtKind, id: string): Promise<number | undefined> {
    const path = media.artPathOf(kind, id)
    const known = times.get(path)
    if (known) return known
    const time = stat(path).then(
      ({ mtimeMs }) => Math.floor(mtimeMs),
      () => undefined,
    )
    times.set(path, time)
    return time
  }

  /** The address changes with the picture, so that Plex fetches the new one. */
  async function imageOf(type: Image['type'], kind: ArtKind, id: string, alt: string): Promise<Image[]> {
    const time = isId(id) ? await timeOf(kind, id) : undefined
    return time === undefined ? [] : [{ type, url: `${address}/picture/${kind}/${id}.jpg?at=${time}`, alt }]
  }

  const imageOfShow = async (
    type: Image['type'],
    kind: ArtKind,
    { id, isHidden }: Show,
    alt: string,
  ): Promise<Image[]> => (isHidden ? [] : imageOf(type, kind, id, alt))

  async function showOf(show: Show): Promise<Item> {
    const key: Key = { type: 'show', show: show.id }
    const { description: summary, published } = show
    const title = titleOf(show.name, show.id)
    return {
      ...named(key, `${METADATA}/${keyOf(key)}/children`, title, published),
      ...{ summary: xmlText(summary), studio: title },
      ...pictured([
        ...(await imageOfShow('coverPoster', 'channel_thumb', show, title)),
        ...(await imageOfShow('background', 'channel_tvart', show, title)),
      ]),
    }
  }

  async function seasonOf(show: Show, season: number, published: string): Promise<Item> {
    const key: Key = { type: 'season', show: show.id, season }
    const title = seasonTitle(season)
    const images = await imageOfShow('coverPoster', 'channel_thumb', show, title)
    return {
      ...named(key, `${METADATA}/${keyOf(key)}/children`, title, published),
      index: season,
      ...ancestor('parent', { type: 'show', show: show.id }, titleOf(show.name, show.id), images[0]?.url),
      ...pictured(images),
    }
  }

  async function episodeOf(video: VideoDoc, { season, number }: Episode, show: Show): Promise<Item> {
    const { platform_id: id, description, published, player, category } = video
    const key: Key = { type: 'episode', video: id }
    const title = titleOf(video.title, id)
    const [poster] = await imageOfShow('coverPoster', 'channel_thumb', show, show.name)
    return {
      ...named(key, `${METADATA}/${keyOf(key)}`, title, published),
      ...{ index: number, parentIndex: season, duration: player.duration * 1000, summary: xmlText(description) },
      ...ancestor('parent', { type: 'season', show: show.id, season }, seasonTitle(season), poster?.url),
      ...ancestor('grandparent', { type: 'show', show: show.id }, titleOf(show.name, show.id), poster?.url),
      ...(category.length > 0 && { Genre: category.map((tag) => ({ tag: xmlText(tag) })) }),
      ...pictured(await imageOf('snapshot', 'video', id, title)),
    }
  }

  async function collectionOf(list: {
    id: string
    name: string
    description: string
    hasPicture: boolean
  }): Promise<Item> {
    const key: Key = { type: 'collection', playlist: list.id }
    const title = titleOf(list.name, list.id)
    return {
      ...named(key, `${COLLECTIONS}/${keyOf(key)}`, title, ''),
      summary: xmlText(list.description),
      ...pictured(list.hasPicture ? await imageOf('coverPoster', 'playlist', list.id, title) : []),
    }
  }

  return { showOf, seasonOf, episodeOf, collectionOf }
}

function named(key: Key, path: string, title: string, published: string): Item {
  const year = Number(published.slice(0, 4)) || undefined
  const { type } = key
  return {
    ...{ ratingKey: keyOf(key), key: path, guid: guidOf(key), type, title, originallyAvailableAt: published },
    ...(year !== undefined && { year }),
  }
}

/** The fields about its show in a season, and about both in an episode. */
function ancestor(which: 'parent' | 'grandparent', key: Key, title: string, thumb: string | undefined): object {
  const said = {
    ...{ RatingKey: keyOf(key), Key: `${METADATA}/${keyOf(key)}`, Guid: guidOf(key), Type: key.type, Title: title },
    ...(thumb !== undefined && { Thumb: thumb }),
  }
  return Object.fromEntries(Object.entries(said).map(([name, value]) => [`${which}${name}`, value]))
}

/** `thumb` and `art` are the first pictures of their kinds. */
function pictured(images: readonly Image[]): object {
  const thumb = images.find(({ type }) => type !== 'background')?.url
  const art = images.find(({ type }) => type === 'background')?.url
  return {
    ...(thumb !== undefined && { thumb }),
    ...(art !== undefined && { art }),
    ...(images.length > 0 && { Image: images }),
  }
}

const titleOf = (title: string, id: string): string => xmlText(title).replace(/\s+/g, ' ').trim() || id
const seasonTitle = (season: number): string => (season === 0 ? 'Specials' : String(season))

/** A part of a list, in the form that all replies have. @param offset  position of the first item, from 0 */
export function container(items: readonly object[], { offset = 0, total = items.length, name = 'Metadata' } = {}) {
  const size = items.length
  return { MediaContainer: { offset, totalSize: total, identifier: IDENTIFIER, size, [name]: items } }
}

/** The description of the provider. */
export const provider = (version: string) => ({
  MediaProvider: {
    identifier: IDENTIFIER,
    title: 'Archivolt',
    version,
    Types: [2, 3, 4].map((type) => ({ type, Scheme: [{ scheme: IDENTIFIER }] })),
    Feature: [
      { type: 'metadata', key: METADATA },
      { type: 'match', key: `${METADATA}/matches` },
      { type: 'collection', key: COLLECTIONS },
    ],
  },
})

/** A feed as RSS 2.0, with the namespaces of Apple's podcasts and of Podcasting 2.0. */
import { Slice } from 'archivolt'
import { chaptersOf } from './chapters.ts'
import type { FeedHead, ShownVideo } from './contents.ts'
import type { Feed } from './feeds.ts'
import { SOUND_ENDING, SOUND_TYPE, type Sounds } from './sounds.ts'
import { cut, oneLine, plain, xmlOf } from './xml.ts'

const NAMESPACES = {
  '@xmlns:itunes': 'http://www.itunes.com/dtds/podcast-1.0.dtd',
  '@xmlns:podcast': 'https://podcastindex.org/namespace/1.0',
  '@xmlns:atom': 'http://www.w3.org/2005/Atom',
}
const MOST_DESCRIPTION_BYTES = 4000
const CATEGORY = 'TV & Film'

interface Parts {
  feed: Pick<Feed, 'guid'>
  head: FeedHead
  videos: AsyncIterable<ShownVideo>
  /** Of the feed, without a final slash. */
  address: string
  /** Of the page, with its final slash. */
  base: string
  sounds: Pick<Sounds, 'get' | 'isSound' | 'typeOf' | 'isAwaited'>
}

export async function rssOf(parts: Parts): Promise<string> {
  const items: string[] = []
  const slice = new Slice()
  for await (const video of parts.videos) {
    const item = itemOf(video, parts)
    if (item) items.push(xmlOf({ item }))
    if (slice.isOver) await slice.next()
  }
  const { feed, head, address, base } = parts
  const title = oneLine(head.title) || 'Archivolt'
  const picture = `${address}/cover.jpg`
  const link = base + head.page
  const channel = xmlOf({
    ...{ title, link, description: textOf(head.description) || title, language: 'en' },
    generator: 'Archivolt',
    'atom:link': { '@href': `${address}/feed.xml`, '@rel': 'self', '@type': 'application/rss+xml' },
    image: { url: picture, title, link },
    'itunes:image': { '@href': picture },
    'itunes:author': oneLine(head.author) || title,
    'itunes:category': { '@text': CATEGORY },
    'itunes:explicit': 'false',
    'itunes:type': 'episodic',
    // It is of one household, and its address opens it.
    'itunes:block': 'Yes',
    'podcast:block': 'yes',
    'podcast:locked': 'yes',
    'podcast:guid': feed.guid,
    'podcast:medium': 'podcast',
  })
  const rss = xmlOf({ rss: { '@version': '2.0', ...NAMESPACES, channel: '' } })
  const whole = rss.replace(
    /<channel\s*\/>|<channel><\/channel>/,
    () => `<channel>${channel}${items.join('\n')}</channel>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${whole}\n`
}

interface Source {
  title: string
  url: string
  type: string
  bytes: number
  height?: number
}

/** undefined: there is nothing to hear yet. */
function itemOf(video: ShownVideo, { address, base, sounds }: Parts): object | undefined {
  if (sounds.isAwaited(video)) return undefined
  const { platform_id: id, player } = video
  const sources = sourcesOf(video, address, sounds)
  const [first] = sources
  if (!first) return undefined
  const title = oneLine(video.title) || id
  const hasChapters = chaptersOf(video).length > 0
  return {
    title,
    description: textOf(video.description) || title,
    link: `${base}video/${id}/`,
    guid: { '@isPermaLink': 'false', '#text': id },
    pubDate: publishedOf(video).toUTCString(),
    enclosure: { '@url': first.url, '@length': first.bytes, '@type': first.type },
    'itunes:duration': player.duration,
    'itunes:explicit': 'false',
    'itunes:episodeType': 'full',
    'itunes:image': { '@href': `${address}/picture/${id}.jpg` },
    'podcast:alternateEnclosure': sources.map((source) => alternative(source, source === first, player.duration)),
    ...(hasChapters && {
      'podcast:chapters': { '@url': `${address}/chapters/${id}.json`, '@type': 'application/json+chapters' },
    }),
    'podcast:transcript': video.subtitles.map(({ lang }) => ({
      ...{ '@url': `${address}/transcript/${id}.${lang}.vtt`, '@type': 'text/vtt' },
      ...{ '@language': lang, '@rel': 'captions' },
    })),
  }
}

/** What is taken where a reader knows of one only comes first. */
function sourcesOf(video: ShownVideo, address: string, { get, isSound, typeOf }: Parts['sounds']): Source[] {
  const { platform_id: id, media_url: url, media_size: bytes, streams } = video
  const height = Math.max(0, ...streams.map((stream) => stream.height ?? 0))
  const sound = get(id)
  const ending = url.slice(url.lastIndexOf('.'))
  const own = { url: `${address}/film/${id}${ending}`, type: typeOf(video), bytes }
  return [
    ...(sound
      ? [{ title: 'Sound', url: `${address}/sound/${id}${SOUND_ENDING}`, type: SOUND_TYPE, bytes: sound.bytes }]
      : []),
    ...(bytes > 0 ? [isSound(video) ? { ...own, title: 'Sound' } : { ...own, title: 'Film', height }] : []),
  ]
}

const alternative = ({ title, url, type, bytes, height = 0 }: Source, isDefault: boolean, seconds: number): object => ({
  ...{ '@type': type, '@length': bytes, '@title': title, '@default': String(isDefault) },
  ...(seconds > 0 && { '@bitrate': Math.round((bytes * 8) / seconds) }),
  ...(height > 0 && { '@height': height }),
  'podcast:source': { '@uri': url },
})

const textOf = (text: string): string => cut(plain(text).trim(), MOST_DESCRIPTION_BYTES)

/** Of a video whose day nobody knows, when it came. */
function publishedOf({ published, date_downloaded }: ShownVideo): Date {
  const noon = new Date(`${published}T12:00:00Z`)
  return Number.isNaN(noon.getTime()) ? new Date(date_downloaded * 1000) : noon
}

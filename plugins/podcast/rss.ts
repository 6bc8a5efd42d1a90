/** A feed as RSS 2.0, with the namespaces of Apple Podcasts and Podcasting 2.0. */
import { Slice, type XmlElement, xmlOf, xmlText } from 'archivolt'
import type { FeedHead, ShownVideo } from './contents.ts'
import type { Feed } from './feeds.ts'
import { SOUND_ENDING, SOUND_TYPE, type Sounds } from './sounds.ts'
import { cut, oneLine } from './texts.ts'

const NAMESPACES = Object.entries({
  itunes: 'http://www.itunes.com/dtds/podcast-1.0.dtd',
  podcast: 'https://podcastindex.org/namespace/1.0',
  atom: 'http://www.w3.org/2005/Atom',
}).map(([prefix, address]) => `xmlns:${prefix}="${address}"`)
const OPENING = `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" ${NAMESPACES.join(' ')}>\n<channel>`
const PART_LENGTH = 1 << 16
const MOST_DESCRIPTION_BYTES = 4000
/** Apps read the whole feed after each change: beyond the first items, long descriptions would be most of it. */
const [FULL_ITEMS, MOST_LATER_BYTES] = [100, 500]
const CATEGORY = 'TV & Film'

interface Parts {
  feed: Pick<Feed, 'guid'>
  head: FeedHead
  videos: AsyncIterable<ShownVideo>
  /** Of the feed, without a trailing slash. */
  address: string
  /** Of the page, with its trailing slash. */
  base: string
  sounds: Pick<Sounds, 'get' | 'isSound' | 'typeOf' | 'awaitedUntil'>
}

export interface Rss {
  content: Buffer
  /** Epoch seconds: from then on the feed differs, because a video no longer waits for its sound. */
  until: number
}

export async function rssOf(parts: Parts): Promise<Rss> {
  // As bytes, a part is out of reach of the garbage collector; a thousand items as strings keep it busy.
  const written = [Buffer.from(`${OPENING}\n${headOf(parts).map(xmlOf).join('\n')}\n`)]
  let items = ''
  let until = Infinity
  let place = 0
  const slice = new Slice()
  for await (const video of parts.videos) {
    const mostBytes = ++place > FULL_ITEMS ? MOST_LATER_BYTES : MOST_DESCRIPTION_BYTES
    const shownAt = parts.sounds.awaitedUntil(video)
    if (shownAt !== undefined) until = Math.min(until, shownAt)
    else for (const item of itemOf(video, mostBytes, parts)) items += `${xmlOf(item)}\n`
    if (items.length > PART_LENGTH) {
      written.push(Buffer.from(items))
      items = ''
    }
    if (slice.isOver) await slice.next()
  }
  written.push(Buffer.from(`${items}</channel>\n</rss>\n`))
  return { content: Buffer.concat(written), until }
}

function headOf({ feed, head, address, base }: Omit<Parts, 'videos' | 'sounds'>): XmlElement[] {
  const title = oneLine(head.title) || 'Archivolt'
  const picture = `${address}/cover.jpg`
  const link = base + head.page
  return [
    ['title', title],
    ['link', link],
    ['description', textOf(head.description, MOST_DESCRIPTION_BYTES) || title],
    ['language', 'en'],
    ['generator', 'Archivolt'],
    ['atom:link', '', { href: `${address}/feed.xml`, rel: 'self', type: 'application/rss+xml' }],
    [
      'image',
      [
        ['url', picture],
        ['title', title],
        ['link', link],
      ],
    ],
    ['itunes:image', '', { href: picture }],
    ['itunes:author', oneLine(head.author) || title],
    ['itunes:category', '', { text: CATEGORY }],
    ['itunes:explicit', 'false'],
    ['itunes:type', 'episodic'],
    // The feed is private: whoever has its address can read it, so directories must not list it.
    ['itunes:block', 'Yes'],
    ['podcast:block', 'yes'],
    ['podcast:locked', 'yes'],
    ['podcast:guid', feed.guid],
    ['podcast:medium', 'podcast'],
  ]
}

interface Source {
  title: string
  url: string
  type: string
  bytes: number
  height?: number
}

/** Empty: the video has neither sound nor film yet. */
function itemOf(video: ShownVideo, mostBytes: number, { address, base, sounds }: Parts): XmlElement[] {
  const { platform_id: id, player, chapters = [], sponsorblock } = video
  const sources = sourcesOf(video, address, sounds)
  const [first] = sources
  if (!first) return []
  const title = oneLine(video.title) || id
  const hasChapters = chapters.length > 0 || (sponsorblock?.segments.length ?? 0) > 0
  const content: XmlElement[] = [
    ['title', title],
    ['description', textOf(video.description, mostBytes) || title],
    ['link', `${base}video/${id}/`],
    ['guid', id, { isPermaLink: 'false' }],
    ['pubDate', publishedOf(video).toUTCString()],
    ['enclosure', '', { url: first.url, length: first.bytes, type: first.type }],
    ['itunes:duration', player.duration],
    ['itunes:explicit', 'false'],
    ['itunes:episodeType', 'full'],
    ['itunes:image', '', { href: `${address}/picture/${id}.jpg` }],
    ...sources.map((source) => alternative(source, source === first, player.duration)),
  ]
  if (hasChapters)
    content.push(['podcast:chapters', '', { url: `${address}/chapters/${id}.json`, type: 'application/json+chapters' }])
  for (const { lang: language } of video.subtitles) {
    const url = `${address}/transcript/${id}.${language}.vtt`
    content.push(['podcast:transcript', '', { url, type: 'text/vtt', language, rel: 'captions' }])
  }
  return [['item', content]]
}

/** The first source is the one that simple apps use. */
function sourcesOf(video: ShownVideo, address: string, { get, isSound, typeOf }: Parts['sounds']): Source[] {
  const { platform_id: id, media_url: url, media_size: bytes, streams } = video
  const sound = get(id)
  const sources: Source[] = []
  if (sound)
    sources.push({
      title: 'Sound',
      url: `${address}/sound/${id}${SOUND_ENDING}`,
      type: SOUND_TYPE,
      bytes: sound.bytes,
    })
  if (bytes > 0) {
    const own = { url: `${address}/film/${id}${url.slice(url.lastIndexOf('.'))}`, type: typeOf(video), bytes }
    const height = Math.max(0, ...streams.map((stream) => stream.height ?? 0))
    sources.push(isSound(video) ? { ...own, title: 'Sound' } : { ...own, title: 'Film', height })
  }
  return sources
}

const alternative = (
  { title, url, type, bytes, height = 0 }: Source,
  isDefault: boolean,
  seconds: number,
): XmlElement => [
  'podcast:alternateEnclosure',
  [['podcast:source', '', { uri: url }]],
  {
    ...{ type, length: bytes, title, default: String(isDefault) },
    ...(seconds > 0 && { bitrate: Math.round((bytes * 8) / seconds) }),
    ...(height > 0 && { height }),
  },
]

const textOf = (text: string, mostBytes: number): string => cut(xmlText(text).trim(), mostBytes)

/** If the day of publication is unknown, the day on which the video was added. */
function publishedOf({ published, date_downloaded }: ShownVideo): Date {
  const noon = new Date(`${published}T12:00:00Z`)
  return Number.isNaN(noon.getTime()) ? new Date(date_downloaded * 1000) : noon
}

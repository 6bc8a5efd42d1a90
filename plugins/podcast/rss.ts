/** A feed as RSS 2.0, with the namespaces of Apple Podcasts and Podcasting 2.0. */
import { DAY_MS, Slice, type Xml, xml, xmlText } from 'archivolt'
import type { VideoDoc } from '../video/schema.ts'
import type { FeedHead } from './contents.ts'
import type { Feed } from './feeds.ts'
import { SOUND_ENDING, SOUND_TYPE, type Sounds } from './sounds.ts'
import { cut, oneLine } from './texts.ts'

const OPENING = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>`
const CLOSING = '</channel>\n</rss>\n'
const PART_LENGTH = 1 << 16
const MOST_DESCRIPTION_BYTES = 4000
/**
 * Limits for descriptions: apps read the whole feed after each change, and most of it would be long descriptions. After
 * this number of items, they have at most this number of bytes.
 */
const [FULL_ITEMS, MOST_LATER_BYTES] = [100, 300]
const CATEGORY = 'TV & Film'

interface Parts {
  feed: Pick<Feed, 'guid'>
  head: FeedHead
  videos: AsyncIterable<VideoDoc[]>
  /** Address of the feed, without a trailing slash. */
  address: string
  /** Address of the page, with its trailing slash. */
  base: string
  sounds: Pick<Sounds, 'get' | 'isSound' | 'isLacking' | 'typeOf' | 'awaitedUntil'>
}

export interface Rss {
  content: Buffer
  /** Epoch seconds: the feed changes at this time, because a video no longer waits for its sound. */
  until: number
  /** Videos whose sound may still be made. */
  lacking: string[]
}

export async function rssOf(parts: Parts): Promise<Rss> {
  // Parts are stored as bytes, outside of the garbage collector's heap: a thousand items as strings would keep it busy.
  const written = [Buffer.from(`${OPENING}\n${headOf(parts).text}\n`)]
  let items = ''
  let until = Infinity
  const lacking: string[] = []
  let position = 0
  const slice = new Slice()
  for await (const videos of parts.videos)
    for (const video of videos) {
      const mostBytes = ++position > FULL_ITEMS ? MOST_LATER_BYTES : MOST_DESCRIPTION_BYTES
      if (parts.sounds.isLacking(video)) lacking.push(video.platform_id)
      const shownAt = parts.sounds.awaitedUntil(video)
      if (shownAt !== undefined) until = Math.min(until, shownAt)
      else items += itemOf(video, mostBytes, parts).text
      if (items.length > PART_LENGTH) {
        written.push(Buffer.from(items))
        items = ''
      }
      if (slice.isOver) await slice.next()
    }
  written.push(Buffer.from(items + CLOSING))
  return { content: Buffer.concat(written), until, lacking }
}

function headOf({ feed, head, address, base }: Omit<Parts, 'videos' | 'sounds'>): Xml {
  const title = oneLine(head.title) || 'Archivolt'
  const picture = `${address}/cover.jpg`
  const link = base + head.page
  // The feed is private: everybody who has its address can read it, so directories must not list it.
  return xml`<title>${title}</title>
<link>${link}</link>
<description>${textOf(head.description, MOST_DESCRIPTION_BYTES) || title}</description>
<language>en</language>
<generator>Archivolt</generator>
<atom:link href="${address}/feed.xml" rel="self" type="application/rss+xml"/>
<image><url>${picture}</url><title>${title}</title><link>${link}</link></image>
<itunes:image href="${picture}"/>
<itunes:author>${oneLine(head.author) || title}</itunes:author>
<itunes:category text="${CATEGORY}"/>
<itunes:explicit>false</itunes:explicit>
<itunes:type>episodic</itunes:type>
<itunes:block>Yes</itunes:block>
<podcast:block>yes</podcast:block>
<podcast:locked>yes</podcast:locked>
<podcast:guid>${feed.guid}</podcast:guid>
<podcast:medium>podcast</podcast:medium>`
}

interface Source {
  title: string
  url: string
  type: string
  bytes: number
  height?: number
}

const NOTHING = xml``

/** Empty: the video has neither sound nor film yet. */
function itemOf(video: VideoDoc, mostBytes: number, { address, base, sounds }: Parts): Xml {
  const { platform_id: id, player, chapters = [], sponsorblock } = video
  const sources = sourcesOf(video, address, sounds)
  const [first] = sources
  if (!first) return NOTHING
  const title = oneLine(video.title) || id
  const hasChapters = chapters.length > 0 || (sponsorblock?.segments.length ?? 0) > 0
  return xml`<item><title>${title}</title>
<description>${textOf(video.description, mostBytes) || title}</description>
<link>${base}video/${id}/</link><guid isPermaLink="false">${id}</guid>
<pubDate>${publishedOf(video).toUTCString()}</pubDate>
<enclosure url="${first.url}" length="${first.bytes}" type="${first.type}"/>
<itunes:duration>${player.duration}</itunes:duration><itunes:explicit>false</itunes:explicit>
<itunes:episodeType>full</itunes:episodeType><itunes:image href="${address}/picture/${id}.jpg"/>
${sources.map((source) => alternative(source, source === first, player.duration))}
${hasChapters ? xml`<podcast:chapters url="${address}/chapters/${id}.json" type="application/json+chapters"/>` : NOTHING}
${video.subtitles.map(({ lang }) => transcript(`${address}/transcript/${id}.${lang}.vtt`, lang))}</item>
`
}

const transcript = (url: string, language: string): Xml =>
  xml`<podcast:transcript url="${url}" type="text/vtt" language="${language}" rel="captions"/>`

/** The first source is the one that simple apps use. */
function sourcesOf(video: VideoDoc, address: string, { get, isSound, typeOf }: Parts['sounds']): Source[] {
  const { platform_id: id, media_url: url, media_size: bytes, streams } = video
  const sound = get(id)
  const sources: Source[] = []
  if (sound)
    sources.push({
      title: 'Audio',
      url: `${address}/sound/${id}${SOUND_ENDING}`,
      type: SOUND_TYPE,
      bytes: sound.bytes,
    })
  if (bytes > 0) {
    const own = { url: `${address}/film/${id}${url.slice(url.lastIndexOf('.'))}`, type: typeOf(video), bytes }
    const height = Math.max(0, ...streams.map((stream) => stream.height ?? 0))
    sources.push(isSound(video) ? { ...own, title: 'Audio' } : { ...own, title: 'Video', height })
  }
  return sources
}

function alternative({ title, url, type, bytes, height = 0 }: Source, isDefault: boolean, seconds: number): Xml {
  const bitrate = seconds > 0 ? xml` bitrate="${Math.round((bytes * 8) / seconds)}"` : NOTHING
  const tall = height > 0 ? xml` height="${height}"` : NOTHING
  return xml`<podcast:alternateEnclosure type="${type}" length="${bytes}" title="${title}" default="${String(isDefault)}"${bitrate}${tall}><podcast:source uri="${url}"/></podcast:alternateEnclosure>`
}

/** Cuts the text before cleaning it, so that parts that are certainly omitted are not cleaned. */
const textOf = (text: string, mostBytes: number): string =>
  cut(xmlText(text.trimStart().slice(0, 2 * mostBytes)).trim(), mostBytes)

/**
 * Noon of the day of publication; if the day is unknown, or the video was added before its noon, the time at which it
 * was added, because apps hide items with a date in the future.
 */
function publishedOf({ published, date_downloaded }: VideoDoc): Date {
  const [noon, added] = [Date.parse(`${published}T12:00:00Z`), date_downloaded * 1000]
  const isAddedBefore = added < noon && added > noon - DAY_MS
  return new Date(Number.isNaN(noon) || isAddedBefore ? added : noon)
}

/**
 * Writes NFO files as Kodi defines them and Jellyfin, Emby and Plex read them. Characters that XML does not allow are
 * removed from titles, because a single one makes the whole file unreadable.
 */
import type { ChannelDoc } from '../channel/schema.ts'
import type { VideoDoc } from '../video/schema.ts'

type Content = string | number | Element[]
type Element = [name: string, content: Content, attributes?: Record<string, string>]

/** Characters that XML 1.0 does not allow. */
const REFUSED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(REFUSED, '')
    .replace(/[&<>"]/g, (sign) => ENTITIES[sign]!)

function drawn([name, content, attributes = {}]: Element): string {
  const said = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`)
  const inner = Array.isArray(content) ? `\n${content.map(drawn).join('')}` : escaped(String(content))
  return `<${name}${said.join('')}>${inner}</${name}>\n`
}

const document = (root: Element): string => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${drawn(root)}`

const each = (name: string, values: readonly string[]): Element[] => values.map((value) => [name, value])
const yearOf = (day: string): string => day.slice(0, 4)

/** The publication dates of a show's videos. */
export interface Aired {
  years: readonly number[]
  /** The day of the first one, `YYYY-MM-DD`. Kodi treats two shows of the same name as one unless this day differs. */
  first: string
}

/**
 * The NFO of a show. With `Custom`, a media server keeps its marks when a folder moves, a channel is renamed or its
 * library is rebuilt.
 */
export const showNfo = (channel: ChannelDoc, { years, first }: Aired): string =>
  document([
    'tvshow',
    [
      ['title', channel.channel_name],
      ['plot', channel.channel_description],
      ['premiered', first],
      ['studio', channel.channel_name],
      ...each('tag', channel.channel_tags),
      ...years.map((season): Element => ['namedseason', season, { number: String(season) }]),
      ['uniqueid', channel.channel_id, { type: 'archivolt', default: 'true' }],
      ['uniqueid', channel.channel_id, { type: 'Custom' }],
      ['lockdata', 'true'],
    ],
  ])

export const seasonNfo = (season: number): string =>
  document([
    'season',
    [
      ['title', season],
      ['seasonnumber', season],
      ['lockdata', 'true'],
    ],
  ])

export const episodeNfo = (video: VideoDoc, channel: ChannelDoc, number: number): string =>
  document([
    'episodedetails',
    [
      ['title', video.title],
      ['showtitle', channel.channel_name],
      ['season', yearOf(video.published)],
      ['episode', number],
      ['plot', video.description],
      ['aired', video.published],
      ['runtime', Math.max(1, Math.round(video.player.duration / 60))],
      ['studio', channel.channel_name],
      ...each('genre', video.category),
      ...each('tag', video.tags),
      ['uniqueid', video.platform_id, { type: 'archivolt', default: 'true' }],
      ['dateadded', new Date(video.date_downloaded * 1000).toISOString().slice(0, 19).replace('T', ' ')],
      ['lockdata', 'true'],
    ],
  ])

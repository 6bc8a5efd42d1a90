/** The part of a video that a card or table row shows. */
import type { Video } from '../server/records.ts'
import { titledAs } from '../stores/titles.ts'
import { platformOf } from './platform-link.ts'

/** Long lists cache only this part of each video. */
export interface VideoRow {
  id: string
  title: string
  picture: string
  /** The alternative title and picture, which a switch shows. */
  other?: { title: string; picture: string }
  channelId: string
  channelName: string
  channelPicture: string
  published: string
  duration: number
  progress: number
  isWatched: boolean
  isLater: boolean
  isActive: boolean
  isMissing: boolean
  /** Why the platform no longer has it. */
  lost?: NonNullable<Video['lost']>['kind']
  /** Epoch seconds. */
  downloaded: number
  /** Bytes. */
  size: number
  /** Height of the picture in pixels; 0: unknown. */
  height: number
  views: number
  likes: number
  /** Name of the platform. */
  platform: string
  /** The place that contains its file. */
  place?: Video['place']
}

export const toVideoRow = (video: Video): VideoRow => ({
  id: video.platform_id,
  ...titledAs(video),
  channelId: video.channel.channel_id,
  channelName: video.channel.channel_name,
  channelPicture: video.channel.channel_thumb_url,
  published: video.published,
  duration: video.player.duration,
  progress: video.player.progress ?? 0,
  isWatched: video.player.watched,
  isLater: video.watch_later === true,
  isActive: video.active,
  isMissing: video.missing === true,
  downloaded: video.date_downloaded,
  size: video.media_size,
  height: video.streams.find(({ type }) => type === 'video')?.height ?? 0,
  views: video.stats.view_count,
  likes: video.stats.like_count ?? 0,
  platform: platformOf(video),
  ...(video.lost && { lost: video.lost.kind }),
  ...(video.place && { place: video.place }),
})

/**
 * What yt-dlp once wrote beside a file (`<name>.info.json`) → metadata. Anybody can write such a file: it is checked
 * like an answer of the platform.
 */
import { isId, MetadataError, toVideoMetadata } from './metadata.ts'
import type { VideoMetadata } from './types.ts'

/** @throws MetadataError: it is no record of this video, or names no channel */
export function toSidecarMetadata(
  info: Readonly<Record<string, unknown>>,
  id: string,
  nowSeconds: number,
): VideoMetadata {
  if (info.id !== id) throw new MetadataError('The information file is about another video')
  const channelId = [info.channel_id, info.uploader_id].find(isId)
  if (channelId === undefined) throw new MetadataError('The information file does not name a channel')
  const raw = {
    ...info,
    channel_id: channelId,
    media_type: mediaType(info),
    // It was live when it was written; here is the recording.
    live_status:
      info.live_status === 'is_live' || info.live_status === 'post_live'
        ? 'was_live'
        : info.live_status === 'is_upcoming'
          ? undefined
          : info.live_status,
    // The film is there, whatever the file says of formats; subtitles are those that lie beside it.
    hasFormats: true,
    isNotYet: false,
    subtitles: [],
    automaticCaptions: [],
  }
  return toVideoMetadata(raw, id, [], nowSeconds)
}

/** Older versions did not write it. */
function mediaType({
  media_type: told,
  webpage_url: page,
  was_live: wasLive,
}: Readonly<Record<string, unknown>>): unknown {
  if (typeof told === 'string') return told
  if (typeof page === 'string' && page.includes('/shorts/')) return 'short'
  return wasLive === true ? 'livestream' : undefined
}

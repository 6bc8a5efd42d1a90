/**
 * Converts yt-dlp's information file (`<name>.info.json`) to metadata. Anybody can write such a file, so it is checked
 * like an answer of the platform.
 */
import { isId, MetadataError, toVideoMetadata } from './metadata.ts'
import type { VideoMetadata } from './types.ts'

/** @throws MetadataError: the file is about another video, or names no channel */
export function toSidecarMetadata(
  info: Readonly<Record<string, unknown>>,
  id: string,
  nowSeconds: number,
): VideoMetadata {
  if (info.id !== id) throw new MetadataError('The information file is about another video')
  const channelId = channelOf(info)
  if (channelId === undefined) throw new MetadataError('The information file does not name a channel')
  const raw = {
    ...info,
    channel_id: channelId,
    media_type: mediaType(info),
    // The video was live when the file was written; the film is the recording.
    live_status:
      info.live_status === 'is_live' || info.live_status === 'post_live'
        ? 'was_live'
        : info.live_status === 'is_upcoming'
          ? undefined
          : info.live_status,
    // The film exists, whatever the file says about formats; subtitles are the files next to it.
    hasFormats: true,
    isNotYet: false,
    subtitles: [],
    automaticCaptions: [],
  }
  return toVideoMetadata(raw, id, [], nowSeconds)
}

/** The id of the channel: yt-dlp and youtube-dl have written it under four different keys. */
function channelOf(info: Readonly<Record<string, unknown>>): string | undefined {
  const inAddress = (address: unknown) => /\/channel\/([A-Za-z0-9_-]+)\/?$/.exec(String(address))?.[1]
  return [info.channel_id, inAddress(info.channel_url), inAddress(info.uploader_url), info.uploader_id].find(isChannel)
}

/** Old files have a user name as the id of the uploader, and later ones a handle. */
const isChannel = (value: unknown): value is string => isId(value) && !String(value).startsWith('@')

/** Older versions of yt-dlp did not write the media type. */
function mediaType({
  media_type: told,
  webpage_url: page,
  was_live: wasLive,
}: Readonly<Record<string, unknown>>): unknown {
  if (typeof told === 'string') return told
  if (typeof page === 'string' && page.includes('/shorts/')) return 'short'
  return wasLive === true ? 'livestream' : undefined
}

/** Converts TubeArchivist's documents to yt-dlp's keys, whether from a film, a backup or its server. */
import type { Info } from './types.ts'
import { dayOf, given, numberOf, objectOf, objectsOf, textOf, textsOf } from './values.ts'

const MEDIA_TYPES: Record<string, string> = { videos: 'video', streams: 'livestream', shorts: 'short' }

type Doc = Record<string, unknown>

/** A video's document with yt-dlp's keys. */
export function infoOf(id: string, doc: Doc): Info {
  const channel = objectOf(doc.channel)
  const published = doc.published
  const streams = objectsOf(doc.streams)
  const [video, audio] = [streams.find(({ type }) => type === 'video'), streams.find(({ type }) => type === 'audio')]
  const kbit = (value: unknown): number | undefined => {
    const bits = numberOf(value)
    return bits === undefined ? undefined : bits / 1000
  }
  return given({
    id,
    title: doc.title,
    description: doc.description,
    channel_id: channel.channel_id,
    channel: channel.channel_name,
    // One archive can hold both seconds and days.
    timestamp: typeof published === 'number' ? published : undefined,
    upload_date: dayOf(published),
    duration: numberOf(objectOf(doc.player).duration),
    tags: textsOf(doc.tags),
    categories: textsOf(doc.category),
    view_count: numberOf(objectOf(doc.stats).view_count),
    like_count: numberOf(objectOf(doc.stats).like_count),
    thumbnails: typeof doc.vid_thumb_url === 'string' ? [{ url: doc.vid_thumb_url }] : undefined,
    media_type: MEDIA_TYPES[textOf(doc.vid_type)],
    vcodec: video?.codec,
    width: video?.width,
    height: video?.height,
    vbr: kbit(video?.bitrate),
    acodec: audio?.codec,
    abr: kbit(audio?.bitrate),
    epoch: numberOf(doc.date_downloaded),
    is_gone: doc.active === false || undefined,
  })
}

/** The comments of a video with yt-dlp's keys. */
export const commentsIn = (doc: Doc): Doc[] =>
  objectsOf(doc.comment_comments).map((one) =>
    given({
      id: one.comment_id,
      parent: one.comment_parent,
      text: one.comment_text,
      timestamp: numberOf(one.comment_timestamp),
      like_count: numberOf(one.comment_likecount),
      is_favorited: one.comment_is_favorited,
      author: one.comment_author,
      author_id: one.comment_author_id,
      author_thumbnail: one.comment_author_thumbnail,
      author_is_uploader: one.comment_author_is_uploader,
    }),
  )

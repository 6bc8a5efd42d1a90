/** Converts documents between our stored form and the reference's, which only this file knows (contract 9.10). */
import { errors, ID_PATTERN, isoTime, LATEST_SECOND, localDay, say } from 'archivolt'
import type { Converted, Stored } from '../backup/form.ts'
import type { ChannelDoc } from '../channel/schema.ts'
import type { DownloadDoc } from '../download/schema.ts'
import type { PlaylistDoc } from '../playlist/schema.ts'
import type { CommentDoc, SubtitleDoc, VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'

/**
 * Every key of our documents, including optional ones: the compiler reports a renamed or missing one. The schema checks
 * the values.
 */
type KeysOf<Doc> = { [Key in keyof Required<Doc>]: unknown }

const MEDIA = '/media/'
const SAFE_ID = new RegExp(ID_PATTERN)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const whole = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(Math.trunc(value)) ? Math.trunc(value) : 0
const real = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
const object = (value: unknown): Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Stored) : {}
const objects = (value: unknown): Stored[] => (Array.isArray(value) ? value.map(object) : [])

/** A time in epoch seconds. */
function time(value: unknown): number {
  if (typeof value === 'number' && Math.abs(value) > LATEST_SECOND)
    throw errors.unprocessable(say`${{ value }} is not a valid time`)
  return whole(value)
}

/** The day of publication. v0.5 stores its time, whose day in UTC is the one that the platform gives. */
const publishedOf = ({ published }: Stored): string =>
  typeof published === 'number' ? isoTime(time(published)).slice(0, 10) : text(published)

/** The time of the first admin's mark in the backup. */
function restoredMark({ watched, watched_date: at }: Stored): number {
  if (watched !== true) return -1
  return typeof at === 'number' ? Math.max(0, time(at)) : 0
}

function safeId(value: unknown, what: string): string {
  if (typeof value === 'string' && SAFE_ID.test(value)) return value
  throw errors.unprocessable(say`${{ what }} is not a valid id`)
}

const platformId = (app: App, stored: Stored): string => safeId(app.platform.idOf(stored), 'platform_id')
const bothIds = (app: App, id: string) => ({ platform_id: id, ...app.platform.mirror(id) })

/** Internal fields and cache URLs are replaced by the platform's values. */
export const toStored = {
  channel({ refreshed_at, art, ...doc }: ChannelDoc): Stored {
    const pictures = art ? (JSON.parse(art) as Record<string, string>) : {}
    return {
      ...doc,
      channel_last_refresh: refreshed_at,
      channel_thumb_url: pictures.thumb ?? false,
      channel_banner_url: pictures.banner ?? false,
      channel_tvart_url: pictures.tvart ?? false,
    }
  },
  /** @param mark  when the first admin has watched it; null: unknown; undefined: not watched */
  video(app: App, doc: VideoDoc, channel: Stored | undefined, mark: number | null | undefined): Stored {
    const { channel_id, refreshed_at, width: _width, height: _height, art, ...others } = doc
    const { watched_by: _ids, shared_mark: _shared, restored_mark: _restored, player, ...shown } = others
    return {
      ...shown,
      player: { ...player, watched: mark !== undefined, watched_date: mark ?? undefined },
      ...bothIds(app, doc.platform_id),
      channel: channel ?? { channel_id },
      vid_last_refresh: refreshed_at,
      vid_thumb_url: art ?? false,
      // The path of a film in a place gets its real extension, so that the reference reports a missing file instead of
      // using another one.
      media_url: app.media.mediaUrl(channel_id, doc.platform_id).slice(MEDIA.length),
      subtitles: doc.subtitles.map((subtitle) => ({
        ...subtitle,
        media_url: `${channel_id}/${doc.platform_id}.${subtitle.lang}.vtt`,
      })),
    }
  },
  playlist(app: App, { refreshed_at, art, ...doc }: PlaylistDoc): Stored {
    return {
      ...doc,
      playlist_last_refresh: refreshed_at,
      playlist_thumbnail: art ?? false,
      playlist_entries: doc.playlist_entries.map((entry) => ({ ...entry, ...bothIds(app, entry.platform_id) })),
    }
  },
  download(app: App, { art, ...doc }: DownloadDoc): Stored {
    return {
      ...doc,
      ...bothIds(app, doc.platform_id),
      status: doc.status === 'priority' ? 'pending' : doc.status,
      vid_thumb_url: art ?? false,
    }
  },
  comment(app: App, { searchable: _searchable, ...doc }: CommentDoc, channelId: string | undefined): Stored {
    return {
      ...doc,
      ...bothIds(app, doc.platform_id),
      comment_channel_id: channelId ?? '',
      comment_comments: flat(doc.comment_comments),
    }
  },
  subtitle(
    app: App,
    { channel_id, ...doc }: SubtitleDoc,
    video: { title: string; channelName: string } | undefined,
  ): Stored {
    return {
      ...doc,
      ...bothIds(app, doc.platform_id),
      title: video?.title ?? '',
      subtitle_channel: video?.channelName ?? '',
      subtitle_channel_id: channel_id,
    }
  },
}

/** Converters to our form. Paths, cache URLs and texts that depend on other fields are computed, never trusted. */
const converters: Record<string, (app: App, stored: Stored, number: number) => Converted> = {
  channel(app, stored) {
    const id = safeId(stored.channel_id, 'channel_id')
    const pictures = Object.fromEntries(
      ['thumb', 'banner', 'tvart'].flatMap((kind) =>
        text(stored[`channel_${kind}_url`]) ? [[kind, text(stored[`channel_${kind}_url`])]] : [],
      ),
    )
    const refreshedAt = time(stored.channel_last_refresh)
    return {
      id,
      doc: {
        channel_id: id,
        channel_name: text(stored.channel_name),
        channel_subscribed: stored.channel_subscribed === true,
        channel_active: stored.channel_active !== false,
        channel_description: text(stored.channel_description),
        channel_subs: whole(stored.channel_subs),
        channel_views: whole(stored.channel_views),
        channel_tags: texts(stored.channel_tags),
        channel_tabs: texts(stored.channel_tabs),
        channel_last_refresh: localDay(refreshedAt),
        channel_thumb_url: app.media.artUrl('channel_thumb', id),
        channel_banner_url: app.media.artUrl('channel_banner', id),
        channel_tvart_url: app.media.artUrl('channel_tvart', id),
        channel_overwrites: object(stored.channel_overwrites),
        refreshed_at: refreshedAt,
        art: Object.keys(pictures).length > 0 ? JSON.stringify(pictures) : undefined,
      } satisfies KeysOf<ChannelDoc>,
    }
  },

  video(app, stored) {
    const id = platformId(app, stored)
    const channel = object(stored.channel)
    const channelId = safeId(channel.channel_id, 'channel.channel_id')
    const { player, stats } = { player: object(stored.player), stats: object(stored.stats) }
    const duration = whole(player.duration)
    const streams = objects(stored.streams).map(({ type, index, codec, bitrate, width, height }) => ({
      type,
      index: whole(index),
      codec: text(codec),
      bitrate: whole(bitrate),
      ...(type === 'video' && { width: whole(width), height: whole(height) }),
    }))
    const chapters = objects(stored.chapters).map(({ start, title }) => ({ start: real(start), title: text(title) }))
    const refreshedAt = time(stored.vid_last_refresh)
    return {
      id,
      doc: {
        platform_id: id,
        active: stored.active !== false,
        title: text(stored.title),
        description: text(stored.description),
        category: texts(stored.category),
        tags: texts(stored.tags),
        vid_type: stored.vid_type,
        published: publishedOf(stored),
        date_downloaded: time(stored.date_downloaded),
        vid_last_refresh: localDay(refreshedAt),
        vid_thumb_url: app.media.artUrl('video', id),
        vid_thumb_base64: false,
        media_url: app.media.mediaUrl(channelId, id, text(stored.media_url)),
        media_size: whole(stored.media_size),
        comment_count: typeof stored.comment_count === 'number' ? whole(stored.comment_count) : undefined,
        playlist: texts(stored.playlist).filter((playlistId) => SAFE_ID.test(playlistId)),
        stats: {
          view_count: whole(stats.view_count),
          like_count: whole(stats.like_count),
          dislike_count: whole(stats.dislike_count),
          average_rating: real(stats.average_rating),
        },
        streams,
        subtitles: objects(stored.subtitles)
          .filter(({ lang }) => app.media.isLanguage(text(lang)))
          .map(({ lang, name, source, url }) => ({
            ext: 'vtt',
            lang: text(lang),
            name: text(name),
            source,
            url: text(url),
            media_url: app.media.subtitleUrl(channelId, id, text(lang)),
          })),
        chapters: chapters.length > 0 ? chapters : undefined,
        sponsorblock: stored.sponsorblock ? segmentList(object(stored.sponsorblock)) : undefined,
        receipt: stored.receipt,
        degraded: stored.degraded,
        keep: stored.keep === true || undefined,
        former_titles: texts(stored.former_titles).length > 0 ? texts(stored.former_titles) : undefined,
        lost: stored.lost,
        cut: stored.cut,
        dearrow: stored.dearrow,
        channel_id: channelId,
        refreshed_at: refreshedAt,
        ...app.videos.largestFrameSize(streams),
        art: text(stored.vid_thumb_url) || undefined,
        watched_by: undefined,
        shared_mark: undefined,
        restored_mark: restoredMark(player),
        player: { duration, duration_str: app.videos.durationText(duration) },
      } satisfies KeysOf<VideoDoc>,
      inside:
        typeof channel.channel_name === 'string'
          ? { collection: 'channel', id: channelId, stored: channel }
          : undefined,
    }
  },

  playlist(app, stored) {
    const id = safeId(stored.playlist_id, 'playlist_id')
    const refreshedAt = time(stored.playlist_last_refresh)
    return {
      id,
      doc: {
        playlist_id: id,
        playlist_type: stored.playlist_type ?? 'regular',
        playlist_name: text(stored.playlist_name),
        playlist_description: text(stored.playlist_description),
        playlist_channel: text(stored.playlist_channel) || null,
        playlist_channel_id: text(stored.playlist_channel_id) || null,
        playlist_subscribed: stored.playlist_subscribed === true,
        playlist_active: stored.playlist_active === true,
        playlist_last_refresh: localDay(refreshedAt),
        playlist_thumbnail: app.media.artUrl('playlist', id),
        playlist_sort_order: stored.playlist_sort_order === 'bottom' ? 'bottom' : 'top',
        playlist_entries: objects(stored.playlist_entries).map((entry) => ({
          platform_id: platformId(app, entry),
          title: text(entry.title),
          uploader: text(entry.uploader) || null,
          idx: whole(entry.idx),
          downloaded: entry.downloaded === true,
        })),
        refreshed_at: refreshedAt,
        art: text(stored.playlist_thumbnail) || undefined,
      } satisfies KeysOf<PlaylistDoc>,
    }
  },

  download(app, stored, number) {
    const id = platformId(app, stored)
    const timestamp = time(stored.timestamp)
    const message = text(stored.message)
    const isOpen = stored.status !== 'ignore'
    const isAuto = isOpen && stored.auto_start === true
    return {
      id,
      doc: {
        platform_id: id,
        status: !isOpen ? 'ignore' : isAuto ? 'priority' : 'pending',
        auto_start: isAuto,
        message: message || undefined,
        error_class: message ? text(stored.error_class) || 'unknown' : undefined,
        retry_at: typeof stored.retry_at === 'number' ? time(stored.retry_at) : undefined,
        noted_at: typeof stored.noted_at === 'number' ? time(stored.noted_at) : undefined,
        reopened: stored.reopened === true || undefined,
        title: text(stored.title),
        channel_id: text(stored.channel_id),
        channel_name: text(stored.channel_name),
        channel_indexed: stored.channel_indexed === true,
        duration: text(stored.duration),
        published: publishedOf(stored),
        timestamp,
        vid_type: stored.vid_type ?? 'unknown',
        vid_thumb_url: app.media.artUrl('video', id),
        // The reference sorts by time; items of the same second keep the order of the archive.
        position: whole(stored.position) || timestamp * 1_000_000 + (number % 1_000_000),
        force: stored.force === true || undefined,
        art: text(stored.vid_thumb_url) || undefined,
      } satisfies KeysOf<DownloadDoc>,
    }
  },

  comment(app, stored) {
    const id = platformId(app, stored)
    return {
      id,
      doc: {
        platform_id: id,
        comment_last_refresh: time(stored.comment_last_refresh),
        comment_comments: app.videos.toThreads(objects(stored.comment_comments).map(comment)),
        searchable: undefined,
      } satisfies KeysOf<CommentDoc>,
    }
  },

  subtitle(app, stored) {
    const video = platformId(app, stored)
    const [language, number] = [text(stored.subtitle_lang), whole(stored.subtitle_index)]
    if (!app.media.isLanguage(language)) throw errors.unprocessable('subtitle_lang is not a language')
    const id = `${video}-${language}-${number}`
    return {
      id,
      doc: {
        platform_id: video,
        subtitle_fragment_id: id,
        subtitle_index: number,
        subtitle_line: text(stored.subtitle_line),
        subtitle_start: text(stored.subtitle_start),
        subtitle_end: text(stored.subtitle_end),
        subtitle_lang: language,
        subtitle_source: text(stored.subtitle_source),
        subtitle_last_refresh: time(stored.subtitle_last_refresh),
        // The reference does not store this time.
        date_downloaded: time(stored.date_downloaded ?? stored.subtitle_last_refresh),
        channel_id: text(stored.subtitle_channel_id),
      } satisfies KeysOf<SubtitleDoc>,
    }
  },
}

/** @throws AppError: why the document is skipped; the result must still pass the collection's schema */
export function toOurs(app: App, collection: string, id: string, stored: Stored, number: number): Converted {
  const convert = converters[collection]
  // A collection of an external plugin is stored in its own form.
  return convert ? convert(app, stored, number) : { id: safeId(id, '_id'), doc: stored }
}

/** Converts threads to the order of the reference's list: a root, then its replies. */
function flat(comments: readonly Stored[]): Stored[] {
  return comments.flatMap(({ comment_replies: replies, ...rest }) => [rest, ...flat(objects(replies))])
}

function comment(stored: Stored) {
  return {
    id: text(stored.comment_id),
    parent: text(stored.comment_parent) || 'root',
    text: text(stored.comment_text),
    timestamp: time(stored.comment_timestamp),
    likeCount: whole(stored.comment_likecount),
    isFavorited: stored.comment_is_favorited === true,
    author: text(stored.comment_author),
    authorId: text(stored.comment_author_id),
    authorThumbnail: text(stored.comment_author_thumbnail),
    authorIsUploader: stored.comment_author_is_uploader === true,
  }
}

function segmentList(stored: Stored) {
  const segments = objects(stored.segments).map(
    ({ UUID, actionType, category, segment, locked, votes, videoDuration }) => ({
      UUID: text(UUID),
      actionType: text(actionType),
      category: text(category),
      segment: Array.isArray(segment) ? segment.map(real) : [],
      locked: whole(locked),
      votes: whole(votes),
      videoDuration: real(videoDuration),
    }),
  )
  return {
    is_enabled: stored.is_enabled === true,
    last_refresh: typeof stored.last_refresh === 'number' ? time(stored.last_refresh) : undefined,
    has_unlocked:
      typeof stored.has_unlocked === 'boolean'
        ? stored.has_unlocked
        : segments.length > 0 && segments.every(({ locked }) => !locked),
    segments,
  }
}

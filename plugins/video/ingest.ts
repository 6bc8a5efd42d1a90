/** The one way a video comes into the archive: files, art, subtitles, document, fact. Each step may be done twice. */
import {
  type Collection,
  type DocOf,
  epochSeconds,
  errors,
  type Filter,
  localDay,
  type NamesOf,
  type Step,
} from 'archivolt'
import type { MediaProbe } from '../media/types.ts'
import type { Downloaded, DownloadedSubtitle, DownloadReceipt, VideoMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { readFragments } from './cues.ts'
import { durationText } from './durations.ts'
import { type Degraded, toReceipt } from './receipt.ts'
import type { SubtitleDoc, subtitleIndex, VideoDoc, videoIndex } from './schema.ts'

export interface Ingest {
  /**
   * What was downloaded; files are staged, or lie in the library already. `file`: a subtitle found beside an imported
   * film.
   */
  downloaded: Omit<Downloaded, 'subtitles' | 'receipt'> & {
    receipt?: DownloadReceipt
    subtitles: Array<Omit<DownloadedSubtitle, 'source'> & { source: DownloadedSubtitle['source'] | 'file' }>
  }
  /** Where the caller has it already. */
  probe?: MediaProbe
  /** Default true. */
  isSubtitleIndexed?: boolean
  /** Epoch seconds; default now, or what an earlier ingest of the video has noted. */
  dateDownloaded?: number
  /** What the download lacks. */
  degraded?: Degraded | undefined
  /** The film that is there is kept for a day: what comes takes its place. */
  isOldKept?: boolean
}

const FRAGMENTS_PER_WRITE = 500
/** The best picture may be announced and not be there. */
const PICTURES_TRIED = 3

interface VideoParts {
  collection: Collection<DocOf<typeof videoIndex>, NamesOf<typeof videoIndex>>
  subtitles: Collection<DocOf<typeof subtitleIndex>, NamesOf<typeof subtitleIndex>>
}

/** Largest first. */
export function picturesOf({ thumbnails }: Pick<VideoMetadata, 'thumbnails'>): string[] {
  const ranked = thumbnails
    .map(({ url, width = 0 }, at) => ({ url, width, at }))
    .sort((a, b) => b.width - a.width || b.at - a.at)
  return ranked.map(({ url }) => url)
}

/** What the platform says; refreshed as a whole. */
export function toFields(metadata: VideoMetadata, refreshedAt: number) {
  const [art] = picturesOf(metadata)
  return {
    title: metadata.title,
    description: metadata.description,
    category: metadata.categories,
    tags: metadata.tags,
    // What was known once stays.
    ...(metadata.chapters.length > 0 && { chapters: metadata.chapters }),
    published: metadata.published,
    vid_last_refresh: localDay(refreshedAt),
    refreshed_at: refreshedAt,
    stats: {
      view_count: metadata.viewCount,
      like_count: metadata.likeCount,
      dislike_count: 0,
      average_rating: metadata.averageRating,
    },
    ...(art !== undefined && { art }),
  }
}

/** What the file says. */
export function toMediaFields(probe: MediaProbe) {
  const pictures = probe.streams.filter((stream) => stream.type === 'video')
  const largest = pictures.reduce(
    (best, { width = 0, height = 0 }) => (width * height > best.width * best.height ? { width, height } : best),
    { width: 0, height: 0 },
  )
  const duration = Math.round(probe.durationSeconds)
  return {
    media_size: probe.sizeBytes,
    streams: probe.streams,
    ...largest,
    duration,
    duration_str: durationText(duration),
  }
}

export function openIngest(app: App, { collection, subtitles }: VideoParts) {
  async function keepArt({ thumbnailPath }: Ingest['downloaded'], metadata: VideoMetadata): Promise<void> {
    if (thumbnailPath !== undefined && (await app.media.isThere(thumbnailPath))) {
      try {
        return await app.media.keepArt('video', metadata.id, thumbnailPath)
      } catch (err) {
        app.log.warn({ err, id: metadata.id }, 'the downloaded thumbnail is no picture')
      }
    }
    await fetchArt(metadata)
  }

  async function fetchArt(metadata: VideoMetadata, signal?: AbortSignal): Promise<boolean> {
    for (const url of picturesOf(metadata).slice(0, PICTURES_TRIED))
      if (await app.media.fetchArt('video', metadata.id, url, signal)) return true
    return false
  }

  const hasSubtitle = async (channelId: string, id: string, lang: string): Promise<boolean> =>
    app.media.isLanguage(lang) && app.media.isThere(app.media.subtitlePathOf(channelId, id, lang))

  /**
   * From the files in the library, in the place of what was indexed of the video before.
   * @param fresh  languages whose files are new. With `isIndexed: false` only theirs goes: what stays as it was can be
   *               found as before.
   */
  async function indexSubtitles(doc: VideoDoc, fresh: ReadonlySet<string>, isIndexed: boolean): Promise<void> {
    const kept = isIndexed ? [] : doc.subtitles.map(({ lang }) => lang).filter((lang) => !fresh.has(lang))
    const replaced: Filter<NamesOf<typeof subtitleIndex>>[] = [{ eq: ['platform_id', doc.platform_id] }]
    if (kept.length) replaced.push({ not: { in: ['subtitle_lang', kept] } })
    await subtitles.removeWhere({ and: replaced })
    if (!isIndexed) return
    for (const { lang, source } of doc.subtitles) {
      if (!(await hasSubtitle(doc.channel_id, doc.platform_id, lang))) continue
      const path = app.media.subtitlePathOf(doc.channel_id, doc.platform_id, lang)
      let batch: Array<{ id: string; doc: SubtitleDoc }> = []
      const write = async () => {
        const { failed } = await subtitles.putMany(batch)
        if (failed.length > 0) throw errors.unavailable('Subtitles could not be indexed', { cause: failed[0]?.reason })
        batch = []
      }
      for await (const fragment of readFragments(path, source === 'auto')) {
        const id = `${doc.platform_id}-${lang}-${fragment.index}`
        batch.push({
          id,
          doc: {
            platform_id: doc.platform_id,
            subtitle_fragment_id: id,
            subtitle_index: fragment.index,
            subtitle_line: fragment.line,
            subtitle_start: fragment.start,
            subtitle_end: fragment.end,
            subtitle_lang: lang,
            subtitle_source: source === 'auto' ? 'auto' : 'user',
            subtitle_last_refresh: doc.refreshed_at,
            date_downloaded: doc.date_downloaded,
            channel_id: doc.channel_id,
          },
        })
        if (batch.length >= FRAGMENTS_PER_WRITE) await write()
      }
      if (batch.length > 0) await write()
    }
  }

  const toSubtitles = (channelId: string, id: string, list: Ingest['downloaded']['subtitles']): VideoDoc['subtitles'] =>
    list.map(({ lang, name, source, url }) => ({
      ext: 'vtt',
      lang,
      name,
      source,
      url,
      media_url: app.media.subtitleUrl(channelId, id, lang),
    }))

  /**
   * Those that a new file does not replace, as long as theirs lie beside the film: a run that brings fewer takes none
   * away.
   */
  async function keptSubtitles(
    channelId: string,
    { platform_id: id, subtitles: known }: VideoDoc,
    fresh: ReadonlySet<string>,
  ): Promise<VideoDoc['subtitles']> {
    const kept: VideoDoc['subtitles'] = []
    for (const one of known) {
      if (!fresh.has(one.lang) && (await hasSubtitle(channelId, id, one.lang)))
        kept.push({ ...one, media_url: app.media.subtitleUrl(channelId, id, one.lang) })
    }
    return kept
  }

  async function toDoc(
    input: Ingest,
    probe: MediaProbe,
    fresh: ReadonlySet<string>,
    before: VideoDoc | undefined,
  ): Promise<VideoDoc> {
    const { metadata, receipt: told } = input.downloaded
    const { id, channelId } = metadata
    const now = epochSeconds(app.clock)
    const receipt = told && toReceipt(told, now, input.degraded)
    const { duration, duration_str, ...media } = toMediaFields(probe)
    const { stats, ...said } = toFields(metadata, now)
    return {
      platform_id: id,
      active: true,
      ...said,
      stats: { ...stats, dislike_count: before?.stats.dislike_count ?? 0 },
      ...media,
      vid_type: metadata.vidType,
      date_downloaded: input.dateDownloaded ?? before?.date_downloaded ?? now,
      vid_thumb_url: app.media.artUrl('video', id),
      vid_thumb_base64: false,
      media_url: app.media.mediaUrl(channelId, id),
      ...(before?.comment_count !== undefined && { comment_count: before.comment_count }),
      ...(before?.sponsorblock && { sponsorblock: before.sponsorblock }),
      playlist: before?.playlist ?? [],
      subtitles: [
        ...(before ? await keptSubtitles(channelId, before, fresh) : []),
        ...toSubtitles(channelId, id, input.downloaded.subtitles),
      ],
      ...(receipt && { receipt }),
      ...(receipt && input.degraded && { degraded: input.degraded }),
      ...(before?.keep && { keep: before.keep }),
      channel_id: channelId,
      ...(before?.watched_by && { watched_by: before.watched_by }),
      ...(before?.shared_mark !== undefined && { shared_mark: before.shared_mark }),
      ...(before?.restored_mark !== undefined && { restored_mark: before.restored_mark }),
      player: { duration, duration_str },
    }
  }

  async function ingest(input: Ingest, step: Step): Promise<void> {
    const { downloaded, isSubtitleIndexed = true } = input
    const { metadata, mediaPath } = downloaded
    const { id, channelId } = metadata
    // A run that was cut off after the move finds the file in the library.
    const path = (await app.media.isThere(mediaPath)) ? mediaPath : app.media.pathOf(channelId, id)
    const probe = input.probe ?? (await step('video.probe', () => app.media.probe(path)))
    await step('video.channel', () => app.channels.recordName(channelId, metadata.channelName))
    await step('video.art', () => keepArt(downloaded, metadata))
    // In a second run the film that is there may be the new one.
    if (input.isOldKept && path === mediaPath) await step('video.aside', () => app.media.setAside(channelId, id))
    await step('video.adopt', () => app.media.adopt(channelId, id, { mediaPath, subtitles: downloaded.subtitles }))
    // It lay in a place before: from now on this file is the video's, and that one stays where it lies.
    await app.media.places.drop([id])
    const fresh = new Set(downloaded.subtitles.map(({ lang }) => lang))
    const before = await collection.get(id)
    const doc = await toDoc(input, probe, fresh, before)
    await step('video.subtitles', () => indexSubtitles(doc, fresh, isSubtitleIndexed))
    await step('video.document', () => collection.put(id, doc, { visible: true }))
    // What was downloaded has a receipt.
    const why = before ? 'again' : downloaded.receipt ? 'new' : 'imported'
    await step('video.added', () => app.emit('video.added', { id, channelId, why }))
  }

  return { ingest, fetchArt, toSubtitles, indexSubtitles, hasSubtitle }
}

/** Subtitles of videos: their files, the list in the document, and the searchable text. */
import { errors, type Filter, type NamesOf } from 'archivolt'
import type { App } from './app.ts'
import { readFragments } from './cues.ts'
import type { SubtitleDoc, subtitleIndex, VideoDoc } from './schema.ts'
import type { VideoState } from './state.ts'
import type { Ingest, Videos } from './types.ts'

const FRAGMENTS_PER_WRITE = 500

export function openSubtitles(state: VideoState) {
  const { app, collection, exclusive, tellChanged, subtitles } = state

  async function lostSubtitles(doc: VideoDoc): Promise<string[]> {
    const lost: string[] = []
    for (const { lang } of doc.subtitles) {
      if (!(await hasSubtitle(app, doc.channel_id, doc.platform_id, lang))) lost.push(lang)
    }
    return lost
  }

  return {
    setSubtitles(id, staged, { isIndexed = true, onlyMissing = false } = {}) {
      return exclusive(id, async () => {
        const doc = await collection.get(id)
        if (!doc) return false
        const taken = onlyMissing
          ? staged.filter(({ lang }) => !doc.subtitles.some((one) => one.lang === lang))
          : staged
        if (!taken.length) return true
        await app.media.adopt(doc.channel_id, id, {
          ...(app.media.isOurs(id) && { mediaPath: await app.media.filmPath(doc.channel_id, id) }),
          subtitles: taken,
        })
        const fresh = new Set(taken.map(({ lang }) => lang))
        const all = [
          ...doc.subtitles.filter(({ lang }) => !fresh.has(lang)),
          ...toSubtitles(app, doc.channel_id, id, taken),
        ]
        await indexSubtitles(state, { ...doc, subtitles: all }, fresh, isIndexed)
        if (!(await collection.patch(id, { set: { subtitles: all } }, { visible: true }))) return false
        await tellChanged(id, 'subtitles')
        return true
      })
    },

    lostSubtitles,

    fragmentsOf: (doc) => fragmentsOf(app, doc),

    dropLostSubtitles(id) {
      return exclusive(id, async () => {
        const doc = await collection.get(id)
        const lost = doc ? await lostSubtitles(doc) : []
        if (!doc || lost.length === 0) return
        const away = await app.media.absence()
        if (away !== undefined) throw errors.unavailable(away)
        await subtitles.removeWhere({ and: [{ eq: ['platform_id', id] }, { in: ['subtitle_lang', lost] }] })
        const kept = doc.subtitles.filter(({ lang }) => !lost.includes(lang))
        await collection.patch(id, { set: { subtitles: kept } }, { visible: true })
        await tellChanged(id, 'subtitles')
      })
    },
  } satisfies Partial<Videos>
}

/** Subtitles that a new file does not replace and whose files exist: a run with fewer languages removes none. */
export async function keptSubtitles(
  app: App,
  channelId: string,
  { platform_id: id, subtitles: known }: VideoDoc,
  fresh: ReadonlySet<string>,
): Promise<VideoDoc['subtitles']> {
  const kept: VideoDoc['subtitles'] = []
  for (const one of known) {
    if (!fresh.has(one.lang) && (await hasSubtitle(app, channelId, id, one.lang)))
      kept.push({ ...one, media_url: app.media.subtitleUrl(channelId, id, one.lang) })
  }
  return kept
}

export const toSubtitles = (
  { media }: App,
  channelId: string,
  id: string,
  list: Ingest['downloaded']['subtitles'],
): VideoDoc['subtitles'] =>
  list.map(({ lang, name, source, url }) => ({
    ext: 'vtt',
    lang,
    name,
    source,
    url,
    media_url: media.subtitleUrl(channelId, id, lang),
  }))

/**
 * Indexes the subtitle files in the library, replacing the earlier fragments of the video.
 * @param fresh  languages with new files. With `isIndexed: false` only their fragments are removed; the others stay
 * searchable.
 */
export async function indexSubtitles(
  { app, subtitles }: VideoState,
  doc: VideoDoc,
  fresh: ReadonlySet<string>,
  isIndexed: boolean,
): Promise<void> {
  const kept = isIndexed ? [] : doc.subtitles.map(({ lang }) => lang).filter((lang) => !fresh.has(lang))
  const replaced: Filter<NamesOf<typeof subtitleIndex>>[] = [{ eq: ['platform_id', doc.platform_id] }]
  if (kept.length) replaced.push({ not: { in: ['subtitle_lang', kept] } })
  await subtitles.removeWhere({ and: replaced })
  if (!isIndexed) return
  let batch: Array<{ id: string; doc: SubtitleDoc }> = []
  const write = async () => {
    const { failed } = await subtitles.putMany(batch)
    if (failed.length > 0) throw errors.unavailable('Subtitles could not be indexed', { cause: failed[0]?.reason })
    batch = []
  }
  for await (const fragment of fragmentsOf(app, doc)) {
    batch.push(fragment)
    if (batch.length >= FRAGMENTS_PER_WRITE) await write()
  }
  if (batch.length > 0) await write()
}

/** The fragments of a video's subtitle files in the library. */
async function* fragmentsOf(app: App, doc: VideoDoc): AsyncGenerator<{ id: string; doc: SubtitleDoc }> {
  for (const { lang, source } of doc.subtitles) {
    if (!(await hasSubtitle(app, doc.channel_id, doc.platform_id, lang))) continue
    const path = app.media.subtitlePathOf(doc.channel_id, doc.platform_id, lang)
    for await (const fragment of readFragments(path, source === 'auto')) {
      const id = `${doc.platform_id}-${lang}-${fragment.index}`
      yield {
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
      }
    }
  }
}

const hasSubtitle = async ({ media }: App, channelId: string, id: string, lang: string): Promise<boolean> =>
  media.isLanguage(lang) && media.isThere(media.subtitlePathOf(channelId, id, lang))

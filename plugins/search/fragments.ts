/** Hits in subtitles (contract 5.7): fragments with title and channel of their videos, and with marked words. */
import { type Filter, type Hit, roundScore, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import { MOST_HITS } from './first-hits.ts'
import { headsOf, markerOf } from './inside-videos.ts'
import type { Query } from './query-syntax.ts'

export const SubtitleHit = Type.Object({
  platform_id: Type.String(),
  title: Type.String(),
  subtitle_fragment_id: Type.String(),
  subtitle_index: Type.Integer(),
  subtitle_line: Type.String({ description: 'HTML: found words are marked' }),
  subtitle_start: Type.String(),
  subtitle_end: Type.String(),
  subtitle_lang: Type.String(),
  subtitle_source: Type.String(),
  subtitle_last_refresh: Type.Integer(),
  subtitle_channel: Type.String(),
  subtitle_channel_id: Type.String(),
  vid_thumb_url: Type.String(),
  _index: Type.String(),
  _score: Type.Number(),
})
export type SubtitleHit = Static<typeof SubtitleHit>

/** A fragment as stored, without internal fields and the fields of its video. */
type Fragment = Omit<
  SubtitleHit,
  'title' | 'subtitle_channel' | 'subtitle_channel_id' | 'vid_thumb_url' | '_index' | '_score'
>

/** Codes that platforms use in addition to the standard ones. */
const OTHER_CODES: Record<string, string> = {
  ...{ he: 'iw', id: 'in', yi: 'ji', fil: 'tl', jv: 'jw' },
  ...{ nb: 'no', no: 'nb' },
}

/** Stored codes are spelled like the platform's (`pt-BR`), queries in lower case. A language includes its variants. */
function isLanguage(lang: string): Filter<'subtitle_lang'> {
  const code = canonical(lang)
  const spellings = [...new Set([lang, code, OTHER_CODES[code] ?? code])]
  return {
    or: [
      { in: ['subtitle_lang', spellings] },
      ...spellings.map((code): Filter<'subtitle_lang'> => ({ prefix: ['subtitle_lang', `${code}-`] })),
    ],
  }
}

function canonical(lang: string): string {
  try {
    return Intl.getCanonicalLocales(lang)[0] ?? lang
  } catch {
    return lang // not a language code: it matches only this exact name
  }
}

/** How words are searched, and marked in the hits. */
const OPTIONS = { dropStopWords: true, prefixLast: true }

/** The fragments that the account sees. */
export async function findFragments(
  query: Query,
  ofChannels: Array<Filter<'channel_id'>>,
  app: App,
  size = MOST_HITS,
): Promise<SubtitleHit[]> {
  const { term, fuzziness, lang, source } = query
  const filters: Array<Filter<'channel_id' | 'subtitle_lang' | 'subtitle_source'>> = [...ofChannels]
  if (lang !== undefined) filters.push(isLanguage(lang))
  if (source !== undefined) filters.push({ eq: ['subtitle_source', source] })
  const { hits } = await app.videos.subtitles.find({
    text: term === '' ? undefined : { words: term, match: 'any', ...OPTIONS, fuzziness },
    filter: filters.length > 0 ? { and: filters } : undefined,
    size,
    withoutTotal: true,
  })
  return joined(hits, query, app)
}

/** Sorts adjacent hits of one video and one rank by time. */
function inReadingOrder<Found extends { score: number; fragment: Fragment }>(found: readonly Found[]): Found[] {
  const runs: Found[][] = []
  for (const each of found) {
    const last = runs.at(-1)?.[0]
    if (last?.score === each.score && last.fragment.platform_id === each.fragment.platform_id) runs.at(-1)!.push(each)
    else runs.push([each])
  }
  return runs.flatMap((run) => run.sort((a, b) => a.fragment.subtitle_index - b.fragment.subtitle_index))
}

/** Called after all hits are found, as in a search for records, because it reads whole texts of videos. */
async function joined(hits: readonly Hit[], { term, fuzziness }: Query, app: App): Promise<SubtitleHit[]> {
  const fragments = inReadingOrder(hits.map(({ text, score }) => ({ score, fragment: JSON.parse(text) as Fragment })))
  const headOf = await headsOf(
    fragments.map(({ fragment }) => fragment.platform_id),
    app,
  )
  const mark = markerOf(term, { ...OPTIONS, fuzziness })

  return fragments.flatMap(({ fragment, score }) => {
    const video = headOf(fragment.platform_id)
    if (!video) return []
    // Object.assign, because V8 moves objects that are created with several spreads to the old heap.
    const hit: SubtitleHit = Object.assign(fragment, app.platform.mirror(fragment.platform_id), {
      title: video.title,
      subtitle_line: mark(fragment.subtitle_line),
      subtitle_channel: video.channelName,
      subtitle_channel_id: video.channelId,
      vid_thumb_url: video.thumbUrl,
      _index: `${app.settings.prefix}_subtitle`,
      _score: roundScore(score),
    })
    return [hit]
  })
}

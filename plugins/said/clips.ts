/** Converts hits in subtitles to clips of some seconds around each hit. Overlapping clips of a video are merged. */
import { type Static, Type } from 'archivolt'

/** Seconds before and after the spoken words. */
const AROUND = 4

export const Clip = Type.Object({
  platform_id: Type.String(),
  title: Type.String(),
  channel_name: Type.String(),
  channel_id: Type.String(),
  vid_thumb_url: Type.String(),
  start: Type.Number({ description: 'seconds from the beginning of the video' }),
  end: Type.Number({ description: 'seconds; may be after the end of the video' }),
  lines: Type.Array(Type.String(), { description: 'HTML: found words are marked' }),
})
export type Clip = Static<typeof Clip>

/** A hit in the subtitles of a video, as the search returns it. */
interface SpokenHit {
  platform_id: string
  title: string
  subtitle_line: string
  /** `HH:MM:SS.mmm` */
  subtitle_start: string
  subtitle_end: string
  subtitle_channel: string
  subtitle_channel_id: string
  vid_thumb_url: string
}

const toSeconds = (time: string): number => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)

const clipOf = (hit: SpokenHit): Clip => ({
  platform_id: hit.platform_id,
  title: hit.title,
  channel_name: hit.subtitle_channel,
  channel_id: hit.subtitle_channel_id,
  vid_thumb_url: hit.vid_thumb_url,
  start: Math.max(0, toSeconds(hit.subtitle_start) - AROUND),
  end: toSeconds(hit.subtitle_end) + AROUND,
  lines: [hit.subtitle_line],
})

/** Videos in the order of their best hits, with the clips of each by time. @param hits  best first */
export function toClips(hits: readonly SpokenHit[]): Clip[] {
  const byVideo = new Map<string, SpokenHit[]>()
  for (const hit of hits) byVideo.set(hit.platform_id, [...(byVideo.get(hit.platform_id) ?? []), hit])
  return [...byVideo.values()].flatMap((some) => {
    const clips: Clip[] = []
    for (const clip of some.map(clipOf).sort((one, other) => one.start - other.start)) {
      const last = clips.at(-1)
      if (!last || clip.start > last.end) {
        clips.push(clip)
        continue
      }
      last.end = Math.max(last.end, clip.end)
      // Subtitles in two languages, or from two sources, may contain the same line.
      last.lines = [...new Set([...last.lines, ...clip.lines])]
    }
    return clips
  })
}

/** Minimum length of a clip that is cut short, so that it still contains some spoken words. */
const SHORTEST = 2 * AROUND

/**
 * The clips that fit into this total length: the last one is cut short, or omitted if too little of it would remain.
 */
export function within(clips: readonly Clip[], seconds: number): Clip[] {
  const first: Clip[] = []
  let left = seconds
  for (const clip of clips) {
    const { start, end } = clip
    if (end - start > left) {
      if (left >= SHORTEST) first.push({ ...clip, end: start + left })
      break
    }
    first.push(clip)
    left -= end - start
  }
  return first
}

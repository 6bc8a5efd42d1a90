/**
 * Generates an archive of any size, the same in each run: channels, videos of about 4 kB, subtitle fragments,
 * playlists, queue. It uses no outside data.
 */
import type { ChannelDoc } from '../../plugins/channel/schema.ts'
import type { DownloadDoc } from '../../plugins/download/schema.ts'
import type { PlaylistDoc } from '../../plugins/playlist/schema.ts'
import type { SubtitleDoc, VideoDoc } from '../../plugins/video/schema.ts'

/** Returns deterministic numbers in [0, 1), by mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const COMMON = (
  'the of and to in a is that for it you was on with as this are have be not at we by an from or your how what new my all one first best ' +
  'video part full review guide live official world music game making history science home day night building learn simple explained making'
).split(' ')
const STARTS = 'b br c ch cl d dr f fl g gr h j k kr l m n p pl pr r s sc sh sl sp st t th tr v w z'.split(' ')
const VOWELS = 'a e i o u ai ea ee oo ou'.split(' ')
const MIDDLES = 'b ck d ft g l ll lt m mp n nd ng nt p r rd rk rn rt s ss st t tt v x'.split(' ')
const ENDINGS = ['', '', '', 'er', 'ing', 'ed', 's', 'tion', 'ment', 'ness', 'ly', 'able']

/** Distinct words by rank: the first ones are common English words, the others are generated, with English endings. */
export function vocabulary(size: number): string[] {
  const random = randomFrom(7)
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]!
  const found = new Set(COMMON)
  while (found.size < size) {
    const syllables = 1 + Math.floor(random() * 3)
    let word = ''
    for (let at = 0; at < syllables; at++) word += pick(STARTS) + pick(VOWELS) + pick(MIDDLES)
    found.add(word + pick(ENDINGS))
  }
  return [...found]
}

/** Follows Zipf's law: the word of rank n occurs 1/n times as often as the first. */
export function speaker(words: readonly string[], random: () => number): (count: number) => string {
  const sums: number[] = []
  let sum = 0
  for (let rank = 1; rank <= words.length; rank++) sums.push((sum += 1 / (rank + 2)))
  const one = () => {
    const wanted = random() * sum
    let [low, high] = [0, sums.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return words[low]!
  }
  return (count) => Array.from({ length: count }, one).join(' ')
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const idOf = (random: () => number, length: number) =>
  Array.from({ length }, () => ALPHABET[Math.floor(random() * 64)]).join('')
const FIRST_DOWNLOAD = 1_500_000_000
const PLAYLISTS = 500
const ENTRIES = 40
const dayOf = (epoch: number) => new Date(epoch * 1000).toISOString().slice(0, 10)

export interface Archive {
  channels(): Generator<{ id: string; doc: ChannelDoc }>
  videos(): Generator<{ id: string; doc: VideoDoc }>
  /** Subtitle fragments for the first videos, the same number for each. */
  subtitles(videos: number, fragments: number): Generator<{ id: string; doc: SubtitleDoc }>
  playlists(): Generator<{ id: string; doc: PlaylistDoc }>
  /** Pending videos that are not in the archive. */
  queue(items: number): Generator<{ id: string; doc: DownloadDoc }>
  /** The channel with the most videos: one in eighteen of 100,000. */
  biggestChannel: string
  words: readonly string[]
}

/** The first videos in the order in which they were archived, as the subject of questions. */
export function firstVideos(archive: Archive, count: number): Array<{ id: string; doc: VideoDoc }> {
  const first = []
  for (const video of archive.videos()) if (first.push(video) === count) break
  return first
}

export function generate({
  videos,
  channels = Math.max(1, Math.round(videos / 50)),
  words = 30_000,
}: {
  videos: number
  channels?: number
  words?: number
}): Archive {
  const vocab = vocabulary(words)
  const channelIds = Array.from(
    { length: channels },
    (
      (random) => () =>
        `UC${idOf(random, 22)}`
    )(randomFrom(11)),
  )
  const videoId = (at: number) => idOf(randomFrom(1_000_003 + at), 11)
  const downloadedAt = (at: number) => FIRST_DOWNLOAD + at * 600
  // A few channels have most of the videos.
  const channelOf = (random: () => number) => channelIds[Math.floor(random() ** 2.62 * channels)]!

  return {
    words: vocab,
    biggestChannel: channelIds[0]!,
    *channels() {
      const random = randomFrom(13)
      const say = speaker(vocab, random)
      for (const id of channelIds) {
        const doc: ChannelDoc = {
          channel_id: id,
          channel_name: say(2),
          channel_subscribed: random() < 0.5,
          channel_active: random() < 0.95,
          channel_description: say(60),
          channel_subs: Math.floor(random() * 1e6),
          channel_views: Math.floor(random() * 1e8),
          channel_tags: [say(1), say(1), say(2)],
          channel_tabs: ['videos'],
          channel_last_refresh: '2024-05-30',
          channel_thumb_url: `/cache/channels/${id}_thumb.jpg`,
          channel_banner_url: `/cache/channels/${id}_banner.jpg`,
          channel_tvart_url: `/cache/channels/${id}_tvart.jpg`,
          channel_overwrites: {},
          refreshed_at: FIRST_DOWNLOAD + Math.floor(random() * 1e7),
        }
        yield { id, doc }
      }
    },
    *videos() {
      for (let at = 0; at < videos; at++) {
        const random = randomFrom(at + 17)
        const say = speakerFor(vocab, random)
        const id = videoId(at)
        const channel = channelOf(random)
        const downloaded = downloadedAt(at)
        const published = downloaded - Math.floor(random() * 3e8)
        const duration = 30 + Math.floor(random() ** 3 * 14_000)
        const isWatched = random() < 0.4
        const thumb = `/cache/videos/${id[0]!.toLowerCase()}/${id}.jpg`
        const doc: VideoDoc = {
          platform_id: id,
          active: random() < 0.97,
          title: say(8),
          description: say(260),
          category: ['Education'],
          tags: Array.from({ length: 8 }, () => say(1)),
          vid_type: random() < 0.85 ? 'videos' : random() < 0.7 ? 'shorts' : 'streams',
          published: dayOf(published),
          date_downloaded: downloaded,
          vid_last_refresh: dayOf(downloaded),
          vid_thumb_url: thumb,
          vid_thumb_base64: false,
          media_url: `/media/${channel}/${id}.mp4`,
          media_size: Math.floor(random() * 2e9),
          comment_count: Math.floor(random() * 100),
          playlist: random() < 0.2 ? [`PL${Math.floor(random() * PLAYLISTS)}`] : [],
          stats: {
            view_count: Math.floor(random() ** 4 * 1e7),
            like_count: Math.floor(random() ** 4 * 1e5),
            dislike_count: 0,
            average_rating: 0,
          },
          streams: [
            { type: 'video', index: 0, codec: 'h264', bitrate: 900_000, width: 1920, height: 1080 },
            { type: 'audio', index: 1, codec: 'aac', bitrate: 128_000 },
          ],
          subtitles: ['en', 'de'].map((lang) => ({
            ext: 'vtt' as const,
            lang,
            name: lang,
            source: 'user' as const,
            url: '',
            media_url: `/media/${channel}/${id}.${lang}.vtt`,
          })),
          player: { duration, duration_str: `${Math.floor(duration / 60)}m ${duration % 60}s` },
          ...(isWatched && { watched_by: ['1'] }),
          channel_id: channel,
          refreshed_at: downloaded,
          width: 1920,
          height: 1080,
        }
        yield { id, doc }
      }
    },
    *subtitles(count, fragments) {
      for (let at = 0; at < count; at++) {
        const random = randomFrom(at + 19)
        const say = speakerFor(vocab, random)
        const id = videoId(at)
        const channel = channelOf(randomFrom(at + 17))
        for (let index = 1; index <= fragments; index++) {
          const fragment = `${id}-en-${index}`
          const doc: SubtitleDoc = {
            platform_id: id,
            subtitle_fragment_id: fragment,
            subtitle_index: index,
            subtitle_line: say(40),
            subtitle_start: '00:00:00.000',
            subtitle_end: '00:00:10.000',
            subtitle_lang: 'en',
            subtitle_source: random() < 0.5 ? 'user' : 'auto',
            subtitle_last_refresh: downloadedAt(at),
            date_downloaded: downloadedAt(at),
            channel_id: channel,
          }
          yield { id: fragment, doc }
        }
      }
    },
    *playlists() {
      const random = randomFrom(23)
      const say = speaker(vocab, random)
      for (let at = 0; at < PLAYLISTS; at++) {
        const id = `PL${at}`
        const channel = channelOf(random)
        const doc: PlaylistDoc = {
          playlist_id: id,
          playlist_type: 'regular',
          playlist_name: say(3),
          playlist_description: say(30),
          playlist_channel: say(2),
          playlist_channel_id: channel,
          playlist_subscribed: random() < 0.3,
          playlist_active: random() < 0.95,
          playlist_last_refresh: '2024-05-30',
          playlist_thumbnail: `/cache/playlists/${id}.jpg`,
          playlist_sort_order: 'top',
          playlist_entries: Array.from({ length: ENTRIES }, (_, idx) => {
            const entry = videoId(Math.floor(random() * videos))
            // In the stored form, with the second id key (`plugins/playlist/twins.ts`).
            return { platform_id: entry, youtube_id: entry, title: say(8), uploader: say(2), idx, downloaded: true }
          }),
          refreshed_at: FIRST_DOWNLOAD,
        }
        yield { id, doc }
      }
    },
    *queue(items) {
      const random = randomFrom(29)
      const say = speaker(vocab, random)
      for (let at = 0; at < items; at++) {
        const id = idOf(random, 11)
        const isIgnored = random() < 0.2
        const doc: DownloadDoc = {
          platform_id: id,
          status: isIgnored ? 'ignore' : 'pending',
          auto_start: false,
          title: say(8),
          channel_id: channelOf(random),
          channel_name: say(2),
          channel_indexed: true,
          duration: '10m 05s',
          published: dayOf(FIRST_DOWNLOAD),
          timestamp: FIRST_DOWNLOAD + at,
          vid_type: random() < 0.9 ? 'videos' : 'shorts',
          vid_thumb_url: `/cache/videos/${id[0]!.toLowerCase()}/${id}.jpg`,
          position: at + 1,
        }
        yield { id, doc }
      }
    },
  }
}

const tables = new Map<readonly string[], (random: () => number) => (count: number) => string>()

/** All speakers share one table of frequencies, which is built once. */
function speakerFor(words: readonly string[], random: () => number): (count: number) => string {
  let make = tables.get(words)
  if (!make) {
    let next = random
    const say = speaker(words, () => next())
    make = (given) => {
      return (count) => {
        next = given
        return say(count)
      }
    }
    tables.set(words, make)
  }
  return make(random)
}

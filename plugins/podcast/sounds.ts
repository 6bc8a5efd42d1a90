/** The sound of films, as m4a in the cache: made once for each video in a feed, up to a total size. */
import { stat, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  actorOf,
  chunksOf,
  DAY_MS,
  DAY_SECONDS,
  epochSeconds,
  errors,
  filmInput,
  isAppError,
  openCacheFiles,
} from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { MOST_ITEMS } from './contents.ts'

export const SOUND_ENDING = '.m4a'
export const SOUND_TYPE = 'audio/x-m4a'
const GIGABYTE = 1e9
/** Maximum number of videos of all feeds together. */
const MOST_WANTED = 10 * MOST_ITEMS
const READ_TOGETHER = 500
/** How long a new video waits for its sound before a feed offers its film. */
const PATIENCE_SECONDS = DAY_SECONDS
/**
 * Time after a run until another one may try the remaining videos again: there may be more space, or a disk may be
 * online again.
 */
const AGAIN_MS = 3_600_000
const ENCODED = ['aac', '-b:a', '128k', '-ac', '2']

export function openSounds(app: App) {
  const { settings, preferences, clock, media } = app
  const files = openCacheFiles({
    folder: join(resolve(settings.cacheDir), 'sound'),
    ending: SOUND_ENDING,
    room: () => preferences.section('podcasts').sound_room * GIGABYTE,
    // Sound that belongs to no feed any more.
    isSpare: (id) => !found.ids.has(id),
  })
  files.followRoom(app)
  /** Videos without usable sound, since the start. */
  const impossible = new Set<string>()
  /** Sizes of all sounds since the start, in bytes, including those that were removed for others. */
  const sizes = new Map<string, number>()
  let doubts = 0
  /** The videos that the last run found in feeds, and the steady time of the run. */
  let found: { ids: ReadonlySet<string>; atMs: number } = { ids: new Set(), atMs: -Infinity }
  /**
   * Videos in feeds without sound that the last run did not find: with a view, a feed may contain other videos than the
   * first ones.
   */
  const lacked = new Set<string>()

  /** The videos of all feeds, newest first. */
  async function wanted(): Promise<string[]> {
    const ids = new Set(lacked)
    lacked.clear()
    for (const feed of app.feeds.all()) {
      const account = app.accounts.get(feed.user_id)
      if (!account?.is_active) continue
      for (const id of await app.contents.idsOf(feed, actorOf(account))) ids.add(id)
    }
    found = { ids, atMs: clock.steady() }
    const published: Array<[id: string, day: string]> = []
    for (const some of chunksOf([...ids], READ_TOGETHER)) {
      const filter: VideoFilter = { in: ['platform_id', some] }
      for await (const parts of app.videos.collection.parts({ filter, paths: ['published'] }))
        for (const { id, values } of parts) published.push([id, String(values[0])])
    }
    published.sort(([, a], [, b]) => (a < b ? 1 : -1))
    return published.slice(0, MOST_WANTED).map(([id]) => id)
  }

  /** Whether the film itself is only sound. */
  const isSound = (video: VideoDoc): boolean => typeOf(video).startsWith('audio/')
  const typeOf = ({ media_url: url }: VideoDoc): string =>
    media.containers.contentTypeOf(url.slice(url.lastIndexOf('.') + 1)) ?? 'video/mp4'

  /** Whether its sound does not exist yet, but a run may make it. */
  const isLacking = (video: VideoDoc): boolean =>
    !files.has(video.platform_id) && !impossible.has(video.platform_id) && !isSound(video)

  /**
   * @returns epoch seconds: until then the video is omitted from feeds unless its sound exists; undefined: the video is
   * listed
   */
  function awaitedUntil(video: VideoDoc): number | undefined {
    const until = video.date_downloaded + PATIENCE_SECONDS
    if (until <= epochSeconds(clock)) return undefined
    if (!isLacking(video)) return undefined
    return video.streams.some(({ type }) => type === 'audio') ? until : undefined
  }

  /** Sets the time of a file to the day of its video, so that the sound of the oldest videos is removed first. */
  function timeOf({ published }: VideoDoc): Date {
    const day = Date.parse(published) || 0
    return new Date(day + (clock.now() % DAY_MS))
  }

  /**
   * @returns the size of the draft in bytes
   * @throws unprocessable: the film has no sound; unavailable: the film is offline, or ffmpeg is missing
   */
  async function make(video: VideoDoc, signal: AbortSignal): Promise<number> {
    const { platform_id: id, channel_id: channelId } = video
    const path = await media.filmPath(channelId, id)
    if (!(await media.isThere(path))) throw errors.unavailable('The file is missing')
    const stream = (await media.streamsIn(path, signal)).find(({ type }) => type === 'audio')
    if (!stream) throw errors.unprocessable('the video has no sound')
    const codec = stream.codec === 'aac' ? ['copy'] : ENCODED
    const args = [...filmInput(path), '-map', `0:${stream.index}`, '-c:a', ...codec, '-map_metadata', '-1']
    const draft = files.beginDraft(id)
    await media.toMp4(args, draft, { signal, isBehind: true })
    const time = timeOf(video)
    await utimes(draft, time, time)
    return (await stat(draft)).size
  }

  return {
    ...files,
    ...{ wanted, sizes },
    isSound,
    isLacking,
    /** Adds videos to the next run. @returns whether the last run did not find one of them */
    noteLacking(ids: readonly string[]): boolean {
      const unknown = ids.filter((id) => !found.ids.has(id))
      for (const id of unknown) if (lacked.size < MOST_WANTED) lacked.add(id)
      return unknown.length > 0
    },
    isRunDue: (): boolean => clock.steady() >= found.atMs + AGAIN_MS,
    typeOf,
    awaitedUntil,
    /** Changes when feeds offer another sound, or no longer offer one. */
    version: (): string => `${files.changes()} ${doubts}`,
    make,
    isPossible: (id: string): boolean => !impossible.has(id),
    /** @param error  why no sound could be made */
    giveUp(video: VideoDoc, error: unknown): void {
      if (!isAppError(error, 'unprocessable')) return
      // This does not change other feeds.
      if (awaitedUntil(video) !== undefined) doubts++
      impossible.add(video.platform_id)
    },
    /** Called when the film was replaced or removed. */
    async forget(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        impossible.delete(id)
        sizes.delete(id)
      }
      await files.drop(ids)
    },
  }
}

export type Sounds = ReturnType<typeof openSounds>

/**
 * make_copy: makes an mp4 that browsers play. Streams are copied if that is sufficient, otherwise encoded. After an
 * interruption it starts over; the film itself is only read.
 */
import { rm } from 'node:fs/promises'
import { defineTask, diskSpace, errors, type JobContext, say, Type, untilStop } from 'archivolt'
import type { App } from '../app.ts'
import { toCopy } from '../film.ts'
import { VideoId } from '../requests.ts'

const SPARE_BYTES = 200 << 20
const LEEWAY_SECONDS = 2
const LEEWAY_SHARE = 0.03
/** Containers that browsers can read: a film in one of them that does not play fails because of its codecs. */
export const READ_BY_BROWSERS = new Set(['mp4', 'm4v', 'webm', 'm4a', 'mp3', 'opus', 'ogg', 'flac', 'aac', 'wav'])

export const makeCopy = defineTask({
  name: 'make_copy',
  title: 'Convert a video for browsers',
  group: 'video:copy',
  payload: Type.Object({
    id: VideoId,
    /** Encode everything, because a copy with the original streams did not play. */
    isEncoded: Type.Optional(Type.Boolean()),
    /** The account that requested the copy. */
    account: Type.Optional(Type.Integer()),
  }),
  lane: 'copy',
  unique: ({ id }) => id,
  resumable: true,
  apiStop: true,
  async run(given, app: App) {
    // A stop ends the work at once: half a copy is useless.
    const job = untilStop(given)
    const { id, isEncoded = false } = job.payload
    const doc = await app.videos.get(id)
    if (!doc) return null // removed meanwhile
    const { copies } = app
    const path = await app.media.filmPath(doc.channel_id, id)
    await checkRoom(doc.media_size, app)
    const draft = copies.beginDraft(id)
    try {
      copies.making.set(id, 0)
      const { durationSeconds } = await app.media.probe(path)
      const ending = app.media.places.filmOf(id)?.ending ?? 'mp4'
      const streams = await app.media.streamsIn(path, job.signal)
      await toCopy(app, path, draft, streams, {
        signal: job.signal,
        isEncoded: isEncoded || READ_BY_BROWSERS.has(ending),
        onSeconds: (seconds) =>
          tell(durationSeconds > 0 ? Math.min(1, seconds / durationSeconds) : 0, doc.title, job, app),
      })
      await checkWhole(draft, durationSeconds, app)
      await job.step('copy.keep', () => app.videos.exclusive(id, () => storeOrDrop(id, app)))
    } finally {
      copies.making.delete(id)
      await rm(draft, { force: true })
    }
    return null
  },
})

function tell(fraction: number, title: string, job: JobContext<{ id: string }>, { copies }: Pick<App, 'copies'>): void {
  copies.making.set(job.payload.id, fraction)
  job.progress(fraction, say`Converted copy of “${{ title }}”`)
}

async function checkRoom(filmBytes: number, { copies, settings }: App): Promise<void> {
  if (filmBytes > copies.room())
    throw errors.unprocessable('The video is larger than the space for copies; increase that space in Settings')
  if ((await diskSpace(settings.cacheDir)).free < filmBytes + SPARE_BYTES)
    throw errors.unavailable('There is not enough space on the disk of the cache folder for a copy')
}

async function checkWhole(draft: string, seconds: number, { media }: App): Promise<void> {
  const made = await media.probe(draft)
  if (made.durationSeconds < seconds - Math.max(LEEWAY_SECONDS, seconds * LEEWAY_SHARE))
    throw errors.unprocessable(
      say`ffmpeg stopped at ${{ seconds: Math.round(made.durationSeconds) }} of ${{ all: Math.round(seconds) }} s`,
    )
}

/** Stores the copy, unless the video was removed meanwhile. */
async function storeOrDrop(id: string, { copies, videos, touch }: App): Promise<void> {
  if (!(await videos.has(id))) return
  await copies.keep(id)
  touch()
}

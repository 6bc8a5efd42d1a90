/**
 * Cuts thumbnails from our own films at the times that viewers propose, and stores them in the cache, up to a total
 * size. Processes one film after the other, while no other task runs.
 */
import { join, resolve } from 'node:path'
import {
  defineTask,
  diskSpace,
  filmInput,
  idInName,
  isAppError,
  type JobContext,
  MAX_WINDOW,
  openCacheFiles,
  Type,
} from 'archivolt'
import type { App } from './app.ts'

const FOLDER = 'dearrow'
const ENDING = '.jpg'
/** Total size of all pictures: about 20,000 of them. */
const ROOM_BYTES = 1e9
const WIDTH = 640
const SPARE_BYTES = 200 << 20
const MOST_WORK_S = 60

export const pictureOf = (name: string): string | undefined => idInName(name, ENDING)

export function openPictures({ settings }: Pick<App, 'settings'>) {
  const files = openCacheFiles({
    folder: join(resolve(settings.cacheDir), FOLDER),
    ending: ENDING,
    room: () => ROOM_BYTES,
  })
  /** Films from which no picture can be cut; they are tried again after the next start. */
  const impossible = new Set<string>()
  return {
    ...files,
    impossible,
    /** Called when the film was replaced or removed, or another time proposed. */
    async drop(ids: readonly string[]): Promise<void> {
      for (const id of ids) impossible.delete(id)
      await files.drop(ids)
    },
    /** Keys for video records: the URL of each picture. */
    keysOf: (ids: readonly string[]): Map<string, { dearrow_thumb_url: string }> =>
      new Map(
        ids.flatMap((id) =>
          files.has(id) ? [[id, { dearrow_thumb_url: `/cache/${FOLDER}/${id}${ENDING}` }] as const] : [],
        ),
      ),
  }
}

export type Pictures = ReturnType<typeof openPictures>

export const cutPictures = defineTask({
  name: 'dearrow.cut',
  title: 'Cut thumbnails',
  payload: Type.Object({}),
  lane: 'stills',
  internal: true,
  unique: true,
  resumable: true,
  givesWay: true,
  async run(job, app: App) {
    const { dearrow, pictures, videos } = app
    // Only the newest films, because more pictures would not be kept.
    const { hits } = await videos.collection.find({
      filter: { exists: 'dearrow_thumbnail' },
      sort: [{ by: 'published', order: 'desc' }],
      size: MAX_WINDOW,
      withoutTotal: true,
      withoutTexts: true,
    })
    for (const { id } of hits) {
      if (pictures.has(id) || pictures.impossible.has(id)) continue
      await app.jobs.quiet(job)
      if (job.isStopping() || !dearrow.isWanted()) return
      if ((await app.media.absence()) !== undefined) return
      if ((await diskSpace(app.settings.cacheDir)).free < SPARE_BYTES) return
      await cutOne(id, job, app)
    }
  },
})

async function cutOne(id: string, job: JobContext<object>, app: App): Promise<void> {
  const { media, pictures, videos } = app
  const doc = await videos.get(id)
  const seconds = doc?.dearrow?.thumbnail
  if (!doc || seconds === undefined) return
  try {
    const path = await media.filmPath(doc.channel_id, id)
    const draft = pictures.beginDraft(id)
    await media.ffmpeg(
      [
        ...['-timelimit', String(MOST_WORK_S), '-filter_threads', '1', '-threads', '1', '-ss', String(seconds)],
        ...filmInput(path),
        ...['-map', '0:V:0', '-frames:v', '1', '-vf', `scale=w='min(${WIDTH},iw*sar)':h=-2,setsar=1`],
        ...['-pix_fmt', 'yuvj420p', '-q:v', '4', '-update', '1', '-f', 'image2', '-y', `file:${draft}`],
      ],
      { signal: job.signal, isBehind: true },
    )
    await job.step('dearrow.keep', () =>
      videos.exclusive(id, async () => {
        // The video may have been removed meanwhile, or another time proposed.
        if ((await videos.get(id))?.dearrow?.thumbnail !== seconds) return
        await pictures.keep(id)
        app.touch()
      }),
    )
  } catch (err) {
    job.signal.throwIfAborted()
    if (isAppError(err, 'unprocessable')) pictures.impossible.add(id)
    job.log.warn({ err, id }, 'no thumbnail could be cut')
  }
}

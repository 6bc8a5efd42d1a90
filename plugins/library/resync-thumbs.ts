/**
 * resync_thumbs: embeds the thumbnail in each film, for players that show it. Films that already have it are skipped.
 */
import { readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { defineTask, errors, type JobContext, say, Type } from 'archivolt'
import type { FileStream } from '../media/types.ts'
import type { App } from './app.ts'
import { mustBeThere } from './disk.ts'
import { pictureIn, withPicture } from './film.ts'
import { isQueued } from './found.ts'
import { openReport, reasonOf } from './report.ts'

type Run = JobContext<object>

const ROOM_TO_SPARE_BYTES = 200 << 20
const LEEWAY_SECONDS = 1

export const resyncThumbs = defineTask({
  name: 'resync_thumbs',
  title: 'Sync Thumbnails to Media Files',
  group: 'setting:thumbnailsync',
  payload: Type.Object({}),
  lane: 'library',
  apiStart: true,
  unique: true,
  async run(job, app: App) {
    const report = openReport(resyncThumbs, job, app)
    await mustBeThere(app)
    const total = Math.max(1, await app.videos.collection.count(undefined, Number.POSITIVE_INFINITY))
    let seen = 0
    let written = 0
    for await (const batch of app.videos.collection.scan({ batch: 50 })) {
      for (const { id } of batch) {
        job.signal.throwIfAborted()
        job.progress(
          seen / total,
          say`Thumbnails in media files: ${{ number: ++seen }}/${{ all: total }}, ${{ written }} written`,
        )
        try {
          if (await embed(id, job, app)) written++
        } catch (thrown) {
          report.add(id, reasonOf(thrown, app))
        }
      }
    }
    await report.show()
    return null
  },
})

/**
 * Writes a new film, compares it with the old one, and replaces that by rename, so that playback continues.
 * @returns false: nothing had to be done
 */
async function embed(id: string, job: Run, app: App): Promise<boolean> {
  return app.videos.exclusive(id, async () => {
    const doc = await app.videos.get(id)
    if (!doc || !app.media.isOurs(id)) return false
    const path = await app.media.filmPath(doc.channel_id, id)
    const picture = app.media.artPathOf('video', id)
    if (!(await app.media.isThere(path)) || !(await app.media.isThere(picture)) || isQueued(id, app)) return false
    const streams = await app.media.streamsIn(path, job.signal)
    if (await hasPicture(path, streams, picture, job, app)) {
      // An earlier run may have been interrupted between replacing the file and updating the document.
      if ((await stat(path)).size !== doc.media_size) await app.videos.measure(id)
      return false
    }
    await checkRoom(path, doc.channel_id, app)
    await app.media.scratch(async (folder) => {
      const made = join(folder, `film${extname(path)}`)
      await withPicture(app, path, streams, picture, made, { signal: job.signal })
      await checkSame(path, made, app)
      await job.step('thumbnail.adopt', () => app.media.adopt(doc.channel_id, id, { mediaPath: made, subtitles: [] }))
    })
    await app.videos.measure(id)
    return true
  })
}

async function hasPicture(path: string, streams: FileStream[], picture: string, job: Run, app: App): Promise<boolean> {
  const [inside, ...others] = streams.filter(({ isPicture }) => isPicture)
  if (!inside || others.length > 0) return false
  return (await pictureIn(app, path, inside.index, job.signal)).equals(await readFile(picture))
}

async function checkRoom(path: string, channelId: string, app: App): Promise<void> {
  // The new film is written to staging, and may then be moved to another disk.
  const [{ size }, ...disks] = await Promise.all([stat(path), app.media.space(), app.media.space(channelId)])
  if (Math.min(...disks.map(({ free }) => free)) < size + ROOM_TO_SPARE_BYTES)
    throw errors.unavailable("There is not enough space on the library's disk to write the file again")
}

/** Checks that no part of the film was lost. */
async function checkSame(before: string, after: string, app: App): Promise<void> {
  const [old, made] = await Promise.all([app.media.probe(before), app.media.probe(after)])
  const isSame =
    old.streams.length === made.streams.length && Math.abs(old.durationSeconds - made.durationSeconds) <= LEEWAY_SECONDS
  if (!isSame) throw errors.unprocessable('embedding the thumbnail would change the video')
}

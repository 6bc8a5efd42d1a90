/**
 * preview.make: the sheets of films that were played, one film after the other, while no other task runs. Cut off, a
 * film begins anew; it is only read.
 */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTask, diskSpace, errors, isAppError, type JobContext, say, Type } from 'archivolt'
import type { App } from '../app.ts'
import { toSheets } from '../film.ts'
import { untilQuiet } from '../quiet.ts'
import { shapeFor, type Wish } from './previews.ts'

const SPARE_BYTES = 200 << 20

export const makePreviews = defineTask({
  name: 'preview.make',
  title: 'Make seek previews',
  payload: Type.Object({}),
  lane: 'preview',
  internal: true,
  unique: true,
  resumable: true,
  async run(job, app: App) {
    for (let wish = app.previews.next(); wish && !job.isStopping(); wish = app.previews.next()) {
      await untilQuiet(job, app)
      await makeOne(wish, job, app)
    }
  },
})

async function makeOne(wish: Wish, job: JobContext<object>, app: App): Promise<void> {
  const { previews, videos } = app
  const { id } = wish
  const draft = previews.draftOf(id)
  try {
    const shape = await draw(id, draft, job.signal, app)
    await job.step('preview.keep', () =>
      // It may have been removed, or switched off, while this took its time.
      videos.exclusive(id, async () => {
        if (!previews.isStill(wish)) return
        if (shape) await previews.keep(id, shape)
        else await previews.drop([id])
      }),
    )
  } catch (error) {
    job.signal.throwIfAborted()
    job.log.warn({ err: error, id }, 'no seek previews')
    // A disk that is away or full: whoever plays it next asks again.
    if (isAppError(error, 'unprocessable')) await previews.giveUp(id)
    else await previews.drop([id])
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** @returns how they lie in the draft; undefined: they are not wanted any more */
async function draw(id: string, draft: string, signal: AbortSignal, app: App) {
  const { previews, videos, media, settings } = app
  const doc = await videos.get(id)
  if (!doc || !previews.isWanted()) return undefined
  if ((await diskSpace(settings.cacheDir)).free < SPARE_BYTES) throw errors.unavailable('The disk of the cache is full')
  const path = await media.filmPath(doc.channel_id, id)
  const { durationSeconds, streams } = await media.probe(path)
  if (!streams.some(({ type }) => type === 'video')) throw errors.unprocessable('the film has no picture')
  const shape = shapeFor(durationSeconds)
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true })
  await toSheets(app, path, draft, shape, signal)
  const made = (await readdir(draft)).length
  if (made !== shape.sheets)
    throw errors.unprocessable(say`${{ made }} of ${{ sheets: shape.sheets }} sheets could be made`)
  const [sheet] = (await media.probe(join(draft, '1.jpg'))).streams
  return {
    ...shape,
    width: (sheet?.width ?? 0) / shape.columns,
    height: (sheet?.height ?? 0) / shape.rows,
  }
}

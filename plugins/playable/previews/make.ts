/**
 * preview.make: gets sheets for films that were downloaded or played, one film at a time, while no other task runs.
 * Downloads them if the platform has them, otherwise makes them from the film. After an interruption, a film starts
 * over.
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { chunksOf, defineTask, diskSpace, errors, isAppError, type JobContext, say, Type } from 'archivolt'
import type { Storyboard } from '../../platform/types.ts'
import type { App } from '../app.ts'
import { toSheets } from '../film.ts'
import { type Shape, shapeFor, type Wish } from './previews.ts'

const SPARE_BYTES = 200 << 20
/**
 * Size limit of the platform's sheets for one film: larger ones are not downloaded; they are made from the film once
 * somebody plays it.
 */
const MOST_FETCHED_BYTES = 8_000_000
/** Sheets that one process converts, because starting a process takes longer than converting a sheet. */
const TOGETHER = 10

export const makePreviews = defineTask({
  name: 'preview.make',
  title: 'Make seek previews',
  payload: Type.Object({}),
  lane: 'preview',
  internal: true,
  unique: true,
  resumable: true,
  givesWay: true,
  async run(job, app: App) {
    for (let wish = app.previews.next(); wish && !job.isStopping(); wish = app.previews.next()) {
      await app.jobs.quiet(job)
      await makeOne(wish, job, app)
    }
  },
})

async function makeOne(wish: Wish, job: JobContext<object>, app: App): Promise<void> {
  const { previews, videos } = app
  const { id } = wish
  const draft = previews.draftOf(id)
  try {
    const offered = previews.offerOf(id)
    const shape = await (offered ? fetchOf(id, offered, draft, job.signal, app) : draw(id, draft, job.signal, app))
    await job.step('preview.keep', () =>
      // The video may have been removed meanwhile, or previews switched off.
      videos.exclusive(id, async () => {
        if (!previews.isStill(wish)) return
        if (shape) await previews.keep(id, shape)
        else await previews.drop([id])
      }),
    )
  } catch (error) {
    job.signal.throwIfAborted()
    job.log.warn({ err: error, id }, 'seek previews could not be made')
    await videos.exclusive(id, async () => {
      // The failure of an earlier film says nothing about one that was downloaded meanwhile.
      if (!previews.isStill(wish)) return
      // The disk is offline or full, or the platform refuses: the next playback asks again.
      if (isAppError(error, 'unprocessable')) await previews.giveUp(id)
      else await previews.drop([id])
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** The platform's previews cannot be used. */
class NotToBeHad extends Error {}

/**
 * Finds the video and empties the draft. undefined: previews are no longer wanted. @throws unavailable: the disk is full
 */
async function begin(id: string, draft: string, { previews, videos, settings }: App) {
  const doc = await videos.get(id)
  if (!doc || !previews.isWanted()) return undefined
  if ((await diskSpace(settings.cacheDir)).free < SPARE_BYTES) throw errors.unavailable('The disk of the cache is full')
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true })
  return doc
}

/** @returns the layout of the sheets in the draft; undefined: previews are no longer wanted. @throws NotToBeHad */
async function fetchOf(
  id: string,
  { sheets: urls, ...offered }: Storyboard,
  draft: string,
  signal: AbortSignal,
  app: App,
): Promise<Shape | undefined> {
  const doc = await begin(id, draft, app)
  if (!doc) return undefined
  let bytes = 0
  const sheets = urls.map((url, at) => ({ url, to: join(draft, `${at + 1}.jpg`) }))
  for (const [at, some] of [sheets.slice(0, 1), ...chunksOf(sheets.slice(1), TOGETHER)].entries()) {
    if (!(await app.media.fetchJpegs(id, some, signal)))
      throw new NotToBeHad('A sheet of the platform’s seek previews could not be downloaded')
    for (const { to } of some) bytes += (await stat(to)).size
    if (bytes > MOST_FETCHED_BYTES) throw new NotToBeHad('The platform’s seek previews are too large')
    if (at === 0) await checkSize(sheets[0]!.to, offered, app)
  }
  const count = Math.min(
    Math.ceil(doc.player.duration / offered.interval),
    offered.columns * offered.rows * urls.length,
  )
  return { ...offered, count: Math.max(1, count), sheets: urls.length }
}

/** Refuses sheets of an unexpected size, because they would be cut at the wrong positions. */
async function checkSize(sheet: string, said: Omit<Storyboard, 'sheets'>, { media }: App): Promise<void> {
  const { width, height } = await media.jpegSize(sheet)
  const isSo = width === said.width * said.columns && height <= said.height * said.rows && height % said.height === 0
  if (!isSo) throw new NotToBeHad('The platform’s seek previews do not have the announced size')
}

/** Like `fetchOf`, but makes the sheets from the film. @throws unprocessable: the film has no picture */
async function draw(id: string, draft: string, signal: AbortSignal, app: App): Promise<Shape | undefined> {
  const doc = await begin(id, draft, app)
  if (!doc) return undefined
  const path = await app.media.filmPath(doc.channel_id, id)
  const { durationSeconds, streams } = await app.media.probe(path)
  if (!streams.some(({ type }) => type === 'video')) throw errors.unprocessable('the video has no picture')
  const { longest, ...shape } = shapeFor(durationSeconds)
  await toSheets(app, path, draft, { ...shape, longest }, signal)
  const made = (await readdir(draft)).length
  if (made !== shape.sheets)
    throw errors.unprocessable(say`${{ made }} of ${{ sheets: shape.sheets }} sheets could be made`)
  const { width, height } = await app.media.jpegSize(join(draft, '1.jpg'))
  return { ...shape, width: width / shape.columns, height: height / shape.rows }
}

/**
 * complete_videos: the slow part of an import. It imports pictures, subtitles and comments next to the films, and
 * requests the rest from the platform. It can be stopped and resumed, because each row stores its state.
 */

import { isAbsolute, join } from 'node:path'
import { defineTask, isAppError, say, untilStop, type Words } from 'archivolt'
import { isLikeId } from '../film-kit/ids.ts'
import { pathOf } from '../film-kit/names.ts'
import { isPicture } from '../film-kit/sidecars.ts'
import { MOST_LANGUAGES, stageSubtitle, subtitleFile } from '../film-kit/subtitles.ts'
import { infoInTags } from '../film-kit/tags.ts'
import type { FoundFile } from '../film-kit/types.ts'
import { given, textOf } from '../film-kit/values.ts'
import type { Facts } from '../library/reader.ts'
import type { Failure } from '../platform/types.ts'
import { reportAdopted, takeIn } from './3-adopt.ts'
import { importAlong } from './along/along.ts'
import type { App } from './app.ts'
import { waitForPlace } from './away.ts'
import { titleIn, toldOf } from './combine-sources.ts'
import { isWaiting } from './plans/plans.ts'
import type { ItemRow } from './plans/rows.ts'
import { readerOf } from './readers.ts'
import { ADOPTION_TASK, type AdoptionRun, atPlace, type PlaceWork } from './task-context.ts'

/** Videos per batch; after each batch, it checks whether other tasks wait. */
const STEP = 20

export const completeVideos = defineTask({
  name: 'complete_videos',
  title: 'Complete imported videos',
  ...ADOPTION_TASK,
  // The task has a lane of its own, so that it delays no other task.
  lane: 'complete',
  givesWay: true,
  apiStop: true,
  async run(given, app: App) {
    const job = untilStop(given)
    const adoption = app.adoptions.find(job.payload.adoption)
    if (adoption?.state !== 'adopted') return null // undone or deleted meanwhile
    if (isWaiting(adoption)) await app.adoptions.setState(adoption.id, adoption.state)
    return atPlace({ adoption, job, app }, completeAll)
  },
})

async function completeAll(on: PlaceWork): Promise<Words | null> {
  const { adoption, job, app } = on
  const all = await openCounts(on)
  const whole = Math.max(1, all.in + (adoption.is_following ? 0 : all.asked))
  let done = 0
  for await (const row of rowsOf('new', 'in', on)) {
    if (job.isStopping()) return null
    job.progress(done / whole, say`${{ done: ++done }} of ${{ all: all.in }} videos have their pictures and subtitles`)
    if (!(await completeOne(row, on))) return waitForPlace(adoption, app)
    await app.adoptions.items.set(adoption.id, [{ number: row.number, state: 'done' }])
  }
  if (adoption.is_following) return null // people have to decide about videos that only the platform can identify
  let asked = 0
  const unanswered: Array<{ row: ItemRow; failure: Failure }> = []
  for await (const row of rowsOf('ask', 'planned', on)) {
    if (job.isStopping()) return null
    const words = say`${{ platform: app.platform.name }} was asked for ${{ done: ++asked }} of ${{ all: all.asked }} videos`
    job.progress(Math.min(1, (done + asked) / whole), words)
    const answer = await askFor(row, on)
    if (answer === 'away') return waitForPlace(adoption, app)
    if (answer !== 'done') unanswered.push({ row, failure: answer })
  }
  // After all others were requested, a temporary failure of the platform may have ended.
  const isBack = unanswered.length < asked
  for (const { row, failure } of unanswered) {
    if (job.isStopping()) return null
    const answer = isBack ? await askFor(row, on) : failure
    if (answer === 'away') return waitForPlace(adoption, app)
    if (answer !== 'done' && (await importOrLeaveOut(row, answer, on)) === 'away') return waitForPlace(adoption, app)
  }
  if (asked > 0) {
    await job.step('adoption.tell', () => reportAdopted('ask', on))
    // Imports marks and lists of the videos that were just imported.
    await importAlong(on)
  }
  return null
}

/** How many videos lack pictures or subtitles, and how many only the platform can describe. */
async function openCounts({ adoption, app }: PlaceWork): Promise<{ in: number; asked: number }> {
  const rows = await app.adoptions.items.counts(adoption.id)
  const sum = (outcome: ItemRow['outcome'], state: ItemRow['state']) =>
    rows.filter((row) => row.outcome === outcome && row.state === state).reduce((all, { count }) => all + count, 0)
  return { in: sum('new', 'in'), asked: sum('ask', 'planned') }
}

/** Yields open rows in pieces, and waits before each piece until no other task runs. */
async function* rowsOf(
  outcome: 'new' | 'ask',
  state: ItemRow['state'],
  { adoption, reading, job, app }: PlaceWork,
): AsyncGenerator<ItemRow> {
  for (const rows of app.adoptions.items.pieces(adoption.id, [outcome], [state], STEP)) {
    await app.jobs.quiet(job, reading.end)
    yield* rows
  }
}

/** @returns false: the place of the video is offline */
async function completeOne(row: ItemRow, on: PlaceWork): Promise<boolean> {
  const { place, job, app } = on
  const id = row.video_id!
  const file = JSON.parse(row.file!) as FoundFile
  const folder = join(place.path, file.folder)
  const doc = await app.videos.get(id)
  if (!doc || app.media.isOurs(id)) return true // removed or downloaded meanwhile
  let isAll = true
  try {
    if (file.picture !== undefined && !(await app.media.hasArt('video', id)))
      isAll = await storePicture(id, isAbsolute(file.picture) ? file.picture : join(folder, file.picture), app)
    if (file.subtitles.length > 0)
      isAll = (await job.step('adoption.subtitles', () => takeSubtitles(id, folder, file, job, app))) && isAll
    if (doc.comment_count === undefined) await job.step('adoption.comments', () => takeComments(id, file, on))
    if (doc.streams.length === 0 || doc.player.duration === 0)
      await job.step('adoption.measure', () => app.videos.exclusive(id, () => app.videos.measure(id)))
  } catch (thrown) {
    // The video plays; a missing picture or subtitle is no reason to stop.
    job.signal.throwIfAborted()
    if (!isAppError(thrown) && (thrown as NodeJS.ErrnoException).code === undefined) throw thrown
    job.log.info({ id, err: thrown }, 'the files next to a video could not be imported')
    isAll = false
  }
  // A missing file may be on a disk that went offline.
  return isAll || app.media.places.isThere(place.id)
}

/** @returns false: no picture exists */
async function storePicture(id: string, path: string, { media }: App): Promise<boolean> {
  if (!(await isPicture(path))) return false
  try {
    await media.keepArt('video', id, path)
  } catch (thrown) {
    if (!isAppError(thrown, 'unprocessable')) throw thrown
  }
  return true
}

/** @returns false: some could not be read */
async function takeSubtitles(
  id: string,
  folder: string,
  file: FoundFile,
  job: AdoptionRun,
  app: App,
): Promise<boolean> {
  const staged: ReturnType<typeof subtitleFile>[] = []
  const wanted = file.subtitles.slice(0, MOST_LANGUAGES).filter(({ lang }) => app.media.isLanguage(lang))
  return app.media.scratch(async (scratch) => {
    for (const subtitle of wanted) {
      const to = join(scratch, `${id}.${subtitle.lang}.vtt`)
      try {
        await stageSubtitle(folder, subtitle, to, job, app)
        staged.push(subtitleFile(subtitle.lang, to))
      } catch (thrown) {
        if (!isAppError(thrown, 'unprocessable')) throw thrown
        job.log.info({ id, file: subtitle.name, reason: thrown.message }, 'subtitles cannot be read and are left out')
      }
    }
    if (staged.length > 0)
      await app.videos.setSubtitles(id, staged, {
        isIndexed: app.preferences.section('downloads').subtitle_index,
        onlyMissing: true,
      })
    return staged.length === wanted.length
  })
}

/** @throws unavailable: the disk does not respond; unprocessable: the file takes too much memory */
async function takeComments(id: string, file: FoundFile, { reading, app }: PlaceWork): Promise<void> {
  const comments = app.platform.commentsOf(await reading.commentsOf(id, file))
  if (comments.length > 0) await app.videos.setComments(id, comments)
}

/** @returns away: the place is offline; a failure: nothing is known about the video yet, and its row stays open */
async function askFor(row: ItemRow, on: PlaceWork): Promise<'done' | 'away' | Failure> {
  const { adoption, job, app } = on
  const id = row.video_id!
  const file = JSON.parse(row.file!) as FoundFile
  try {
    // The request is not urgent: it waits at the gate.
    const metadata = await app.platform.video(id, { asker: job.id, signal: job.signal })
    if (await isMuchShorter(file, metadata.durationSeconds, on)) {
      await app.adoptions.items.set(adoption.id, [
        { number: row.number, state: 'left', code: 'part_of_film', why: PART },
      ])
      return 'done'
    }
    await takeIn([{ row, file, facts: { metadata } }], on)
    return await finished(row, on)
  } catch (thrown) {
    job.signal.throwIfAborted()
    const failure = app.platform.failureOf(thrown)
    if (!failure) throw thrown
    const { item, isUnanswered } = app.platform.failures[failure.failure]
    return failure.isDeferred || isUnanswered || item !== 'final' ? failure : importOrLeaveOut(row, failure, on)
  }
}

/**
 * Imports the film with the data of the files next to it, or leaves it out with the reason. The row of a deferred
 * request stays open.
 */
async function importOrLeaveOut(row: ItemRow, failure: Failure, on: PlaceWork): Promise<'done' | 'away'> {
  const { adoption, app } = on
  if (failure.isDeferred) return 'done'
  const file = JSON.parse(row.file!) as FoundFile
  const isGone = app.platform.failures[failure.failure].deactivates === true
  const facts = await sidecarFacts(row, file, isGone, on)
  if (facts) {
    await takeIn([{ row, file, facts: { ...facts, ...(isGone && { isGone }) } }], on)
    return finished(row, on)
  }
  await app.adoptions.items.set(adoption.id, [
    {
      number: row.number,
      state: 'left',
      code: row.is_guess ? 'unsure_id' : 'no_facts',
      why: app.platform.reasonOf(failure.failure, failure.message) ?? failure.message,
    },
  ])
  return 'done'
}

const PART = say`much shorter than the video on the platform: it may be a part of it`
/**
 * Limits below which a file is much shorter than its video. Advertisements may have been cut from a film, so small
 * differences do not count.
 */
const [LEAST_SHARE, LEAST_MISSING_SECONDS] = [0.5, 30]

/** Whether the file is only a part of its video: a chapter, a trailer, a download that was cut off. */
async function isMuchShorter(file: FoundFile, seconds: number, { place, app }: PlaceWork): Promise<boolean> {
  if (seconds === 0) return false // a stream of unknown length
  try {
    const { durationSeconds } = await app.media.probe(join(place.path, pathOf(file)))
    return (
      durationSeconds > 0 &&
      durationSeconds < seconds * LEAST_SHARE &&
      durationSeconds < seconds - LEAST_MISSING_SECONDS
    )
  } catch (thrown) {
    if (!isAppError(thrown)) throw thrown
    return false // the next step detects whether its place is offline
  }
}

/** Completes a video after its import. If the import has failed, its row has the reason and nothing is done. */
async function finished(row: ItemRow, on: PlaceWork): Promise<'done' | 'away'> {
  const { adoption, app } = on
  const id = row.video_id!
  if (!(await app.videos.has(id))) return 'done'
  if (!(await completeOne(row, on))) return 'away'
  if (!app.media.isOurs(id)) await app.adoptions.items.set(adoption.id, [{ number: row.number, state: 'done' }])
  return 'done'
}

/**
 * Metadata from the files next to a film. If the platform no longer has the video, the tags, the name and the folders
 * of the film are used too, and a guessed id is accepted if something names the channel. If the platform did not
 * respond, they are not used, because a later response will contain more.
 */
async function sidecarFacts(
  row: ItemRow,
  file: FoundFile,
  isGone: boolean,
  { adoption, place, reading: { tools }, job, app }: PlaceWork,
): Promise<Facts | undefined> {
  const [look] = await tools.look([file])
  if (!look?.isFilm) return undefined
  const id = row.video_id!
  const told = toldOf(file, look, id, tools)
  if (!isGone && (row.is_guess === 1 || textOf(told?.title) === '')) return undefined
  const said = row.is_channel_said ? { channel_id: row.channel_id, channel: row.channel_name ?? told?.channel } : {}
  const isSure = row.is_guess === 0 || (isLikeId(id) && typeof { ...told, ...said }.channel_id === 'string')
  if (!isSure) return undefined
  const tags = infoInTags(await app.media.tagsIn(join(place.path, pathOf(file)), job.signal))
  const info = { title: titleIn(file.base, id), ...tags, ...told, ...given(said), id }
  const [facts] = await readerOf(adoption.reader, app).factsOf([{ file, id, info }], tools)
  return facts
}

/**
 * adopt_videos: imports the videos of the plan. For each video it writes the film's location, then the document, then
 * the plan's row, so that it can resume after any interruption. It sends no request to the platform: complete_videos
 * does that, and also imports pictures and subtitles.
 */

import { defineTask, epochSeconds, say } from 'archivolt'
import { dayOfFilm } from '../film-kit/film-day.ts'
import { pathOf } from '../film-kit/names.ts'
import type { FoundFile, Info } from '../film-kit/types.ts'
import type { Facts } from '../library/reader.ts'
import type { Adopted } from '../video/types.ts'
import { importAlong, queueGone } from './along/along.ts'
import type { App } from './app.ts'
import { mustBeThere } from './away.ts'
import { toldOf } from './combine-sources.ts'
import { takeHome } from './homeless.ts'
import type { ItemChange } from './plans/items.ts'
import type { ItemRow } from './plans/rows.ts'
import { readerOf } from './readers.ts'
import { ADOPTION_TASK, type AdoptionWork, atPlace, inAdoption, type PlaceWork } from './task-context.ts'

const STEP = 50
const TOLD_STEP = 1000

export const adoptVideos = defineTask({
  name: 'adopt_videos',
  title: 'Import videos',
  ...ADOPTION_TASK,
  apiStop: true,
  async run(given, app: App) {
    const said = await inAdoption(given, app, 'adopted', async (on) => {
      const done = await atPlace(on, followPlan)
      if (done === undefined) return null
      await on.job.step('adoption.tell', () => reportAdopted('new', on))
      return say`${{ count: done }} videos`
    })
    if (app.adoptions.find(given.payload.adoption)?.state !== 'adopted') return said // its place is offline
    // complete_videos only completes imported videos, so it starts after their state was written.
    await app.jobs.start('complete_videos', { adoption: given.payload.adoption })
    return said
  },
})

/** @returns the number of videos; undefined: stopped */
async function followPlan(on: PlaceWork): Promise<number | undefined> {
  const { adoption, reading, job, app } = on
  const reader = readerOf(adoption.reader, app)
  const all = await sumOf(on)
  let done = 0
  for (const rows of app.adoptions.items.pieces(adoption.id, ['new', 'moved'], ['planned'], STEP, job.signal)) {
    const seen = await checkAgain(rows, on)
    const moved = seen.filter(({ row }) => row.outcome === 'moved')
    const fresh = seen.filter(({ row }) => row.outcome === 'new')
    const facts = await reader.factsOf(
      fresh.map(({ row, file, info }) => ({ file, id: row.video_id!, info })),
      reading.tools,
    )
    await job.step('adoption.move', () => takeMoved(moved, on))
    await takeIn(
      fresh.flatMap((one, at) => (facts[at] ? [{ ...one, facts: facts[at] }] : [])),
      on,
    )
    const asked = fresh.filter((_one, at) => !facts[at])
    await app.adoptions.items.set(
      adoption.id,
      asked.map(({ row }) => ({ number: row.number, state: 'planned', outcome: 'ask' as const })),
    )
    done += rows.length
    job.progress(done / Math.max(1, all), say`${{ done }} of ${{ all }} videos imported`)
    if (job.isStopping()) return undefined
  }
  await importAlong(on)
  await queueGone(on)
  return done
}

/** Reports all imported videos with this outcome, including those of an earlier, interrupted run. */
export async function reportAdopted(outcome: 'new' | 'ask', { adoption, job, app }: AdoptionWork): Promise<void> {
  const ids: string[] = []
  for (const rows of app.adoptions.items.pieces(adoption.id, [outcome], ['in', 'done'], TOLD_STEP, job.signal))
    ids.push(...rows.map((row) => row.video_id!))
  await app.emit('video.adopted', { ids })
}

async function sumOf({ adoption: { id }, app }: AdoptionWork): Promise<number> {
  const rows = await app.adoptions.items.counts(id)
  return rows
    .filter(({ outcome, state }) => (outcome === 'new' || outcome === 'moved') && state === 'planned')
    .reduce((sum, { count }) => sum + count, 0)
}

interface SeenAgain {
  row: ItemRow
  file: FoundFile
  info?: Info
}

/** Skips files that other programs have changed since the scan, and reports them. */
async function checkAgain(rows: readonly ItemRow[], { adoption, reading, app }: PlaceWork): Promise<SeenAgain[]> {
  const files = rows.map(({ file }) => JSON.parse(file!) as FoundFile)
  const looks = await reading.tools.look(files)
  if (looks.some((look) => !look.isFilm)) await mustBeThere(adoption, app)
  const left: ItemChange[] = []
  const seen: SeenAgain[] = []
  for (const [at, row] of rows.entries()) {
    const [look, file] = [looks[at]!, files[at]!]
    if (!look.isFilm) left.push({ number: row.number, state: 'left', code: look.code, why: look.why })
    else if (look.sizeBytes !== file.sizeBytes)
      left.push({
        number: row.number,
        state: 'left',
        code: 'changed',
        why: say`it has changed since the plan was made`,
      })
    else {
      const info = toldOf(file, look, row.video_id!, reading.tools)
      seen.push({ row, file: { ...file, changedMs: look.changedMs }, info })
    }
  }
  await app.adoptions.items.set(adoption.id, left)
  return seen
}

async function takeMoved(moved: readonly SeenAgain[], { adoption, app }: AdoptionWork): Promise<void> {
  await takeHome(
    moved.map(({ row, file }) => ({ id: row.video_id!, file })),
    adoption.place_id,
    app,
  )
  await app.adoptions.items.set(
    adoption.id,
    moved.map(({ row }) => ({ number: row.number, state: 'done' })),
  )
}

type Film = SeenAgain & { facts: Facts }

/** Writes channels first, so that no document lacks its channel. */
export async function takeIn(films: readonly Film[], work: AdoptionWork): Promise<void> {
  const { adoption, job, app } = work
  const known = await app.videos.readable(films.map(({ row }) => row.video_id!))
  const fresh = films.filter(({ row }) => !known.has(row.video_id!))
  await job.step('adoption.channels', () => ensureChannels(fresh, adoption.id, app))
  const videos = new Map(fresh.map(({ facts: { metadata } }) => [metadata.id, metadata.channelId]))
  const locked = [...videos].map(([id, channelId]) => ({ id, channelId }))
  await app.videos.exclusiveAll(locked, () => takeInLocked(films, work))
}

/** Another import or a download may have brought some of the videos before the lock. */
async function takeInLocked(films: readonly Film[], { adoption, job: { step }, app }: AdoptionWork): Promise<void> {
  const known = await app.videos.readable(films.map(({ row }) => row.video_id!))
  // For documents that an interrupted run has already written, the film is recorded in this place.
  const isOurs = (id: string) => app.media.places.filmOf(id)?.placeId === adoption.place_id
  const fresh = films.filter(({ row }) => !known.has(row.video_id!))
  const placed = fresh.map(({ file, facts: { metadata } }) => ({
    videoId: metadata.id,
    channelId: metadata.channelId,
    placeId: adoption.place_id,
    path: pathOf(file),
    ending: file.ending,
    sizeBytes: file.sizeBytes,
    changedMs: file.changedMs,
  }))
  await step('adoption.place', () => app.media.places.keep(placed))
  const { failed, kept = [] } = await step('adoption.document', () =>
    app.videos.adopt(fresh.map((film) => toAdopted(film, app))),
  )
  const why = new Map(failed.map(({ id, reason }) => [id, reason]))
  await app.media.places.drop([...why.keys(), ...kept])
  await app.adoptions.items.set(
    adoption.id,
    films.map(({ row }) => {
      const id = row.video_id!
      if (why.has(id)) return { number: row.number, state: 'left', code: 'no_facts', why: why.get(id)! }
      if (kept.includes(id) || (known.has(id) && !isOurs(id)))
        return { number: row.number, state: 'left', outcome: 'known' }
      return { number: row.number, state: 'in' }
    }),
  )
}

function toAdopted({ file, facts }: SeenAgain & { facts: Facts }, { clock }: App): Adopted {
  const { metadata, downloadedAt = Math.floor(file.changedMs / 1000), streams = [], isGone = false } = facts
  return {
    metadata,
    sizeBytes: file.sizeBytes,
    streams: streams.map((stream, index) => ({ ...stream, index })),
    // A date in the future would stay the newest forever.
    isGone,
    dateDownloaded: Math.max(0, Math.min(downloadedAt, epochSeconds(clock))),
    publishedElse: dayOfFilm(file, epochSeconds(clock)),
  }
}

async function ensureChannels(
  films: ReadonlyArray<{ facts: Facts }>,
  adoption: number,
  { adoptions, channels }: App,
): Promise<void> {
  const names = new Map(films.map(({ facts: { metadata } }) => [metadata.channelId, metadata.channelName]))
  const known = await channels.known([...names.keys()])
  for (const [channelId, name] of names) {
    if (known.has(channelId)) continue
    await adoptions.addChannel(adoption, channelId)
    await channels.recordName(channelId, name)
  }
}

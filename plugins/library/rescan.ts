/**
 * rescan_filesystem: compares the index with the library on disk and repairs the differences (contract 9.11). It reads
 * everything before it changes anything, and may be repeated.
 */
import { basename } from 'node:path'
import { defineTask, inEnglish, isAppError, type JobContext, type Static, say, Type, type Words } from 'archivolt'
import type { Reading } from '../film-kit/reading.ts'
import type { Info } from '../film-kit/types.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { type FoundFilm, filmsOf, mediaDirOf, moveFilm, mustBeThere } from './disk.ts'
import { takeIn } from './found.ts'
import { openReading } from './reading.ts'
import { openReport, type Report, reasonOf } from './report.ts'
import { takeInSubtitles } from './subtitles.ts'
import { fetchMissingArt } from './thumbnail-check.ts'

/** Number of files that are checked together. */
const STEP = 50

const Payload = Type.Object({
  /** Also remove videos whose films no longer exist. */
  force: Type.Optional(Type.Boolean()),
  /** For new films, prefer the information file next to them to the platform. */
  preferLocal: Type.Optional(Type.Boolean()),
})

export const rescanFilesystem = defineTask({
  name: 'rescan_filesystem',
  title: 'Rescan your Filesystem',
  group: 'setting:filesystemscan',
  payload: Payload,
  lane: 'library',
  apiStart: true,
  unique: true,
  resumable: true, // repairs of an earlier run stay valid
  async run(job, app: App) {
    const report = openReport(rescanFilesystem, job, app)
    await mustBeThere(app)
    const reading = openReading(job, app)
    try {
      return await bringTogether({ job, app, report, reading })
    } finally {
      await reading.end()
    }
  },
})

/** The state of a run. */
interface Rescan {
  job: JobContext<Static<typeof Payload>>
  app: App
  report: Report
  reading: Reading
}

async function bringTogether(run: Rescan): Promise<Words | null> {
  const { job, app, report } = run
  const state = await compare(run)
  await mustBeThere(app) // if the library went offline while it was read, the results are useless
  const home = await foundElsewhere(new Set([...state.missing.keys(), ...state.lost]), run)
  for (const id of home) state.missing.delete(id)
  state.lost = state.lost.filter((id) => !home.has(id))
  for (const film of state.elsewhere.values()) await bringHome(film, run)
  for (const id of state.misnamed) await job.step('rescan.correct', () => app.videos.correctPaths(id))
  await job.step('rescan.missing', () => app.media.missing.replace(() => stillMissing(state.missing, app)))
  await app.media.places.setLost(state.found, false)
  await app.media.places.setLost(state.lost, true)
  if (job.payload.force) {
    for (const id of state.missing.keys()) await removeLost(id, run)
    for (const id of state.lost) await removeGone(id, run)
  }
  for (const id of state.resized) await measure(id, run)
  for (const id of state.unsubtitled) await job.step('rescan.unsubtitle', () => app.videos.dropLostSubtitles(id))
  await takeInNew(state.fresh, run)
  await takeInSubtitles(run)
  await job.step('rescan.orphans', () => app.videos.dropOrphans(job.signal))
  await fetchMissingArt(job, app, 0.95)
  // After the loss of an index, this is everything that the library can restore.
  if ((await app.videos.collection.count()) > 0) await app.index.settle()
  await app.emit('library.rescanned', {})

  await report.show()
  const gone = state.missing.size + state.lost.length
  const removed = job.payload.force ? gone : 0
  job.progress(1, say`${{ fresh: state.fresh }} new, ${{ removed }} removed, ${{ left: report.count }} skipped`)
  if (gone === removed) return null
  const said = say`The files of ${{ count: gone }} of ${{ all: state.indexed }} videos were not found: nothing was removed. If a disk is offline, connect it and rescan. Otherwise download the missing videos again, or let a rescan remove them`
  job.log.warn(inEnglish(said))
  await app.jobs.notify({
    of: rescanFilesystem,
    level: 'error',
    messages: [said],
  })
  return said
}

/** Asks plugins that may find these films outside the library. */
async function foundElsewhere(homeless: ReadonlySet<string>, { job, app }: Rescan): Promise<Set<string>> {
  const found = new Set<string>()
  for (const find of app.hook('library.homeless')) for (const id of await find(homeless, job)) found.add(id)
  return found
}

interface State {
  indexed: number
  films: number
  /** Number of films without a document. */
  fresh: number
  /** Indexed videos whose film was not found anywhere: channel by video. */
  missing: Map<string, string>
  /** Indexed videos whose film was found in another folder. */
  elsewhere: Map<string, FoundFilm>
  /** Documents with wrong paths. */
  misnamed: string[]
  /** Videos whose film exists, but subtitle files of the document are missing. */
  unsubtitled: string[]
  /** Videos whose film is empty, or differs in size from the document. */
  resized: string[]
  /** Videos whose film is missing from a place that is online. */
  lost: string[]
  /** Videos whose missing film was found in such a place again. */
  found: string[]
}

/** Compares without changing anything. */
async function compare({ reading, job, app }: Rescan): Promise<State> {
  const mediaDir = mediaDirOf(app)
  const state: State = {
    indexed: 0,
    films: 0,
    fresh: 0,
    missing: new Map(),
    elsewhere: new Map(),
    misnamed: [],
    unsubtitled: [],
    resized: [],
    lost: [],
    found: [],
  }
  for await (const batch of app.videos.collection.scan({ batch: STEP })) {
    job.signal.throwIfAborted()
    state.indexed += batch.length
    job.progress(0, say`Looking for the files of ${{ count: state.indexed }} videos`)
    await Promise.all(
      batch.map(async ({ id, doc }) => {
        const ours = app.media.isOurs(id)
        const size = ours ? await app.media.sizeOf(await app.media.filmPath(doc.channel_id, id)) : undefined
        if (!ours) await compareInPlace(id, doc, state, app)
        else if (size === undefined) state.missing.set(id, doc.channel_id)
        else if (size === 0 || size !== doc.media_size) state.resized.push(id)
        if ((size !== undefined || !ours) && (await app.videos.lostSubtitles(doc)).length > 0)
          state.unsubtitled.push(id)
        if (app.videos.isMisnamed(doc)) state.misnamed.push(id)
      }),
    )
  }
  for await (const batch of filmsOf(mediaDir, reading, app)) {
    job.signal.throwIfAborted()
    state.films += batch.length
    job.progress(0.05, say`Found ${{ count: state.films }} files`)
    const known = await readableOf(batch, app)
    for (const film of batch) {
      if (!known.has(film.name)) state.fresh += film.isStray ? 0 : 1
      else if (state.missing.delete(film.name)) state.elsewhere.set(film.name, film)
    }
  }
  return state
}

const readableOf = (films: readonly FoundFilm[], app: App): Promise<Set<string>> =>
  app.videos.readable(films.filter(({ isId }) => isId).map(({ name }) => name))

/** Ignores films in a place that is offline. */
async function compareInPlace(id: string, doc: VideoDoc, state: State, { media }: App): Promise<void> {
  const film = media.places.filmOf(id)
  try {
    const size = await media.sizeOf(await media.filmPath(doc.channel_id, id))
    if (film?.state === 'lost') state.found.push(id)
    if (size !== doc.media_size) state.resized.push(id)
  } catch (thrown) {
    if (!isAppError(thrown, 'not_found') && !isAppError(thrown, 'unavailable')) throw thrown
    if (isAppError(thrown, 'not_found') && film && (await media.places.isGone(film))) state.lost.push(id)
  }
}

/** Checks again: a download may have restored some films meanwhile, and people may have removed some videos. */
async function stillMissing(missing: State['missing'], { media, videos }: App): Promise<string[]> {
  const ids: string[] = []
  for (const [id, channelId] of missing)
    if ((await media.isMissing(channelId, id)) && (await videos.has(id))) ids.push(id)
  return ids
}

/** Queued before the film is moved, so that an interruption cannot lose the event. The job waits for the move. */
export const tellMoved = defineTask({
  name: 'library.tellMoved',
  title: 'Report a moved video file',
  payload: Type.Object({ id: Type.String(), oldPath: Type.String({ default: '' }) }),
  lane: 'light',
  internal: true,
  resumable: true,
  async run({ payload: { id, oldPath } }, app: App): Promise<void> {
    const channelId = (await app.videos.exclusive(id, () => app.videos.get(id)))?.channel_id
    if (channelId === undefined) return
    await app.emit('video.moved', { id, channelId, path: app.media.recordedPath(channelId, id), oldPath })
  },
})

/** Moves the film to the folder of its document's channel. */
async function bringHome(film: FoundFilm, { job, app, report }: Rescan): Promise<void> {
  const id = film.name
  try {
    await job.step('rescan.move', () =>
      app.videos.exclusive(id, async () => {
        const doc = await app.videos.get(id)
        if (!doc) return
        await app.jobs.start(tellMoved, { id, oldPath: film.path })
        await moveFilm(film, doc.channel_id, app)
      }),
    )
    await job.step('rescan.correct', () => app.videos.correctPaths(id))
  } catch (thrown) {
    report.add(film.path.slice(mediaDirOf(app).length + 1), reasonOf(thrown, app))
  }
}

async function removeLost(id: string, run: Rescan): Promise<void> {
  const { app } = run
  const doc = await app.videos.get(id)
  // the film was found, or the video was removed
  if (!doc || (await app.media.isThere(app.media.pathOf(doc.channel_id, id)))) return
  await removeGone(id, run)
}

async function removeGone(id: string, { job, app }: Rescan): Promise<void> {
  job.log.info({ id }, 'a video is removed, because its file is missing')
  try {
    await job.step('rescan.remove', () => app.videos.remove(id, { why: 'missing' }))
  } catch (thrown) {
    if (!isAppError(thrown, 'not_found')) throw thrown
  }
}

/** Updates the document from the changed film. A damaged film is reported and queued for download. */
async function measure(id: string, { job, app, report }: Rescan): Promise<void> {
  job.signal.throwIfAborted()
  const fault = await job.step('rescan.measure', () => app.videos.exclusive(id, () => app.videos.measure(id)))
  const video = fault === undefined ? undefined : await app.videos.outline(id)
  if (fault === undefined || !video) return
  if (!app.media.isOurs(id))
    return report.add(id, say`${{ fault }}; it is in a folder of another program, and stays unchanged`)
  const [added] = await job.step('rescan.offer', () => app.queue.add([video], 'pending', { force: true }))
  report.add(
    `${video.channelId}/${basename(app.media.pathOf(video.channelId, id))}`,
    added === undefined
      ? say`${{ fault }}; it is already queued`
      : say`${{ fault }}; it was queued to be downloaded again`,
  )
}

async function takeInNew(fresh: number, run: Rescan): Promise<void> {
  const { job, app, report, reading } = run
  const mediaDir = mediaDirOf(app)
  let seen = 0
  for await (const batch of filmsOf(mediaDir, reading, app)) {
    const known = await readableOf(batch, app)
    for (const film of batch) {
      job.signal.throwIfAborted()
      const name = film.path.slice(mediaDir.length + 1)
      if (film.isStray) continue
      if (known.has(film.name)) await reportSecond(film, name, run)
      else if (!(await app.media.isThere(film.path)))
        continue // the film has been moved or removed in the meantime
      else if (!film.isId) report.add(name, say`its name is not the id of a video`)
      else {
        job.progress(
          0.05 + (0.9 * Math.min(seen, fresh)) / Math.max(1, fresh),
          say`Indexing ${{ name: film.name }} (${{ number: ++seen }}/${{ count: Math.max(seen, fresh) }})`,
        )
        try {
          const info = job.payload.preferLocal ? await infoOf(film, mediaDir, reading) : undefined
          if (await takeIn(film, job, app, { info })) await app.extras.fetch(film.name, job)
        } catch (thrown) {
          report.add(name, reasonOf(thrown, app))
        }
      }
    }
  }
}

async function infoOf({ file }: FoundFilm, mediaDir: string, reading: Reading): Promise<Info | undefined> {
  const [look] = await reading.look(mediaDir, [file])
  return look?.isFilm ? look.info : undefined
}

async function reportSecond(film: FoundFilm, name: string, { app, report }: Rescan): Promise<void> {
  const doc = await app.videos.get(film.name)
  if (doc && app.media.pathOf(doc.channel_id, film.name) !== film.path && (await app.media.isThere(film.path)))
    report.add(name, say`the video is already in the library, in the folder of its channel`)
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked by a rescan about videos whose films are neither in the library nor at the path in the ledger: records the
     * films that it finds elsewhere.
     * @returns the videos whose films it found
     */
    'library.homeless': (
      ids: ReadonlySet<string>,
      job: Pick<JobContext<object>, 'signal' | 'log' | 'progress' | 'step'>,
    ) => Promise<ReadonlySet<string>>
  }
  interface Events {
    /** Emitted near the end of a rescan, when the library and its documents agree. */
    'library.rescanned': Record<string, never>
  }
}

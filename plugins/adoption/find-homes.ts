/**
 * Finds missing films in places again: of videos whose film the ledger does not know (`homeless.ts`), and films that
 * have no document. It runs after the ledger or the index was replaced, and in each rescan.
 */
import { defineTask, isAppError, type JobContext, say, Type } from 'archivolt'
import { pathOf } from '../film-kit/names.ts'
import type { FoundVideo, PlaceReader } from '../library/reader.ts'
import { takeAgain } from './5-follow.ts'
import type { App } from './app.ts'
import { homelessAmong, takeHome } from './homeless.ts'
import { openPlace } from './place-reading.ts'
import { readerOf, recognise } from './readers.ts'

const STEP = 50
const MOST_NAMES = 1000
/** Used instead of a plan for a place that has none. */
const NO_PLAN = 0

type Run = Pick<JobContext<object>, 'signal' | 'log' | 'progress' | 'step'>

/**
 * Searches all places that are online. Films in the trash of a place are restored first.
 * @returns the videos that were found
 */
export async function findHomes(homeless: ReadonlySet<string>, job: Run, app: App): Promise<Set<string>> {
  const found = new Set<string>()
  const places = homeless.size > 0 ? app.media.places.list() : []
  if (places.length > 0) await restoreFilms([...homeless], job, app)
  for (const { id: placeId, label } of places) {
    if (found.size === homeless.size) break
    if (!(await app.media.places.isThere(placeId))) continue
    job.progress(0, say`Looking for ${{ count: homeless.size - found.size }} videos in “${{ label }}”`)
    const best = await bestIn(placeId, (id) => homeless.has(id) && !found.has(id), job, app)
    const films = [...best].map(([id, { file }]) => ({ id, file }))
    for (let at = 0; at < films.length; at += STEP) {
      job.signal.throwIfAborted()
      const some = films.slice(at, at + STEP)
      await job.step('library.home', () => takeHome(some, placeId, app))
      for (const { id } of some) found.add(id)
    }
  }
  return found
}

/** Restores films from the trash whose removed videos came back with a restore. */
async function restoreFilms(ids: readonly string[], job: Run, { media }: App): Promise<void> {
  const { trash } = media.places
  for (let at = 0; at < ids.length; at += STEP) {
    for (const id of trash.among(ids.slice(at, at + STEP))) {
      try {
        await trash.restore(id)
      } catch (err) {
        if (!isAppError(err)) throw err
        job.log.warn({ err, id }, 'the film of a restored video stays in the trash of its place')
      }
    }
  }
}

/** The best file for each wanted video; a file with the known size is preferred. */
async function bestIn(
  placeId: number,
  isWanted: (id: string) => boolean,
  job: Run,
  app: App,
): Promise<Map<string, FoundVideo>> {
  const { media, videos } = app
  const last = app.adoptions.list().find(({ place_id: its, reader }) => its === placeId && reader !== '')
  const reading = openPlace(media.places.get(placeId).path, last?.id ?? NO_PLAN, job, app)
  const best = new Map<string, FoundVideo>()
  try {
    let reader: PlaceReader | undefined = last && readerOf(last.reader, app)
    if (!last) {
      const { read } = await reading.readCatalog('')
      if (read) reader = readerOf(read.kind, app)
    }
    for await (const { files } of reading.walk()) {
      const placed = media.places.at(placeId, files.map(pathOf))
      reader ??= recognise(files.slice(0, MOST_NAMES).map(pathOf), app)
      const free = files.filter((file) => !placed.has(pathOf(file)))
      for (let at = 0; at < free.length; at += STEP) {
        const findings = await reader.read(free.slice(at, at + STEP), reading.tools)
        const seen = findings.flatMap((one) => ('video' in one && isWanted(one.video.id) ? [one.video] : []))
        const docs = await videos.collection.getMany(seen.map(({ id }) => id))
        for (const video of seen) {
          const size = docs.get(video.id)?.media_size
          // A guessed id counts only if the size matches too.
          if (video.isGuess && video.file.sizeBytes !== size) continue
          const other = best.get(video.id)
          if (!other || isBetter(video, other, size)) best.set(video.id, video)
        }
      }
    }
  } finally {
    await reading.end()
  }
  return best
}

function isBetter(one: FoundVideo, other: FoundVideo, size: number | undefined): boolean {
  const rank = ({ file, isPart }: FoundVideo) => [file.sizeBytes === size ? 1 : 0, isPart ? 0 : 1, file.sizeBytes]
  const [mine, its] = [rank(one), rank(other)]
  const at = mine.findIndex((value, index) => value !== its[index])
  return at >= 0 && mine[at]! > its[at]!
}

/** Starts an import of films that the ledger knows in a place but that have no document. */
export async function takeInAgain(app: App): Promise<void> {
  for (const { id: placeId } of app.media.places.list()) {
    for (const films of app.media.places.filmsOf(placeId)) {
      const readable = await app.videos.readable(films.map(({ videoId }) => videoId))
      if (readable.size === films.length) continue
      await takeAgain(placeId, app)
      break
    }
  }
}

/** After a replacement: matches films that only the ledger or only the index knows. */
export const findFilms = defineTask({
  name: 'library.findFilms',
  title: 'Find moved video files',
  payload: Type.Object({}),
  lane: 'library',
  internal: true,
  unique: true,
  resumable: true,
  async run(job, app: App) {
    const homeless = new Set<string>()
    for await (const batch of app.videos.collection.scan({ batch: STEP })) {
      job.signal.throwIfAborted()
      const some = batch.map(({ id }) => id)
      for (const id of await homelessAmong(some, app)) homeless.add(id)
    }
    const found = await findHomes(homeless, job, app)
    await takeInAgain(app)
    if (homeless.size === 0) return null
    return say`${{ found: found.size }} of ${{ count: homeless.size }} videos without a file were found in folders of other programs`
  },
})

/**
 * Runs after the ledger was replaced by an older one: its films that have no document were removed since, so scans must
 * not import them again.
 */
export const forgetRemoved = defineTask({
  name: 'library.forgetRemoved',
  title: 'Forget removed videos',
  payload: Type.Object({}),
  lane: 'library',
  internal: true,
  unique: true,
  resumable: true,
  async run({ signal }, app: App): Promise<void> {
    if (app.index.lost !== undefined) return // documents were lost, not removed
    const { places } = app.media
    for (const { id: placeId } of places.list()) {
      for (const films of places.filmsOf(placeId)) {
        signal.throwIfAborted()
        const ids = films.map(({ videoId }) => videoId)
        const known = await app.videos.known(ids)
        await places.forget(ids.filter((id) => !known.has(id)))
      }
    }
  },
})

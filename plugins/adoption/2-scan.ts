/**
 * scan_place: what lies in a place, and what would become of it. It only reads; its rows are the plan that adopt_videos
 * follows. Cut off, it begins anew.
 */

import { createHash } from 'node:crypto'
import {
  defineTask,
  errors,
  isStop,
  type JobContext,
  say,
  sentenceOf,
  Type,
  untilStop,
  type Words,
  wordsOf,
} from 'archivolt'
import { because } from '../film-kit/because.ts'
import { pathOf } from '../film-kit/names.ts'
import type { FoundFile, Problem, ProblemCode } from '../film-kit/types.ts'
import type { PlaceReader, PlaceTools } from '../library/reader.ts'
import type { Ending } from '../media/containers.ts'
import type { PlacedFilm } from '../media/types.ts'
import { goOn } from './5-follow.ts'
import type { App } from './app.ts'
import { mustBeThere, waitForPlace } from './away.ts'
import { ENOUGH } from './catalogs/enough.ts'
import type { CatalogFault, CatalogRead } from './catalogs/types.ts'
import { homelessAmong } from './homeless.ts'
import { isAddress, takeDocuments } from './live-elasticsearch.ts'
import { openPlace, type PlaceReading } from './place-reading.ts'
import { type Decision, toItem, toProblem } from './plans/items.ts'
import { isWaiting, mapOf } from './plans/plans.ts'
import type { AdoptionRow, ItemRow } from './plans/rows.ts'
import { hasCatalog, readerOf, recognise } from './readers.ts'
import { idInPath } from './ytdlp.ts'

const AdoptionPayload = Type.Object({ adoption: Type.Integer({ minimum: 1 }) })
export type AdoptionRun = JobContext<{ adoption: number }>

export const STOPPED = because('somebody has stopped it')

/** What all tasks of an adoption are. */
export const ADOPTION_TASK = {
  group: 'setting:adopt',
  payload: AdoptionPayload,
  lane: 'library',
  unique: ({ adoption }: { adoption: number }) => String(adoption),
  resumable: true,
} as const

/** So many videos are decided on at a time. */
const STEP = 50
/** So many names of a place tell of which kind it is. */
const MOST_NAMES = 1000
/** Some file systems keep times in steps of two seconds. */
const LEEWAY_MS = 2000
const CHAPTER = / - \d{3} /
const MOST_TOLD_MISSING = 1000

/**
 * What a task does with an adoption: its state is on the row before and after.
 * @param then  the state where all went well
 */
export async function inAdoption(
  job: AdoptionRun,
  app: App,
  then: AdoptionRow['state'],
  work: (adoption: AdoptionRow, job: AdoptionRun) => Promise<Words | null>,
): Promise<Words | null> {
  const adoption = app.adoptions.find(job.payload.adoption)
  if (!adoption) return null // dropped meanwhile
  if (isWaiting(adoption)) await app.adoptions.setState(adoption.id, adoption.state)
  try {
    const said = await work(adoption, untilStop(job))
    if (job.isStopping()) await app.adoptions.setState(adoption.id, 'failed', STOPPED)
    else await app.adoptions.setState(adoption.id, then)
    return said
  } catch (thrown) {
    // The server closes: the next start goes on.
    if (job.signal.aborted) throw thrown
    if (isStop(thrown, job)) {
      await app.adoptions.setState(adoption.id, 'failed', STOPPED)
      return null
    }
    const isAway = then !== 'undone' && !(await app.media.places.isThere(adoption.place_id))
    if (isAway) return waitForPlace(adoption, app)
    await app.adoptions.setState(adoption.id, 'failed', wordsOf(thrown))
    throw thrown
  }
}

export const scanPlace = defineTask({
  name: 'scan_place',
  title: 'Scan a folder',
  ...ADOPTION_TASK,
  apiStop: true,
  async run(given, app: App) {
    let news: string | undefined
    const said = await inAdoption(given, app, 'planned', async (adoption, job) => {
      await mustBeThere(adoption, app)
      await app.adoptions.items.clear(adoption.id)
      const place = app.media.places.get(adoption.place_id)
      const reading = openPlace(place.path, adoption.id, job, app)
      try {
        const { only_path: only } = adoption
        const isAgain = adoption.is_again === 1
        const scan = new Scan({ id: adoption.id, placeId: place.id, isAgain }, reading.tools, app)
        if (adoption.is_following === 1 && only === '' && !isAgain) {
          news = await newsOf(scan, reading)
          if (news === '' || app.adoptions.seen.isStill(place.id, news)) return null
        }
        const { catalog, faults } = await readCatalog(adoption, reading, job, app)
        await scan.tellUnused(faults)
        const asked = catalog?.kind ?? adoption.reader
        let reader: PlaceReader | undefined = asked === '' ? undefined : readerOf(asked, app)
        for await (const walked of only === '' ? reading.walk() : reading.walkTo(only)) {
          if (!reader) {
            reader = recognise(walked.files.slice(0, MOST_NAMES).flatMap(namesOf), app)
            await app.adoptions.setReader(adoption.id, reader.name)
          }
          if (job.isStopping()) return null
          const by = reader
          await job.step('adoption.look', () => scan.take(by, walked.files, walked.problems))
          await scan.tellArchived(walked.archived)
          job.progress(0, say`${{ count: scan.seen }} files in “${{ label: place.label }}”`)
        }
        await scan.tellUnchanged()
        await scan.decide(job)
        if (catalog && only === '') await scan.tellMissing(catalog, reading)
        await mustBeThere(adoption, app)
      } finally {
        await reading.end()
      }
      job.progress(1, 'The plan is ready')
      return null
    })
    const adoption = app.adoptions.find(given.payload.adoption)
    if (adoption?.is_following && adoption.state === 'planned') {
      const isTaken = await goOn(adoption, app)
      if (!isTaken && news !== undefined) app.adoptions.seen.set(adoption.place_id, news)
    }
    return said
  },
})

/**
 * What a place that is followed has of what is not imported, and its catalog as it is now: reading that takes long.
 * @returns empty: everything is imported
 */
async function newsOf(scan: Scan, reading: PlaceReading): Promise<string> {
  const news = createHash('sha256')
  let isAny = false
  for await (const { files } of reading.walk()) {
    for (const { folder, name, sizeBytes, changedMs, info } of await scan.freshOf(files)) {
      isAny = true
      news.update(JSON.stringify([folder, name, sizeBytes, changedMs, info]))
    }
  }
  return isAny ? news.update(await reading.stamp()).digest('hex') : ''
}

/** Of those kinds of places that have one; where nobody has said how the place is to be read, whichever is found. */
async function readCatalog(
  adoption: AdoptionRow,
  reading: PlaceReading,
  job: AdoptionRun,
  app: App,
): Promise<{ catalog?: CatalogRead; faults: CatalogFault[] }> {
  const { id, reader, catalog: at } = adoption
  if (reader !== '' && !hasCatalog(reader)) return { faults: [] }
  job.progress(0, 'Looking for what another program knows of these films')
  const asked = mapOf(adoption)
  const said = asked?.isSaid ? asked : undefined
  const isLive = isAddress(at)
  const file = isLive ? await takeDocuments(id, at, reading, job, app) : at
  const { read, faults } = await reading.readCatalog(file, reader || undefined, said)
  if (!read && at !== '')
    throw errors.unprocessable(
      say`${{ at }} cannot be read: ${{ reason: sentenceOf(faults[0]?.why ?? because('it is no database, list or backup')) }}`,
    )
  // Nobody is asked by a scan that nobody has asked for.
  if (!read || (adoption.is_following && read.share < ENOUGH)) return { faults }
  await app.adoptions.setReader(id, read.kind)
  const map = { ...read.map, share: read.share, ...(said && { isSaid: true }) }
  await app.adoptions.setCatalog(id, isLive ? at : read.files[0]!, map, read.along, read.settings)
  return { catalog: read, faults }
}

const namesOf = (file: FoundFile): string[] => [
  pathOf(file),
  ...(file.info === undefined ? [] : [file.info]),
  ...(file.lone ?? []),
]

class Scan {
  seen = 0
  #number = 0
  #unchanged = 0
  /** Of what lists of downloads name. */
  #told = 0
  readonly #id: number
  readonly #placeId: number
  /** Only what lies where the ledger has it, and has no document. */
  readonly #isAgain: boolean
  readonly #tools: PlaceTools
  readonly #app: App

  constructor(
    { id, placeId, isAgain }: { id: number; placeId: number; isAgain: boolean },
    tools: PlaceTools,
    app: App,
  ) {
    this.#id = id
    this.#placeId = placeId
    this.#isAgain = isAgain
    this.#tools = tools
    this.#app = app
  }

  async #add(items: ReturnType<typeof toItem>[], unchanged = 0): Promise<void> {
    const from = this.#number
    this.#number += items.length
    await this.#app.adoptions.items.add(this.#id, from, items, unchanged)
  }

  /** Those that are not imported, or are other ones now, or whose documents are gone. */
  async freshOf(files: readonly FoundFile[]): Promise<FoundFile[]> {
    const placed = this.#app.media.places.at(this.#placeId, files.map(pathOf))
    const known = await this.#app.videos.readable([...placed.values()].map(({ videoId }) => videoId))
    return files.filter((file) => {
      const film = placed.get(pathOf(file))
      if (film && !known.has(film.videoId)) return true
      return !this.#isAgain && !isUnchanged(file, film)
    })
  }

  async take(reader: PlaceReader, files: readonly FoundFile[], problems: Parameters<typeof toProblem>[0][]) {
    this.seen += files.length
    const fresh = await this.freshOf(files)
    this.#unchanged += files.length - fresh.length
    // Where nothing is new nothing is written, but for how many they are, at the end.
    if (problems.length > 0) await this.#add(problems.map((problem) => toProblem(withId(problem, this.#tools))))
    for (let at = 0; at < fresh.length; at += STEP) {
      const findings = await reader.read(fresh.slice(at, at + STEP), this.#tools)
      const items = findings.flatMap((finding) => [
        ...('video' in finding ? [toItem(finding.video)] : []),
        ...finding.problems.map(toProblem),
      ])
      await this.#add(items)
    }
  }

  /** Databases, lists and backups that are of no use here, and why. */
  tellUnused(faults: readonly CatalogFault[]): Promise<void> {
    return this.#add(faults.map(({ code, path, why }) => toProblem({ code, path, why })))
  }

  /** All has been looked at. */
  async tellUnchanged(): Promise<void> {
    if (this.#unchanged > 0) await this.#add([], this.#unchanged)
  }

  /** One file of each video, and what becomes of it. */
  async decide(job: AdoptionRun): Promise<void> {
    const { media } = this.#app
    for (const rows of this.#app.adoptions.items.found(this.#id, STEP)) {
      job.signal.throwIfAborted()
      if (job.isStopping()) return
      const ids = [...new Set(rows.map(({ video_id: id }) => id!))]
      const [known, removed] = [await this.#app.videos.readable(ids), media.places.wasForgotten(ids)]
      const still = await this.#lieAsTheyLay(ids.filter((id) => known.has(id)))
      const homeless = await homelessAmong([...known], this.#app)
      const decisions = ids.flatMap((id) => {
        const [best, ...others] = rows.filter((row) => row.video_id === id).sort(byWorth(media.containers.endings))
        const outcome = still.has(id)
          ? secondOf(best!, { path: still.get(id)! }, media.containers.isSound)
          : this.#outcomeOf(best!, {
              isKnown: known.has(id),
              isHomeless: homeless.has(id),
              wasRemoved: removed.has(id) && !this.#isBack(best!),
            })
        return [
          { number: best!.number, ...outcome },
          ...others.map((other) => ({ number: other.number, ...secondOf(other, best!, media.containers.isSound) })),
        ]
      })
      await this.#app.adoptions.items.decide(this.#id, decisions)
    }
  }

  /** Those in the archive whose film is where it was: this is another file. @returns its path by id */
  async #lieAsTheyLay(ids: readonly string[]): Promise<Map<string, string>> {
    const films = ids.flatMap((id) => {
      const film = this.#app.media.places.filmOf(id)
      return film?.placeId === this.#placeId ? [film] : []
    })
    const looks = films.length > 0 ? await this.#tools.look(films.map(toFile)) : []
    return new Map(films.flatMap(({ videoId, path }, at) => (looks[at]!.isFilm ? [[videoId, path]] : [])))
  }

  /** Removed by us, and put back into its place by somebody. */
  #isBack({ video_id: id, path }: ItemRow): boolean {
    return this.#app.media.places.trash.wasAt(this.#placeId, id!, path)
  }

  #outcomeOf(
    row: ItemRow,
    { isKnown, isHomeless, wasRemoved }: { isKnown: boolean; isHomeless: boolean; wasRemoved: boolean },
  ): Omit<Decision, 'number'> {
    const plain = (outcome: ItemRow['outcome'], why: Words = '') => ({ outcome, code: null, why })
    if (wasRemoved && !isKnown) return plain('removed', because('it has been removed from the archive'))
    const film = this.#app.media.places.filmOf(row.video_id!)
    if (isKnown && film?.placeId === this.#placeId) return plain('moved', because('it was {file}', { file: film.path }))
    if (isHomeless) return plain('moved', because('its video is in the archive, and its file was missing'))
    if (isKnown) return plain('known')
    return plain(row.is_guess || row.is_bare ? 'ask' : 'new')
  }

  /** What the catalog names and nobody has; only where it is this library's own. */
  async tellMissing({ broken, share, films }: CatalogRead, reading: PlaceReading): Promise<void> {
    await this.#add(broken.map(({ id, why }) => toProblem({ code: 'unreadable_document', id, why })))
    if (share < ENOUGH) {
      const why = because(
        'the database lists {count} videos, and most of them are in another folder: import that folder too',
        { count: films },
      )
      return this.#add([toProblem({ code: 'catalog_elsewhere', why })])
    }
    let told = 0
    for await (const ids of reading.unseen()) {
      const nobodys = await this.#app.queue.missing(ids)
      const missing = ids.filter((id) => nobodys.has(id)).slice(0, MOST_TOLD_MISSING - told)
      told += missing.length
      await this.#add(
        missing.map((id) => toProblem({ code: 'missing_file', id, why: because('its file is not there') })),
      )
      if (told >= MOST_TOLD_MISSING) return
    }
  }

  /**
   * What lists of downloads name and nobody has: somebody may have removed it on purpose. All files have been taken by
   * then; what one list has told another one does not tell again.
   */
  async tellArchived(lines: readonly string[]): Promise<void> {
    const prefix = `${this.#tools.extractor} `
    for (let at = 0; at < lines.length && this.#told < MOST_TOLD_MISSING; at += STEP) {
      const ids = lines.slice(at, at + STEP).flatMap((line) => {
        const id = line.startsWith(prefix) ? this.#tools.videoIn(line.slice(prefix.length)) : undefined
        return id === undefined ? [] : [id]
      })
      const some = [...new Set(ids)]
      const [nobodys, found] = [await this.#app.queue.missing(some), this.#app.adoptions.items.named(this.#id, some)]
      const missing = some.filter((id) => nobodys.has(id) && !found.has(id)).slice(0, MOST_TOLD_MISSING - this.#told)
      this.#told += missing.length
      await this.#add(
        missing.map((id) =>
          toProblem({ code: 'in_archive_only', id, why: because('it was downloaded once, and its file is not here') }),
        ),
      )
    }
  }
}

const isUnchanged = ({ sizeBytes, changedMs }: FoundFile, film: PlacedFilm | undefined): boolean =>
  film !== undefined && film.sizeBytes === sizeBytes && Math.abs(film.changedMs - changedMs) <= LEEWAY_MS

/** A whole film before a chapter, one that is told of before others, then what browsers play, then the larger. */
function byWorth(endings: readonly string[]): (a: ItemRow, b: ItemRow) => number {
  const rank = (row: ItemRow): number[] => [
    isPart(row) ? 1 : 0,
    -row.is_listed,
    row.is_guess,
    endings.indexOf(row.ending ?? ''),
    -row.size_bytes,
    row.path.length,
  ]
  return (a, b) => {
    const [one, other] = [rank(a), rank(b)]
    const at = one.findIndex((value, index) => value !== other[index])
    return at < 0 ? 0 : one[at]! - other[at]!
  }
}

const isPart = (row: Pick<ItemRow, 'path'> & Partial<ItemRow>): boolean => row.is_part === 1 || CHAPTER.test(row.path)

const toFile = ({ path, ending, sizeBytes, changedMs }: PlacedFilm): FoundFile => {
  const [folder, name] = [path.slice(0, Math.max(0, path.lastIndexOf('/'))), path.slice(path.lastIndexOf('/') + 1)]
  return { folder, name, base: name, ending, sizeBytes, changedMs, subtitles: [] }
}

function secondOf(row: ItemRow, best: Pick<ItemRow, 'path'> & Partial<ItemRow>, isSound: (ending: Ending) => boolean) {
  const problem = (code: ProblemCode, why: Words) => ({ outcome: 'problem' as const, code, why })
  if (isPart(row) && !isPart(best)) return problem('part_of_film', because('a chapter of {file}', { file: best.path }))
  if (row.ending && best.ending && isSound(row.ending) && !isSound(best.ending))
    return problem('second_container', because('the sound of {file}, which is taken', { file: best.path }))
  return problem('duplicate', because('the same video as {file}, which is taken', { file: best.path }))
}

/** What is told of a file tells of its video too, where the name has it. */
function withId(problem: Problem, tools: PlaceTools): Problem {
  const id = problem.id ?? (problem.path === undefined ? undefined : idInPath(problem.path, tools))
  return id === undefined ? problem : { ...problem, id }
}

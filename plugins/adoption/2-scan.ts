/**
 * scan_place: finds the films of a place and decides the outcome of each. The task only reads the place; the rows that
 * it writes are the plan that adopt_videos follows. After an interruption it starts over.
 */

import { createHash } from 'node:crypto'
import { defineTask, errors, say, sentenceOf, type Words } from 'archivolt'
import { pathOf } from '../film-kit/names.ts'
import type { FoundFile, Problem, ProblemCode } from '../film-kit/types.ts'
import type { PlaceReader, PlaceTools } from '../library/reader.ts'
import type { Ending } from '../media/containers.ts'
import type { PlacedFilm } from '../media/types.ts'
import { goOn } from './5-follow.ts'
import type { App } from './app.ts'
import { mustBeThere } from './away.ts'
import { ENOUGH } from './catalogs/enough.ts'
import type { CatalogFault, CatalogRead } from './catalogs/types.ts'
import { homelessAmong } from './homeless.ts'
import { isAddress, takeDocuments } from './live-elasticsearch.ts'
import { type Decision, toItem, toProblem } from './plans/items.ts'
import { mapOf } from './plans/plans.ts'
import type { ItemRow } from './plans/rows.ts'
import { hasCatalog, readerOf, recognise } from './readers.ts'
import { ADOPTION_TASK, atPlace, inAdoption, type PlaceWork } from './task-context.ts'
import { idInPath } from './ytdlp.ts'

/** Videos per batch of decisions. */
const STEP = 50
/** Number of files whose names are used to recognize the kind of a place. */
const MOST_NAMES = 1000
/** Some file systems round times to two seconds. */
const LEEWAY_MS = 2000
const CHAPTER = / - \d{3} /
const MOST_REPORTED = 1000

export const scanPlace = defineTask({
  name: 'scan_place',
  title: 'Scan a folder',
  ...ADOPTION_TASK,
  apiStop: true,
  async run(given, app: App) {
    let news: string | undefined
    const said = await inAdoption(given, app, 'planned', async (on) => {
      await mustBeThere(on.adoption, app)
      await app.adoptions.items.clear(on.adoption.id)
      return atPlace(on, async (at) => {
        const scan = openScan(at)
        news = await newsOf(scan, at)
        if (news !== undefined && (news === '' || app.adoptions.seen.isStill(at.place.id, news))) return null
        await scanWhole(scan, at)
        return null
      })
    })
    const adoption = app.adoptions.find(given.payload.adoption)
    if (adoption?.is_following && adoption.state === 'planned') {
      const isTaken = await goOn(adoption, app)
      if (!isTaken && news !== undefined) app.adoptions.seen.set(adoption.place_id, news)
    }
    return said
  },
})

async function scanWhole(scan: Scan, on: PlaceWork): Promise<void> {
  const { adoption, place, reading, job, app } = on
  const { catalog, faults } = await readCatalog(on)
  await scan.reportUnused(faults)
  const asked = catalog?.kind ?? adoption.reader
  let reader: PlaceReader | undefined = asked === '' ? undefined : readerOf(asked, app)
  for await (const walked of reading.walk()) {
    if (!reader) {
      reader = recognise(walked.files.slice(0, MOST_NAMES).flatMap(namesOf), app)
      await app.adoptions.setReader(adoption.id, reader.name)
    }
    if (job.isStopping()) return
    const by = reader
    await job.step('adoption.look', () => scan.take(by, walked.files, walked.problems))
    await scan.reportArchived(walked.archived)
    job.progress(0, say`${{ count: scan.seen() }} files in “${{ label: place.label }}”`)
  }
  await scan.reportUnchanged()
  await scan.decide()
  if (catalog) {
    await scan.reportMissing(catalog)
    for await (const lines of reading.archived()) await scan.reportArchived(lines)
  }
  await mustBeThere(adoption, app)
  job.progress(1, 'The plan is ready')
}

/**
 * A digest of the new files in a followed place and of its catalog: if it is unchanged, the slow scan is skipped.
 * @returns '': nothing is new; undefined: not a regular scan of a followed place, so it is never skipped
 */
async function newsOf(scan: Scan, { adoption, reading }: PlaceWork): Promise<string | undefined> {
  if (adoption.is_following === 0 || adoption.is_again === 1) return undefined
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

/** Reads the catalog if the kind of the place has one; if no kind was given, reads the catalog that is found. */
async function readCatalog({
  adoption,
  reading,
  job,
  app,
}: PlaceWork): Promise<{ catalog?: CatalogRead; faults: CatalogFault[] }> {
  const { id, reader, catalog: at } = adoption
  if (reader !== '' && !hasCatalog(reader)) return { faults: [] }
  job.progress(0, 'Looking for another program’s data about these videos')
  const asked = mapOf(adoption)
  const said = asked?.isSaid ? asked : undefined
  const isLive = isAddress(at)
  const file = isLive ? await takeDocuments(id, at, reading, job, app) : at
  const { read, faults } = await reading.readCatalog(file, reader || undefined, said)
  if (!read && at !== '')
    throw errors.unprocessable(
      say`${{ at }} cannot be read: ${{ reason: sentenceOf(faults[0]?.why ?? say`it is not a database, list or backup`) }}`,
    )
  // A scheduled scan cannot ask a person about an uncertain catalog.
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

type Scan = ReturnType<typeof openScan>

function openScan({ adoption: { id: adoption, place_id: placeId, is_again }, reading, job, app }: PlaceWork) {
  const { tools } = reading
  /** Whether to take only films that the ledger knows here and that have no document. */
  const isAgain = is_again === 1
  let seen = 0
  let count = 0
  let unchanged = 0
  /** Number of reported videos of download archives. */
  let reportedArchived = 0

  async function add(items: ReturnType<typeof toItem>[], unchangedFiles = 0): Promise<void> {
    const from = count
    count += items.length
    await app.adoptions.items.add(adoption, from, items, unchangedFiles)
  }

  /** Files that are not imported, have changed, or have lost their document. */
  async function freshOf(files: readonly FoundFile[]): Promise<FoundFile[]> {
    const placed = app.media.places.at(placeId, files.map(pathOf))
    const known = await app.videos.readable([...placed.values()].map(({ videoId }) => videoId))
    return files.filter((file) => {
      const film = placed.get(pathOf(file))
      if (film && !known.has(film.videoId)) return true
      return !isAgain && !isUnchanged(file, film)
    })
  }

  async function take(reader: PlaceReader, files: readonly FoundFile[], problems: Parameters<typeof toProblem>[0][]) {
    seen += files.length
    const fresh = await freshOf(files)
    unchanged += files.length - fresh.length
    // Unchanged files are only counted, and the number is written once at the end.
    if (problems.length > 0) await add(problems.map((problem) => toProblem(withId(problem, tools))))
    for (let at = 0; at < fresh.length; at += STEP) {
      const findings = await reader.read(fresh.slice(at, at + STEP), tools)
      const items = findings.flatMap((finding) => [
        ...('video' in finding ? [toItem(finding.video)] : []),
        ...finding.problems.map(toProblem),
      ])
      await add(items)
    }
  }

  /** Reports catalogs that cannot be used, with the reason. */
  function reportUnused(faults: readonly CatalogFault[]): Promise<void> {
    return add(faults.map(({ code, path, why }) => toProblem({ code, path, why })))
  }

  /** Writes the number of unchanged files, after all were read. */
  async function reportUnchanged(): Promise<void> {
    if (unchanged > 0) await add([], unchanged)
  }

  /** Chooses one file for each video, and decides its outcome. */
  async function decide(): Promise<void> {
    const { media } = app
    for (const rows of app.adoptions.items.found(adoption, STEP)) {
      job.signal.throwIfAborted()
      if (job.isStopping()) return
      const ids = [...new Set(rows.map(({ video_id: id }) => id!))]
      const [known, removed] = [await app.videos.readable(ids), media.places.wasForgotten(ids)]
      const unmoved = await stillThere(ids.filter((id) => known.has(id)))
      const homeless = await homelessAmong([...known], app)
      const decisions = ids.flatMap((id): Decision[] => {
        const [best, ...others] = rows.filter((row) => row.video_id === id).sort(byPreference(media.containers.endings))
        // A single film may look like a chapter, because its name contains its number in a playlist.
        if (others.length > 0 && isPart(best!))
          return [best!, ...others].map(({ number }) => ({
            number,
            outcome: 'problem',
            code: 'part_of_film',
            why: PART,
          }))
        const outcome = unmoved.has(id)
          ? problemOfOther(best!, { path: unmoved.get(id)! }, media.containers.isSound)
          : outcomeOf(best!, {
              isKnown: known.has(id),
              isHomeless: homeless.has(id),
              wasRemoved: removed.has(id) && !isBack(best!),
            })
        return [
          { number: best!.number, ...outcome },
          ...others.map((other) => ({
            number: other.number,
            ...problemOfOther(other, best!, media.containers.isSound),
          })),
        ]
      })
      await app.adoptions.items.decide(adoption, decisions)
    }
  }

  /** Videos whose known film is still there, so the found file is another one. @returns paths by id */
  async function stillThere(ids: readonly string[]): Promise<Map<string, string>> {
    const films = ids.flatMap((id) => {
      const film = app.media.places.filmOf(id)
      return film?.placeId === placeId ? [film] : []
    })
    const looks = films.length > 0 ? await tools.look(films.map(toFile)) : []
    return new Map(films.flatMap(({ videoId, path }, at) => (looks[at]!.isFilm ? [[videoId, path]] : [])))
  }

  /** Whether the film was moved to the trash and a person has restored it. */
  function isBack({ video_id: id, path }: ItemRow): boolean {
    return app.media.places.trash.wasAt(placeId, id!, path)
  }

  function outcomeOf(
    row: ItemRow,
    { isKnown, isHomeless, wasRemoved }: { isKnown: boolean; isHomeless: boolean; wasRemoved: boolean },
  ): Omit<Decision, 'number'> {
    const plain = (outcome: ItemRow['outcome'], why: Words = '') => ({ outcome, code: null, why })
    if (wasRemoved && !isKnown) return plain('removed', say`it has been removed from the archive`)
    const film = app.media.places.filmOf(row.video_id!)
    if (isKnown && film?.placeId === placeId) return plain('moved', say`it was ${{ file: film.path }}`)
    if (isHomeless) return plain('moved', say`its video is in the archive, and its file was missing`)
    if (isKnown) return plain('known')
    return plain(row.is_guess || row.is_bare ? 'ask' : 'new')
  }

  /** Reports videos of the catalog that are neither here nor in the archive, if the catalog belongs to this place. */
  async function reportMissing({ broken, share, films }: CatalogRead): Promise<void> {
    await add(broken.map(({ id, why }) => toProblem({ code: 'unreadable_document', id, why })))
    if (share < ENOUGH) {
      const why = say`the database lists ${{ count: films }} videos, and most of them are in another folder: import that folder too`
      return add([toProblem({ code: 'catalog_elsewhere', why })])
    }
    let reportedMissing = 0
    for await (const ids of reading.unseen()) {
      const unknown = await app.queue.missing(ids)
      const missing = ids.filter((id) => unknown.has(id)).slice(0, MOST_REPORTED - reportedMissing)
      reportedMissing += missing.length
      await add(missing.map((id) => toProblem({ code: 'missing_file', id, why: say`its file is missing` })))
      if (reportedMissing >= MOST_REPORTED) return
    }
  }

  /**
   * Reports videos that are listed in download archives but missing here; somebody may have removed them on purpose.
   * Called after all files were read. Each video is reported once.
   */
  async function reportArchived(lines: readonly string[]): Promise<void> {
    const prefix = `${tools.extractor} `
    for (let at = 0; at < lines.length && reportedArchived < MOST_REPORTED; at += STEP) {
      const ids = lines.slice(at, at + STEP).flatMap((line) => {
        const id = line.startsWith(prefix) ? tools.videoIn(line.slice(prefix.length)) : undefined
        return id === undefined ? [] : [id]
      })
      const some = [...new Set(ids)]
      const [unknown, found] = [await app.queue.missing(some), app.adoptions.items.named(adoption, some)]
      const missing = some.filter((id) => unknown.has(id) && !found.has(id)).slice(0, MOST_REPORTED - reportedArchived)
      reportedArchived += missing.length
      await add(
        missing.map((id) =>
          toProblem({
            code: 'in_archive_only',
            id,
            why: say`it was downloaded once, but its file is missing here`,
          }),
        ),
      )
    }
  }

  return {
    seen: () => seen,
    freshOf,
    take,
    reportUnused,
    reportUnchanged,
    decide,
    reportMissing,
    reportArchived,
  }
}

const isUnchanged = ({ sizeBytes, changedMs }: FoundFile, film: PlacedFilm | undefined): boolean =>
  film !== undefined && film.sizeBytes === sizeBytes && Math.abs(film.changedMs - changedMs) <= LEEWAY_MS

/**
 * Sorts whole films before chapters; then come files named by the catalog, files whose video is certain, containers
 * that browsers play, larger files, and shorter paths.
 */
function byPreference(endings: readonly string[]): (a: ItemRow, b: ItemRow) => number {
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

const PART = say`a chapter of a video that is not in the archive`
const isPart = (row: Pick<ItemRow, 'path'> & Partial<ItemRow>): boolean => row.is_part === 1 || CHAPTER.test(row.path)

const toFile = ({ path, ending, sizeBytes, changedMs }: PlacedFilm): FoundFile => {
  const [folder, name] = [path.slice(0, Math.max(0, path.lastIndexOf('/'))), path.slice(path.lastIndexOf('/') + 1)]
  return { folder, name, base: name, ending, sizeBytes, changedMs, subtitles: [] }
}

/** Why a file is not imported: its video has been, or will be, imported from the file `best`. */
function problemOfOther(
  row: ItemRow,
  best: Pick<ItemRow, 'path'> & Partial<ItemRow>,
  isSound: (ending: Ending) => boolean,
) {
  const problem = (code: ProblemCode, why: Words) => ({ outcome: 'problem' as const, code, why })
  if (isPart(row) && !isPart(best)) return problem('part_of_film', say`a chapter of ${{ file: best.path }}`)
  if (row.ending && best.ending && isSound(row.ending) && !isSound(best.ending))
    return problem('second_container', say`the audio of ${{ file: best.path }}, which is imported instead`)
  return problem('duplicate', say`the same video as ${{ file: best.path }}, which is imported instead`)
}

/** Adds the video id to a problem if the file name has one. */
function withId(problem: Problem, tools: PlaceTools): Problem {
  const id = problem.id ?? (problem.path === undefined ? undefined : idInPath(problem.path, tools))
  return id === undefined ? problem : { ...problem, id }
}

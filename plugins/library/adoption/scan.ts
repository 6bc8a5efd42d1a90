/**
 * scan_place: what lies in a place, and what would become of it. It only reads; its rows are the plan that adopt_videos
 * follows. Cut off, it begins anew.
 */
import { defineTask, isAppError, type JobContext, Type } from 'archivolt'
import type { PlacedFilm } from '../../media/types.ts'
import type { App } from '../app.ts'
import { pathOf } from '../names.ts'
import { openStore, type Store, toItem, toProblem } from './store.ts'
import type { AdoptionRow, ItemRow } from './tables.ts'
import { openPlace, readerOf, recognise } from './tools.ts'
import type { FoundFile, PlaceReader, PlaceTools } from './types.ts'

const AdoptionPayload = Type.Object({ adoption: Type.Integer({ minimum: 1 }) })
export type AdoptionRun = JobContext<{ adoption: number }>

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
  work: (adoption: AdoptionRow, store: Store) => Promise<string | null>,
): Promise<string | null> {
  const store = openStore(app)
  const adoption = store.find(job.payload.adoption)
  if (!adoption) return null // dropped meanwhile
  try {
    const said = await work(adoption, store)
    await store.setState(adoption.id, then)
    return said
  } catch (thrown) {
    // The server closes: the next start goes on.
    if (!job.signal.aborted) await store.setState(adoption.id, 'failed', (thrown as Error).message)
    throw thrown
  }
}

export const scanPlace = defineTask({
  name: 'scan_place',
  title: 'Look what can move in',
  ...ADOPTION_TASK,
  async run(job, app: App) {
    return inAdoption(job, app, 'planned', async (adoption, store) => {
      await store.clear(adoption.id)
      const place = app.media.places.get(adoption.place_id)
      const reading = openPlace(place.path, job, app)
      try {
        const scan = new Scan(adoption.id, place.id, reading.tools, store, app)
        let reader: PlaceReader | undefined = adoption.reader === '' ? undefined : readerOf(adoption.reader, app)
        const archived = new Set<string>()
        for await (const walked of reading.walk()) {
          if (!reader) {
            reader = recognise(walked.files.slice(0, MOST_NAMES).flatMap(namesOf), app)
            await store.setReader(adoption.id, reader.name)
          }
          for (const line of walked.archived) archived.add(line)
          await scan.take(reader, walked.files, walked.problems)
          job.progress(0, `${scan.seen} files in “${place.label}”`)
        }
        await scan.decide(job)
        await scan.tellArchived(archived)
      } finally {
        await reading.end()
      }
      job.progress(1, 'The plan is ready')
      return null
    })
  },
})

const namesOf = (file: FoundFile): string[] => [
  pathOf(file),
  ...(file.info === undefined ? [] : [file.info]),
  ...(file.lone ?? []),
]

class Scan {
  seen = 0
  #number = 0
  readonly #id: number
  readonly #placeId: number
  readonly #tools: PlaceTools
  readonly #store: Store
  readonly #app: App

  constructor(id: number, placeId: number, tools: PlaceTools, store: Store, app: App) {
    this.#id = id
    this.#placeId = placeId
    this.#tools = tools
    this.#store = store
    this.#app = app
  }

  async #add(items: ReturnType<typeof toItem>[], unchanged = 0): Promise<void> {
    const from = this.#number
    this.#number += items.length
    await this.#store.addItems(this.#id, from, items, unchanged)
  }

  async take(reader: PlaceReader, files: readonly FoundFile[], problems: Parameters<typeof toProblem>[0][]) {
    this.seen += files.length
    const placed = this.#app.media.places.at(this.#placeId, files.map(pathOf))
    const fresh = files.filter((file) => !isUnchanged(file, placed.get(pathOf(file))))
    const findings = fresh.length > 0 ? await reader.read(fresh, this.#tools) : []
    await this.#add(
      [
        ...problems.map(toProblem),
        ...findings.flatMap((finding) => [
          ...('video' in finding ? [toItem(finding.video)] : []),
          ...finding.problems.map(toProblem),
        ]),
      ],
      files.length - fresh.length,
    )
  }

  /** One file of each video, and what becomes of it. */
  async decide(job: AdoptionRun): Promise<void> {
    const { media, videos } = this.#app
    for (const rows of this.#store.found(this.#id, STEP)) {
      job.signal.throwIfAborted()
      const ids = [...new Set(rows.map(({ video_id: id }) => id!))]
      const [known, removed] = [await videos.known(ids), media.places.wasForgotten(ids)]
      const decisions = ids.flatMap((id) => {
        const [best, ...others] = rows.filter((row) => row.video_id === id).sort(byWorth(media.containers.endings))
        return [
          { number: best!.number, ...this.#outcomeOf(best!, known.has(id), removed.has(id)) },
          ...others.map((other) => ({ number: other.number, ...secondOf(other, best!) })),
        ]
      })
      await this.#store.decide(this.#id, decisions)
    }
  }

  #outcomeOf(row: ItemRow, isKnown: boolean, wasRemoved: boolean): Pick<ItemRow, 'outcome' | 'code' | 'why'> {
    const plain = (outcome: ItemRow['outcome'], why = '') => ({ outcome, code: null, why })
    if (wasRemoved) return plain('removed', 'it has been removed from the archive')
    const film = this.#app.media.places.filmOf(row.video_id!)
    if (isKnown && film?.placeId === this.#placeId) return plain('moved', `it was ${film.path}`)
    if (isKnown) return plain('known')
    return plain(row.is_guess ? 'ask' : 'new')
  }

  /** What lists of downloads name and nobody has: somebody may have removed it on purpose. */
  async tellArchived(lines: ReadonlySet<string>): Promise<void> {
    const prefix = `${this.#tools.extractor} `
    const ids = [...lines].flatMap((line) => {
      const id = line.startsWith(prefix) ? this.#tools.videoIn(line.slice(prefix.length)) : undefined
      return id === undefined ? [] : [id]
    })
    let told = 0
    for (let at = 0; at < ids.length && told < MOST_TOLD_MISSING; at += STEP) {
      const some = ids.slice(at, at + STEP)
      const [known, found] = [await this.#app.videos.known(some), this.#store.named(this.#id, some)]
      const missing = some.filter((id) => !known.has(id) && !found.has(id)).slice(0, MOST_TOLD_MISSING - told)
      told += missing.length
      await this.#add(
        missing.map((id) =>
          toProblem({ code: 'in_archive_only', id, why: 'it was downloaded once, and its file is not here' }),
        ),
      )
    }
  }
}

const isUnchanged = ({ sizeBytes, changedMs }: FoundFile, film: PlacedFilm | undefined): boolean =>
  film !== undefined && film.sizeBytes === sizeBytes && Math.abs(film.changedMs - changedMs) <= LEEWAY_MS

/** A whole film before a chapter, one that is told of before one that is not, then what browsers play, then the larger. */
function byWorth(endings: readonly string[]): (a: ItemRow, b: ItemRow) => number {
  const rank = (row: ItemRow): number[] => [
    CHAPTER.test(row.path) ? 1 : 0,
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

const secondOf = (row: ItemRow, best: ItemRow): Pick<ItemRow, 'outcome' | 'code' | 'why'> =>
  CHAPTER.test(row.path) && !CHAPTER.test(best.path)
    ? { outcome: 'problem', code: 'part_of_film', why: `a chapter of ${best.path}` }
    : { outcome: 'problem', code: 'duplicate', why: `the same video as ${best.path}, which is taken` }

/** What went wrong with one, where the next may go well. */
export const isOnesOwn = (thrown: unknown): boolean =>
  isAppError(thrown, 'unprocessable') || isAppError(thrown, 'not_found')

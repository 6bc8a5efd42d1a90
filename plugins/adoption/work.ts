/** What the tasks of an adoption have in common: what they are handed, and its state before and after. */
import { isStop, type JobContext, Type, untilStop, type Words, wordsOf } from 'archivolt'
import { because } from '../film-kit/because.ts'
import type { Place } from '../media/types.ts'
import type { App } from './app.ts'
import { waitForPlace } from './away.ts'
import { openPlace, type PlaceReading } from './place-reading.ts'
import { isWaiting } from './plans/plans.ts'
import type { AdoptionRow } from './plans/rows.ts'

const AdoptionPayload = Type.Object({ adoption: Type.Integer({ minimum: 1 }) })
export type AdoptionRun = JobContext<{ adoption: number }>

/** What one run of a task works on and with. */
export interface AdoptionWork {
  adoption: AdoptionRow
  job: AdoptionRun
  app: App
}

/** The same, with its place open. */
export interface PlaceWork extends AdoptionWork {
  place: Place
  reading: PlaceReading
}

export const STOPPED = because('somebody has stopped it')

/** What all tasks of an adoption are. */
export const ADOPTION_TASK = {
  group: 'setting:adopt',
  payload: AdoptionPayload,
  lane: 'library',
  unique: ({ adoption }: { adoption: number }) => String(adoption),
  resumable: true,
} as const

/**
 * What a task does with an adoption: its state is on the row before and after.
 * @param then  the state where all went well
 */
export async function inAdoption(
  job: AdoptionRun,
  app: App,
  then: AdoptionRow['state'],
  work: (on: AdoptionWork) => Promise<Words | null>,
): Promise<Words | null> {
  const adoption = app.adoptions.find(job.payload.adoption)
  if (!adoption) return null // dropped meanwhile
  if (isWaiting(adoption)) await app.adoptions.setState(adoption.id, adoption.state)
  try {
    const said = await work({ adoption, job: untilStop(job), app })
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

/** Its place is read by children, which end with the work. */
export async function atPlace<Result>(on: AdoptionWork, work: (on: PlaceWork) => Promise<Result>): Promise<Result> {
  const { adoption, job, app } = on
  const place = app.media.places.get(adoption.place_id)
  const reading = openPlace(place.path, adoption.id, job, app)
  try {
    return await work({ ...on, place, reading })
  } finally {
    await reading.end()
  }
}

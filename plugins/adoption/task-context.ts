/** The code that the tasks of an adoption share: their payload, their context, and the state of the adoption. */
import { isStop, type JobContext, say, Type, untilStop, type Words, wordsOf } from 'archivolt'
import type { Place } from '../media/types.ts'
import type { App } from './app.ts'
import { isAway, waitForPlace } from './away.ts'
import { openPlace, type PlaceReading } from './place-reading.ts'
import { isWaiting } from './plans/plans.ts'
import type { AdoptionRow } from './plans/rows.ts'

const AdoptionPayload = Type.Object({ adoption: Type.Integer({ minimum: 1 }) })
export type AdoptionRun = JobContext<{ adoption: number }>

/** The context of one run. */
export interface AdoptionWork {
  adoption: AdoptionRow
  job: AdoptionRun
  app: App
}

/** The same with the place open for reading. */
export interface PlaceWork extends AdoptionWork {
  place: Place
  reading: PlaceReading
}

export const STOPPED = say`it was stopped`
export const UNSTARTED = say`it could not be started`

/** Properties of all tasks of an adoption. */
export const ADOPTION_TASK = {
  group: 'setting:adopt',
  payload: AdoptionPayload,
  lane: 'library',
  unique: ({ adoption }: { adoption: number }) => String(adoption),
  resumable: true,
} as const

/**
 * Runs a task's work and writes the resulting state to the adoption's row.
 * @param then  the state after success
 */
export async function inAdoption(
  job: AdoptionRun,
  app: App,
  then: AdoptionRow['state'],
  work: (on: AdoptionWork) => Promise<Words | null>,
): Promise<Words | null> {
  const adoption = app.adoptions.find(job.payload.adoption)
  if (!adoption) return null // deleted meanwhile
  if (isWaiting(adoption)) await app.adoptions.setState(adoption.id, adoption.state)
  try {
    const said = await work({ adoption, job: untilStop(job), app })
    if (job.isStopping()) await app.adoptions.setState(adoption.id, 'failed', STOPPED)
    else await app.adoptions.setState(adoption.id, then)
    return said
  } catch (thrown) {
    // The server is closing: the next start resumes the job.
    if (job.signal.aborted) throw thrown
    if (isStop(thrown, job)) {
      await app.adoptions.setState(adoption.id, 'failed', STOPPED)
      return null
    }
    if (then !== 'undone' && (await isAway(adoption, app))) return waitForPlace(adoption, app)
    await app.adoptions.setState(adoption.id, 'failed', wordsOf(thrown))
    throw thrown
  }
}

/** Opens the place for reading, and ends the children after the work. */
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

/** Pauses an adoption whose place goes offline, and resumes it when the place is back. */
import { errors, say, wordsOf } from 'archivolt'
import type { App } from './app.ts'
import { type AdoptionRow, TASK_OF } from './plans/rows.ts'

type Placed = Pick<AdoptionRow, 'place_id'>

/**
 * Checks that the place is online: missing files may be on a disk that went offline. @throws unavailable: the place is
 * offline
 */
export async function mustBeThere({ place_id: id }: Placed, { media }: App): Promise<void> {
  if (await media.places.isThere(id)) return
  throw errors.unavailable(
    say`“${{ label: media.places.get(id).label }}” is not available: connect its disk, or enter its new path`,
  )
}

/** Whether the place is offline. A place that was removed from the list is not waited for. */
export async function isAway({ place_id: id }: Placed, { media }: App): Promise<boolean> {
  return media.places.list().some((place) => place.id === id) && !(await media.places.isThere(id))
}

/** Ends what waits for a place, once the place is removed from the list. */
export async function endWaiting(placeId: number, { adoptions }: App): Promise<void> {
  for (const { id, place_id: itsPlace } of adoptions.waiting())
    if (itsPlace === placeId) await adoptions.setState(id, 'failed', wordsOf(errors.notFound('place', String(placeId))))
}

/** @returns the result of the task */
export async function waitForPlace({ id, place_id: placeId, state }: AdoptionRow, { adoptions, media }: App) {
  const said = say`The import continues when “${{ label: media.places.get(placeId).label }}” is available again`
  await adoptions.setState(id, state, said)
  return said
}

/** Starts the tasks that wait for a place; each clears its waiting state once it runs. */
export async function resumeIn(placeId: number, app: App): Promise<void> {
  for (const { id, place_id: itsPlace, state } of app.adoptions.waiting()) {
    const task = TASK_OF[state]
    if (itsPlace !== placeId || task === undefined) continue
    const job = await app.jobs.start(task, { adoption: id })
    await app.adoptions.setTask(id, job.id)
  }
}

/**
 * Starts tasks whose place is online, because the server may have stopped after a place came back and before all tasks
 * were started.
 */
export async function resumeAfterStart(app: App): Promise<void> {
  for (const { id, awaySince } of app.media.places.list()) if (awaySince === undefined) await resumeIn(id, app)
}

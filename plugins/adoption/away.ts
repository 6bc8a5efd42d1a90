/** What is worked on while its place goes away: it waits, and goes on by itself once the place is there again. */
import { errors, say } from 'archivolt'
import type { App } from './app.ts'
import { type AdoptionRow, TASK_OF } from './plans/rows.ts'

type Placed = Pick<AdoptionRow, 'place_id'>

/** Files that are not found may be those of a disk that went. @throws unavailable: the place is away */
export async function mustBeThere({ place_id: id }: Placed, { media }: App): Promise<void> {
  if (await media.places.isThere(id)) return
  throw errors.unavailable(
    say`“${{ label: media.places.get(id).label }}” is not there now: connect its disk, or say where it is`,
  )
}

/** @returns what is said of the task */
export async function waitForPlace({ id, place_id: placeId, state }: AdoptionRow, { adoptions, media }: App) {
  const said = say`It goes on once “${{ label: media.places.get(placeId).label }}” is there again`
  await adoptions.setState(id, state, said)
  return said
}

/** Those that wait for a place. That they wait no longer is said by their tasks, once they run. */
export async function goOnIn(placeId: number, app: App): Promise<void> {
  for (const { id, place_id: itsPlace, state } of app.adoptions.waiting()) {
    const task = TASK_OF[state]
    if (itsPlace !== placeId || task === undefined) continue
    const job = await app.jobs.start(task, { adoption: id })
    await app.adoptions.setTask(id, job.id)
  }
}

/** The server was closed, or killed, after a place had come back and before all was started. */
export async function goOnAfterStart(app: App): Promise<void> {
  for (const { id, awaySince } of app.media.places.list()) if (awaySince === undefined) await goOnIn(id, app)
}

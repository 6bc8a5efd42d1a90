/**
 * follow_places: imports new films of followed places. It starts a scan of each place; a scan that finds films
 * continues with the import, any other deletes its plan.
 */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'
import { forgetNotes } from './place-reading.ts'
import { isBusy, isWaiting } from './plans/plans.ts'
import type { AdoptionRow } from './plans/rows.ts'
import { startWork } from './stopping.ts'

export const followPlaces = defineTask({
  name: 'follow_places',
  title: 'Look for new videos in folders',
  group: 'setting:adopt',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  unique: true,
  silent: true,
  schedule: {
    auto: '20 * *',
    initially: { hour: '*' },
    isNeeded: (app: App) => app.adoptions.followed.isAny(),
  },
  async run(job, app: App) {
    const followed = app.adoptions.followed
    await app.adoptions.removeOld()
    await forgetNotes(app)
    for (const { id, label } of app.media.places.list()) {
      if (!followed.has(id)) continue
      // An offline place is reported elsewhere; a later run scans it.
      if (!(await app.media.places.isThere(id))) continue
      const own = app.adoptions.list().filter((one) => one.place_id === id)
      if (own.some((one) => isBusy(one) || isWaiting(one))) continue
      const open = own.find((one) => one.is_following === 1 && (one.state === 'planned' || one.state === 'failed'))
      if (open && (await goOn(open, app))) continue
      job.log.info({ place: label }, 'a followed folder is scanned for new videos')
      await takeFrom(id, false, app)
    }
    return null
  },
})

/** Imports again the films that the ledger knows but that have no document. @returns the id of the adoption */
export const takeAgain = (placeId: number, app: App): Promise<number> => takeFrom(placeId, true, app)

async function takeFrom(placeId: number, isAgain: boolean, app: App): Promise<number> {
  const adoption = await app.adoptions.create(placeId, '', '', { isFollowing: true, isAgain })
  await app.adoptions.setChoice(adoption, { kinds: [], users: {} })
  await startWork(adoption, 'scan_place', app)
  return adoption
}

/**
 * Runs a finished plan if it has videos to import. Videos that only the platform can identify wait for a person,
 * because each hourly scan would request them again.
 * @returns whether it was run
 */
export async function goOn({ id }: AdoptionRow, app: App): Promise<boolean> {
  const counts = await app.adoptions.items.counts(id)
  const isAny = counts.some(({ outcome }) => outcome === 'new' || outcome === 'moved')
  if (!isAny) {
    await app.adoptions.remove(id)
    return false
  }
  await app.adoptions.setState(id, 'adopting')
  await startWork(id, 'adopt_videos', app)
  return true
}

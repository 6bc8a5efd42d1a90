/**
 * follow_places: what other programs put into a place that is followed comes by itself. It starts a scan of each; one
 * that finds something goes on and takes it in, any other leaves no plan.
 */
import { defineTask, Type } from 'archivolt'
import type { App } from '../app.ts'
import { isBusy, isWaiting, Store } from './store.ts'
import type { AdoptionRow } from './tables.ts'
import { forgetNotes } from './tools.ts'

export interface Followed {
  has(placeId: number): boolean
  isAny(): boolean
  set(placeId: number, isFollowed: boolean): Promise<void>
}

export const openFollowed = ({ ledger }: Pick<App, 'ledger'>): Followed => ({
  has: (placeId) => ledger.sql('SELECT 1 FROM library_followed WHERE place_id = ?').get(placeId) !== undefined,
  isAny: () => ledger.sql('SELECT 1 FROM library_followed LIMIT 1').get() !== undefined,
  set: (placeId, isFollowed) =>
    ledger.write(
      () =>
        void ledger
          .sql(
            isFollowed
              ? 'INSERT OR IGNORE INTO library_followed VALUES (?)'
              : 'DELETE FROM library_followed WHERE place_id = ?',
          )
          .run(placeId),
    ),
})

const SEEN_FOR_MS = 24 * 3_600_000

/** What the last scans of followed places have looked at, and why the next need not: it is as it was. */
interface Seen {
  /** Not for ever: a video that was known may have been removed. */
  isStill(placeId: number, news: string): boolean
  set(placeId: number, news: string): void
}

const seenBy = new WeakMap<App['ledger'], Map<number, { news: string; atMs: number }>>()

export function openSeen({ ledger, clock }: Pick<App, 'ledger' | 'clock'>): Seen {
  const seen = seenBy.get(ledger) ?? new Map<number, { news: string; atMs: number }>()
  seenBy.set(ledger, seen)
  return {
    isStill(placeId, news) {
      const last = seen.get(placeId)
      return last?.news === news && clock.now() - last.atMs < SEEN_FOR_MS
    },
    set(placeId, news) {
      if (seen.get(placeId)?.news !== news || !this.isStill(placeId, news))
        seen.set(placeId, { news, atMs: clock.now() })
    },
  }
}

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
    isNeeded: (app: App) => openFollowed(app).isAny(),
  },
  async run(job, app: App) {
    const store = new Store(app)
    const followed = openFollowed(app)
    await store.removeOld()
    await forgetNotes((one) => store.find(one) !== undefined, app)
    for (const { id, label } of app.media.places.list()) {
      if (!followed.has(id)) continue
      // That it is away is told elsewhere; one of the next runs finds it.
      if (!(await app.media.places.isThere(id))) continue
      const own = store.list().filter((one) => one.place_id === id)
      if (own.some((one) => isBusy(one) || isWaiting(one))) continue
      const open = own.find((one) => one.is_following === 1 && (one.state === 'planned' || one.state === 'failed'))
      if (open && (await goOn(open, store, app))) continue
      job.log.info({ place: label }, 'a place is looked through for what is new')
      await takeWhatIsNew(id, '', store, app)
    }
    return null
  },
})

/** @param onlyPath  of one film; '': whatever is new @returns the adoption */
export const takeWhatIsNew = (placeId: number, onlyPath: string, store: Store, app: App): Promise<number> =>
  takeFrom(placeId, { onlyPath }, store, app)

/** Films of a place that the ledger knows and whose documents are gone. @returns the adoption */
export const takeAgain = (placeId: number, store: Store, app: App): Promise<number> =>
  takeFrom(placeId, { isAgain: true }, store, app)

async function takeFrom(
  placeId: number,
  what: { onlyPath?: string; isAgain?: boolean },
  store: Store,
  app: App,
): Promise<number> {
  const adoption = await store.create(placeId, '', '', { isFollowing: true, ...what })
  await store.setChoice(adoption, { kinds: [], users: {} })
  await store.setTask(adoption, (await app.jobs.start('scan_place', { adoption })).id)
  return adoption
}

/**
 * The plan is made: it is followed where there is something in it. What only the platform can tell waits until somebody
 * looks: it would be asked each hour; a single film that somebody wants back is asked for. @returns whether it was
 * followed
 */
export async function goOn({ id, only_path: only }: AdoptionRow, store: Store, app: App): Promise<boolean> {
  const counts = await store.items.counts(id)
  const isAny = counts.some(
    ({ outcome }) => outcome === 'new' || outcome === 'moved' || (outcome === 'ask' && only !== ''),
  )
  if (!isAny) {
    await store.remove(id)
    return false
  }
  await store.setState(id, 'adopting')
  await store.setTask(id, (await app.jobs.start('adopt_videos', { adoption: id })).id)
  return true
}

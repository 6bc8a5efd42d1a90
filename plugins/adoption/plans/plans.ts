/** Reads and writes adoptions in the ledger. */
import { type App, DAY_SECONDS, epochSeconds, errors, type Words } from 'archivolt'
import { openAlongRows } from '../along/rows.ts'
import { ENOUGH } from '../catalogs/enough.ts'
import type { Along, AlongCount, PathMap, Setting } from '../catalogs/types.ts'
import type { Count } from './counting.ts'
import { openItems } from './items.ts'
import type { AdoptionRow, AdoptionState } from './rows.ts'
import { toColumn } from './stored-words.ts'

/** Number of days for which an adoption can be undone. */
const UNDOABLE_DAYS = 30
const BUSY: readonly AdoptionState[] = ['scanning', 'adopting', 'undoing']

const RECENT_MS = 1000

/** A folder mapping with the share of a sample that it finds; `isSaid`: a person has set it. */
export interface FoundMap extends PathMap {
  share: number
  isSaid?: boolean
}

/** What people have chosen to import in addition to the videos. */
export interface Choice {
  kinds: Along['kind'][]
  /** Account ids by the owner in the other program. */
  users: Record<string, number>
  /** What to do with videos whose files are missing; default: nothing. */
  gone?: 'queue' | 'ignore'
  /** The account that receives playlists. */
  listsTo?: number
}

export const isBusy = (row: AdoptionRow): boolean => BUSY.includes(row.state) && !isWaiting(row)

/** Whether its place went offline during the work. */
export const isWaiting = ({ state, why }: AdoptionRow): boolean => why !== '' && state !== 'failed'

export const mapOf = ({ map }: Pick<AdoptionRow, 'map'>): FoundMap | undefined =>
  map === '' ? undefined : (JSON.parse(map) as FoundMap)

/** Whether a person has to confirm the folder mapping, because most files of its catalog are elsewhere. */
export function isUnsure(row: AdoptionRow): boolean {
  const map = mapOf(row)
  return row.catalog !== '' && map !== undefined && map.isSaid !== true && map.share < ENOUGH
}

export function openPlans({ ledger, clock }: Pick<App, 'ledger' | 'clock'>) {
  const items = openItems({ ledger, clock })

  function find(id: number): AdoptionRow | undefined {
    return ledger.sql<AdoptionRow>('SELECT * FROM library_adoption WHERE id = ?').get(id)
  }

  /** @throws not_found */
  function get(id: number): AdoptionRow {
    const row = find(id)
    if (!row) throw errors.notFound('import', String(id))
    return row
  }

  function list(): AdoptionRow[] {
    return ledger.sql<AdoptionRow>('SELECT * FROM library_adoption ORDER BY id DESC LIMIT 100').all()
  }

  function waiting(): AdoptionRow[] {
    return ledger
      .sql<AdoptionRow>("SELECT * FROM library_adoption WHERE why <> '' AND state <> 'failed' ORDER BY id")
      .all()
  }

  async function create(
    placeId: number,
    reader: string,
    catalog: string,
    { isFollowing = false, isAgain = false, map }: { isFollowing?: boolean; isAgain?: boolean; map?: PathMap } = {},
  ): Promise<number> {
    const made = await run(
      `INSERT INTO library_adoption (place_id, reader, catalog, state, created_at, is_following, is_again, map)
       VALUES (?, ?, ?, 'scanning', ?, ?, ?, ?)`,
      ...[placeId, reader, catalog, epochSeconds(clock), isFollowing ? 1 : 0, isAgain ? 1 : 0],
      map ? JSON.stringify({ ...map, share: 0, isSaid: true } satisfies FoundMap) : '',
    )
    items.countAnew(made)
    return made
  }

  /** Records the current or last job. */
  async function setTask(id: number, jobId: string): Promise<void> {
    await run('UPDATE library_adoption SET job_id = ? WHERE id = ?', jobId, id)
  }

  async function setState(id: number, state: AdoptionState, why: Words = ''): Promise<void> {
    const endedAt = BUSY.includes(state) ? null : epochSeconds(clock)
    const set = 'UPDATE library_adoption SET state = ?, why = ?, ended_at = ? WHERE id = ?'
    await run(set, state, toColumn(why), endedAt, id)
  }

  /** Stores the data that was read from the catalog. */
  async function setCatalog(
    id: number,
    path: string,
    map: FoundMap,
    along: readonly AlongCount[],
    settings: readonly Setting[],
  ): Promise<void> {
    const texts = [map, along, settings].map((each) => JSON.stringify(each))
    const set = 'UPDATE library_adoption SET catalog = ?, map = ?, along = ?, settings = ? WHERE id = ?'
    await run(set, path, ...texts, id)
  }

  async function setChoice(id: number, choice: Choice): Promise<void> {
    await run('UPDATE library_adoption SET choice = ? WHERE id = ?', JSON.stringify(choice), id)
  }

  async function setReader(id: number, reader: string): Promise<void> {
    await run('UPDATE library_adoption SET reader = ? WHERE id = ?', reader, id)
  }

  async function addChannel(id: number, channelId: string): Promise<void> {
    await run('INSERT OR IGNORE INTO library_adoption_channel VALUES (?, ?)', id, channelId)
  }

  function broughtChannels(id: number): string[] {
    return ledger
      .sql<{ channel_id: string }>('SELECT channel_id FROM library_adoption_channel WHERE adoption_id = ?')
      .all(id)
      .map(({ channel_id: channelId }) => channelId)
  }

  /** Counts for display, which may be a second old while a task changes rows. */
  function recentCounts(row: AdoptionRow): Promise<Count[]> {
    return items.counts(row.id, isBusy(row) ? RECENT_MS : 0)
  }

  /** Removes plans of a place that were never run or were undone. */
  async function removeUnused(placeId: number): Promise<void> {
    await run("DELETE FROM library_adoption WHERE place_id = ? AND state IN ('planned', 'undone')", placeId)
  }

  async function remove(id: number): Promise<void> {
    await run('DELETE FROM library_adoption WHERE id = ?', id)
  }

  /** Removes expired adoptions. */
  async function removeOld(): Promise<void> {
    const before = epochSeconds(clock) - UNDOABLE_DAYS * DAY_SECONDS
    await run('DELETE FROM library_adoption WHERE ended_at IS NOT NULL AND ended_at < ?', before)
  }

  /** @returns the id of the last new row */
  function run(text: string, ...values: unknown[]): Promise<number> {
    return ledger.write(() => Number(ledger.sql(text).run(...values).lastInsertRowid))
  }

  return {
    items,
    along: openAlongRows(ledger),
    find,
    get,
    list,
    waiting,
    create,
    setTask,
    setState,
    setCatalog,
    setChoice,
    setReader,
    addChannel,
    broughtChannels,
    recentCounts,
    removeUnused,
    remove,
    removeOld,
  }
}

/** Adoptions and their rows, as the tasks and the routes read and write them. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY_SECONDS, epochSeconds, errors, type Words } from 'archivolt'
import type { App } from '../app.ts'
import { toColumn } from '../because.ts'
import { ENOUGH } from '../catalogs/enough.ts'
import type { Along, AlongCount, PathMap, Setting } from '../catalogs/types.ts'
import { pathOf } from '../names.ts'
import { COUNTED, type Count, countingOf } from './counting.ts'
import type { AdoptionRow, AdoptionState, ItemRow, Outcome } from './tables.ts'
import type { FoundVideo, Problem } from './types.ts'

/** So long an adoption can be undone. */
const KEPT_DAYS = 30
const BUSY: readonly AdoptionState[] = ['scanning', 'adopting', 'undoing']

const RECENT_MS = 1000

/** What stands there for the place, and how much of a sample lies there; `isSaid`: by a person. */
export interface FoundMap extends PathMap {
  share: number
  isSaid?: boolean
}

export interface ChannelCount {
  /** '': nothing here tells of which channel they are. */
  id: string
  name: string
  count: number
  bytes: number
}

export interface AlongRow {
  number: number
  kind: Along['kind'] | 'queue'
  data: string
  is_done: 0 | 1
}

/** What is to come along: of which kinds, and who is who. */
export interface Choice {
  kinds: Along['kind'][]
  /** Accounts here, by the owner there. */
  users: Record<string, number>
  /** What becomes of videos whose files are gone there; default: nothing. */
  gone?: 'queue' | 'ignore'
  /** The account that gets people's own playlists. */
  listsTo?: number
}

type NewItem = Omit<Partial<ItemRow>, 'why'> & Pick<ItemRow, 'outcome' | 'path'> & { why?: Words }

/** What becomes of a row, and why. */
export interface Decision extends Pick<ItemRow, 'number' | 'outcome' | 'code'> {
  why: Words
}

const isBusy = (row: AdoptionRow): boolean => BUSY.includes(row.state) && !isWaiting(row)

export const mapOf = ({ map }: Pick<AdoptionRow, 'map'>): FoundMap | undefined =>
  map === '' ? undefined : (JSON.parse(map) as FoundMap)

/** Most of what its catalog names lies elsewhere: a person has to say what stands there for the place. */
export function isUnsure(row: AdoptionRow): boolean {
  const map = mapOf(row)
  return row.catalog !== '' && map !== undefined && map.isSaid !== true && map.share < ENOUGH
}

const isWaiting = ({ state, why }: AdoptionRow): boolean => why !== '' && state !== 'failed'

export type Store = ReturnType<typeof openStore>

export function openStore({ ledger, clock }: Pick<App, 'ledger' | 'clock'>) {
  const sql = <Row>(text: string) => ledger.sql<Row>(text)
  const counting = countingOf(ledger, clock)
  const writeItems = (id: number, work: () => void): Promise<void> => {
    counting.change(id)
    return ledger.write(work).finally(() => counting.change(id))
  }
  const find = (id: number): AdoptionRow | undefined =>
    sql<AdoptionRow>('SELECT * FROM library_adoption WHERE id = ?').get(id)
  const get = (id: number): AdoptionRow => {
    const row = find(id)
    if (!row) throw errors.notFound('adoption', String(id))
    return row
  }

  return {
    find,
    get,
    list: (): AdoptionRow[] => sql<AdoptionRow>('SELECT * FROM library_adoption ORDER BY id DESC LIMIT 100').all(),
    isBusy,
    isWaiting,
    /** Those whose place went away while they were worked on. */
    waiting: (): AdoptionRow[] =>
      sql<AdoptionRow>("SELECT * FROM library_adoption WHERE why <> '' AND state <> 'failed' ORDER BY id").all(),

    create: async (
      placeId: number,
      reader: string,
      catalog: string,
      { isFollowing = false, onlyPath = '', map }: { isFollowing?: boolean; onlyPath?: string; map?: PathMap } = {},
    ): Promise<number> => {
      const id = await ledger.write(() =>
        Number(
          sql(
            `INSERT INTO library_adoption (place_id, reader, catalog, state, created_at, is_following, only_path, map)
             VALUES (?, ?, ?, 'scanning', ?, ?, ?, ?)`,
          ).run(
            ...[placeId, reader, catalog, epochSeconds(clock), isFollowing ? 1 : 0, onlyPath],
            map ? JSON.stringify({ ...map, share: 0, isSaid: true } satisfies FoundMap) : '',
          ).lastInsertRowid,
        ),
      )
      // A plan that was dropped may have had this number.
      counting.change(id)
      return id
    },

    /** The job that works on it, or did last. */
    setTask: (id: number, jobId: string): Promise<void> =>
      ledger.write(() => void sql('UPDATE library_adoption SET job_id = ? WHERE id = ?').run(jobId, id)),

    setState: (id: number, state: AdoptionState, why: Words = ''): Promise<void> =>
      ledger.write(
        () =>
          void sql('UPDATE library_adoption SET state = ?, why = ?, ended_at = ? WHERE id = ?').run(
            state,
            toColumn(why),
            BUSY.includes(state) ? null : epochSeconds(clock),
            id,
          ),
      ),

    /** What was read beside the films: where it lies, and what comes along by it. */
    setCatalog: (
      id: number,
      path: string,
      map: FoundMap,
      along: readonly AlongCount[],
      settings: readonly Setting[],
    ): Promise<void> =>
      ledger.write(
        () =>
          void sql('UPDATE library_adoption SET catalog = ?, map = ?, along = ?, settings = ? WHERE id = ?').run(
            path,
            JSON.stringify(map),
            JSON.stringify(along),
            JSON.stringify(settings),
            id,
          ),
      ),

    setChoice: (id: number, choice: Choice): Promise<void> =>
      ledger.write(
        () => void sql('UPDATE library_adoption SET choice = ? WHERE id = ?').run(JSON.stringify(choice), id),
      ),

    /** Of these numbers, what is written of them. */
    along: (id: number, numbers: readonly number[]): Map<number, AlongRow> =>
      new Map(
        sql<AlongRow>(
          `SELECT number, kind, data, is_done FROM library_adoption_along
           WHERE adoption_id = ? AND number IN (SELECT value FROM json_each(?))`,
        )
          .all(id, JSON.stringify(numbers))
          .map((row) => [row.number, row]),
      ),

    addAlong: (id: number, rows: ReadonlyArray<Omit<AlongRow, 'is_done'>>): Promise<void> =>
      ledger.write(() => {
        const add = sql(
          'INSERT OR IGNORE INTO library_adoption_along (adoption_id, number, kind, data) VALUES (?, ?, ?, ?)',
        )
        for (const { number, kind, data } of rows) add.run(id, number, kind, data)
      }),

    /** What has come along, the last first: it is taken back in pieces, and each is gone before the next is read. */
    *alongPieces(id: number, most: number, signal?: AbortSignal): Generator<AlongRow[]> {
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        signal?.throwIfAborted()
        const rows = sql<AlongRow>(
          `SELECT number, kind, data, is_done FROM library_adoption_along WHERE adoption_id = ? AND number < ?
           ORDER BY number DESC LIMIT ?`,
        ).all(id, before, most)
        if (rows.length === 0) return
        yield rows
        before = rows.at(-1)!.number
      }
    },

    /** @param job  that goes on with it */
    setAlongDone: (id: number, numbers: readonly number[], job?: string): Promise<void> =>
      ledger.write(
        () =>
          void sql(
            `UPDATE library_adoption_along SET is_done = 1, data = json_patch(data, ?)
             WHERE adoption_id = ? AND number IN (SELECT value FROM json_each(?))`,
          ).run(JSON.stringify({ job }), id, JSON.stringify(numbers)),
      ),

    dropAlong: (id: number, numbers: readonly number[]): Promise<void> =>
      ledger.write(
        () =>
          void sql(
            'DELETE FROM library_adoption_along WHERE adoption_id = ? AND number IN (SELECT value FROM json_each(?))',
          ).run(id, JSON.stringify(numbers)),
      ),

    setReader: (id: number, reader: string): Promise<void> =>
      ledger.write(() => void sql('UPDATE library_adoption SET reader = ? WHERE id = ?').run(reader, id)),

    /** A scan begins anew. */
    clear: (id: number): Promise<void> =>
      writeItems(id, () => {
        sql('DELETE FROM library_adoption_item WHERE adoption_id = ?').run(id)
        sql('UPDATE library_adoption SET unchanged = 0 WHERE id = ?').run(id)
      }),

    addItems: (id: number, from: number, items: readonly NewItem[], unchanged = 0): Promise<void> =>
      writeItems(id, () => {
        const add = sql(
          `INSERT INTO library_adoption_item (adoption_id, number, outcome, code, why, video_id, title, channel_id,
             channel_name, path, file, is_guess, is_bare, is_listed, is_part, size_bytes, ending)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        items.forEach((item, at) =>
          add.run(
            id,
            from + at,
            item.outcome,
            item.code ?? null,
            toColumn(item.why ?? ''),
            item.video_id ?? null,
            item.title ?? '',
            item.channel_id ?? null,
            item.channel_name ?? null,
            item.path,
            item.file ?? null,
            item.is_guess ?? 0,
            item.is_bare ?? 0,
            item.is_listed ?? 0,
            item.is_part ?? 0,
            item.size_bytes ?? 0,
            item.ending ?? null,
          ),
        )
        if (unchanged > 0) sql('UPDATE library_adoption SET unchanged = unchanged + ? WHERE id = ?').run(unchanged, id)
      }),

    /** What was found, by video: several files of one stand together. */
    *found(id: number, most: number): Generator<ItemRow[]> {
      for (let last = ''; ; ) {
        const ids = sql<{ video_id: string }>(
          `SELECT DISTINCT video_id FROM library_adoption_item
           WHERE adoption_id = ? AND video_id > ? AND outcome = 'found' ORDER BY video_id LIMIT ?`,
        ).all(id, last, most)
        if (ids.length === 0) return
        const upTo = ids.at(-1)!.video_id
        yield sql<ItemRow>(
          `SELECT * FROM library_adoption_item
           WHERE adoption_id = ? AND video_id > ? AND video_id <= ? AND outcome = 'found' ORDER BY video_id, number`,
        ).all(id, last, upTo)
        last = upTo
      }
    },

    /** Which of these videos it has a row of. */
    named: (id: number, videoIds: readonly string[]): Set<string> =>
      new Set(
        sql<{ video_id: string }>(
          `SELECT DISTINCT video_id FROM library_adoption_item
           WHERE adoption_id = ? AND video_id IN (SELECT value FROM json_each(?))`,
        )
          .all(id, JSON.stringify(videoIds))
          .map(({ video_id: videoId }) => videoId),
      ),

    decide: (id: number, decisions: readonly Decision[]): Promise<void> =>
      writeItems(id, () => {
        const set = sql(
          'UPDATE library_adoption_item SET outcome = ?, code = ?, why = ? WHERE adoption_id = ? AND number = ?',
        )
        for (const { number, outcome, code, why } of decisions) set.run(outcome, code, toColumn(why), id, number)
      }),

    /**
     * Rows of these outcomes and states, by number; each piece is read once the one before is done with.
     * @throws the signal's reason, before each
     */
    *pieces(
      id: number,
      outcomes: readonly Outcome[],
      states: ReadonlyArray<ItemRow['state']>,
      most: number,
      signal?: AbortSignal,
    ): Generator<ItemRow[]> {
      for (let after = -1; ; ) {
        signal?.throwIfAborted()
        const rows = sql<ItemRow>(
          `SELECT * FROM library_adoption_item WHERE adoption_id = ? AND number > ?
             AND +outcome IN (SELECT value FROM json_each(?)) AND +state IN (SELECT value FROM json_each(?))
           ORDER BY number LIMIT ?`,
        ).all(id, after, JSON.stringify(outcomes), JSON.stringify(states), most)
        if (rows.length === 0) return
        yield rows
        after = rows.at(-1)!.number
      }
    },

    setItems: (
      id: number,
      changes: ReadonlyArray<
        Pick<ItemRow, 'number' | 'state'> & Partial<Pick<ItemRow, 'code' | 'outcome'>> & { why?: Words }
      >,
    ): Promise<void> =>
      writeItems(id, () => {
        const set = sql(
          `UPDATE library_adoption_item SET state = ?, code = coalesce(?, code), why = coalesce(?, why),
             outcome = coalesce(?, outcome) WHERE adoption_id = ? AND number = ?`,
        )
        for (const { number, state, code, why, outcome } of changes)
          set.run(state, code ?? null, why === undefined ? null : toColumn(why), outcome ?? null, id, number)
      }),

    addChannel: (id: number, channelId: string): Promise<void> =>
      ledger.write(() => void sql('INSERT OR IGNORE INTO library_adoption_channel VALUES (?, ?)').run(id, channelId)),
    broughtChannels: (id: number): string[] =>
      sql<{ channel_id: string }>('SELECT channel_id FROM library_adoption_channel WHERE adoption_id = ?')
        .all(id)
        .map(({ channel_id: channelId }) => channelId),

    /** Counted anew only where rows have changed since. */
    counts: (id: number): Promise<Count[]> => counting.of(id, 0),

    /** For people who look on, as rows change with each piece of work: not older than a moment. */
    recentCounts: (row: AdoptionRow): Promise<Count[]> => counting.of(row.id, isBusy(row) ? RECENT_MS : 0),

    /** What would come of each channel, the largest first. In pieces, as `counts`. */
    async channels(id: number, most: number): Promise<ChannelCount[]> {
      const sums = new Map<string, ChannelCount>()
      for (let from = 0; ; from += COUNTED) {
        const rows = sql<ChannelCount>(
          `SELECT coalesce(channel_id, '') AS id, max(coalesce(channel_name, '')) AS name, count(*) AS count,
             sum(size_bytes) AS bytes
           FROM library_adoption_item WHERE adoption_id = ? AND number >= ? AND number < ?
             AND outcome IN ('new', 'ask') GROUP BY 1`,
        ).all(id, from, from + COUNTED)
        for (const row of rows) {
          const sum = sums.get(row.id) ?? { ...row, count: 0, bytes: 0 }
          sums.set(row.id, { ...sum, count: sum.count + row.count, bytes: sum.bytes + row.bytes })
        }
        const isMore = sql('SELECT 1 FROM library_adoption_item WHERE adoption_id = ? AND number >= ? LIMIT 1')
        if (!isMore.get(id, from + COUNTED)) break
        await nextTurn()
      }
      return [...sums.values()].sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1)).slice(0, most)
    },

    page(
      id: number,
      chosen: Partial<Pick<ItemRow, 'outcome' | 'state'> & { code: string }>,
      from: number,
      size: number,
    ) {
      const [where, asked] = [['adoption_id = ?'], [id] as unknown[]]
      for (const column of ['outcome', 'state', 'code'] as const) {
        const value = chosen[column]
        if (value === undefined) continue
        where.push(`${column} = ?`)
        asked.push(value)
      }
      const those = `FROM library_adoption_item WHERE ${where.join(' AND ')}`
      const rows = sql<ItemRow>(`SELECT * ${those} ORDER BY number LIMIT ? OFFSET ?`).all(...asked, size, from)
      const total = sql<{ count: number }>(`SELECT count(*) AS count ${those}`).get(...asked)!.count
      return { rows, total }
    },

    /** Plans of a place that were never followed, or have been undone: a new one takes their place. */
    removeUnused: (placeId: number): Promise<void> =>
      ledger.write(
        () =>
          void sql("DELETE FROM library_adoption WHERE place_id = ? AND state IN ('planned', 'undone')").run(placeId),
      ),

    remove: (id: number): Promise<void> =>
      ledger.write(() => void sql('DELETE FROM library_adoption WHERE id = ?').run(id)),

    /** Plans and what could be undone, past their time. */
    removeOld: (): Promise<void> =>
      ledger.write(
        () =>
          void sql('DELETE FROM library_adoption WHERE ended_at IS NOT NULL AND ended_at < ?').run(
            epochSeconds(clock) - KEPT_DAYS * DAY_SECONDS,
          ),
      ),
  }
}

export const toItem = ({
  file,
  id,
  isGuess,
  isBare,
  isListed,
  isPart,
  title,
  channelId,
  channelName,
}: FoundVideo): NewItem => ({
  outcome: 'found',
  video_id: id,
  title,
  channel_id: channelId ?? null,
  channel_name: channelName ?? null,
  path: pathOf(file),
  file: JSON.stringify(file),
  is_guess: isGuess ? 1 : 0,
  is_bare: isBare ? 1 : 0,
  is_listed: isListed ? 1 : 0,
  is_part: isPart ? 1 : 0,
  size_bytes: file.sizeBytes,
  ending: file.ending,
})

export const toProblem = ({ code, path = '', id, why }: Problem): NewItem => ({
  outcome: 'problem',
  code,
  why,
  path,
  ...(id !== undefined && { video_id: id }),
})

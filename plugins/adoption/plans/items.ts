/** Stores the rows of a plan: found films with their outcome and state. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { App, Words } from 'archivolt'
import { pathOf } from '../../film-kit/names.ts'
import type { Problem } from '../../film-kit/types.ts'
import type { FoundVideo } from '../../library/reader.ts'
import { COUNTED, type Count, openCounting } from './counting.ts'
import { type ItemRow, type Outcome, type Part, WITHOUT_FILE } from './rows.ts'
import { toColumn } from './stored-words.ts'

export interface ChannelCount {
  /** '': the channel is unknown. */
  id: string
  name: string
  count: number
  bytes: number
}

type NewItem = Omit<Partial<ItemRow>, 'why'> & Pick<ItemRow, 'outcome' | 'path'> & { why?: Words }

/** The outcome of a row, with the reason. */
export interface Decision extends Pick<ItemRow, 'number' | 'outcome' | 'code'> {
  why: Words
}

export type ItemChange = Pick<ItemRow, 'number' | 'state'> &
  Partial<Pick<ItemRow, 'code' | 'outcome'>> & { why?: Words }

const PART_IS: Record<Part, string> = {
  imported: "outcome IN ('new', 'ask') AND state IN ('in', 'done')",
  waiting: "outcome IN ('new', 'ask') AND state = 'planned'",
  left: "outcome IN ('new', 'ask') AND state = 'left'",
  skipped: `outcome = 'problem' AND code NOT IN (${WITHOUT_FILE.map((code) => `'${code}'`)})`,
}

export function openItems({ ledger, clock }: Pick<App, 'ledger' | 'clock'>) {
  const counting = openCounting({ ledger, clock })

  /** Removes all rows before a scan. */
  function clear(id: number): Promise<void> {
    return write(id, () => {
      ledger.sql('DELETE FROM library_adoption_item WHERE adoption_id = ?').run(id)
      ledger.sql('UPDATE library_adoption SET unchanged = 0 WHERE id = ?').run(id)
    })
  }

  function add(id: number, from: number, items: readonly NewItem[], unchanged = 0): Promise<void> {
    return write(id, () => {
      const add = ledger.sql(
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
      if (unchanged > 0)
        ledger.sql('UPDATE library_adoption SET unchanged = unchanged + ? WHERE id = ?').run(unchanged, id)
    })
  }

  /** Yields found rows, grouped by video. */
  function* found(id: number, most: number): Generator<ItemRow[]> {
    for (let last = ''; ; ) {
      const ids = ledger
        .sql<{ video_id: string }>(
          `SELECT DISTINCT video_id FROM library_adoption_item
           WHERE adoption_id = ? AND video_id > ? AND outcome = 'found' ORDER BY video_id LIMIT ?`,
        )
        .all(id, last, most)
      if (ids.length === 0) return
      const upTo = ids.at(-1)!.video_id
      yield ledger
        .sql<ItemRow>(
          `SELECT * FROM library_adoption_item
           WHERE adoption_id = ? AND video_id > ? AND video_id <= ? AND outcome = 'found' ORDER BY video_id, number`,
        )
        .all(id, last, upTo)
      last = upTo
    }
  }

  /** Which of these videos have a row. */
  function named(id: number, videoIds: readonly string[]): Set<string> {
    const rows = ledger
      .sql<{ video_id: string }>(
        `SELECT DISTINCT video_id FROM library_adoption_item
         WHERE adoption_id = ? AND video_id IN (SELECT value FROM json_each(?))`,
      )
      .all(id, JSON.stringify(videoIds))
    return new Set(rows.map(({ video_id: videoId }) => videoId))
  }

  /** Which of these videos another plan of the same place has imported. */
  function broughtByOthers(id: number, videoIds: readonly string[]): Set<string> {
    const rows = ledger
      .sql<{ video_id: string }>(
        `SELECT item.video_id FROM library_adoption AS own
         JOIN library_adoption AS other ON other.place_id = own.place_id AND other.id <> own.id
         JOIN library_adoption_item AS item ON item.adoption_id = other.id
         WHERE own.id = ? AND item.video_id IN (SELECT value FROM json_each(?)) AND item.state IN ('in', 'done')`,
      )
      .all(id, JSON.stringify(videoIds))
    return new Set(rows.map(({ video_id: videoId }) => videoId))
  }

  function decide(id: number, decisions: readonly Decision[]): Promise<void> {
    return write(id, () => {
      const set = ledger.sql(
        'UPDATE library_adoption_item SET outcome = ?, code = ?, why = ? WHERE adoption_id = ? AND number = ?',
      )
      for (const { number, outcome, code, why } of decisions) set.run(outcome, code, toColumn(why), id, number)
    })
  }

  /**
   * Yields rows of these outcomes and states by number. Each piece is read after the caller has finished the last one.
   * @throws the signal's reason
   */
  function* pieces(
    id: number,
    outcomes: readonly Outcome[],
    states: ReadonlyArray<ItemRow['state']>,
    most: number,
    signal?: AbortSignal,
  ): Generator<ItemRow[]> {
    for (let after = -1; ; ) {
      signal?.throwIfAborted()
      const rows = ledger
        .sql<ItemRow>(
          `SELECT * FROM library_adoption_item WHERE adoption_id = ? AND number > ?
             AND +outcome IN (SELECT value FROM json_each(?)) AND +state IN (SELECT value FROM json_each(?))
           ORDER BY number LIMIT ?`,
        )
        .all(id, after, JSON.stringify(outcomes), JSON.stringify(states), most)
      if (rows.length === 0) return
      yield rows
      after = rows.at(-1)!.number
    }
  }

  function set(id: number, changes: readonly ItemChange[]): Promise<void> {
    return write(id, () => {
      const set = ledger.sql(
        `UPDATE library_adoption_item SET state = ?, code = coalesce(?, code), why = coalesce(?, why),
           outcome = coalesce(?, outcome) WHERE adoption_id = ? AND number = ?`,
      )
      for (const { number, state, code, why, outcome } of changes)
        set.run(state, code ?? null, why === undefined ? null : toColumn(why), outcome ?? null, id, number)
    })
  }

  /** Reopens rows that were left because the platform could not identify or describe them. @returns how many */
  function askAgain(id: number): Promise<number> {
    let count = 0
    return write(id, () => {
      count = ledger
        .sql(
          `UPDATE library_adoption_item SET state = 'planned', code = NULL, why = '' WHERE adoption_id = ?
             AND outcome = 'ask' AND state = 'left' AND code IN ('unsure_id', 'no_facts', 'part_of_film')`,
        )
        .run(id).changes
    }).then(() => count)
  }

  /**
   * Counts of rows, cached until rows change.
   * @param maxAgeMs  accept older counts up to this age
   */
  function counts(id: number, maxAgeMs = 0): Promise<Count[]> {
    return counting.of(id, maxAgeMs)
  }

  /** Drops cached counts, because a deleted plan may have had the same number. */
  function countAnew(id: number): void {
    counting.change(id)
  }

  /** Videos to import by channel, the largest first; counted in pieces. */
  async function channels(id: number, most: number): Promise<ChannelCount[]> {
    const sums = new Map<string, ChannelCount>()
    for (let from = 0; ; from += COUNTED) {
      const rows = ledger
        .sql<ChannelCount>(
          `SELECT coalesce(channel_id, '') AS id, max(coalesce(channel_name, '')) AS name, count(*) AS count,
             sum(size_bytes) AS bytes
           FROM library_adoption_item WHERE adoption_id = ? AND number >= ? AND number < ?
             AND outcome IN ('new', 'ask') GROUP BY 1`,
        )
        .all(id, from, from + COUNTED)
      for (const row of rows) {
        const sum = sums.get(row.id) ?? { ...row, count: 0, bytes: 0 }
        sums.set(row.id, { ...sum, count: sum.count + row.count, bytes: sum.bytes + row.bytes })
      }
      const isMore = ledger.sql('SELECT 1 FROM library_adoption_item WHERE adoption_id = ? AND number >= ? LIMIT 1')
      if (!isMore.get(id, from + COUNTED)) break
      await nextTurn()
    }
    return [...sums.values()].sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1)).slice(0, most)
  }

  function page(
    id: number,
    { part, ...chosen }: Partial<Pick<ItemRow, 'outcome' | 'state'> & { code: string; part: Part }>,
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
    if (part !== undefined) where.push(PART_IS[part])
    const those = `FROM library_adoption_item WHERE ${where.join(' AND ')}`
    const rows = ledger.sql<ItemRow>(`SELECT * ${those} ORDER BY number LIMIT ? OFFSET ?`).all(...asked, size, from)
    const total = ledger.sql<{ count: number }>(`SELECT count(*) AS count ${those}`).get(...asked)!.count
    return { rows, total }
  }

  function get(id: number, number: number): ItemRow | undefined {
    return ledger
      .sql<ItemRow>('SELECT * FROM library_adoption_item WHERE adoption_id = ? AND number = ?')
      .get(id, number)
  }

  /** The film of a plan that is, or will become, this video. */
  function takenBy(id: number, videoId: string): ItemRow | undefined {
    return ledger
      .sql<ItemRow>(
        `SELECT * FROM library_adoption_item WHERE adoption_id = ? AND video_id = ?
           AND outcome IN ('new', 'ask', 'moved', 'known') AND state <> 'left' LIMIT 1`,
      )
      .get(id, videoId)
  }

  /** Sets the video of a film, as given by a person; data of another video is discarded. @returns changed rows */
  async function sayVideo(id: number, number: number, videoId: string, outcome: 'ask' | 'known'): Promise<number> {
    let count = 0
    await write(id, () => {
      count = ledger
        .sql(
          `UPDATE library_adoption_item SET video_id = ?, outcome = ?, state = 'planned', code = NULL, why = '',
             is_guess = 0, is_bare = 1, is_part = 0, channel_id = NULL, channel_name = NULL, is_channel_said = 0
           WHERE adoption_id = ? AND number = ?`,
        )
        .run(videoId, outcome, id, number).changes
    })
    return count
  }

  /**
   * Sets the channel, as given by a person, of films that only the platform could describe.
   * @param those  numbers, or a folder with all folders below it
   * @returns changed rows
   */
  async function sayChannel(
    id: number,
    those: { numbers: readonly number[] } | { folder: string },
    channelId: string,
    name: string | undefined,
  ): Promise<number> {
    const [where, ...asked] =
      'numbers' in those
        ? (['number IN (SELECT value FROM json_each(?))', JSON.stringify(those.numbers)] as const)
        : (["? = '' OR substr(path, 1, length(?) + 1) = ? || '/'", those.folder, those.folder, those.folder] as const)
    let count = 0
    await write(id, () => {
      count = ledger
        .sql(
          `UPDATE library_adoption_item SET channel_id = ?, channel_name = coalesce(?, channel_name),
             is_channel_said = 1, state = 'planned', code = NULL, why = ''
           WHERE adoption_id = ? AND outcome = 'ask' AND state IN ('planned', 'left') AND (${where})`,
        )
        .run(channelId, name ?? null, id, ...asked).changes
    })
    return count
  }

  /**
   * Writes rows. A count that runs meanwhile may or may not include the change, so the change is recorded both before
   * and after it.
   */
  function write(id: number, work: () => void): Promise<void> {
    counting.change(id)
    return ledger.write(work).finally(() => counting.change(id))
  }

  return {
    clear,
    add,
    found,
    named,
    broughtByOthers,
    decide,
    pieces,
    set,
    askAgain,
    counts,
    countAnew,
    channels,
    page,
    get,
    takenBy,
    sayVideo,
    sayChannel,
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

export const toProblem = ({ code, path = '', id, file, why }: Problem): NewItem => ({
  outcome: 'problem',
  code,
  why,
  path,
  video_id: id,
  ...(file && { file: JSON.stringify(file), size_bytes: file.sizeBytes, ending: file.ending }),
})

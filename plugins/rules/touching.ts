/**
 * The changes of a run: rows of the ledger, written before and after each change, so that an interrupted run or undo
 * continues.
 */
import { chunksOf, epochSeconds } from 'archivolt'
import type { App } from './app.ts'
import type { Row } from './survey.ts'

/** Number of videos that are removed or restored together. */
export const TOGETHER = 100

export interface Touched {
  video_id: string
  outcome: 'remove' | 'fetch'
  rule_id: number
  title: string
  bytes: number
  state: 'done' | 'left' | 'undone'
  /** `begun`, `gone`, `again`, why the video stays (`Stays` of the removal), or a sentence. */
  reason: string | null
  /** The id of the removal in the bin. */
  bin: string | null
}

const [BEGUN, GONE, PROTECTED, AGAIN] = ['begun', 'gone', 'kept', 'again']

export type Touching = ReturnType<typeof openTouching>

export function openTouching(app: App) {
  const { ledger } = app

  const noted = (run: number, ids: readonly string[]): Map<string, Touched> =>
    new Map(
      ledger
        .sql<Touched>(
          'SELECT * FROM rules_touched WHERE run_id = ? AND video_id IN (SELECT value FROM json_each(?)) ORDER BY video_id',
        )
        .all(run, JSON.stringify(ids))
        .map((row) => [row.video_id, row]),
    )

  const note = (run: number, rows: readonly Touched[]): Promise<void> =>
    ledger.write(() => {
      const put = ledger.sql(
        `INSERT OR REPLACE INTO rules_touched (run_id, video_id, outcome, rule_id, title, bytes, state, reason, bin, at)
         VALUES (@run, @video_id, @outcome, @rule_id, @title, @bytes, @state, @reason, @bin, @at)`,
      )
      for (const row of rows) put.run({ ...row, run, at: epochSeconds(app.clock) })
    })

  return {
    noted,

    /** @param rows  at most `TOGETHER` @param removal  the bin's id of the removal */
    async touch(run: number, outcome: Touched['outcome'], rows: readonly Row[], removal: string): Promise<void> {
      const before = noted(
        run,
        rows.map(({ id }) => id),
      )
      const due = rows.filter(
        ({ id }) => (before.get(id)?.reason ?? BEGUN) === BEGUN && before.get(id)?.state !== 'done',
      )
      const docs = await app.videos.collection.getMany(due.map(({ id }) => id))
      const touched = due.map(({ id, rule, bytes }): Touched => {
        const doc = docs.get(id)
        const begun = before.get(id)
        const common = { video_id: id, outcome, rule_id: rule, title: begun?.title ?? doc?.title ?? id, bytes }
        const bin = begun?.bin ?? (outcome === 'remove' ? removal : null)
        // A video that an interrupted run has already removed is removed again: this waits until the bin has it.
        if (!doc) return { ...common, bin, state: 'left', reason: begun ? BEGUN : GONE }
        // A person may have protected the video in the meantime.
        return { ...common, bin, state: 'left', reason: doc.keep ? PROTECTED : BEGUN }
      })
      await note(run, touched)
      const going = touched.filter(({ reason }) => reason === BEGUN)
      if (going.length === 0) return
      const ids = going.map((row) => row.video_id)
      let stays: ReadonlyMap<string, string> = new Map()
      if (outcome === 'fetch') await app.queue.add(await app.videos.outlinesOf(ids), 'pending', { force: true })
      else ({ stays } = await app.removals.remove(ids, { removal: going[0]!.bin! }))
      await note(
        run,
        going.map((row) =>
          stays.has(row.video_id)
            ? { ...row, reason: stays.get(row.video_id)! }
            : { ...row, state: 'done' as const, reason: null },
        ),
      )
    },

    /** Removed videos that have not been restored yet, in the parts in which they were removed. */
    *removed(run: number): Generator<Touched[]> {
      const all = ledger
        .sql<{ bin: string | null }>(
          "SELECT DISTINCT bin FROM rules_touched WHERE run_id = ? AND state = 'done' AND outcome = 'remove' ORDER BY bin",
        )
        .all(run)
      for (const { bin } of all)
        yield* chunksOf(
          ledger
            .sql<Touched>(
              "SELECT * FROM rules_touched WHERE run_id = ? AND state = 'done' AND outcome = 'remove' AND bin IS ? ORDER BY video_id",
            )
            .all(run, bin),
          TOGETHER,
        )
    },

    async untouch(run: number, rows: readonly Touched[]): Promise<void> {
      const ids = rows.map((row) => row.video_id)
      const back = await app.removals.undo(ids, rows[0]!.bin ?? '')
      await note(
        run,
        rows.map((row) => {
          const one = back.get(row.video_id)!
          if (one.state === 'refused') return { ...row, reason: one.reason }
          return { ...row, state: 'undone' as const, reason: one.state === 'again' ? AGAIN : null }
        }),
      )
    },

    /** Which of these videos a rule has changed since this time, also if the change was undone. @returns `rule outcome video` */
    changedSince: (ids: readonly string[], since: number): ReadonlySet<string> =>
      new Set(
        ledger
          .sql<{ key: string }>(
            `SELECT rule_id || ' ' || outcome || ' ' || video_id AS key FROM rules_touched
             WHERE video_id IN (SELECT value FROM json_each(?)) AND at > ? AND state <> 'left'`,
          )
          .all(JSON.stringify(ids), since)
          .map(({ key }) => key),
      ),

    list: (run: number, from: number, size: number): Touched[] =>
      ledger
        .sql<Touched>('SELECT * FROM rules_touched WHERE run_id = ? ORDER BY video_id LIMIT ? OFFSET ?')
        .all(run, size, from),

    counts(run: number): Record<Touched['state'], number> {
      const counts = { done: 0, left: 0, undone: 0 }
      for (const { state, count } of ledger
        .sql<{ state: Touched['state']; count: number }>(
          'SELECT state, count(*) AS count FROM rules_touched WHERE run_id = ? GROUP BY state',
        )
        .all(run))
        counts[state] = count
      return counts
    },
  }
}

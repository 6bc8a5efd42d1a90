/** Runs of previews: what they may touch, what they have touched, and how that is undone. */
import { DAY_SECONDS, epochSeconds, errors, inEnglish, isAppError, isStop, type JobContext, say } from 'archivolt'
import type { App } from './app.ts'
import type { List, Lists } from './lists.ts'
import { bringBack, removeByRule } from './removal.ts'
import type { RuleRows } from './rule-rows.ts'
import { runRules, undoRun } from './run-tasks.ts'
import type { KeepOutcome, Row } from './survey.ts'

/** A run that touches more than so many videos, or this share of a rule's scope, waits for an admin's yes. */
export const MOST_UNASKED = 50
const MOST_SHARE = 0.1
/** Of a small scope a tenth is less than one video: so many may go. */
const FEW = 10
const LONGEST_AGE = DAY_SECONDS

export const RUN_STATES = ['waiting', 'running', 'done', 'refused', 'discarded', 'undoing', 'undone'] as const
export type RunState = (typeof RUN_STATES)[number]

export interface Run {
  id: number
  list_id: number
  state: RunState
  account: number | null
  made_at: number
  ended_at: number | null
  reason: string | null
}

export interface Touched {
  video_id: string
  outcome: 'remove' | 'fetch'
  rule_id: number
  title: string
  bytes: number
  state: 'done' | 'left' | 'undone'
  reason: string | null
  bin: string | null
}

export type RuleRuns = ReturnType<typeof openRuns>

const [BEGUN, GONE, KEPT, AWAY] = ['begun', 'gone', 'kept', 'unavailable']

export function openRuns(app: App, lists: Lists, rules: RuleRows) {
  const { ledger } = app
  const get = (id: number): Run | undefined => ledger.sql<Run>('SELECT * FROM rules_run WHERE id = ?').get(id)
  const now = () => epochSeconds(app.clock)
  const setState = (id: number, state: RunState, reason: string | null = null) =>
    ledger.write(() =>
      ledger
        .sql('UPDATE rules_run SET state = ?, reason = ?, ended_at = ? WHERE id = ?')
        .run(state, reason, ['waiting', 'running', 'undoing'].includes(state) ? null : now(), id),
    )
  const countOf = ({ sums: { outcomes } }: List) => outcomes.remove.videos + outcomes.fetch.videos

  /** @throws conflict: the list is older than what it touches */
  async function mustBeCurrent(list: List, signal?: AbortSignal): Promise<void> {
    if (list.version === undefined)
      throw errors.conflict('This preview is of rules that are not saved: save them and make a new one')
    if (list.version !== rules.version())
      throw errors.conflict('The rules have changed since this preview: make a new one')
    if (list.madeAt > now()) throw errors.conflict('The clock was set back since this preview: make a new one')
    if (now() - list.madeAt > LONGEST_AGE) throw errors.conflict('This preview is older than a day: make a new one')
    const { digest } = await lists.again(list, signal)
    if (digest !== list.sums.digest)
      throw errors.conflict('What this preview would touch has changed since: make a new one')
  }

  const isLarge = (list: List): boolean =>
    countOf(list) > MOST_UNASKED ||
    Object.values(list.sums.rules).some(({ videos, scope }) => scope > 0 && videos > FEW && videos > scope * MOST_SHARE)

  /** A waiting run is replaced: one list waits at a time. */
  const add = (list: List, state: 'waiting' | 'running', account: number | undefined): Promise<number> =>
    ledger.write(() => {
      ledger.sql("UPDATE rules_run SET state = 'discarded', ended_at = ? WHERE state = 'waiting'").run(now())
      const row = [list.id, state, account ?? null, now()]
      return Number(
        ledger.sql('INSERT INTO rules_run (list_id, state, account, made_at) VALUES (?, ?, ?, ?)').run(...row)
          .lastInsertRowid,
      )
    })

  const mustBeIdle = () => {
    if (ledger.sql("SELECT 1 FROM rules_run WHERE state IN ('running', 'undoing')").get())
      throw errors.conflict('A run of the rules is under way: wait until it has ended')
  }

  const touchedOf = (run: number, id: string): Touched | undefined =>
    ledger.sql<Touched>('SELECT * FROM rules_touched WHERE run_id = ? AND video_id = ?').get(run, id)

  const note = (run: number, row: Omit<Touched, 'bin'> & { bin?: string | undefined }) =>
    ledger.write(() =>
      ledger
        .sql(
          `INSERT OR REPLACE INTO rules_touched (run_id, video_id, outcome, rule_id, title, bytes, state, reason, bin, at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          run,
          row.video_id,
          row.outcome,
          row.rule_id,
          row.title,
          row.bytes,
          row.state,
          row.reason,
          row.bin ?? null,
          now(),
        ),
    )

  async function touch(run: number, outcome: 'remove' | 'fetch', { id, rule, bytes }: Row): Promise<void> {
    const before = touchedOf(run, id)
    if (before && before.reason !== BEGUN) return
    const doc = await app.videos.get(id)
    const row = { video_id: id, outcome, rule_id: rule, title: before?.title ?? doc?.title ?? id, bytes }
    if (!doc)
      return note(run, { ...row, state: before ? 'done' : 'left', reason: before ? null : GONE }).then(() => undefined)
    // Somebody may have changed their mind meanwhile.
    if (doc.keep) return void (await note(run, { ...row, state: 'left', reason: KEPT }))
    await note(run, { ...row, state: 'left', reason: BEGUN })
    try {
      if (outcome === 'fetch') {
        await app.queue.add([(await app.videos.outline(id))!], 'pending', { force: true })
        await note(run, { ...row, state: 'done', reason: null })
      } else await note(run, { ...row, state: 'done', reason: null, bin: await removeByRule(app, id) })
    } catch (error) {
      if (!isAppError(error, 'unavailable') && !isAppError(error, 'not_found')) throw error
      await note(run, { ...row, state: 'left', reason: isAppError(error, 'not_found') ? GONE : AWAY })
    }
  }

  return {
    get,
    isLarge,
    hasFetched: (id: string, rule: number, since: number): boolean =>
      ledger
        .sql(
          "SELECT 1 FROM rules_touched WHERE video_id = ? AND rule_id = ? AND at > ? AND outcome = 'fetch' AND state = 'done'",
        )
        .get(id, rule, since) !== undefined,

    history: (from: number, size: number) => ({
      runs: ledger.sql<Run>('SELECT * FROM rules_run ORDER BY id DESC LIMIT ? OFFSET ?').all(size, from),
      total: ledger.sql<{ count: number }>('SELECT count(*) AS count FROM rules_run').get()!.count,
    }),
    touched: (run: number, from: number, size: number): Touched[] =>
      ledger
        .sql<Touched>('SELECT * FROM rules_touched WHERE run_id = ? ORDER BY video_id LIMIT ? OFFSET ?')
        .all(run, size, from),
    counts: (run: number): Record<Touched['state'], number> => {
      const counts = { done: 0, left: 0, undone: 0 }
      for (const { state, count } of ledger
        .sql<{ state: Touched['state']; count: number }>(
          'SELECT state, count(*) AS count FROM rules_touched WHERE run_id = ? GROUP BY state',
        )
        .all(run))
        counts[state] = count
      return counts
    },

    /** @throws conflict: the list is older than what it touches, or another run is under way */
    async start(list: List, { account, isConfirmed }: { account: number; isConfirmed: boolean }, signal?: AbortSignal) {
      mustBeIdle()
      await mustBeCurrent(list, signal)
      const isHeld = isLarge(list) && !isConfirmed
      const id = await add(list, isHeld ? 'waiting' : 'running', account)
      if (!isHeld) await app.jobs.start(runRules, { run: id })
      return get(id)!
    },

    /** What runs by itself. @returns what is said of it; undefined: nothing was to be done */
    async byItself(job: JobContext<object>) {
      if ((await app.media.absence()) !== undefined) return undefined // the next run does it
      if (rules.list('keep').every(({ outcome, isOn }) => outcome === 'keep' || !isOn)) return undefined
      if (ledger.sql("SELECT 1 FROM rules_run WHERE state IN ('running', 'undoing')").get()) return undefined
      const list = await lists.make({ signal: job.signal })
      const count = countOf(list)
      if (count === 0) return void (await lists.remove(list.id))
      if (isLarge(list)) {
        await add(list, 'waiting', undefined)
        return say`Rules would touch ${{ count }} videos: an admin has to agree`
      }
      await app.jobs.start(runRules, { run: await add(list, 'running', undefined) })
      return count === 1 ? say`Rules touch ${{ count }} video` : say`Rules touch ${{ count }} videos`
    },

    /** @throws not_found; conflict: it waits for nothing, or its list is older than what it touches */
    async confirm(id: number, signal?: AbortSignal) {
      const run = get(id)
      if (!run) throw errors.notFound('run')
      if (run.state !== 'waiting') throw errors.conflict('This run does not wait for anybody')
      mustBeIdle()
      const list = lists.get(run.list_id)
      try {
        if (!list) throw errors.conflict('This preview is damaged: make a new one')
        await mustBeCurrent(list, signal)
      } catch (error) {
        if (isAppError(error, 'conflict')) await setState(id, 'refused', inEnglish(error.words))
        throw error
      }
      await setState(id, 'running')
      await app.jobs.start(runRules, { run: id })
      return get(id)!
    },

    async discard(id: number) {
      const run = get(id)
      if (!run) throw errors.notFound('run')
      if (run.state !== 'waiting') throw errors.conflict('This run does not wait for anybody')
      await setState(id, 'discarded')
      return get(id)!
    },

    /** Goes on where it was cut off: what was touched is noted. */
    async work(id: number, job: JobContext<object>): Promise<void> {
      const list = lists.get(get(id)!.list_id)
      if (!list) return void (await setState(id, 'refused', 'This preview is damaged: make a new one'))
      const total = countOf(list)
      let done = 0
      for (const outcome of ['remove', 'fetch'] as const satisfies KeepOutcome[])
        for (
          let part = 0, rows = lists.rows(list.id, outcome, 0);
          rows.length > 0;
          rows = lists.rows(list.id, outcome, ++part)
        )
          for (const row of rows) {
            if (job.isStopping()) return
            job.progress(done / total, say`Applying rules: ${{ done: ++done }}/${{ total }}`)
            await touch(id, outcome, row)
          }
      await setState(id, 'done')
    },

    /** @throws not_found; conflict */
    async undo(id: number) {
      const run = get(id)
      if (!run) throw errors.notFound('run')
      if (run.state !== 'done') throw errors.conflict('Only a run that has ended can be undone')
      mustBeIdle()
      await setState(id, 'undoing')
      await app.jobs.start(undoRun, { run: id })
      return get(id)!
    },

    async workBack(id: number, job: JobContext<object>): Promise<void> {
      const some = ledger.sql<Touched>(
        "SELECT * FROM rules_touched WHERE run_id = ? AND state = 'done' AND outcome = 'remove' AND video_id > ? ORDER BY video_id LIMIT 100",
      )
      for (let rows = some.all(id, ''); rows.length > 0; rows = some.all(id, rows.at(-1)!.video_id))
        for (const row of rows) {
          if (job.isStopping()) return
          try {
            await bringBack(app, row.video_id, row.bin)
            await note(id, { ...row, bin: row.bin ?? undefined, state: 'undone', reason: null })
          } catch (error) {
            if (isStop(error, job) || !isAppError(error)) throw error
            await note(id, { ...row, bin: row.bin ?? undefined, reason: inEnglish(error.words) })
          }
        }
      await setState(id, 'undone')
    },
  }
}

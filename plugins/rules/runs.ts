/** Runs of previews: which may start, what they have changed, and how they are undone. */
import { chunksOf, epochSeconds, errors, inEnglish, isAppError, type JobContext, say, wordsOf } from 'archivolt'
import type { App } from './app.ts'
import { DAMAGED, type List, type Lists, LONGEST_AGE } from './lists.ts'
import type { RuleRows } from './rule-rows.ts'
import { runRules, undoRun } from './run-tasks.ts'
import type { Row } from './survey.ts'
import { TOGETHER, type Touched, type Touching } from './touching.ts'

/**
 * Maximum number of videos that a run may change without an admin. It also waits for one if it changes a larger share
 * of a rule's scope than allowed.
 */
const MOST_UNASKED = 50
const MOST_SHARE = 0.1
/** A number of videos that is always allowed, because a tenth of a small scope is less than one video. */
const FEW = 10

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

export type RuleRuns = ReturnType<typeof openRuns>

export function openRuns(app: App, lists: Lists, rules: RuleRows, touching: Touching) {
  const { ledger } = app
  const get = (id: number): Run | undefined => ledger.sql<Run>('SELECT * FROM rules_run WHERE id = ?').get(id)
  const now = () => epochSeconds(app.clock)
  const putState = (id: number, state: RunState, reason: string | null = null) =>
    ledger
      .sql('UPDATE rules_run SET state = ?, reason = ?, ended_at = ? WHERE id = ?')
      .run(state, reason, ['waiting', 'running', 'undoing'].includes(state) ? null : now(), id)
  const setState = (...change: Parameters<typeof putState>) => ledger.write(() => void putState(...change))
  /** @throws not_found; conflict: the run has been confirmed, discarded or replaced */
  const mustWait = (id: number): Run => {
    const run = get(id)
    if (!run) throw errors.notFound('run')
    if (run.state !== 'waiting') throw errors.conflict('This run is not waiting for approval')
    return run
  }
  const countOf = ({ sums: { outcomes } }: List) => outcomes.remove.videos + outcomes.fetch.videos

  function mustMatchRules({ version }: List): void {
    if (version !== rules.version()) throw errors.conflict('The rules have changed since this preview: make a new one')
  }

  /** @throws conflict: the archive or the rules have changed since the list was made */
  async function mustBeCurrent(list: List, signal?: AbortSignal): Promise<void> {
    if (list.version === undefined)
      throw errors.conflict('This preview is for unsaved rules: save them and make a new one')
    mustMatchRules(list)
    if (list.madeAt > now()) throw errors.conflict('The clock was set back since this preview: make a new one')
    if (now() - list.madeAt > LONGEST_AGE) throw errors.conflict('This preview is older than a day: make a new one')
    const { digest } = await lists.again(list, signal)
    if (digest !== list.sums.digest)
      throw errors.conflict('The videos of this preview have changed since: make a new one')
  }

  const isLarge = (list: List): boolean =>
    countOf(list) > MOST_UNASKED ||
    Object.values(list.sums.rules).some(({ videos, scope }) => scope > 0 && videos > FEW && videos > scope * MOST_SHARE)

  /**
   * Adds a run, replacing a waiting one: only one list waits at a time. A waiting run that nobody has requested is
   * deleted without a trace.
   */
  const add = (
    list: List,
    state: 'waiting' | 'running',
    account: number | undefined,
    check = () => {},
  ): Promise<number> =>
    ledger.write(() => {
      check()
      ledger.sql("DELETE FROM rules_run WHERE state = 'waiting' AND account IS NULL").run()
      ledger.sql("UPDATE rules_run SET state = 'discarded', ended_at = ? WHERE state = 'waiting'").run(now())
      const row = [list.id, state, account ?? null, now()]
      return Number(
        ledger.sql('INSERT INTO rules_run (list_id, state, account, made_at) VALUES (?, ?, ?, ?)').run(...row)
          .lastInsertRowid,
      )
    })

  const mustBeIdle = () => {
    if (ledger.sql("SELECT 1 FROM rules_run WHERE state IN ('running', 'undoing')").get())
      throw errors.conflict('Rules are being applied: wait until this has finished')
  }

  const mustBeNewest = (list: List) => {
    mustBeIdle()
    mustMatchRules(list)
  }

  /** The parts of a list with their numbers, always the same ones. */
  function* partsOf(list: List, outcome: Touched['outcome']): Generator<[number: number, rows: Row[]]> {
    let number = 0
    for (
      let part = 0, rows = lists.rows(list.id, outcome, 0);
      rows.length > 0;
      rows = lists.rows(list.id, outcome, ++part)
    )
      for (const some of chunksOf(rows, TOGETHER)) yield [++number, some]
  }

  /** Stores an error that ends a run or an undo early, so that it can be undone or repeated. */
  async function endingWell(id: number, job: JobContext<object>, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // The server is stopping: the next start continues the job.
      if (job.signal.aborted) throw error
      await setState(id, 'done', inEnglish(wordsOf(error)))
      throw error
    }
  }

  return {
    /** Starts jobs for runs that have none: a crash may occur between writing the run's row and the job's row. */
    async continueAll() {
      const open = ledger.sql<Run>("SELECT * FROM rules_run WHERE state IN ('running', 'undoing')").all()
      for (const { id, state } of open) await app.jobs.start(state === 'running' ? runRules : undoRun, { run: id })
    },

    get,
    isLarge,
    history: (from: number, size: number) => ({
      runs: ledger.sql<Run>('SELECT * FROM rules_run ORDER BY id DESC LIMIT ? OFFSET ?').all(size, from),
      total: ledger.sql<{ count: number }>('SELECT count(*) AS count FROM rules_run').get()!.count,
    }),
    /** @throws conflict: the list is out of date, or another run is in progress */
    async start(list: List, { account, isConfirmed }: { account: number; isConfirmed: boolean }, signal?: AbortSignal) {
      mustBeIdle()
      await mustBeCurrent(list, signal)
      const isHeld = isLarge(list) && !isConfirmed
      // Check again: another run may have begun in the meantime.
      const id = await add(list, isHeld ? 'waiting' : 'running', account, mustBeIdle)
      if (!isHeld) await app.jobs.start(runRules, { run: id })
      return get(id)!
    },

    /** Starts the daily run. @returns the result in words; undefined: there was nothing to do */
    async byItself(job: JobContext<object>) {
      if ((await app.media.absence()) !== undefined) return undefined // the next run applies the rules
      if (rules.list('keep').every(({ outcome, isOn }) => outcome === 'keep' || !isOn)) return undefined
      if (ledger.sql("SELECT 1 FROM rules_run WHERE state IN ('running', 'undoing')").get()) return undefined
      const list = await lists.make({ signal: job.signal })
      const count = countOf(list)
      if (count === 0) return void (await lists.remove(list.id))
      const state = isLarge(list) ? 'waiting' : 'running'
      const id = await add(list, state, undefined, () => mustBeNewest(list)).catch((thrown: unknown) => {
        if (!isAppError(thrown, 'conflict')) throw thrown
      })
      // Somebody has changed the rules or started a run during the survey: the next run applies the rules.
      if (id === undefined) return void (await lists.remove(list.id))
      if (state === 'waiting') return say`Rules would affect ${{ count }} videos: an admin must approve the run`
      await app.jobs.start(runRules, { run: id })
      return count === 1 ? say`Rules affect ${{ count }} video` : say`Rules affect ${{ count }} videos`
    },

    /** @throws not_found; conflict: the run is not waiting, or its list is out of date */
    async confirm(id: number, signal?: AbortSignal) {
      const run = mustWait(id)
      mustBeIdle()
      const list = lists.get(run.list_id)
      // The check takes seconds: a run that was discarded or replaced meanwhile must not change.
      const setWaiting = (...change: Parameters<typeof putState>) =>
        ledger.write(() => {
          mustWait(id)
          mustBeIdle()
          putState(...change)
        })
      try {
        if (!list) throw errors.conflict(DAMAGED)
        await mustBeCurrent(list, signal)
      } catch (error) {
        if (isAppError(error, 'conflict')) await setWaiting(id, 'refused', inEnglish(error.words))
        throw error
      }
      await setWaiting(id, 'running')
      await app.jobs.start(runRules, { run: id })
      return get(id)!
    },

    async discard(id: number) {
      await ledger.write(() => {
        mustWait(id)
        putState(id, 'discarded')
      })
      return get(id)!
    },

    /** Carries out a run. Continues after an interruption, because each change is stored. */
    async work(id: number, job: JobContext<object>): Promise<void> {
      const run = get(id)
      if (run?.state !== 'running') return
      const list = lists.get(run.list_id)
      if (!list) return void (await setState(id, 'refused', DAMAGED))
      const total = countOf(list)
      let done = 0
      await endingWell(id, job, async () => {
        for (const outcome of ['remove', 'fetch'] as const)
          for (const [number, rows] of partsOf(list, outcome)) {
            job.signal.throwIfAborted()
            job.progress(done / total, say`Applying rules: ${{ done }}/${{ total }}`)
            await job.step('rules.touch', () => touching.touch(id, outcome, rows, `rules_${id}_${number}`))
            done += rows.length
          }
        await job.step('rules.end', () => setState(id, 'done'))
      })
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
      if (get(id)?.state !== 'undoing') return
      await endingWell(id, job, async () => {
        for (const rows of touching.removed(id)) {
          job.signal.throwIfAborted()
          await job.step('rules.untouch', () => touching.untouch(id, rows))
        }
        const left = [...touching.removed(id)].reduce((sum, { length }) => sum + length, 0)
        await job.step('rules.end', () =>
          left === 0
            ? setState(id, 'undone')
            : setState(id, 'done', inEnglish(say`${{ count: left }} videos could not be restored`)),
        )
      })
    },
  }
}

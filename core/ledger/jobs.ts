/** SQL on job rows: states and legal moves. New columns: `migrations.ts`. Claims: `jobs/life-and-retries.ts`. */
import type { Sentence } from '../base/say.ts'
import type { Ledger } from './sqlite.ts'

/** As stored. On the wire a STARTED job reads PENDING with `date_start` set (contract 8.3). */
export type JobState = 'PENDING' | 'STARTED' | 'RETRY' | 'SUCCESS' | 'FAILURE' | 'REVOKED' | 'FAILED'
export type JobCommand = 'STOP' | 'KILL'
export type EndState = 'SUCCESS' | 'FAILURE' | 'REVOKED' | 'FAILED'

export interface Job {
  id: string
  task: string
  state: JobState
  payload: Record<string, unknown>
  /** In English. */
  result: string | null
  /** Words and values of `result`, where it has values. */
  said: Sentence | null
  traceback: string | null
  command: JobCommand | null
  retries: number
  /** Epoch milliseconds. */
  createdAt: number
  startedAt: number | null
  endedAt: number | null
  /** A second start asked for one more run. */
  again: boolean
  step: string | null
}

export interface LogLine {
  /** ISO 8601. */
  time: string
  level: string
  message: string
}

/** A row as it is read: with the keys of a job, and its JSON as text. */
interface JobRow extends Omit<Job, 'payload' | 'said' | 'again'> {
  payload: string
  said: string | null
  again: Again
}

/** One more run: 0 no; 1 after this one, for which a retry is enough; 2 after this one, however it ends. */
type Again = 0 | 1 | 2

interface NewJob {
  id: string
  task: string
  lane: string
  /** Only one job per task and key waits or runs; null: any number. */
  uniqueKey: string | null
  internal: boolean
  payload: Record<string, unknown>
}

export type Ending = Pick<Job, 'result' | 'said' | 'traceback'> & { state: EndState }

/** The longest possible pauses before a retry and before a first run. */
interface Pauses {
  retryMs: number
  firstMs: number
}

export const withoutWords = (state: EndState): Ending => ({ state, result: null, said: null, traceback: null })

const COLUMNS = `id, task, state, payload, result, said, traceback, command, step, again, retries,
  created_at AS createdAt, started_at AS startedAt, ended_at AS endedAt`
const OPEN = `state IN ('PENDING', 'STARTED', 'RETRY')`
const NEXT_SEQ = '(SELECT coalesce(max(seq), 0) + 1 FROM jobs)'

export const hasEnded = (job: Job): boolean => job.endedAt !== null

const stored = ({ said, ...ending }: Ending) => ({ ...ending, said: said && JSON.stringify(said) })

export type JobRows = ReturnType<typeof openJobRows>

/** Call reads at any time, writes only inside `ledger.write`. */
export function openJobRows({ sql, json }: Pick<Ledger, 'sql' | 'json'>, now: () => number) {
  function toJob(row: JobRow): Job {
    return {
      ...row,
      payload: json<Record<string, unknown>>(row.payload, `jobs.payload of ${row.id}`, {}),
      said: row.said === null ? null : json<Sentence | null>(row.said, `jobs.said of ${row.id}`, null),
      again: row.again > 0,
    }
  }

  function one(text: string, ...values: unknown[]): Job | undefined {
    const row = sql<JobRow>(text).get(...values)
    return row && toJob(row)
  }

  function many(text: string, ...values: unknown[]): Job[] {
    return sql<JobRow>(text)
      .all(...values)
      .map((row) => toJob(row))
  }

  function change(text: string, ...values: unknown[]): number {
    return sql(text).run(...values).changes
  }

  /** A change that must find its row in the expected state. */
  function moved(what: string, text: string, values: object): Job {
    const job = one(text, values)
    if (!job) throw new Error(`A job row is not in the expected state: ${what}`)
    return job
  }

  return {
    get: (id: string): Job | undefined => one(`SELECT ${COLUMNS} FROM jobs WHERE id = ?`, id),

    list: (task: string | undefined, limit: number): Job[] =>
      task === undefined
        ? many(`SELECT ${COLUMNS} FROM jobs WHERE internal = 0 ORDER BY created_at DESC, seq DESC LIMIT ?`, limit)
        : many(
            `SELECT ${COLUMNS} FROM jobs WHERE internal = 0 AND task = ? ORDER BY created_at DESC, seq DESC LIMIT ?`,
            task,
            limit,
          ),

    /** The oldest waiting or running job. */
    active: (task: string): Job | undefined =>
      one(`SELECT ${COLUMNS} FROM jobs WHERE task = ? AND ${OPEN} ORDER BY seq LIMIT 1`, task),

    open: (task: string, limit: number): Job[] =>
      many(`SELECT ${COLUMNS} FROM jobs WHERE task = ? AND ${OPEN} ORDER BY seq LIMIT ?`, task, limit),

    openUnique: (task: string, key: string): Job | undefined =>
      one(
        `SELECT ${COLUMNS} FROM jobs WHERE task = ? AND unique_key = ? AND unique_key IS NOT NULL AND ${OPEN}`,
        task,
        key,
      ),

    /** @param at  `now`: the caller, not the lane, begins the job; a time: it waits until then; null: for its turn */
    add({ payload, internal, ...job }: NewJob, at: 'now' | number | null): Job {
      const createdAt = now()
      const isStarted = at === 'now'
      const dueAt = isStarted ? null : at
      return moved(
        'add',
        `INSERT INTO jobs (id, task, lane, unique_key, internal, state, payload, created_at, started_at, retry_at)
           VALUES (@id, @task, @lane, @uniqueKey, @internal, @state, @payload, @createdAt, @startedAt, @dueAt) RETURNING ${COLUMNS}`,
        {
          ...{ ...job, internal: Number(internal), payload: JSON.stringify(payload) },
          ...{ state: isStarted ? 'STARTED' : dueAt === null ? 'PENDING' : 'RETRY', dueAt },
          ...{ createdAt, startedAt: isStarted ? createdAt : null },
        },
      )
    },

    /**
     * Merges a second start into a unique job; a running one runs once more. `isNow`: without a pause. `dueAt`: when
     * the run after the current one begins; with `replaces`, also when a job begins that waits for its time.
     */
    meet: (
      id: string,
      payload: Record<string, unknown>,
      { isNow, dueAt = null, replaces = false }: { isNow: boolean; dueAt?: number | null; replaces?: boolean },
    ): Job =>
      moved(
        'meet',
        `UPDATE jobs SET payload = @payload, again = CASE WHEN state = 'STARTED' THEN max(again, 1 + @isNow) ELSE 0 END,
             retries = CASE WHEN @isNow AND state = 'RETRY' THEN 0 ELSE retries END,
             retry_at = CASE WHEN @isNow THEN NULL WHEN @dueAt IS NULL THEN retry_at
               WHEN state = 'STARTED' AND again = 0 OR @replaces AND retry_at IS NOT NULL THEN @dueAt ELSE retry_at END,
             state = CASE WHEN @isNow AND state = 'RETRY' THEN 'PENDING' ELSE state END
           WHERE id = @id AND ${OPEN} RETURNING ${COLUMNS}`,
        { payload: JSON.stringify(payload), isNow: Number(isNow), dueAt, replaces: Number(replaces), id },
      ),

    /** Ends open jobs with a damaged payload: what they should do is lost. */
    endDamaged: ({ state, result }: Ending): Job[] =>
      many(
        `UPDATE jobs SET state = ?, result = ?, payload = '{}', retry_at = NULL, ended_at = ?
           WHERE ${OPEN} AND CASE WHEN json_valid(payload) THEN json_type(payload) <> 'object' ELSE 1 END RETURNING ${COLUMNS}`,
        state,
        result,
        now(),
      ),

    /** Starts the oldest waiting job of a lane. */
    claim: (lane: string): Job | undefined =>
      one(
        `UPDATE jobs SET state = 'STARTED', started_at = ?, command = NULL, result = NULL, said = NULL, traceback = NULL
           WHERE seq = (SELECT seq FROM jobs WHERE lane = ? AND state = 'PENDING' ORDER BY seq LIMIT 1) RETURNING ${COLUMNS}`,
        now(),
        lane,
      ),

    /** Starts a waiting job out of turn. */
    take: (id: string, payload: Record<string, unknown>): Job =>
      moved(
        'take',
        `UPDATE jobs SET state = 'STARTED', started_at = @now, retry_at = NULL, command = NULL, result = NULL, said = NULL,
             traceback = NULL, payload = @payload
           WHERE id = @id AND state IN ('PENDING', 'RETRY') RETURNING ${COLUMNS}`,
        { id, now: now(), payload: JSON.stringify(payload) },
      ),

    /** Ends a run. If another start came meanwhile, the job waits again, behind the others or for its time. */
    end: (id: string, ending: Ending, log: readonly LogLine[]): Job =>
      moved(
        'end',
        `UPDATE jobs SET
             state = CASE WHEN again AND retry_at IS NOT NULL THEN 'RETRY' WHEN again THEN 'PENDING' ELSE @state END,
             retry_at = CASE WHEN again THEN retry_at ELSE NULL END,
             seq = CASE WHEN again THEN ${NEXT_SEQ} ELSE seq END,
             started_at = CASE WHEN again THEN NULL ELSE started_at END,
             ended_at = CASE WHEN again THEN NULL ELSE @now END,
             command = CASE WHEN again THEN NULL ELSE command END,
             retries = CASE WHEN again THEN 0 ELSE retries END,
             result = @result, said = @said, traceback = @traceback, log = @log, step = NULL, again = 0
           WHERE id = @id AND state = 'STARTED' RETURNING ${COLUMNS}`,
        { ...stored(ending), id, now: now(), log: JSON.stringify(log) },
      ),

    /** Schedules a retry after a failure, or another run at once if one was requested meanwhile (`again` is 2). */
    retry: (id: string, ending: Ending, retryAt: number, log: readonly LogLine[]): Job =>
      moved(
        'retry',
        `UPDATE jobs SET
             state = iif(again = 2, 'PENDING', 'RETRY'), retries = iif(again = 2, 0, retries + 1),
             retry_at = iif(again = 2, NULL, @retryAt), started_at = NULL,
             result = @result, said = @said, traceback = @traceback, log = @log, step = NULL, again = 0
           WHERE id = @id AND state = 'STARTED' RETURNING ${COLUMNS}`,
        { ...stored(ending), id, retryAt, log: JSON.stringify(log) },
      ),

    bringForward: (byMs: number): number =>
      change(`UPDATE jobs SET retry_at = retry_at - ? WHERE state = 'RETRY'`, byMs),

    /** Ends the pause of jobs that are due. @param longest  a time further ahead means that the clock was set back */
    wake: (longest: Pauses): Job[] =>
      many(
        `UPDATE jobs SET state = 'PENDING', retry_at = NULL WHERE state = 'RETRY'
           AND NOT (retry_at > @now AND retry_at <= @now + iif(retries, @retryMs, @firstMs)) RETURNING ${COLUMNS}`,
        { now: now(), ...longest },
      ),

    /** When the next job in the state RETRY is due, at the latest. */
    nextRetryAt: (longest: Pauses): number | undefined =>
      sql<{ at: number | null }>(
        `SELECT min(min(retry_at, @now + iif(retries, @retryMs, @firstMs))) AS at FROM jobs WHERE state = 'RETRY'`,
      ).get({ now: now(), ...longest })?.at ?? undefined,

    /** Writes a command to a running job's row. Cancels earlier requests for one more run. */
    command: (id: string, command: JobCommand): Job | undefined =>
      one(
        `UPDATE jobs SET command = CASE WHEN command = 'KILL' THEN command ELSE ? END, again = 0 WHERE id = ? AND state = 'STARTED' RETURNING ${COLUMNS}`,
        command,
        id,
      ),

    /** Ends a waiting job before it runs (again). */
    endWaiting: (id: string, ending: Ending, command: JobCommand | null): Job =>
      moved(
        'endWaiting',
        `UPDATE jobs SET state = @state, result = @result, said = @said, command = @command, retry_at = NULL, ended_at = @now
           WHERE id = @id AND state IN ('PENDING', 'RETRY') RETURNING ${COLUMNS}`,
        { ...stored(ending), id, command, now: now() },
      ),

    setStep: (id: string, step: string): number =>
      change(`UPDATE jobs SET step = ? WHERE id = ? AND state = 'STARTED'`, step, id),

    /** The rows marked as running; at the start, those that a crash left behind. */
    started: (): Job[] => many(`SELECT ${COLUMNS} FROM jobs WHERE state = 'STARTED' ORDER BY seq`),

    /** Moves open rows of other tasks out of the lanes; `moveToLane` puts them back. @returns the number by task */
    setAside(tasks: readonly string[]): Record<string, number> {
      const others = `${OPEN} AND task NOT IN (SELECT value FROM json_each(?))`
      change(
        `UPDATE jobs SET lane = '', state = 'PENDING', started_at = NULL, retry_at = NULL, command = NULL, step = NULL, again = 0 WHERE ${others}`,
        JSON.stringify(tasks),
      )
      const counts = sql<{ task: string; count: number }>(
        `SELECT task, count(*) AS count FROM jobs WHERE ${others} GROUP BY task`,
      ).all(JSON.stringify(tasks))
      return Object.fromEntries(counts.map(({ task, count }) => [task, count]))
    },

    /** Puts a running job back to its former place in the lane, as if not begun. @param log  default: unchanged */
    requeue: (id: string, log?: readonly LogLine[]): Job =>
      moved(
        'requeue',
        `UPDATE jobs SET state = 'PENDING', started_at = NULL, command = NULL, step = NULL, again = 0,
             log = coalesce(@log, log)
           WHERE id = @id AND state = 'STARTED' RETURNING ${COLUMNS}`,
        { id, log: log ? JSON.stringify(log) : null },
      ),

    /** Moves rows to the lane that the task declares now: rows of an earlier version, and those that were set aside. */
    moveToLane: (task: string, lane: string): number =>
      change(`UPDATE jobs SET lane = ? WHERE task = ? AND ${OPEN} AND lane <> ?`, lane, task, lane),

    logOf(id: string): LogLine[] {
      const row = sql<{ log: string | null }>('SELECT log FROM jobs WHERE id = ?').get(id)
      return row?.log ? json<LogLine[]>(row.log, `jobs.log of ${id}`, []) : []
    },

    /** Deletes ended jobs by age (those ahead of the clock, too) and count, some at a time. @returns how many */
    prune(keptMs: number, kept: number, atMost: number): number {
      const old = change(
        'DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE ended_at IS NOT NULL AND abs(ended_at - ?) > ? ORDER BY ended_at LIMIT ?)',
        ...[now(), keptMs, atMost],
      )
      const many = change(
        'DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE ended_at IS NOT NULL ORDER BY ended_at LIMIT min(?, max(0, (SELECT count(*) FROM jobs WHERE ended_at IS NOT NULL) - ?)))',
        atMost,
        kept,
      )
      return old + many
    },
  }
}

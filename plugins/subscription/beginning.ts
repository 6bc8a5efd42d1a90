/**
 * The beginning of a subscription: which existing videos are taken, and which ones every later scan skips (contract
 * 9.4).
 */
import { DAY_SECONDS, epochSeconds, errors, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import { forgetDepth } from './depth.ts'

/** `new`: no existing videos. A number: this many of the newest; for a channel, of each tab. */
export const Take = Type.Union([
  Type.Literal('new'),
  Type.Literal('all'),
  Type.Integer({ minimum: 1, maximum: 1_000_000 }),
])
export type Take = Static<typeof Take>

/** The tabs of a channel; a playlist has a single one. */
export const CHANNEL_TABS = ['videos', 'streams', 'shorts'] as const
export const PLAYLIST_TAB = ''

export const beginningTables = {
  number: 3,
  sql: `CREATE TABLE subscription_beginning (
    id TEXT NOT NULL, tab TEXT NOT NULL,
    take TEXT, -- JSON; null: the first look is done
    job_id TEXT NOT NULL, -- who has asked for it
    passed TEXT NOT NULL DEFAULT '[]', -- JSON: ids that no scan queues
    PRIMARY KEY (id, tab)) STRICT`,
}

/** Beginnings of subscriptions that ended within the last day (at: epoch seconds), so that the end can be undone. */
export const endedTables = {
  number: 5,
  sql: `CREATE TABLE subscription_ended (
    id TEXT NOT NULL, tab TEXT NOT NULL, take TEXT, job_id TEXT NOT NULL, passed TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (id, tab)) STRICT`,
}

/** How many existing videos are taken. */
export const numberOf = (take: Take): number => (take === 'new' ? 0 : take === 'all' ? Infinity : take)

export function beginningOf(id: string, tab: string, { ledger }: App) {
  const row = () =>
    ledger
      .sql<{ take: string | null; passed: string }>(
        'SELECT take, passed FROM subscription_beginning WHERE id = ? AND tab = ?',
      )
      .get(id, tab)
  /** Refuses a damaged row: guessing could queue unwanted videos, so this subscription waits for a person. */
  const read = <Value>(text: string): Value => {
    const value = ledger.json<Value | undefined>(text, `subscription_beginning of ${id}`, undefined)
    if (value === undefined)
      throw errors.unprocessable('The record of this subscription is damaged: unsubscribe and subscribe again')
    return value
  }
  return {
    /** What the first scan takes; undefined: the first scan is done, or was not requested. */
    take(): Take | undefined {
      const take = row()?.take
      return take == null ? undefined : read<Take>(take)
    },
    /** Ids of existing videos that are not wanted. */
    passed: (): Set<string> => new Set(read<string[]>(row()?.passed ?? '[]')),
    /** Marks the first scan as done, unless it was cancelled or requested again in the meantime. */
    done: (take: Take, passed: readonly string[]) =>
      ledger.write(() =>
        ledger
          .sql('UPDATE subscription_beginning SET take = NULL, passed = ? WHERE id = ? AND tab = ? AND take = ?')
          .run(JSON.stringify(passed), id, tab, JSON.stringify(take)),
      ),
  }
}

/**
 * Makes the next scan of each tab a first one, which applies `take`. A repeated job requests this only once. Ids that
 * were skipped before stay skipped.
 */
export async function begin(
  id: string,
  tabs: readonly string[],
  { take, jobId }: { take: Take; jobId: string },
  { ledger }: App,
): Promise<void> {
  await ledger.write(() => {
    const insert = ledger.sql(`INSERT INTO subscription_beginning (id, tab, take, job_id) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET take = excluded.take, job_id = excluded.job_id WHERE job_id <> excluded.job_id`)
    for (const tab of tabs) insert.run(id, tab, JSON.stringify(take), jobId)
  })
}

/** Whether this job has requested a first scan that is done in every tab, in an earlier run of the job. */
export function isScanned(id: string, jobId: string, { ledger }: App): boolean {
  const { asked, open } = ledger
    .sql<{ asked: number; open: number }>(
      'SELECT count(*) AS asked, count(take) AS open FROM subscription_beginning WHERE id = ? AND job_id = ?',
    )
    .get(id, jobId)!
  return asked > 0 && open === 0
}

/** Ends a subscription: the next one starts from scratch, unless `beginAsBefore` continues this one within a day. */
export async function forgetBeginning(id: string, app: App): Promise<void> {
  const { ledger, clock } = app
  const now = epochSeconds(clock)
  // Otherwise the next subscription's scan would end at videos that this one has taken, before older ones that it has
  // not.
  await forgetDepth(app, id)
  await ledger.write(() => {
    ledger.sql('DELETE FROM subscription_ended WHERE at < ?').run(now - DAY_SECONDS)
    ledger
      .sql(
        `INSERT OR REPLACE INTO subscription_ended
           SELECT id, tab, take, job_id, passed, ? FROM subscription_beginning WHERE id = ?`,
      )
      .run(now, id)
    ledger.sql('DELETE FROM subscription_beginning WHERE id = ?').run(id)
  })
}

/** Undoes the end of a subscription: its skipped ids are skipped again. */
export async function beginAsBefore(id: string, { ledger, clock }: App): Promise<void> {
  const now = epochSeconds(clock)
  await ledger.write(() => {
    ledger
      .sql(
        `INSERT OR IGNORE INTO subscription_beginning
           SELECT id, tab, take, job_id, passed FROM subscription_ended WHERE id = ? AND at >= ?`,
      )
      .run(id, now - DAY_SECONDS)
    ledger.sql('DELETE FROM subscription_ended WHERE id = ?').run(id)
  })
}

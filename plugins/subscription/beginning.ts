/**
 * What a subscription begins with: how much of what exists is taken, and what is passed over by every later scan
 * (contract 9.4).
 */
import { DAY_SECONDS, epochSeconds, errors, type Static, Type } from 'archivolt'
import type { App } from './app.ts'

/** `new`: nothing that exists. A number: so many of the newest, of a channel of each type. */
export const Take = Type.Union([
  Type.Literal('new'),
  Type.Literal('all'),
  Type.Integer({ minimum: 1, maximum: 1_000_000 }),
])
export type Take = Static<typeof Take>

/** Of a channel each of its tabs; a playlist is one. */
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

/** Beginnings of subscriptions that have ended within a day (at: epoch seconds), so that the end can be undone. */
export const endedTables = {
  number: 5,
  sql: `CREATE TABLE subscription_ended (
    id TEXT NOT NULL, tab TEXT NOT NULL, take TEXT, job_id TEXT NOT NULL, passed TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (id, tab)) STRICT`,
}

/** How many are taken of those that exist. */
export const numberOf = (take: Take): number => (take === 'new' ? 0 : take === 'all' ? Infinity : take)

export function beginningOf(id: string, tab: string, { ledger }: App) {
  const row = () =>
    ledger
      .sql<{ take: string | null; passed: string }>(
        'SELECT take, passed FROM subscription_beginning WHERE id = ? AND tab = ?',
      )
      .get(id, tab)
  /** Guessing would queue what nobody wanted: only this subscription waits for people. */
  const read = <Value>(text: string): Value => {
    const value = ledger.json<Value | undefined>(text, `subscription_beginning of ${id}`, undefined)
    if (value === undefined)
      throw errors.unprocessable('The record of this subscription is damaged: unsubscribe and subscribe again')
    return value
  }
  return {
    /** What the first look is to take; undefined: it is done, or nobody has asked for one. */
    take(): Take | undefined {
      const take = row()?.take
      return take == null ? undefined : read<Take>(take)
    },
    /** Ids that existed and were not wanted. */
    passed: (): Set<string> => new Set(read<string[]>(row()?.passed ?? '[]')),
    /** The first look is done. Where it was taken back or asked for anew meanwhile, that holds. */
    done: (take: Take, passed: readonly string[]) =>
      ledger.write(() =>
        ledger
          .sql('UPDATE subscription_beginning SET take = NULL, passed = ? WHERE id = ? AND tab = ? AND take = ?')
          .run(JSON.stringify(passed), id, tab, JSON.stringify(take)),
      ),
  }
}

/**
 * Makes the next scan of each tab a first one, which applies `take`. A job that runs again does not ask for it twice.
 * What was passed over before stays passed over.
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

/** The job has asked for a first look, and it is done in every tab: an earlier run of the job came so far. */
export function isLookedAt(id: string, jobId: string, { ledger }: App): boolean {
  const { asked, open } = ledger
    .sql<{ asked: number; open: number }>(
      'SELECT count(*) AS asked, count(take) AS open FROM subscription_beginning WHERE id = ? AND job_id = ?',
    )
    .get(id, jobId)!
  return asked > 0 && open === 0
}

/** A subscription ends: the next one begins by itself, unless `beginAsBefore` continues this one within a day. */
export async function forgetBeginning(id: string, { ledger, clock }: App): Promise<void> {
  const now = epochSeconds(clock)
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

/** The end of a subscription is undone: what it had passed over stays passed over. */
export async function beginAsBefore(id: string, { ledger }: App): Promise<void> {
  await ledger.write(() => {
    ledger
      .sql(
        `INSERT OR IGNORE INTO subscription_beginning
           SELECT id, tab, take, job_id, passed FROM subscription_ended WHERE id = ?`,
      )
      .run(id)
    ledger.sql('DELETE FROM subscription_ended WHERE id = ?').run(id)
  })
}

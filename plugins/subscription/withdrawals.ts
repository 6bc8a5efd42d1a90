/** Requested subscriptions that nobody wants any more: the job that would begin them skips them. */
import type { App } from './app.ts'

export const withdrawalTables = {
  number: 7,
  sql: `CREATE TABLE subscription_withdrawn (
    job_id TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (job_id, id)) STRICT, WITHOUT ROWID`,
}

/**
 * Withdraws all requests so far to subscribe to this channel or playlist. Call it before its flag changes: the job asks
 * right before it sets the flag.
 * @param by  a job whose own request stays, as do later ones
 */
export async function withdraw(id: string, { ledger, jobs }: App, by?: string): Promise<void> {
  await ledger.write(() => {
    const open = jobs.open('subscribe_to').map((job) => job.id)
    ledger
      .sql('DELETE FROM subscription_withdrawn WHERE job_id NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(open))
    const insert = ledger.sql('INSERT INTO subscription_withdrawn (job_id, id) VALUES (?, ?) ON CONFLICT DO NOTHING')
    const end = by === undefined ? open.length : Math.max(0, open.indexOf(by))
    for (const job of open.slice(0, end)) insert.run(job, id)
  })
}

export const isWithdrawn = (id: string, jobId: string, { ledger }: App): boolean =>
  ledger.sql('SELECT 1 FROM subscription_withdrawn WHERE job_id = ? AND id = ?').get(jobId, id) !== undefined

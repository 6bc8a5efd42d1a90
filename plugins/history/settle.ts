/**
 * history.settle: makes rows and documents agree after a restore in which they have different ages, and adds rows for
 * videos that older versions marked as gone. Removes old pictures of videos and channels that are neither in the
 * archive nor in the bin, and renews the dictionary.
 */
import { defineTask, epochSeconds, Type } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { makeDictionary } from './dictionary.ts'
import { markDoc } from './losing.ts'
import type { LossRow } from './loss-rows.ts'

const BATCH = 500
/** Videos that older versions marked as gone become due one after the other, this many seconds apart. */
const ASKED_APART_SECONDS = 60

/**
 * One row for each reason to compare. If there is no row, a start does not compare, because this reads the whole
 * archive.
 */
export const pendingTable = {
  number: 5,
  sql: `CREATE TABLE history_pending (number INTEGER PRIMARY KEY) STRICT;
  INSERT INTO history_pending SELECT 1 WHERE EXISTS (SELECT 1 FROM users)`,
}

/** Called after the ledger or the index was replaced. */
export async function compareLosses({ ledger, jobs }: App): Promise<void> {
  await ledger.write(() => void ledger.sql('INSERT INTO history_pending DEFAULT VALUES').run())
  await jobs.start(settleHistory)
}

const GONE: VideoFilter = { or: [{ exists: 'lost_date' }, { eq: ['active', false] }] }

export const settleHistory = defineTask({
  name: 'history.settle',
  title: 'Compare lost videos',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  async run({ signal }, app: App) {
    const { ledger, history } = app
    const { last } = ledger.sql<{ last: number | null }>('SELECT max(number) AS last FROM history_pending').get()!
    if (last !== null) {
      await compare(app, signal)
      await ledger.write(() => void ledger.sql('DELETE FROM history_pending WHERE number <= ?').run(last))
    }
    await history.pictures.sweep(signal)
    await makeDictionary(app, signal)
  },
})

async function compare(app: App, signal: AbortSignal): Promise<void> {
  const { losses } = app.history
  let asked = 0
  for await (const batch of app.videos.collection.scan({ filter: GONE, batch: BATCH })) {
    signal.throwIfAborted()
    await app.ledger.write(() => {
      for (const { id, doc } of batch) if (!losses.get('video', id)) losses.put(rowOf(id, doc, asked++, app))
    })
  }
  for (
    let rows = losses.after('video', '', BATCH);
    rows.length > 0;
    rows = losses.after('video', rows.at(-1)!.subject, BATCH)
  ) {
    signal.throwIfAborted()
    const docs = await app.videos.collection.getMany(rows.map(({ subject }) => subject))
    const gone = rows.filter(({ subject }) => !docs.has(subject)).map(({ subject }) => subject)
    await app.ledger.write(() => losses.forget('video', gone))
    for (const row of rows)
      if (row.back_at === null && docs.get(row.subject)?.lost === undefined) await markDoc(row, app)
  }
}

export function rowOf(subject: string, { channel_id: channel, lost, keep }: VideoDoc, number: number, app: App) {
  const ask_at = epochSeconds(app.clock) + number * ASKED_APART_SECONDS
  const doubt = { kind: 'video', subject, channel, loss: lost?.kind ?? 'unavailable', ask_at } as const
  if (!lost) return doubt
  const isProtected = keep === true && app.preferences.section('history').keep_lost
  return {
    ...doubt,
    ...{ first_at: lost.date, last_at: lost.date, lost_at: lost.date, is_marked: 1, is_told: 1 },
    is_kept: isProtected ? 1 : 0,
  } satisfies Partial<LossRow>
}

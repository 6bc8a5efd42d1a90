/**
 * The tasks checksum.make, which calculates checksums of new files while they are still cached by the system, and
 * scrub, which reads every file once per period, at the configured speed, and repairs damaged ones. `tell-damaged.ts`
 * notifies people of damaged files.
 */
import { defineTask, epochSeconds, errors, type JobContext, say, Type } from 'archivolt'
import type { App } from './app.ts'
import { examine, type Reading } from './examine.ts'
import { filesOf } from './files.ts'
import { mend } from './mend.ts'
import { openReader } from './reader.ts'
import type { Row } from './rows.ts'

const BYTES_PER_MB = 1_000_000
/** If this many files in a row cannot be read, the disk fails, not the files. */
const FAILING = 3

export const makeChecksums = defineTask({
  name: 'checksum.make',
  title: 'Make checksums',
  payload: Type.Object({}),
  lane: 'checksum',
  internal: true,
  unique: true,
  resumable: true,
  async run(job, app: App) {
    await withReader(async (reader) => {
      const { rows } = app.checksums
      // Files that cannot be read now are left to the scrub.
      for (let row = rows.fresh(); row && !job.isStopping(); row = rows.fresh(row))
        await examine(row, { reader, bytesPerSecond: 0, signal: job.signal }, app)
    })
  },
})

export const scrub = defineTask({
  name: 'scrub',
  title: 'Read all files',
  description: 'Reads every file of the archive regularly, and compares it with its checksum.',
  group: 'setting:scrub',
  /** A person who starts the task omits `scheduled`: then all files are read, whatever the time of day. */
  payload: Type.Object({ scheduled: Type.Optional(Type.Boolean()) }),
  lane: 'scrub',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true,
  schedule: { auto: '15 * *', initially: 'auto', isNeeded: (app: App) => app.checksums.isDue() },
  async run(job, app: App) {
    job.progress(0, 'Looking for new files')
    for await (const files of filesOf(app)) {
      job.signal.throwIfAborted()
      await app.checksums.rows.add(files)
    }
    const counts = await withReader((reader) => readShare(reader, job, app))
    if (counts.queued > 0) await app.jobs.start('download_pending', { autoOnly: true })
    await app.checksums.alarm()
    return say`Files read: ${{ read: counts.read }}, damaged: ${{ damaged: counts.damaged }}`
  },
})

interface Counts {
  read: number
  damaged: number
  /** Films that are downloaded again. */
  queued: number
}

async function withReader<Result>(work: (reader: Reading['reader']) => Promise<Result>): Promise<Result> {
  const reader = openReader()
  try {
    return await work(reader)
  } finally {
    reader.end()
  }
}

async function readShare(
  reader: Reading['reader'],
  job: JobContext<{ scheduled?: boolean }>,
  app: App,
): Promise<Counts> {
  const { rows } = app.checksums
  const { pace } = app.preferences.section('checksums')
  // Files that were read before a restart of this job are not read again.
  const startedAt = Math.floor((app.jobs.get(job.id)?.createdAt ?? app.clock.now()) / 1000)
  const counts: Counts = { read: 0, damaged: 0, queued: 0 }
  const reading = { reader, bytesPerSecond: pace * BYTES_PER_MB, signal: job.stopSignal }
  let unreadable: Row[] = []
  const mendAll = async (damaged: readonly Row[]) => {
    for (const one of damaged) if (await mendOne(one, job, app)) counts.queued++
  }
  for (const row of inTurn(startedAt, app)) {
    if (job.isStopping() || (job.payload.scheduled && !app.checksums.isDue())) break
    const verdict = await examine(row, reading, app)
    if (verdict === 'unknown') await rows.drop(row)
    else if (verdict === 'later') await rows.pass(row, epochSeconds(app.clock))
    else counts.read++
    job.progress(0, say`Files read: ${{ read: counts.read }}`)
    if (verdict === 'rotten' || verdict === 'unreadable') counts.damaged++
    if (verdict === 'unreadable') {
      unreadable.push(row)
      if (unreadable.length === FAILING) {
        await app.checksums.alarm()
        throw errors.unavailable(
          say`${{ count: FAILING }} files in a row cannot be read, so nothing is downloaded again: check the disk and its permissions, then read all files again`,
        )
      }
    } else if (verdict !== 'later' && verdict !== 'unknown') {
      await mendAll(unreadable)
      unreadable = []
    }
    if (verdict === 'rotten') await mendAll([row])
  }
  await mendAll(unreadable)
  return counts
}

/**
 * Files whose turn is dated in the future, then those that had none since the job started, the oldest first. The clock
 * may be set meanwhile, so that files that were just read could seem to be due.
 */
function* inTurn(startedAt: number, { checksums: { rows }, clock }: App): Generator<Row> {
  for (let row = rows.ahead(epochSeconds(clock)); row; row = rows.ahead(epochSeconds(clock), row)) yield row
  let until = startedAt
  for (let row = rows.next(undefined); row; row = rows.next(row)) {
    until = Math.min(until, epochSeconds(clock))
    if (row.turn_at >= until) return
    yield row
  }
}

/** @returns whether a film is to be downloaded again */
async function mendOne({ kind, id, part }: Row, job: JobContext<object>, app: App): Promise<boolean> {
  job.log.warn({ kind, id, part }, 'a file is damaged')
  const row = app.checksums.rows.get({ kind, id, part })
  return row !== undefined && (await mend(row, job, app)) && kind === 'video'
}

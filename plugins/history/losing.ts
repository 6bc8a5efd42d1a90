/** Marks videos and channels as lost, and notifies people: at most once a day for each channel. */
import { chunksOf, DAY_SECONDS, epochSeconds, type JobContext, say, type Words } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { noteAvailability } from './availability.ts'
import { type LossRow, NEVER } from './loss-rows.ts'

const CHUNK = 200
const SHOWN_SECONDS = 7 * DAY_SECONDS

export type Job = Pick<JobContext<object>, 'signal' | 'step'>

/** Records in the rows that these are lost. */
export async function lose(rows: readonly LossRow[], { step }: Job, app: App): Promise<void> {
  const now = epochSeconds(app.clock)
  const loseSome = (some: readonly LossRow[]) =>
    app.ledger.write(() => {
      for (const row of some) {
        app.history.losses.put({
          ...row,
          lost_at: now,
          ask_at: row.with_channel ? NEVER : now + DAY_SECONDS,
          is_told: row.with_channel,
        })
        noteAvailability(row.kind, row.subject, row.loss, app)
      }
    })
  for (const some of chunksOf(rows, CHUNK)) await step('history.lose', () => loseSome(some))
}

/** Marks documents first, then emits events, then updates the rows: after an interruption, the next run repeats it. */
export async function markAll(job: Job, app: App): Promise<void> {
  for (const row of app.history.losses.unmarked()) {
    job.signal.throwIfAborted()
    if (row.back_at !== null) await markReturned(row, job, app)
    else if (row.kind === 'channel') await markChannel(row, job, app)
    else if (row.kind === 'video') await markVideo(row, job, app)
  }
}

async function markReturned(row: LossRow, { step }: Job, app: App): Promise<void> {
  if (row.kind === 'channel') await step('history.emit', () => app.emit('channel.returned', { id: row.subject }))
  else if (!row.with_channel)
    await step('history.emit', () => app.emit('video.returned', { id: row.subject, channelId: row.channel }))
  await marked(row, app)
}

async function markVideo(row: LossRow, { step }: Job, app: App): Promise<void> {
  const { subject: id, channel: channelId, loss: kind } = row
  await step('history.mark', () => markDoc(row, app))
  if (!row.with_channel) await step('history.emit', () => app.emit('video.lost', { id, channelId, kind }))
  await marked(row, app)
}

const marked = ({ kind, subject }: LossRow, app: App): Promise<void> =>
  app.ledger.write(() => {
    const row = app.history.losses.get(kind, subject)
    if (row) app.history.losses.put({ ...row, is_marked: 1 })
  })

/** Marks the document of a lost video. The row first records that the video is protected for this reason. */
export async function markDoc(row: LossRow, app: App): Promise<void> {
  const { subject: id, loss: kind, first_at, lost_at } = row
  const doc = await app.videos.get(id)
  if (!doc) return
  const isProtected = row.is_kept === 1 || mustProtect(doc, app)
  if (isProtected && !row.is_kept) await app.ledger.write(() => app.history.losses.put({ ...row, is_kept: 1 }))
  const lost = { date: first_at ?? lost_at ?? epochSeconds(app.clock), kind }
  await app.videos.change(id, { set: { lost, active: false, ...(isProtected && { keep: true as const }) } })
}

const mustProtect = ({ keep }: VideoDoc, app: App): boolean =>
  app.preferences.section('history').keep_lost && keep !== true

async function markChannel(row: LossRow, job: Job, app: App): Promise<void> {
  const { subject: id, loss: kind } = row
  await app.channels.setActive([id], false)
  const filter: VideoFilter = { and: [{ eq: ['channel_id', id] }, { not: { exists: 'lost_date' } }] }
  for await (const batch of app.videos.collection.scan({ filter, batch: CHUNK })) {
    job.signal.throwIfAborted()
    const rows = batch.map(({ id: subject }): LossRow => lostWith(subject, row))
    await lose(rows, job, app)
    for (const one of rows) await markVideo(one, job, app)
  }
  const videos = app.history.losses.lostWith(id)
  await job.step('history.emit', () => app.emit('channel.lost', { id, kind, videos }))
  await marked(row, app)
}

const lostWith = (subject: string, { channel, loss, first_at, last_at, lost_at }: LossRow): LossRow => ({
  ...{ kind: 'video', subject, channel, loss, first_at, last_at, lost_at, back_at: null, ask_at: NEVER },
  ...{ is_marked: 0, with_channel: 1, is_kept: 0, is_told: 1 },
})

/** Notifies people of videos that are available again, together with others of the same channel. */
export async function tellAll({ step }: Job, app: App): Promise<void> {
  const { losses } = app.history
  await tell(losses.back(), app, {
    after: (rows) => {
      for (const { kind, subject } of rows) losses.remove(kind, subject)
    },
    wordsOf: returnedWords,
  })
  await step('history.tell', () => tell(losses.untold(), app, { wordsOf: lostWords }))
}

interface Telling {
  /** Called inside `ledger.write`. */
  after?: (rows: readonly LossRow[]) => void
  wordsOf: (rows: readonly LossRow[], app: App) => Promise<Words>
}

async function tell(rows: readonly LossRow[], app: App, { after, wordsOf }: Telling): Promise<void> {
  const now = epochSeconds(app.clock)
  for (const channel of new Set(rows.map((row) => row.channel))) {
    // A time in the future was stored while the clock was ahead.
    if (Math.abs(now - app.history.losses.toldAt(channel)) < DAY_SECONDS) continue
    const own = rows.filter((row) => row.channel === channel)
    const shown = own.filter(({ with_channel: isWith }) => !isWith)
    if (shown.length > 0)
      await app.jobs.notify({
        ...{ title: 'Only here', group: 'history:lost', level: 'info', shownForSeconds: SHOWN_SECONDS },
        messages: [await wordsOf(shown, app)],
      })
    await app.ledger.write(() => {
      if (shown.length > 0) app.history.losses.noteTold(channel, now, own)
      after?.(own)
    })
  }
}

const about = async (rows: readonly LossRow[], app: App) => {
  const [first] = rows
  const [channel, title] = await Promise.all([
    app.media.titleOf('channel', first!.channel),
    app.media.titleOf(first!.kind, first!.subject),
  ])
  return { channel, title, platform: app.platform.name, isChannel: rows.some(({ kind }) => kind === 'channel') }
}

async function lostWords(rows: readonly LossRow[], app: App): Promise<Words> {
  const { channel, title, platform, isChannel } = await about(rows, app)
  if (isChannel) {
    const count = app.history.losses.lostWith(rows[0]!.channel)
    return say`${{ platform }} no longer has the channel ${{ channel }}. Its videos in the archive: ${{ count }}`
  }
  const { length: count } = rows
  return count === 1
    ? say`${{ platform }} no longer has “${{ title }}” of ${{ channel }}. The archive still has it`
    : say`${{ platform }} no longer has ${{ count }} videos of ${{ channel }}. The archive still has them`
}

async function returnedWords(rows: readonly LossRow[], app: App): Promise<Words> {
  const { channel, title, platform, isChannel } = await about(rows, app)
  if (isChannel) return say`${{ platform }} has the channel ${{ channel }} again`
  const { length: count } = rows
  return count === 1
    ? say`${{ platform }} has “${{ title }}” of ${{ channel }} again`
    : say`${{ platform }} has ${{ count }} videos of ${{ channel }} again`
}

/**
 * check_lost: requests possibly lost videos and channels again, and decides. `doubts.ts` records these answers, like
 * all answers.
 */
import { DAY_SECONDS, defineTask, epochSeconds, isStop, type JobContext, say, Type, untilStop } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'
import { lose, markAll, tellAll } from './losing.ts'
import { type LossRow, MOST_APART_SECONDS } from './loss-rows.ts'
import { APART_SECONDS } from './pictures.ts'
import { offerRescues } from './rescue.ts'

/** The job, and the videos that were requested as canaries. */
type Run = JobContext<object> & { tried: Set<string> }

/** Maximum number of requests in one run; the next run continues. */
const MOST_ASKED = 500
const CANARIES = 3
/** Maximum number of canaries in one run, for all channels. */
const MOST_TRIED = 9
/** If this many videos of a channel may be lost at once, the channel itself may be lost. */
const MANY = 3
const HOUR_SECONDS = 3600

export const checkLost = defineTask({
  name: 'check_lost',
  title: 'Check for lost videos',
  description: 'Asks the platform again for videos and channels that seem to be lost.',
  group: 'history:check',
  payload: Type.Object({ scheduled: Type.Optional(Type.Boolean()) }),
  lane: 'platform',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true,
  silent: true,
  schedule: { auto: '50 * *', initially: 'auto', isNeeded: (app: App) => app.history.isDue() },
  async run(given, app: App) {
    const job: Run = { ...untilStop(given), tried: new Set() }
    try {
      await askAgain(job, app)
      await decide(job, app)
      await markAll(job, app)
      await tellAll(job, app)
      await offerRescues(job, app)
    } catch (thrown) {
      if (!isStop(thrown, job)) throw thrown
    }
    return null
  },
})

async function askAgain(job: Run, app: App): Promise<void> {
  const due = app.history.losses.due(epochSeconds(app.clock), MOST_ASKED)
  for (const [done, row] of due.entries()) {
    if (job.isStopping()) return
    job.progress(done / due.length, say`Asking again: ${{ count: due.length - done }} left`)
    // Skip rows that are already decided, because another request has been sent meanwhile.
    const now = app.history.losses.get(row.kind, row.subject)
    if (!now || (now.lost_at === null && now.last_at !== null)) continue
    if (!(await ask(row, job, app))) return
  }
}

/** @returns false: the platform cannot be asked now */
async function ask(row: LossRow, job: Run, app: App): Promise<boolean> {
  if (!(await hasCanary(row.channel, job, app))) {
    await later(row, HOUR_SECONDS, app)
    return true
  }
  try {
    const isThere = await refresh(row.kind, row.subject, job, app)
    if (!isThere) await app.ledger.write(() => app.history.losses.remove(row.kind, row.subject))
    return true
  } catch (error) {
    const failure = app.platform.failureOf(error)
    if (!failure) throw error
    if (failure.isDeferred || app.platform.failures[failure.failure].isUnanswered) return false
    if (row.lost_at !== null) await later(row, apart(row.lost_at, app), app)
    else if (!app.platform.failures[failure.failure].deactivates) await later(row, APART_SECONDS, app)
    return true
  }
}

/** The interval between requests: the longer a video has been lost, the less often it is requested. */
const apart = (lostAt: number, app: App): number =>
  Math.min(MOST_APART_SECONDS, Math.max(DAY_SECONDS, epochSeconds(app.clock) - lostAt))

const later = ({ kind, subject }: LossRow, seconds: number, app: App): Promise<void> =>
  app.ledger.write(() => {
    const row = app.history.losses.get(kind, subject)
    if (row) app.history.losses.put({ ...row, ask_at: epochSeconds(app.clock) + seconds })
  })

/** @returns false: not in the archive */
async function refresh(kind: LossRow['kind'], id: string, { id: asker, signal }: Run, app: App): Promise<boolean> {
  if (kind === 'channel') return app.channels.refreshWith(await app.platform.channel(id, { asker, signal }), { signal })
  if (!(await app.videos.has(id))) return false
  return app.videos.refreshWith(await app.platform.video(id, { asker, signal }), { signal })
}

/** Whether a request for a video of another channel has succeeded within the hour; if none has, sends some. */
async function hasCanary(channel: string, job: Run, app: App): Promise<boolean> {
  const { canaries } = app.history
  if (canaries.isFresh(channel)) return true
  for (const id of await canariesOf(channel, app)) {
    if (job.tried.has(id) || job.tried.size >= MOST_TRIED) continue
    job.tried.add(id)
    try {
      await refresh('video', id, job, app)
    } catch (error) {
      const failure = app.platform.failureOf(error)
      if (!failure) throw error
      if (app.platform.failures[failure.failure].isUnanswered || failure.isDeferred) return false
      if (app.platform.failures[failure.failure].deactivates) await app.videos.setActive([id], false)
    }
    if (canaries.isFresh(channel)) return true
  }
  return false
}

/** Videos that were available recently; if there are none, any that may be available. */
async function canariesOf(channel: string, { videos }: App): Promise<string[]> {
  const isOther: VideoFilter = { not: { eq: ['channel_id', channel] } }
  for (const may of [{ eq: ['active', true] }, { not: { exists: 'lost_date' } }] satisfies VideoFilter[]) {
    const { hits } = await videos.collection.find({
      filter: { and: [may, isOther] },
      sort: [{ by: 'refreshed_at', order: 'desc' }],
      ...{ size: CANARIES, withoutTexts: true, withoutTotal: true },
    })
    if (hits.length > 0) return hits.map(({ id }) => id)
  }
  return []
}

async function decide(job: Run, app: App): Promise<void> {
  const rows = app.history.losses.certain()
  for (const row of rows) if (row.kind === 'channel' && (await isWhollyGone(row, job, app))) await lose([row], job, app)
  const videos = rows.filter(({ kind }) => kind === 'video')
  for (const channel of new Set(videos.map((row) => row.channel))) {
    if (job.isStopping()) return
    const own = videos.filter((row) => row.channel === channel)
    const state = await stateOf(channel, own, job, app)
    if (state === 'unknown') for (const row of own) await later(row, HOUR_SECONDS, app)
    else await lose(state === 'lost' ? own.map((row) => ({ ...row, with_channel: 1 as const })) : own, job, app)
  }
}

/** Whether the channel itself is lost; asks the platform if its lost videos make that likely. */
async function stateOf(
  channel: string,
  videos: readonly LossRow[],
  job: Run,
  app: App,
): Promise<'there' | 'lost' | 'unknown'> {
  const { losses, answered } = app.history
  const known = () => losses.get('channel', channel)
  const stateNow = () => (known()?.lost_at ? 'lost' : 'unknown')
  if (known() && !known()!.back_at) return stateNow()
  const isLikely = videos.length >= MANY || videos.some(({ loss }) => loss === 'account')
  if (!isLikely || answered.has(channel)) return 'there'
  if (!(await hasCanary(channel, job, app))) return 'unknown'
  try {
    await refresh('channel', channel, job, app)
    return 'there'
  } catch (error) {
    if (!app.platform.failureOf(error)) throw error
    return stateNow()
  }
}

/**
 * Whether a channel is really lost: its page may be missing although its videos exist, so this requests one of them,
 * unless a lost one is known.
 */
async function isWhollyGone(row: LossRow, job: Run, app: App): Promise<boolean> {
  const { losses } = app.history
  if (losses.ofChannel(row.channel, 'video').some(({ first_at }) => first_at !== null)) return true
  const filter: VideoFilter = { and: [{ eq: ['channel_id', row.channel] }, { not: { exists: 'lost_date' } }] }
  const { hits } = await app.videos.collection.find({ filter, size: 1, withoutTexts: true, withoutTotal: true })
  if (hits.length === 0) return true
  try {
    await refresh('video', hits[0]!.id, job, app)
  } catch (error) {
    const failure = app.platform.failureOf(error)
    if (!failure) throw error
    return app.platform.failures[failure.failure].deactivates === true
  }
  await app.ledger.write(() =>
    losses.put({ ...row, first_at: null, last_at: null, ask_at: epochSeconds(app.clock) + 7 * DAY_SECONDS }),
  )
  return false
}

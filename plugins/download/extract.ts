/** extract_download: turns requested targets into queue items; a playlist or channel becomes its videos. */
import { defineTask, isStop, type JobContext, type Static, say, Type, untilStop } from 'archivolt'
import type { VideoMetadata } from '../platform/types.ts'
import type { NewItem, Origin } from './add.ts'
import type { App } from './app.ts'
import { type ItemFailure, isFinal, tellFailed, toItemFailure } from './item-failure.ts'
import type { QueueStatus } from './queue-state.ts'
import { RETRY_DELAYS_MS } from './retries.ts'
import { downloadPending } from './run.ts'

const Wanted = Type.Object({
  type: Type.Enum(['video', 'channel', 'playlist']),
  id: Type.String(),
  vidType: Type.Optional(Type.String()),
  tab: Type.Optional(Type.Enum(['videos', 'streams', 'shorts'])),
  isHandle: Type.Optional(Type.Boolean()),
  isIgnored: Type.Optional(Type.Boolean()),
})
type Wanted = Static<typeof Wanted>

const Payload = Type.Object({
  targets: Type.Array(Wanted),
  autoStart: Type.Optional(Type.Boolean()),
  force: Type.Optional(Type.Boolean()),
  /** The account that made the request. Omitted: nobody is notified of the outcome. */
  userId: Type.Optional(Type.Integer()),
})
type Extraction = JobContext<Static<typeof Payload>>

/** A target that waits for a retry. A list has no queue item that could record the retry, so this task keeps it. */
interface Attempt {
  target: Wanted
  failed: number
  /** The earliest time, by the steady clock. */
  at: number
}

export const extractDownload = defineTask({
  name: 'extract_download',
  title: 'Add to download queue',
  group: 'download:add',
  payload: Payload,
  lane: 'platform',
  apiStop: true,
  resumable: true, // queued videos are skipped, so a repeated run continues where it was interrupted
  outgoing: true,
  async run(given, app: App) {
    const job = untilStop(given)
    const { targets, autoStart } = job.payload
    const waiting = targets.map((target): Attempt => ({ target, failed: 0, at: 0 }))
    const startDownloads = async () => {
      if (autoStart) await app.jobs.start(downloadPending, { autoOnly: true })
    }
    const unlessStopped = (thrown: unknown): number => {
      if (isStop(thrown, job)) return 0
      throw thrown
    }
    let added = 0
    for (let next = waiting.shift(); next && !job.isStopping(); next = waiting.shift()) {
      const { target, at } = next
      const waitMs = at - app.clock.steady()
      if (waitMs > 0) {
        await startDownloads() // the downloads of found videos need not wait for the other targets
        job.progress(0, say`Waiting to try ${{ title: await app.media.titleOf(target.type, target.id) }} again`)
        await app.clock.sleep(waitMs, job.signal).catch(unlessStopped)
        if (job.isStopping()) break
      }
      const done = targets.length - waiting.length
      job.progress(
        (done - 1) / targets.length,
        say`Adding ${{ title: await app.media.titleOf(target.type, target.id) }} (${{ number: done }}/${{ all: targets.length }})`,
      )
      const found = await extract(next, job, app).catch(unlessStopped)
      if (typeof found === 'number') added += found
      else {
        waiting.push(found)
        waiting.sort((one, other) => one.at - other.at)
      }
    }
    await startDownloads()
    if (added === 0) return null
    return added === 1
      ? say`${{ count: added }} video added to the queue`
      : say`${{ count: added }} videos added to the queue`
  },
})

/**
 * @returns the number of added items, or when to retry: either the gate wants another target as its probe, or a later
 * attempt may succeed
 */
async function extract({ target, failed }: Attempt, job: Extraction, app: App): Promise<number | Attempt> {
  try {
    if (target.type === 'video') {
      const added = await extractVideo(target, job, app)
      // A scan may have queued it while this waited for the platform.
      if (target.isIgnored && app.queue.isWanted(target.id)) await app.queue.setStatus(target.id, 'ignore')
      return added
    }
    if (target.type === 'playlist') return await extractPlaylist(target, job, app)
    return await extractChannel(target, job, app)
  } catch (error) {
    const failure = app.platform.failureOf(error)
    if (!failure) throw error
    const now = app.clock.steady()
    if (failure.isDeferred) return { target, failed, at: now }
    job.log.warn({ id: target.id, failure: failure.failure }, failure.message)
    const delay = isFinal(failure, app) ? undefined : RETRY_DELAYS_MS[failed]
    if (delay !== undefined) return { target, failed: failed + 1, at: now + delay }
    await app.jobs.notify({
      of: extractDownload,
      level: 'error',
      messages: [say`${{ name: target.id }}: ${{ reason: failure.message }}`],
    })
    return 0
  }
}

function statusOf(target: Wanted, job: Extraction): QueueStatus {
  if (target.isIgnored) return 'ignore'
  return job.payload.autoStart ? 'priority' : 'pending'
}

/** Queues an unavailable video with its message, so that people see why. */
async function extractVideo(target: Wanted, job: Extraction, app: App): Promise<number> {
  const force = job.payload.force === true
  if (!(await app.queue.missing([target.id], { force, isAsked: !target.isIgnored })).size) {
    await reportRequested([target.id], target, job, app)
    return 0
  }
  let metadata: VideoMetadata
  try {
    metadata = await app.platform.video(target.id, { asker: job.id, signal: job.signal })
  } catch (error) {
    const failure = app.platform.failureOf(error)
    if (!failure || failure.isDeferred) throw error
    const noted = isFinal(failure, app) ? toItemFailure(failure, app) : undefined
    const item = unknownItem(target)
    if (noted && !target.isIgnored) await tellFailed(item, noted, app)
    return (await addItems([item], target, job, app, { failure: noted })).length
  }
  const { unavailable } = metadata
  const failure = unavailable && toItemFailure(unavailable, app)
  const item = itemOf(metadata)
  if (failure && !target.isIgnored) await tellFailed(item, failure, app)
  const added = await addItems([item], target, job, app, { failure })
  await app.listings.artAhead(job)(added)
  return added.length
}

async function extractPlaylist(target: Wanted, job: Extraction, app: App): Promise<number> {
  const metadata = await app.platform.playlist(target.id, { asker: job.id, signal: job.signal })
  await app.playlists.index(metadata, { asker: job.id, signal: job.signal })
  const origin = { kind: 'playlist', id: metadata.id } as const
  const fresh = await addItems(app.listings.ofPlaylist(metadata.entries), target, job, app, { origin })
  await app.listings.artAhead(job)(fresh)
  return fresh.length
}

/**
 * Reads page by page, so that a channel with 100,000 videos is never completely in memory. The next page is read while
 * the previous one is queued.
 */
async function extractChannel(target: Wanted, job: Extraction, app: App): Promise<number> {
  const channel = await app.platform.channel(target.id, { asker: job.id, signal: job.signal })
  const tabs = target.tab ? channel.tabs.filter((tab) => tab === target.tab) : channel.tabs
  let added = 0
  let seen = 0
  let adding = Promise.resolve<NewItem[]>([])
  let pictures = Promise.resolve()
  const fetchArt = app.listings.artAhead(job)
  const untilAdded = async () => {
    const fresh = await adding
    adding = Promise.resolve([])
    pictures = fetchArt(fresh)
    added += fresh.length
  }
  try {
    for (const tab of tabs) {
      for await (const page of app.platform.list(channel.id, tab, { asker: job.id, signal: job.signal })) {
        await untilAdded()
        if (job.isStopping()) return added
        seen += page.length
        job.progress(0, say`Reading ${{ name: channel.name ?? channel.id }}: ${{ count: seen }} videos`)
        const there = page.filter(({ isPending }) => !isPending)
        const origin = { kind: 'channel', id: channel.id } as const
        adding = addItems(app.listings.ofChannel(channel, there), target, job, app, { origin })
      }
    }
    await untilAdded()
    await pictures
    return added
  } finally {
    // an error while a list is read must not leave the download of its pictures running
    await Promise.allSettled([adding, pictures])
  }
}

/** @returns the videos that were not in the queue yet, each once */
async function addItems(
  items: NewItem[],
  target: Wanted,
  job: Extraction,
  app: App,
  more: { failure?: ItemFailure | undefined; origin?: Origin } = {},
): Promise<NewItem[]> {
  const force = job.payload.force === true
  const added = new Set(
    await app.queue.add(items, statusOf(target, job), { force, isAsked: !target.isIgnored, ...more }),
  )
  await reportRequested(
    items.map(({ id }) => id),
    target,
    job,
    app,
  )
  return items.filter(({ id }) => added.delete(id))
}

/**
 * Reports the outcome to the account, including videos that others have queued before, because everybody who requested
 * a video is notified.
 */
async function reportRequested(ids: string[], { type, isIgnored }: Wanted, job: Extraction, app: App): Promise<void> {
  const { userId } = job.payload
  if (userId === undefined || isIgnored || ids.length === 0) return
  const queued = app.queue.known(ids)
  if (queued.size === 0) return
  const isOne = type === 'video'
  await app.emit('queue.asked', { userId, ids: ids.filter((id) => queued.has(id)), ...(isOne && { isOne }) })
}

function itemOf(metadata: VideoMetadata): NewItem {
  const { id, title, channelId, channelName, durationSeconds, published, vidType, thumbnails } = metadata
  return {
    ...{ id, title: title ?? id, channelId, channelName, durationSeconds, published: published ?? '', vidType },
    art: thumbnails[0]?.url,
  }
}

function unknownItem({ id, vidType }: Wanted): NewItem {
  const known = vidType === 'videos' || vidType === 'streams' || vidType === 'shorts' ? vidType : 'unknown'
  return { id, title: id, channelId: '', channelName: '', durationSeconds: 0, published: '', vidType: known }
}

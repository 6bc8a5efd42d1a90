/** Missing films: lists them, and downloads all of them again on request. The records of the videos always stay. */
import { defineRoute, defineTask, type JobContext, listing, say, Type } from 'archivolt'
import type { VideoDoc } from '../video/schema.ts'
import type { VideoOutline } from '../video/types.ts'
import type { App } from './app.ts'
import { mustBeThere } from './disk.ts'

/** Number of videos that are queued together. */
const STEP = 100

export const downloadMissing = defineTask({
  name: 'download_missing',
  title: 'Download missing videos',
  group: 'download:missing',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true, // videos that are already queued stay in the queue
  async run(job, app: App) {
    await mustBeThere(app) // otherwise all films seem to be missing
    const counts = { queued: 0, gone: 0 }
    const total = Math.max(1, app.media.missing.count())
    for (
      let ids = app.media.missing.after('', STEP);
      ids.length > 0;
      ids = app.media.missing.after(ids.at(-1)!, STEP)
    ) {
      job.signal.throwIfAborted()
      if (job.isStopping()) break
      await queueSome(ids, counts, job, app)
      job.progress(Math.min(1, (counts.queued + counts.gone) / total), say`Queued ${{ count: counts.queued }} videos`)
    }
    if (counts.queued > 0) await app.jobs.start('download_pending', { autoOnly: true })
    if (counts.queued + counts.gone === 0) return null
    return say`${{ queued: counts.queued }} videos were queued; ${{ gone: counts.gone }} are no longer on the platform, and only their records are left`
  },
})

async function queueSome(
  ids: readonly string[],
  counts: { queued: number; gone: number },
  job: JobContext<object>,
  app: App,
): Promise<void> {
  const wanted: VideoOutline[] = []
  for (const [id, doc] of await app.videos.collection.getMany(ids)) {
    if (!(await isStillMissing(id, doc, app))) continue
    if (!doc.active) counts.gone++
    else wanted.push((await app.videos.outline(id))!)
  }
  await job.step('missing.queue', async () => {
    const added = new Set(await app.queue.add(wanted, 'priority', { isAsked: true }))
    counts.queued += added.size
    for (const { id } of wanted) {
      const item = added.has(id) ? undefined : app.queue.get(id)
      if (item && item.status !== 'ignore' && (await app.queue.setStatus(id, 'priority'))) counts.queued++
    }
  })
}

/** Checks again: the film may have been found since the last scan, or its place may be offline. */
async function isStillMissing(id: string, doc: VideoDoc, { media }: App): Promise<boolean> {
  const film = media.places.filmOf(id)
  if (film) return media.places.isGone(film)
  if ((await media.sizeOf(await media.filmPath(doc.channel_id, id))) === undefined) return true
  await media.missing.drop([id])
  return false
}

const MissingRecord = Type.Object({
  platform_id: Type.String(),
  title: Type.String(),
  channel_id: Type.String(),
  active: Type.Boolean({ description: 'false: the platform no longer has the video, and only its record is left' }),
  queued: Type.Boolean(),
})

export const listMissing = defineRoute({
  method: 'GET',
  path: '/api/library/missing/',
  access: 'admin',
  summary: 'Videos whose files are missing, sorted by ID',
  query: {},
  envelope: 'page',
  reply: Type.Array(MissingRecord),
  async handle({ page: { from, size } }, app: App) {
    const ids = app.media.missing.page(from, size)
    const [docs, queued] = [await app.videos.collection.getMany(ids), app.queue.known(ids)]
    const rows = [...docs].map(([id, { title, channel_id, active }]) =>
      JSON.stringify({ platform_id: id, title, channel_id, active, queued: queued.has(id) }),
    )
    return listing(rows, app.media.missing.count())
  },
})

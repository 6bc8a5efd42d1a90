/** Removes videos and informs listeners, in jobs, so that the next start finishes an interrupted removal. */
import { chunksOf, defineTask, ID_PATTERN, type JobContext, Type } from 'archivolt'
import type { App } from './app.ts'
import { binOf, removeAllWith } from './removal-hooks.ts'
import type { Because, Removed } from './types.ts'

/** Number of videos that are moved and deleted together. */
const TOGETHER = 100

export const removeVideo = defineTask({
  name: 'video.remove',
  title: 'Remove videos',
  payload: Type.Object({
    /** In jobs of an older version, which removed videos one by one. */
    id: Type.Optional(Type.String({ pattern: ID_PATTERN })),
    ids: Type.Optional(Type.Array(Type.String({ pattern: ID_PATTERN }))),
    /** The bin's id for everything that this job removes. */
    removal: Type.Optional(Type.String()),
    because: Type.Optional(
      Type.Object({
        why: Type.Enum(['removed', 'channel', 'playlist', 'watched', 'missing', 'rule']),
        by: Type.Optional(Type.Integer()),
        note: Type.Optional(Type.String()),
      }),
    ),
  }),
  lane: 'light',
  internal: true,
  resumable: true,
  async run(job, app: App): Promise<void> {
    const { id, ids = id === undefined ? [] : [id] } = job.payload
    const parts = [...chunksOf(ids, TOGETHER)]
    // Each part has its own trash, so that the failure of one does not restore the others.
    for (const [number, part] of parts.entries())
      await removePart(part, number ? `${job.id}_${number}` : job.id, job, app)
  },
})

type RemovalJob = JobContext<{ removal?: string; because?: Because }>

async function removePart(ids: readonly string[], trashId: string, job: RemovalJob, app: App): Promise<void> {
  const { step, log } = job
  const { removal = job.id, because = { why: 'removed' } } = job.payload
  const bin = binOf(app)
  const found = await app.videos.collection.getMany(ids)
  const videos = [...found].map(([id, { channel_id: channelId }]) => leavingOf(id, channelId, app))
  await app.videos.exclusiveAll(videos, async () => {
    const docs = await app.videos.collection.getMany([...found.keys()])
    const known = videos.filter(({ id, channelId }) => docs.get(id)?.channel_id === channelId)
    const leaving = because.why === 'missing' ? await stillMissing(known, app) : known
    if (leaving.length > 0) {
      const leavingIds = leaving.map(({ id }) => id)
      const films = leaving.map(({ id: videoId, channelId }) => ({ videoId, channelId }))
      await step('video.trash', () => app.media.trash(trashId, { videos: films }))
      try {
        if (bin) await step('video.hold', () => bin.hold(trashId, leavingIds))
        await removeAllWith(app, leaving, step)
        await step('video.note', () => app.jobs.start(tellRemoved, { videos: leaving }))
        await step('video.drop', () => app.videos.dropAll(leavingIds, { isArtKept: bin !== undefined }))
      } catch (thrown) {
        await bin?.takeBack(trashId)
        await app.media.putBack(trashId)
        throw thrown
      }
    }
    // Needed even if an earlier run has already completed this step.
    if (bin) await step('video.keep', () => bin.keep(trashId, removal, because))
  })
  if (bin) return
  await step('video.release', () => app.media.release(trashId))
  try {
    await step('video.emptyTrash', () => app.media.emptyTrash(trashId))
  } catch (err) {
    log.warn({ err, ids }, 'the removed files could not be deleted; another attempt follows in an hour')
  }
}

/** Without those whose film has come back since, by a download or with its disk. */
async function stillMissing<Video extends Removed>(videos: readonly Video[], { media }: App): Promise<Video[]> {
  const missing: Video[] = []
  for (const video of videos) if (await media.isMissing(video.channelId, video.id)) missing.push(video)
  return missing
}

/** The report about a removed video. It is made before the removal, because the path is unknown afterwards. */
export const leavingOf = (id: string, channelId: string, { media }: Pick<App, 'media'>) => ({
  ...{ id, channelId },
  path: media.recordedPath(channelId, id),
})

/**
 * Reports removed videos. The job is added before the documents are deleted, so that an interruption does not lose it:
 * it waits for the end of the removal, and reports the videos that no longer exist then.
 */
export const tellRemoved = defineTask({
  name: 'video.tellRemoved',
  title: 'Report removed videos',
  payload: Type.Object({
    videos: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String(),
          channelId: Type.String(),
          /** Omitted in jobs of an older version. */
          path: Type.Optional(Type.String()),
        }),
      ),
    ),
    /** In jobs of an older version, which started one for each channel. */
    channelId: Type.Optional(Type.String()),
    ids: Type.Optional(Type.Array(Type.String())),
  }),
  lane: 'light',
  internal: true,
  resumable: true,
  async run({ payload: { channelId = '', ids = [], videos }, step }, app: App): Promise<void> {
    const asked = videos ?? ids.map((id) => ({ id, channelId, path: '' }))
    const gone = await app.videos.exclusiveAll(asked, async () => {
      const there = await app.videos.known(asked.map(({ id }) => id))
      return asked.filter(({ id }) => !there.has(id))
    })
    // Events for plugins are rows: emitted together, they are committed together.
    await step('video.removed', () =>
      Promise.all(gone.map(({ path = '', ...video }) => app.emit('video.removed', { ...video, path }))),
    )
  },
})

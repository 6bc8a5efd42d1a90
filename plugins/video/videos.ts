/** The service `videos`, which owns video documents, their comments and subtitles. */
import { randomUUID } from 'node:crypto'
import { type Actor, errors, listUnder, type QueryShape, seenFilter } from 'archivolt'
import type { Storyboard } from '../platform/types.ts'
import { openAdopted } from './adopted.ts'
import type { App } from './app.ts'
import { openBelongings } from './belongings.ts'
import { pageOfThreads, partOfThread } from './comment-pages.ts'
import { openCommentTexts } from './comment-texts.ts'
import { toThreads } from './comment-threads.ts'
import { cuesIn } from './cues.ts'
import { durationText } from './durations.ts'
import { openIngest } from './ingest.ts'
import { headOf, openVideoRecords, type VideoKeys } from './join-records.ts'
import { ofGroup, type VideoListPart } from './listing.ts'
import { openOrphans } from './orphans.ts'
import { openOutlines } from './outlines.ts'
import { readableAmong } from './readable.ts'
import { openRefresh } from './refresh.ts'
import { openRemoval } from './removal.ts'
import { removeVideo } from './removal-tasks.ts'
import { SEEN, type VideoTail } from './schema.ts'
import { openState } from './state.ts'
import { correctPaths, isMisnamed } from './stored-paths.ts'
import { openSubtitles } from './subtitles.ts'
import type { Because, OwnBelongings, VideoBin, VideoPart, VideoRemoval, Videos } from './types.ts'

const SIMILAR_COUNT = 6

export function openVideos(app: App): Videos {
  const state = openState(app)
  const { collection, comments, commentTexts, subtitles, exclusive, exclusiveAll } = state
  const removal = openRemoval(state)
  const records = openVideoRecords(app)
  const known = (ids: readonly string[]) => collection.known(ids)

  async function commentsText(id: string): Promise<string> {
    const text = await comments.getText(id)
    return text === undefined ? '[]' : listUnder(text, 'comment_comments')
  }

  async function removeMany(
    ids: readonly string[],
    because: Because,
    removal = randomUUID() as string,
  ): Promise<string> {
    // After a restart, the job of an interrupted call continues independently: wait for it, as its videos may not be in
    // the bin yet.
    for (const job of app.jobs.open(removeVideo.name)) if (job.payload.removal === removal) await app.jobs.ended(job.id)
    await app.jobs.run(removeVideo, { ids: [...ids], removal, because })
    return removal
  }

  return {
    ...{ collection, comments, commentTexts, subtitles, exclusive, exclusiveAll, durationText, records, headOf, known },
    ...openOutlines(state),
    ...openCommentTexts(state),
    ...openIngest(state),
    ...openAdopted(state, removal),
    ...openRefresh(state),
    ...openSubtitles(state),
    ...openOrphans(state),
    ...removal,
    ...openBelongings(state),

    get: (id) => collection.get(id),
    ofGroup: (id, actor) => ofGroup(id, actor, app),
    seenIn: (view) => seenFilter(SEEN, view),
    readable: (ids) => readableAmong(ids, app),
    isMisnamed: (doc) => isMisnamed(doc, app),
    correctPaths: (id) => correctPaths(id, app),
    has: async (id) => (await known([id])).has(id),
    async record(id, actor) {
      const text = await collection.getText(id)
      return text === undefined ? undefined : (await records([{ id, text }], actor))[0]
    },
    async find(query, actor) {
      const { hits, total } = await collection.find(query)
      return {
        texts: await records(
          hits.map(({ id, text }) => ({ id, text })),
          actor,
        ),
        total,
      }
    },
    async similar(id, actor) {
      const hits = await collection.similar(id, { size: SIMILAR_COUNT, fields: ['title', 'tags'] })
      return records(
        hits.map((hit) => ({ id: hit.id, text: hit.text })),
        actor,
      )
    },
    commentsText,
    async threads(id, { from, size }) {
      return pageOfThreads(await commentsText(id), from, size)
    },
    async thread(id, commentId, part) {
      return partOfThread(await commentsText(id), commentId, part)
    },
    cuesIn: (path) => cuesIn(path),
    toThreads: (list) => toThreads(list).threads,
    change: (id, change) => collection.patch(id, change, { visible: true }),
    async remove(id, because = { why: 'removed' }) {
      if (!(await known([id])).has(id)) throw errors.notFound('video', id)
      return removeMany([id], because)
    },
    removeMany,
  }
}

declare module 'archivolt' {
  interface Services {
    video: {
      videos: Videos
    }
  }
  interface Events {
    /**
     * Emitted when a video was archived: downloaded (`new`), downloaded again (`again`), or imported as an existing
     * film (`imported`).
     */
    'video.added': { id: string; channelId: string; why: 'new' | 'again' | 'imported' }
    /**
     * Emitted when a video was removed with all its belongings, once for each, also if its channel was removed. Not
     * emitted if films are returned to other programs. `path`: the former path of its film; '': unknown.
     */
    'video.removed': { id: string; channelId: string; path: string }
    /** Emitted when a video was restored from the bin. */
    'video.restored': { id: string; channelId: string }
    /** Emitted when some of a video's data was updated. For a new film, `video.added` is emitted instead. */
    'video.changed': { id: string; what: VideoPart }
    /**
     * Emitted when a video's film has moved: to its channel's folder, or renamed within a place. `oldPath`: its former
     * path; '': unknown.
     */
    'video.moved': { id: string; channelId: string; path: string; oldPath: string }
    /** Emitted when many videos in places were archived at once: listeners must not ask the platform about each. */
    'video.adopted': { ids: string[] }
  }
  interface Hooks {
    /** Asked for each page of video records: the caller's data, by id. Ids may be omitted. */
    'video.tail': (ids: readonly string[], actor: Actor) => ReadonlyMap<string, VideoTail>
    /** Asked for each page of video records: optional keys of `VideoKeys` for the caller, by id. Ids may be omitted. */
    'video.keys': (ids: readonly string[], actor: Actor) => ReadonlyMap<string, VideoKeys>
    /**
     * Asked for each `GET /api/video/`: additional query parameters, and the filter for all parameters of a request.
     */
    'video.filter': {
      query: QueryShape
      apply(
        query: Readonly<Record<string, unknown>>,
        actor: Actor,
      ): Promise<VideoListPart | undefined> | VideoListPart | undefined
    }
    /**
     * Asked before videos are archived: the playlists that list them already, by id, so that a view that hides one of
     * these never shows its videos. Ids may be omitted.
     */
    'video.lists': (ids: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>
    /**
     * Asked after a video was archived: stores the addresses of the platform's seek previews, and downloads them later.
     * May be repeated.
     */
    'video.storyboard': (id: string, storyboard: Storyboard) => Promise<void>
    /** Asked during the removal of a video, after its files: removes other data. Every step may be repeated. */
    'video.remove': VideoRemoval
    /** Asked when videos are moved to the bin, and when they are restored: a plugin's own data about them. */
    'video.belongings': OwnBelongings
    /** Asked during the removal of videos: stores them, so that they can be restored. */
    'video.bin': VideoBin
  }
}

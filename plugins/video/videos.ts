/** The service `videos`: the one home of video documents, their comments and subtitles. */
import {
  type Actor,
  type BulkResult,
  type Change,
  chunksOf,
  epochSeconds,
  errors,
  isAppError,
  listUnder,
  openLocks,
  type QueryShape,
  type Step,
} from 'archivolt'
import type { CommentMetadata, DownloadReceipt, VideoMetadata } from '../platform/types.ts'
import { type Adopted, leaveAll, toAdoptedDoc } from './adopted.ts'
import type { App } from './app.ts'
import { toThreads } from './comment-threads.ts'
import { durationText } from './durations.ts'
import { type Ingest, openIngest, toFields, toMediaFields } from './ingest.ts'
import type { VideoFilter, VideoListPart, VideoNames, VideoQuery } from './listing.ts'
import { dropOrphans } from './orphans.ts'
import { type Degraded, toReceipt } from './receipt.ts'
import { channelIdOf, headOf, openRecords, type VideoKeys } from './records.ts'
import { eachOf, type Removed, removalOf, type VideoRemoval } from './removal.ts'
import { commentIndex, subtitleIndex, type VideoDoc, type VideoTail, videoIndex } from './schema.ts'
import { removeVideo, tellRemoved } from './tasks.ts'

/**
 * `metadata`: what the platform says of it, also that it has it no longer. `file`: its size, streams, duration. `keep`:
 * whether it is never removed by itself.
 */
export type VideoPart = 'metadata' | 'file' | 'subtitles' | 'comments' | 'keep'

type VideoChange = Change<VideoDoc, VideoNames>

/** A video as the queue takes it. */
export interface VideoOutline {
  id: string
  title: string
  channelId: string
  channelName: string
  durationSeconds: number
  /** YYYY-MM-DD */
  published: string
  vidType: VideoDoc['vid_type']
  /** Where the platform has the picture. */
  art?: string | undefined
}

const toOutline = (id: string, doc: VideoDoc, channelName = ''): VideoOutline => ({
  id,
  title: doc.title,
  channelId: doc.channel_id,
  channelName,
  durationSeconds: doc.player.duration,
  published: doc.published,
  vidType: doc.vid_type,
  ...(doc.art !== undefined && { art: doc.art }),
})

const SIMILAR_COUNT = 6
/** So many pictures are removed at once: each waits for the disk. */
const ART_TOGETHER = 20
/** Three are needed; some may be gone. */
const MOST_CANARIES = 8
/** Without a job nobody watches the steps. */
const plainStep: Step = async (_name, work) => work()

export function openVideos(app: App) {
  const collection = app.index.collection(videoIndex)
  const comments = app.index.collection(commentIndex)
  const subtitles = app.index.collection(subtitleIndex)
  const records = openRecords(app)
  const { ingest, fetchArt, toSubtitles, indexSubtitles, hasSubtitle } = openIngest(app, { collection, subtitles })
  const known = (ids: readonly string[]) => collection.known(ids)
  const locks = openLocks()

  /**
   * What moves a video's files goes one after the other: a removal waits for an ingest that is under way. Its channel
   * stays meanwhile.
   * @param channelId  where there may be no document yet
   */
  async function exclusive<Result>(id: string, work: () => Promise<Result>, channelId?: string): Promise<Result> {
    const ownChannel = channelId ?? (await collection.get(id))?.channel_id
    const locked = () => locks.exclusive(id, work)
    return ownChannel === undefined ? locked() : app.channels.shared(ownChannel, locked)
  }

  /** As `exclusive`, of many: each of their channels is held once. */
  function exclusiveAll<Result>(videos: readonly Removed[], work: () => Promise<Result>): Promise<Result> {
    const channelIds = [...new Set(videos.map(({ channelId }) => channelId))].sort()
    const ids = videos.map(({ id }) => id).sort()
    const held = ids.reduceRight((inner, id) => () => locks.exclusive(id, inner), work)
    return channelIds.reduceRight((inner, id) => () => app.channels.shared(id, inner), held)()
  }

  /** Undefined: it lies in a place and cannot be had now. */
  async function filmPath(channelId: string, id: string): Promise<string | undefined> {
    try {
      return await app.media.filmPath(channelId, id)
    } catch (thrown) {
      if (isAppError(thrown, 'not_found') || isAppError(thrown, 'unavailable')) return undefined
      throw thrown
    }
  }

  /** What the file says of itself, or in words what is wrong with it; undefined: it is not there. */
  async function lookAt({
    platform_id: id,
    channel_id: channelId,
    media_size: knownSize,
    streams,
  }: VideoDoc): Promise<ReturnType<typeof toMediaFields> | string | undefined> {
    const path = await filmPath(channelId, id)
    const size = path === undefined ? undefined : await app.media.sizeOf(path)
    if (path === undefined || size === undefined) return undefined
    if (size === 0) return 'it is empty'
    // Looking into the files of other programs, which may be many and far away, is left for what has changed.
    if (size === knownSize && streams.length > 0 && !app.media.isOurs(id)) return undefined
    try {
      const probe = await app.media.probe(path)
      if (size < knownSize && (await app.media.isCutOff(path, probe.durationSeconds)))
        return `it is cut off after ${size} of ${knownSize} bytes`
      return toMediaFields(probe)
    } catch (thrown) {
      if (!isAppError(thrown, 'unprocessable')) throw thrown
      return 'it cannot be read as a film'
    }
  }

  /** Languages whose files are gone: people delete some, and a backup tells of what was there then. */
  async function lostSubtitles(doc: VideoDoc): Promise<string[]> {
    const lost: string[] = []
    for (const { lang } of doc.subtitles) {
      if (!(await hasSubtitle(doc.channel_id, doc.platform_id, lang))) lost.push(lang)
    }
    return lost
  }

  async function dropAll(ids: readonly string[]): Promise<void> {
    for (const some of chunksOf(ids, ART_TOGETHER))
      await Promise.all(some.map((id) => app.media.removeArt('video', id)))
    await subtitles.removeWhere({ in: ['platform_id', ids] })
    await comments.remove(ids)
    await app.media.places.forget(ids)
    await collection.remove(ids, { visible: true })
  }

  const tellChanged = (id: string, what: VideoPart): Promise<void> => app.emit('video.changed', { id, what })

  async function removeWith(video: Removed, step: Step): Promise<void> {
    for (const remove of app.hook('video.remove')) await step('video.removeWith', () => remove(video, step))
  }

  /** Together: what a plugin keeps of many videos it can then write once. */
  async function removeAllWith(videos: readonly Removed[], step: Step): Promise<void> {
    for (const remove of app.hook('video.remove'))
      await step('video.removeWith', () => (remove.many ? remove.many(videos, step) : eachOf(videos, remove, step)))
  }

  return {
    collection,
    comments,
    subtitles,
    durationText,
    known,
    get: (id: string): Promise<VideoDoc | undefined> => collection.get(id),
    has: async (id: string): Promise<boolean> => (await known([id])).has(id),

    /** Records of contract 5.1 for hits of a search or list, in their order, with what is the actor's own. */
    records,
    headOf,

    async record(id: string, actor: Actor): Promise<string | undefined> {
      const text = await collection.getText(id)
      return text === undefined ? undefined : (await records([{ id, text }], actor))[0]
    },

    async find(query: VideoQuery, actor: Actor): Promise<{ texts: string[]; total: number }> {
      const { hits, total } = await collection.find(query)
      return {
        texts: await records(
          hits.map(({ id, text }) => ({ id, text })),
          actor,
        ),
        total,
      }
    },

    /** Up to six, best first. */
    async similar(id: string, actor: Actor): Promise<string[]> {
      const hits = await collection.similar(id, { size: SIMILAR_COUNT, fields: ['title', 'tags'] })
      return records(
        hits.map((hit) => ({ id: hit.id, text: hit.text })),
        actor,
      )
    },

    /**
     * Puts a downloaded video into the archive: channel (by its name, where it is not known), art, files, subtitles,
     * document, then tells `video.added`. What people have set (marks, playlists) stays where the video was there
     * before.
     * @throws unprocessable: the file is no media
     */
    ingest: (input: Ingest, step: Step = plainStep): Promise<void> =>
      exclusive(input.downloaded.metadata.id, () => ingest(input, step), input.downloaded.metadata.channelId),

    /**
     * Videos whose films lie in places come in together; those that are here already are not to be among them.
     * `video.adopted` is for whoever has brought them all.
     */
    adopt: (list: readonly Adopted[]): Promise<BulkResult> =>
      collection.putMany(
        list.map((one) => ({ id: one.metadata.id, doc: toAdoptedDoc(one, app) })),
        { visible: true },
      ),

    /** They leave again with what is ours of them; their films stay. @returns how many were there */
    leave: (ids: readonly string[], job: { id: string; step: Step }): Promise<number> =>
      leaveAll(ids, job, { app, get: (some) => collection.getMany(some), removeAllWith, dropAll, exclusiveAll }),

    /** @returns false: no such video */
    change: (id: string, change: VideoChange): Promise<boolean> => collection.patch(id, change, { visible: true }),

    /** Whether it is never removed by itself. @returns false: it was so already, or there is no such video */
    async setKept(id: string, isKept: boolean): Promise<boolean> {
      const doc = await collection.get(id)
      if (!doc || (doc.keep ?? false) === isKept) return false
      if (!(await collection.patch(id, { set: { keep: isKept ? true : null } }, { visible: true }))) return false
      await tellChanged(id, 'keep')
      return true
    },

    /** What is offered now, of a file that stays: it is degraded no longer, or for other reasons. */
    async renewReceipt(id: string, told: DownloadReceipt, degraded: Degraded | undefined): Promise<void> {
      const { receipt } = (await collection.get(id)) ?? {}
      if (!receipt) return
      const { offered, allowed_height = null, quality, downloader, warnings } = toReceipt(told, receipt.date, degraded)
      const none = { fps: null, hdr: null, original_language: null }
      const set = {
        receipt: { quality, downloader, warnings, allowed_height, offered: { ...none, ...offered } },
        degraded: degraded ? { next_try: null, ...degraded } : null,
      }
      await collection.patch(id, { set }, { visible: true })
      await tellChanged(id, 'metadata')
    },

    /**
     * Takes size, streams and duration from the file as it is now. Call it in `exclusive`, as a download may be
     * replacing the file.
     * @returns what is wrong with the file, in words: then the document stays as it was
     */
    async measure(id: string): Promise<string | undefined> {
      const doc = await collection.get(id)
      const found = doc && (await lookAt(doc))
      if (found === undefined || typeof found === 'string') return found
      const { duration, duration_str, ...media } = found
      await collection.patch(id, { set: { ...media, player: { duration, duration_str } } }, { visible: true })
      await tellChanged(id, 'file')
      return undefined
    },

    /**
     * Metadata, stats, streams and thumbnail as the platform and the file have them now; false: not ours. A file that
     * is missing or damaged is for the rescan.
     */
    async refreshWith(
      metadata: VideoMetadata,
      { signal }: { signal?: AbortSignal | undefined } = {},
    ): Promise<boolean> {
      const { id } = metadata
      const doc = await collection.get(id)
      if (!doc) return false
      await fetchArt(metadata, signal)
      const found = await lookAt(doc)
      const { duration, duration_str, ...media } =
        typeof found === 'object' ? found : { duration: doc.player.duration, duration_str: doc.player.duration_str }
      const { stats, ...fields } = toFields(metadata, epochSeconds(app.clock))
      const set = {
        ...fields,
        ...media,
        stats: { ...stats, dislike_count: doc.stats.dislike_count },
        active: true,
        player: { duration, duration_str },
      }
      if (!(await collection.patch(id, { set }, { visible: true }))) return false
      await tellChanged(id, 'metadata')
      return true
    },

    /**
     * Staged subtitles, or such as lie in the library, take the place of those of the same language (with `onlyMissing`
     * they are left out): files, list, what is said in them. Languages that are not offered any more stay. @returns
     * false: no such video
     */
    setSubtitles: (
      id: string,
      staged: Ingest['downloaded']['subtitles'],
      { isIndexed = true, onlyMissing = false } = {},
    ): Promise<boolean> =>
      exclusive(id, async () => {
        const doc = await collection.get(id)
        if (!doc) return false
        const taken = onlyMissing
          ? staged.filter(({ lang }) => !doc.subtitles.some((one) => one.lang === lang))
          : staged
        if (!taken.length) return true
        await app.media.adopt(doc.channel_id, id, {
          ...(app.media.isOurs(id) && { mediaPath: app.media.pathOf(doc.channel_id, id) }),
          subtitles: taken,
        })
        const fresh = new Set(taken.map(({ lang }) => lang))
        const all = [...doc.subtitles.filter(({ lang }) => !fresh.has(lang)), ...toSubtitles(doc.channel_id, id, taken)]
        await indexSubtitles({ ...doc, subtitles: all }, fresh, isIndexed)
        if (!(await collection.patch(id, { set: { subtitles: all } }, { visible: true }))) return false
        await tellChanged(id, 'subtitles')
        return true
      }),

    lostSubtitles,

    /**
     * Subtitles whose files are gone leave the document and the search. May be done twice.
     * @throws unavailable: the library is not there, so nothing says that they are gone
     */
    dropLostSubtitles: (id: string): Promise<void> =>
      exclusive(id, async () => {
        const doc = await collection.get(id)
        const lost = doc ? await lostSubtitles(doc) : []
        if (!doc || lost.length === 0) return
        const away = await app.media.absence()
        if (away !== undefined) throw errors.unavailable(away)
        await subtitles.removeWhere({ and: [{ eq: ['platform_id', id] }, { in: ['subtitle_lang', lost] }] })
        const kept = doc.subtitles.filter(({ lang }) => !lost.includes(lang))
        await collection.patch(id, { set: { subtitles: kept } }, { visible: true })
        await tellChanged(id, 'subtitles')
      }),

    /** Whether the platform still has them. @returns how many were ours */
    async setActive(ids: readonly string[], isActive: boolean): Promise<number> {
      let changed = 0
      for (const id of ids) {
        if (!(await collection.patch(id, { set: { active: isActive } }, { visible: true }))) continue
        changed++
        await tellChanged(id, 'metadata')
      }
      return changed
    },

    /** Replaces a video's comments. Not while it is being removed: they would be left behind. @throws not_found */
    setComments: (id: string, list: readonly CommentMetadata[]): Promise<void> =>
      exclusive(id, async () => {
        if (!(await known([id])).has(id)) throw errors.notFound('video', id)
        const { threads, count } = toThreads(list)
        await comments.put(id, {
          platform_id: id,
          comment_last_refresh: epochSeconds(app.clock),
          comment_comments: threads,
        })
        await collection.patch(id, { set: { comment_count: count } }, { visible: true })
        await tellChanged(id, 'comments')
      }),

    /** Comments as a list → threads, for those that come from elsewhere (backups, sidecars). */
    toThreads: (comments: readonly CommentMetadata[]) => toThreads(comments).threads,

    /** The threads of contract 5.5 as JSON text. */
    async commentsText(id: string): Promise<string> {
      const text = await comments.getText(id)
      return text === undefined ? '[]' : listUnder(text, 'comment_comments')
    },

    /** As the queue takes it; undefined: not ours. */
    async outline(id: string): Promise<VideoOutline | undefined> {
      const doc = await collection.get(id)
      return doc && toOutline(id, doc, (await app.channels.names([doc.channel_id])).get(doc.channel_id))
    },

    /** Comments and subtitles of videos that are not there any more go. @returns of how many videos */
    dropOrphans: (signal?: AbortSignal) => dropOrphans({ collection, comments, subtitles, exclusive }, signal),

    /** Where the files of some videos should lie. */
    async someFilms(atMost: number): Promise<Array<{ channelId: string; videoId: string }>> {
      const { hits } = await collection.find({ size: atMost, withoutTotal: true })
      return hits
        .filter(({ id }) => app.media.isOurs(id))
        .map(({ id, text }) => ({ channelId: channelIdOf(text), videoId: id }))
    },

    /**
     * The newest that the platform still has, with the height that they were offered in, or else were kept in. Degraded
     * ones only where there are no others: what was offered in a bad hour tells no better yt-dlp from a worse one.
     */
    async canaries(): Promise<Array<{ id: string; height: number }>> {
      const there: VideoFilter = { eq: ['active', true] }
      const sound: VideoFilter = { and: [there, { not: { eq: ['quality', 'degraded'] } }] }
      const newest = async (filter: VideoFilter) =>
        (await collection.find({ filter, size: MOST_CANARIES, withoutTotal: true })).hits
      const found = await newest(sound)
      return (found.length > 0 ? found : await newest(there)).map(({ id, text }) => {
        const { streams, receipt } = JSON.parse(text) as Pick<VideoDoc, 'streams' | 'receipt'>
        const heights = streams.map(({ width = 0, height = 0 }) => Math.min(width, height))
        return { id, height: receipt?.offered.height ?? Math.max(0, ...heights) }
      })
    },

    /** Those that match, as the queue takes them, in batches. */
    async *outlines(filter: VideoFilter): AsyncGenerator<VideoOutline[]> {
      for await (const batch of collection.scan({ filter })) {
        const names = await app.channels.names([...new Set(batch.map(({ doc }) => doc.channel_id))])
        yield batch.map(({ id, doc }) => toOutline(id, doc, names.get(doc.channel_id)))
      }
    },

    /**
     * Removes the video, its files, comments, subtitles, thumbnail and what later plugins have of it, files first.
     * @throws not_found; unavailable: a file cannot be moved, and nothing was removed
     */
    async remove(id: string): Promise<void> {
      if (!(await known([id])).has(id)) throw errors.notFound('video', id)
      await app.jobs.run(removeVideo, { id })
    },

    exclusive,
    removeWith,

    /** What a plugin puts into the hook `video.remove` that removes many as well as one. */
    removal: removalOf,

    /** The last part of a removal: art, subtitles, comments, documents. */
    dropAll,

    /** All videos of a channel, for its removal; their files are in the trash already. */
    async removeOfChannel(channelId: string, step: Step): Promise<void> {
      for await (const batch of collection.scan({ filter: { eq: ['channel_id', channelId] }, batch: 100 })) {
        const ids = batch.map(({ id }) => id)
        await removeAllWith(
          ids.map((id) => ({ id, channelId })),
          step,
        )
        await step('video.note', () => app.jobs.start(tellRemoved, { channelId, ids }))
        await step('video.drop', () => dropAll(ids))
      }
    },
  }
}
export type Videos = ReturnType<typeof openVideos>

declare module 'archivolt' {
  interface Services {
    video: {
      videos: Videos
    }
  }
  interface Events {
    /** Emitted when a video has come into the archive: downloaded, once more, or as a film that was there already. */
    'video.added': { id: string; channelId: string; why: 'new' | 'again' | 'imported' }
    /** Emitted when a video and all that belongs to it has gone, once for each, also where its channel was removed. Not where films go back to other programs. */
    'video.removed': { id: string; channelId: string }
    /** Emitted when a part of what the archive has of a video was written anew; for its film downloaded again: `video.added`. */
    'video.changed': { id: string; what: VideoPart }
    /** Emitted when a video's film lies elsewhere than before: brought into its channel's folder, or renamed in a place. */
    'video.moved': { id: string; channelId: string }
    /** Emitted when many videos have come in whose films lie in places: nobody is to ask for each of them. */
    'video.adopted': Record<string, never>
  }
  interface Hooks {
    /** Asked for each page of video records: what of them is the caller's own, by id. Ids may be left out. */
    'video.tail': (ids: readonly string[], actor: Actor) => ReadonlyMap<string, VideoTail>
    /** Asked for each page of video records: what else they say to the caller, by id. Ids may be left out. */
    'video.keys': (ids: readonly string[], actor: Actor) => ReadonlyMap<string, VideoKeys>
    /** Asked for each `GET /api/video/`: further query parameters, and what all parameters of a request select. */
    'video.filter': {
      query: QueryShape
      apply(
        query: Readonly<Record<string, unknown>>,
        actor: Actor,
      ): Promise<VideoListPart | undefined> | VideoListPart | undefined
    }
    /** Asked while a video is removed, after its files: removes what else goes with it. Every step may be done twice. */
    'video.remove': VideoRemoval
  }
}

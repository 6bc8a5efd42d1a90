/** Adds videos to the queue, each once, in the order in which they were requested. */
import { chunksOf, epochSeconds, openLocks } from 'archivolt'
import type { VideoOutline } from '../video/types.ts'
import { type ItemFailure, isRechecked } from './item-failure.ts'
import { CLEARED, failureFields, type QueueState, type QueueStatus } from './queue-state.ts'
import type { DownloadDoc } from './schema.ts'

/** The known data of a video when it is queued; values that a listing did not contain are empty. */
export interface NewItem extends Omit<VideoOutline, 'vidType'> {
  vidType: DownloadDoc['vid_type']
  /** Whether a listing marks the video as restricted. */
  isLimited?: boolean
  /** Its availability, as in a listing. */
  availability?: string
}

/** The origin of videos: a channel's tab, or a playlist. */
export interface Origin {
  kind: 'channel' | 'playlist'
  id: string
}

/** The outcome for a listed video that is not wanted: it is left out of the queue, or ignored from now on. */
export interface Sifted {
  outcome: 'skip' | 'ignore'
  /** The video was left out for the same reason before. */
  isKnown?: boolean
}

export interface AddOptions {
  /** Also queue archived videos. */
  force?: boolean
  /** A person has requested the videos: also queue archived ones whose film is missing. */
  isAsked?: boolean
  failure?: ItemFailure | undefined
  /** The listing that the videos come from: plugins may leave some out (`download.sift`). */
  origin?: Origin
  /** Receives the ids that are left out now, but were not before. */
  leftOut?: Set<string>
}

/** Maximum number of items per transaction, so that other callers do not wait long. */
const ADDED_AT_ONCE = 1000
/** Maximum number of added items for which single events are emitted. */
const MOST_TOLD = 100

export function openAdding({ app, items, changed }: QueueState) {
  const locks = openLocks()
  let lastPosition = 0

  /**
   * The next position: greater than all earlier ones, including those from before a restart, because it follows the
   * clock. Within one millisecond, positions count up by one.
   */
  function nextPosition(): number {
    lastPosition = Math.max(lastPosition + 1, app.clock.now() * 1000)
    return lastPosition
  }

  function toDoc(item: NewItem, status: QueueStatus, isIndexed: boolean, options: AddOptions): DownloadDoc {
    return {
      platform_id: item.id,
      status,
      auto_start: status === 'priority',
      title: item.title,
      channel_id: item.channelId,
      channel_name: item.channelName,
      channel_indexed: isIndexed,
      duration: app.videos.durationText(item.durationSeconds),
      published: item.published,
      timestamp: epochSeconds(app.clock),
      vid_type: item.vidType,
      vid_thumb_url: app.media.artUrl('video', item.id),
      position: nextPosition(),
      ...(options.force && { force: true }),
      ...(item.art && { art: item.art }),
      ...(options.failure && failureFields(options.failure, app)),
    }
  }

  /** The ids that are neither queued nor ignored nor (subject to `force` and `isAsked`) archived. */
  async function missing(
    ids: readonly string[],
    { force = false, isAsked = false }: Pick<AddOptions, 'force' | 'isAsked'> = {},
  ): Promise<Set<string>> {
    const queued = items.known(ids)
    const archived = force ? new Set<string>() : await app.videos.known(ids)
    const lost = isAsked ? app.media.missing.of([...archived]) : new Set<string>()
    return new Set(ids.filter((id) => !queued.has(id) && (!archived.has(id) || lost.has(id))))
  }

  /**
   * Tries failed items again that the listing shows without a restriction. Listings lack some restrictions, such as age
   * limits, so an item is tried only once, until a listing has shown it with a restriction again.
   * @returns the ids of the items to try again
   */
  async function reopen(list: readonly NewItem[], status: QueueStatus): Promise<string[]> {
    const marks = new Map(list.flatMap(({ id, isLimited }) => (isLimited === undefined ? [] : [[id, isLimited]])))
    if (status === 'ignore' || !marks.size) return []
    const parked = [...items.getMany([...marks.keys()]).values()].filter(
      ({ status: its, error_class: failure }) => its !== 'ignore' && failure && isRechecked(failure, app),
    )
    const idsWhere = (isLimited: boolean) =>
      parked
        .filter(({ platform_id: id, reopened = false }) => marks.get(id) === isLimited && reopened === isLimited)
        .map(({ platform_id: id }) => id)
    const free = idsWhere(false)
    await items.change(idsWhere(true), { reopened: null })
    await items.change(free, { ...CLEARED, reopened: 1, ...(status === 'priority' && { status }) })
    return free
  }

  async function addPart(list: readonly NewItem[], status: QueueStatus, options: AddOptions): Promise<string[]> {
    const ids = list.map(({ id }) => id)
    const wanted = await missing(ids, options)
    const reopened = await reopen(list, status)
    const listed = list.filter(({ id }) => wanted.delete(id)) // also drops duplicates in the list
    const sifted = await sift(listed, status, options)
    const fresh = listed.filter(({ id }) => sifted.get(id)?.outcome !== 'skip')
    if (!fresh.length) return reopened
    const channels = await app.channels.known([...new Set(fresh.map(({ channelId }) => channelId).filter(Boolean))])
    const docs = fresh.map((item) =>
      toDoc(item, sifted.has(item.id) ? 'ignore' : status, channels.has(item.channelId), options),
    )
    const { added, failed } = await items.add(docs)
    for (const { id, reason } of failed) app.log.warn({ id, reason }, 'a queue item could not be written')
    for (const id of sifted.keys()) if (added.has(id)) options.leftOut?.add(id)
    return [...reopened, ...fresh.map(({ id }) => id).filter((id) => added.has(id) && !sifted.has(id))]
  }

  /** Asks plugins which videos of a listing are unwanted. */
  async function sift(
    list: readonly NewItem[],
    status: QueueStatus,
    { origin, leftOut }: AddOptions,
  ): Promise<Map<string, Sifted>> {
    const all = new Map<string, Sifted>()
    if (!origin || status === 'ignore' || list.length === 0) return all
    for (const ask of app.hook('download.sift'))
      for (const [id, sifted] of await ask(list, origin)) {
        all.set(id, sifted)
        if (sifted.outcome === 'skip' && !sifted.isKnown) leftOut?.add(id)
      }
    return all
  }

  return {
    missing,

    /**
     * Queues missing videos in the given order. Existing items stay unchanged, except failed ones that a listing now
     * shows without a restriction: these are tried again.
     * @returns the ids of added items and of those to try again
     */
    async add(list: readonly NewItem[], status: QueueStatus, options: AddOptions = {}): Promise<string[]> {
      const added: string[] = []
      for (const part of chunksOf(list, ADDED_AT_ONCE)) {
        // The lock prevents other additions between the check and the write.
        added.push(...(await locks.exclusive('add', () => addPart(part, status, options))))
      }
      for (const id of added.slice(0, MOST_TOLD)) await changed(id)
      return added
    },
  }
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked before videos of a listing are queued: returns the unwanted ones by id. Must not ask the platform. */
    'download.sift': (items: readonly NewItem[], origin: Origin) => Promise<ReadonlyMap<string, Sifted>>
  }
}

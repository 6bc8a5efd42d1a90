/** Adds videos to the queue: each once, in the order in which they were asked for. */
import { chunksOf, epochSeconds, openLocks } from 'archivolt'
import type { VideoOutline } from '../video/types.ts'
import { type ItemFailure, isLookedAtAgain } from './item-failure.ts'
import { CLEARED, failureFields, type QueueState, type QueueStatus } from './queue-state.ts'
import type { DownloadDoc } from './schema.ts'

/** What is known of a video when it is queued; what a listing did not tell is empty. */
export interface NewItem extends Omit<VideoOutline, 'vidType'> {
  vidType: DownloadDoc['vid_type']
  /** Of a listing's row: whether it is marked as not for everybody. */
  isLimited?: boolean
}

interface AddOptions {
  /** Also what is archived. */
  force?: boolean
  /** Somebody has asked for these: also what is archived without its film. */
  isAsked?: boolean
  failure?: ItemFailure | undefined
}

export interface Adding {
  /** Those of the ids that are neither queued nor ignored nor, without `force` or `isAsked`, archived. */
  missing(ids: readonly string[], options?: Pick<AddOptions, 'force' | 'isAsked'>): Promise<Set<string>>
  /**
   * Queues what is missing, in the given order. What is there already is left as it is; but what could not be had, and
   * is shown by a listing without a mark, is taken again.
   * @returns the ids added and taken again
   */
  add(list: readonly NewItem[], status: QueueStatus, options?: AddOptions): Promise<string[]>
}

/** Items that one turn adds: whoever adds a single one waits for so many at most. */
const ADDED_AT_ONCE = 1000
/** Of a long list, so many are told one by one. */
const MOST_TOLD = 100

export function openAdding({ app, items, changed }: QueueState): Adding {
  const locks = openLocks()
  let lastPosition = 0

  /** Later than every place given before, also after a restart: the clock leads, equal milliseconds count on. */
  function nextPosition(): number {
    lastPosition = Math.max(lastPosition + 1, app.clock.now() * 1000)
    return lastPosition
  }

  function toDoc(
    item: NewItem,
    status: QueueStatus,
    isIndexed: boolean,
    isLost: boolean,
    options: AddOptions,
  ): DownloadDoc {
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
      ...((options.force || isLost) && { force: true }),
      ...(item.art && { art: item.art }),
      ...(options.failure && failureFields(options.failure, app)),
    }
  }

  async function missing(
    ids: readonly string[],
    { force = false, isAsked = false }: Pick<AddOptions, 'force' | 'isAsked'> = {},
  ): Promise<Set<string>> {
    const queued = items.known(ids)
    const archived = force ? new Set<string>() : await app.videos.known(ids)
    const lost = isAsked ? app.media.missing.of([...archived]) : new Set<string>()
    return new Set(ids.filter((id) => !queued.has(id) && (!archived.has(id) || lost.has(id))))
  }

  /** Once, until a listing shows the mark: an age limit, for one, is no mark that listings show. */
  async function reopen(list: readonly NewItem[], status: QueueStatus): Promise<string[]> {
    const marks = new Map(list.flatMap(({ id, isLimited }) => (isLimited === undefined ? [] : [[id, isLimited]])))
    if (status === 'ignore' || !marks.size) return []
    const parked = [...items.getMany([...marks.keys()]).values()].filter(
      ({ status: its, error_class: failure }) => its !== 'ignore' && failure && isLookedAtAgain(failure, app),
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
    const fresh = list.filter(({ id }) => wanted.delete(id)) // also drops what the list repeats
    if (!fresh.length) return reopened
    const channels = await app.channels.known([...new Set(fresh.map(({ channelId }) => channelId).filter(Boolean))])
    const lost = app.media.missing.of(fresh.map(({ id }) => id))
    const docs = fresh.map((item) => toDoc(item, status, channels.has(item.channelId), lost.has(item.id), options))
    const { added, failed } = await items.add(docs)
    for (const { id, reason } of failed) app.log.warn({ id, reason }, 'a queue item could not be written')
    return [...reopened, ...fresh.map(({ id }) => id).filter((id) => added.has(id))]
  }

  return {
    missing,

    async add(list, status, options = {}) {
      const added: string[] = []
      for (const part of chunksOf(list, ADDED_AT_ONCE)) {
        // Nobody else adds between the look at what is there and the write.
        added.push(...(await locks.exclusive('add', () => addPart(part, status, options))))
      }
      for (const id of added.slice(0, MOST_TOLD)) await changed(id)
      return added
    },
  }
}

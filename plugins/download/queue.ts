/** The queue's items: the one home of download documents, and of what may become of them (contract 9.3). */
import { epochSeconds, type Filter, type NamesOf, openLocks } from 'archivolt'
import type { App } from './app.ts'
import type { ItemFailure } from './item-failure.ts'
import { type DownloadDoc, downloadIndex, ERROR_CLASSES } from './schema.ts'

type Names = NamesOf<typeof downloadIndex>
export type QueueFilter = Filter<Names>
export type QueueStatus = DownloadDoc['status']

/** What is known of a video when it is queued. */
export interface NewItem {
  id: string
  title: string
  channelId: string
  channelName: string
  durationSeconds: number
  /** YYYY-MM-DD, or empty where a listing did not tell. */
  published: string
  vidType: DownloadDoc['vid_type']
  art?: string
}

interface AddOptions {
  /** Also what is archived. */
  force?: boolean
  failure?: ItemFailure
}

export interface ItemProgress {
  /** 0–1 */
  fraction: number
  /** Bytes a second. */
  speed?: number
  /** Seconds left. */
  eta?: number
}

/** Items that are looked for and changed by one call. */
const CHANGED_AT_ONCE = 100
/** Items that one turn adds: whoever adds a single one waits for so many at most. */
const ADDED_AT_ONCE = 1000

const OPEN_AND_CLEAR = { message: null, error_class: null, retry_at: null } as const

/** What a status means for the other fields of the item. */
function stateOf(status: QueueStatus) {
  const isOpen = status !== 'ignore'
  const isAuto = status === 'priority'
  return { status, auto_start: isAuto, later: !isAuto, open: isOpen, ready: isOpen, ...OPEN_AND_CLEAR }
}

export type Queue = ReturnType<typeof openQueue>

export function openQueue(app: App) {
  const items = app.index.collection(downloadIndex)
  /** What is being downloaded now, by id. */
  const active = new Map<string, { controller: AbortController; progress?: ItemProgress }>()
  const end = `"_index":${JSON.stringify(`${app.settings.prefix}_download`)},"_score":0}`
  let lastPosition = 0
  const locks = openLocks()

  const changed = (id: string) => app.emit('queue.changed', { id })

  /** Later than every place given before, also after a restart: the clock leads, equal milliseconds count on. */
  function nextPosition(): number {
    lastPosition = Math.max(lastPosition + 1, app.clock.now() * 1000)
    return lastPosition
  }

  function toDoc(item: NewItem, status: QueueStatus, isIndexed: boolean, force: boolean): DownloadDoc {
    const { auto_start, later, open, ready } = stateOf(status)
    return {
      platform_id: item.id,
      status,
      auto_start,
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
      open,
      ready,
      later,
      ...(force && { force }),
      ...(item.art && { art: item.art }),
    }
  }

  /** Those of the ids that are neither queued nor ignored nor, without `force`, archived. */
  async function missing(ids: readonly string[], { force = false } = {}): Promise<Set<string>> {
    const queued = await items.known(ids)
    const archived = force ? new Set<string>() : await app.videos.known(ids)
    return new Set(ids.filter((id) => !queued.has(id) && !archived.has(id)))
  }

  /** Queues what is missing, in the given order; what is there already is left as it is. @returns the ids added */
  async function add(list: readonly NewItem[], status: QueueStatus, options: AddOptions = {}): Promise<string[]> {
    const added: string[] = []
    for (let at = 0; at < list.length; at += ADDED_AT_ONCE) {
      // In turn: nobody else adds between the look at what is there and the write.
      added.push(...(await locks.exclusive('add', () => addPart(list.slice(at, at + ADDED_AT_ONCE), status, options))))
    }
    for (const id of added.slice(0, 100)) await changed(id)
    return added
  }

  async function addPart(list: readonly NewItem[], status: QueueStatus, options: AddOptions): Promise<string[]> {
    const wanted = await missing(
      list.map(({ id }) => id),
      options,
    )
    const fresh = list.filter(({ id }) => wanted.delete(id)) // also drops what the list repeats
    if (!fresh.length) return []
    const channels = await app.channels.known([...new Set(fresh.map(({ channelId }) => channelId).filter(Boolean))])
    const docs = fresh.map((item) => {
      const doc = toDoc(item, status, channels.has(item.channelId), options.force === true)
      return { id: item.id, doc: options.failure ? { ...doc, ...failed(options.failure) } : doc }
    })
    const { failed: refused } = await items.putMany(docs, { visible: true })
    for (const { id, reason } of refused) app.log.warn({ id, reason }, 'a queue item could not be written')
    const missed = new Set(refused.map(({ id }) => id))
    return fresh.map(({ id }) => id).filter((id) => !missed.has(id))
  }

  const failed = (failure: ItemFailure) => ({
    message: failure.message.slice(0, 1000),
    error_class: failure.errorClass,
    ready: false,
    ...(failure.retryAt !== undefined && { retry_at: failure.retryAt }),
  })

  /** Stops the download of an item that is worked on. */
  const cancel = (id: string) => active.get(id)?.controller.abort(new ItemTakenAway())

  function filterOf(query: {
    filter?: string | undefined
    channel?: string | undefined
    vidType?: string | undefined
    errorClass?: string | undefined
    error?: boolean | undefined
  }): QueueFilter | undefined {
    const parts: QueueFilter[] = []
    if (query.filter === 'pending') parts.push({ eq: ['open', true] })
    else if (query.filter) parts.push({ eq: ['status', query.filter] })
    if (query.channel) parts.push({ eq: ['channel_id', query.channel] })
    if (query.vidType) parts.push({ eq: ['vid_type', query.vidType] })
    if (query.errorClass) parts.push({ eq: ['error_class', query.errorClass] })
    if (query.error !== undefined)
      parts.push(query.error ? { exists: 'error_class' } : { not: { exists: 'error_class' } })
    return parts.length > 1 ? { and: parts } : parts[0]
  }

  /** Changes those of the ids that still have the status: somebody may have given them another one meanwhile. */
  async function move(
    ids: readonly string[],
    from: QueueStatus,
    set: Pick<DownloadDoc, 'status' | 'auto_start' | 'later'>,
  ): Promise<void> {
    for (let at = 0; at < ids.length; at += CHANGED_AT_ONCE) {
      await items.patchWhere(
        { and: [{ eq: ['status', from] }, { in: ['platform_id', ids.slice(at, at + CHANGED_AT_ONCE)] }] },
        { set },
      )
    }
  }

  function cancelWhere(isMeant: (id: string) => boolean) {
    for (const id of active.keys()) if (isMeant(id)) cancel(id)
  }

  async function idsThat(filter: QueueFilter): Promise<Set<string>> {
    const worked = [...active.keys()]
    if (!worked.length) return new Set()
    const { hits } = await items.find({
      filter: { and: [{ in: ['platform_id', worked] }, filter] },
      size: worked.length,
      withoutTotal: true,
    })
    return new Set(hits.map(({ id }) => id))
  }

  return {
    items,
    /** Set by the run while all that is left waits for something of this machine; epoch seconds. */
    halted: undefined as { reason: string; since: number; nextAttempt: number } | undefined,
    filterOf,
    missing,
    add,

    /** Texts of the reply for stored texts: with the mirror id, what runs now, and the index. */
    replyText(id: string, text: string): string {
      const progress = active.get(id)?.progress
      return `${text.slice(0, -1)},${app.platform.mirrorText(id)}${progress ? `"progress":${JSON.stringify(progress)},` : ''}${end}`
    },

    /** The item that is next in line. `isAutoOnly`: only those with auto_start. `except`: what the run has put off. */
    async next(isAutoOnly: boolean, except: readonly string[]): Promise<DownloadDoc | undefined> {
      const passed = [...except]
      const among = (parts: QueueFilter[]): QueueFilter => ({
        and: [
          ...parts,
          ...(isAutoOnly ? [{ eq: ['later', false] } as QueueFilter] : []),
          ...(passed.length ? [{ not: { in: ['platform_id', passed] } } as QueueFilter] : []),
        ],
      })
      const isDue: QueueFilter = { range: ['retry_at', { lte: epochSeconds(app.clock) }] }
      const ready: QueueFilter[] = [{ eq: ['ready', true] }]
      // Seldom is one due, and without this look all open items would be gone through to learn it.
      const kinds =
        (await items.count(isDue, 1)) > 0 ? [[isDue, { eq: ['open', true] } as QueueFilter], ready] : [ready]
      for (const parts of kinds) {
        for (;;) {
          const { hits } = await items.find({
            filter: among(parts),
            sort: [
              { by: 'later', order: 'asc' },
              { by: 'position', order: 'asc' },
            ],
            size: 1,
            withoutTotal: true,
          })
          if (!hits[0]) break
          const item = await items.get(hits[0].id)
          if (item) return item
          // Taken out just now, and on a server still in the list: the next one.
          passed.push(hits[0].id)
        }
      }
      return undefined
    },

    /** @returns false: not in the queue */
    async setStatus(id: string, status: QueueStatus): Promise<boolean> {
      if (!(await items.patch(id, { set: stateOf(status) }, { visible: true }))) return false
      if (status === 'ignore') cancel(id)
      await changed(id)
      return true
    },

    async setStatusWhere(filter: QueueFilter, status: QueueStatus): Promise<number> {
      const worked = status === 'ignore' ? await idsThat(filter) : new Set<string>()
      const updated = await items.patchWhere(filter, { set: stateOf(status) }, { visible: true })
      cancelWhere((id) => worked.has(id))
      await app.emit('queue.changed', {})
      return updated
    },

    /** @returns false: not in the queue */
    async remove(id: string): Promise<boolean> {
      const removed = await items.remove(id, { visible: true })
      cancel(id)
      if (!removed) return false
      if (!(await app.videos.known([id])).has(id)) await app.media.removeArt('video', id)
      await changed(id)
      return true
    },

    async removeWhere(filter: QueueFilter): Promise<number> {
      const worked = await idsThat(filter)
      const removed = await items.removeWhere(filter, { visible: true })
      cancelWhere((id) => worked.has(id))
      await app.emit('queue.changed', {})
      return removed
    },

    /** Notes why an item cannot be had; it is skipped until its status is set again or `retryAt` has come. */
    async fail(id: string, failure: ItemFailure): Promise<void> {
      // The time of an earlier message must not outlive it: an item that is due is taken before all others.
      await items.patch(id, { set: { retry_at: null, ...failed(failure) } }, { visible: true })
      await changed(id)
    },

    /** The item is in the library now. */
    async done(id: string): Promise<void> {
      await items.remove(id, { visible: true })
      await changed(id)
    },

    /** Marks an item as worked on; the signal tells when it was taken away meanwhile. */
    begin(id: string): { signal: AbortSignal; report(progress: ItemProgress): void; end(): void } {
      const tell = () => changed(id).catch((error) => app.log.warn({ err: error }, 'a listener to the queue failed'))
      const entry: { controller: AbortController; progress?: ItemProgress } = { controller: new AbortController() }
      active.set(id, entry)
      let lastTold = 0
      return {
        signal: entry.controller.signal,
        report(progress) {
          entry.progress = progress
          if (app.clock.steady() - lastTold < 1000) return
          lastTold = app.clock.steady()
          void tell()
        },
        end() {
          active.delete(id)
          // Who watches saw it run: it does so no longer, whatever came of it.
          if (entry.progress) void tell()
        },
      }
    },

    /** Leftover priority items wait their turn again. @returns their ids */
    async demote(): Promise<string[]> {
      const ids: string[] = []
      for await (const batch of items.scan({ filter: { eq: ['status', 'priority'] }, batch: CHANGED_AT_ONCE }))
        ids.push(...batch.map(({ id }) => id))
      await move(ids, 'priority', { status: 'pending', auto_start: false, later: true })
      return ids
    },

    /** Takes back what `demote` did. */
    promote: (ids: readonly string[]) => move(ids, 'pending', { status: 'priority', auto_start: true, later: false }),

    /** The cookie has changed: what needed an account is taken again. */
    async retryWithAccount(): Promise<number> {
      const classes = ERROR_CLASSES.filter((failure) => app.platform.failures[failure].needsAccount)
      return items.patchWhere(
        { and: [{ eq: ['open', true] }, { in: ['error_class', classes] }] },
        { set: { ...OPEN_AND_CLEAR, ready: true } },
        { visible: true },
      )
    },

    /** Whether a channel is archived, as its waiting items show it. */
    async markChannel(channelId: string, isIndexed: boolean): Promise<void> {
      await items.patchWhere(
        { and: [{ eq: ['channel_id', channelId] }, { eq: ['channel_indexed', !isIndexed] }] },
        { set: { channel_indexed: isIndexed } },
      )
    },

    /** How many items wait, by the class of their message. */
    async waitingByClass(): Promise<Record<string, number>> {
      const rows = await items.aggregate({
        filter: { and: [{ eq: ['open', true] }, { exists: 'error_class' }] },
        groupBy: ['error_class'],
      })
      return Object.fromEntries(rows.map(({ key, count }) => [String(key[0]), count]))
    },
  }
}

/** Why a running download ends: its item was removed or ignored. */
export class ItemTakenAway extends Error {
  constructor() {
    super('The item was taken out of the queue')
  }
}

declare module 'archivolt' {
  interface Events {
    /** Emitted when an item was added, changed or removed; without an id: many. */
    'queue.changed': { id?: string }
  }
}

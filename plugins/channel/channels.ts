/** The service `channels`: the one home of channel documents, their art and their handles. */
import {
  beyondView,
  epochSeconds,
  errors,
  isAppError,
  localDay,
  openLocks,
  roundScore,
  type Step,
  say,
  textUnder,
  withKeys,
} from 'archivolt'
import type { ChannelMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { openHandles } from './handles.ts'
import { type ChannelDoc, type ChannelOverwrites, channelIndex } from './schema.ts'
import { removeChannel } from './tasks.ts'

type OverwriteKey = keyof ChannelOverwrites

interface AskedBy {
  /** A job's id: jobs take turns at the platform by it. */
  asker: string
  signal?: AbortSignal | undefined
  /** Somebody waits for the answer of a request, so it goes before jobs. */
  isUrgent?: boolean
  /** Whose request it is. */
  account?: number
}

export interface ChannelChangeValues {
  channel_subscribed?: boolean
  /** null removes the key. */
  channel_overwrites?: { [Key in OverwriteKey]?: ChannelOverwrites[Key] | null }
}

interface ChannelQuery {
  subscribed: boolean | undefined
  /** An id, handle or URL, or words of the name. */
  q: string | undefined
  from: number
  size: number
}

/** A search lists channels whose name matches `q`, and the one that `q` stands for: together at most so many. */
const MATCH_LIMIT = 1000
const PICTURES = ['thumb', 'banner', 'tvart'] as const

export function openChannels(app: App) {
  const collection = app.index.collection(channelIndex)
  const handles = openHandles(app)
  const indexName = `${app.settings.prefix}_channel`
  const fetching = new Map<string, Promise<ChannelDoc>>()
  const { shared, exclusive } = openLocks()

  /** The platform's part of a document. What people have set (subscription, overwrites) is not in it. */
  const toFields = (metadata: Omit<ChannelMetadata, 'handle'>, refreshedAt: number) => ({
    channel_id: metadata.id,
    channel_name: metadata.name,
    channel_description: metadata.description,
    channel_subs: metadata.subscribers,
    channel_views: metadata.views,
    channel_tags: metadata.tags,
    channel_tabs: metadata.tabs as string[],
    channel_last_refresh: localDay(refreshedAt),
    channel_thumb_url: app.media.artUrl('channel_thumb', metadata.id),
    channel_banner_url: app.media.artUrl('channel_banner', metadata.id),
    channel_tvart_url: app.media.artUrl('channel_tvart', metadata.id),
    refreshed_at: refreshedAt,
    art: JSON.stringify(metadata.art),
  })

  async function fetchArt(metadata: ChannelMetadata, signal?: AbortSignal): Promise<void> {
    for (const picture of PICTURES) {
      const url = metadata.art[picture]
      if (url !== undefined) await app.media.fetchArt(`channel_${picture}`, metadata.id, url, signal)
    }
  }

  async function add(fields: ReturnType<typeof toFields>, isActive: boolean): Promise<void> {
    await collection.put(
      fields.channel_id,
      { ...fields, channel_subscribed: false, channel_active: isActive, channel_overwrites: {} },
      { visible: true },
    )
  }

  /**
   * Beyond the view of who asks: whoever sees a video sees its channel's name, and the ids are those of videos that
   * they see.
   */
  const namesOf = (ids: readonly string[]): Promise<Map<string, string>> =>
    beyondView(async () => {
      const docs = await collection.getMany(ids)
      return new Map([...docs].map(([id, doc]) => [id, doc.channel_name]))
    })

  function standIn(id: string, name: string): string {
    const { refreshed_at, art, ...fields } = toFields(
      { id, name, description: '', tags: [], subscribers: 0, views: 0, tabs: [], art: {} },
      0,
    )
    return JSON.stringify({ ...fields, channel_subscribed: false, channel_active: false, channel_overwrites: {} })
  }

  async function get(id: string): Promise<ChannelDoc | undefined> {
    return collection.get(id)
  }

  async function existing(id: string): Promise<ChannelDoc> {
    const doc = await get(id)
    if (!doc) throw errors.notFound('channel', id)
    return doc
  }

  /**
   * Fetches art first, so that the document is never without it.
   * @returns false: the channel is not archived
   */
  async function update(
    metadata: ChannelMetadata,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<boolean> {
    await fetchArt(metadata, signal)
    // A patch, not a put: people may change their part of the document at this very moment.
    const isThere = await collection.patch(
      metadata.id,
      { set: { ...toFields(metadata, epochSeconds(app.clock)), channel_active: true } },
      { visible: true },
    )
    if (isThere && metadata.handle !== undefined) await handles.remember(metadata.handle, metadata.id, true)
    return isThere
  }

  /** Writes what the platform says: a new document, or the metadata and art of one we have. */
  async function record(
    metadata: ChannelMetadata,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<ChannelDoc> {
    if (!(await update(metadata, options))) {
      await add(toFields(metadata, epochSeconds(app.clock)), true)
      if (metadata.handle !== undefined) await handles.remember(metadata.handle, metadata.id, true)
    }
    return existing(metadata.id)
  }

  async function removeArt(id: string): Promise<void> {
    for (const picture of PICTURES) await app.media.removeArt(`channel_${picture}`, id)
  }

  async function fetchNew(idOrHandle: string, asked: AskedBy & { name?: string }): Promise<ChannelDoc> {
    try {
      const metadata = await app.platform.channel(idOrHandle, asked)
      return await record(metadata, asked)
    } catch (thrown) {
      const failure = app.platform.failureOf(thrown)
      if (!failure || asked.name === undefined) throw thrown
      app.log.warn(
        { channelId: idOrHandle, failure: failure.failure },
        'the channel cannot be read now: kept by its name alone',
      )
      return recordName(idOrHandle, asked.name, !app.platform.failures[failure.failure].deactivates)
    }
  }

  /** Writes a channel of which only the name is known. It counts as never refreshed, so the next refresh reads it. */
  async function recordName(id: string, name: string, isActive = true): Promise<ChannelDoc> {
    const known = await get(id)
    if (known) return known
    await add(
      toFields({ id, name, description: '', tags: [], subscribers: 0, views: 0, tabs: [], art: {} }, 0),
      isActive,
    )
    return existing(id)
  }

  /**
   * The channel, fetched from the platform with its art and indexed if it is not ours yet.
   * @param idOrHandle  a channel's id; or what `platform.targets` calls a handle
   * @param asked.name  with an id: where the platform cannot tell more, the channel is kept by this name instead of
   *        failing
   * @throws what the platform throws
   */
  async function ensure(idOrHandle: string, asked: AskedBy & { name?: string }): Promise<ChannelDoc> {
    const known = await get(handles.lookUp(idOrHandle) ?? idOrHandle)
    if (known) return known
    const running = fetching.get(idOrHandle)
    if (running) return running
    const fetch = fetchNew(idOrHandle, asked).finally(() => fetching.delete(idOrHandle))
    fetching.set(idOrHandle, fetch)
    return fetch
  }

  /**
   * The channel id that a text of a user stands for, ours or not.
   * @returns undefined: the platform knows none
   * @throws bad_request: the text is no channel's; unavailable: the platform cannot be asked now; throttled: the
   *         account asks too often
   */
  async function resolve(text: string, asked: AskedBy): Promise<string | undefined> {
    const word = text.trim()
    if ((await collection.known([word])).has(word)) return word
    const [target, ...others] = app.platform.targets(word)
    if (target?.type !== 'channel' || others.length > 0)
      throw errors.badRequest('q must be the id, handle or URL of one channel', {
        fields: { q: 'must be one channel' },
      })
    if (!target.isHandle) return target.id
    const remembered = handles.lookUp(target.id)
    if (remembered !== undefined) return remembered ?? undefined
    const found = await askForHandle(target.id, asked)
    const isOurs = found !== null && (await collection.known([found])).has(found)
    await handles.remember(target.id, found, isOurs)
    return found ?? undefined
  }

  async function askForHandle(handle: string, asked: AskedBy): Promise<string | null> {
    try {
      return (await app.platform.channel(handle, asked)).id
    } catch (thrown) {
      const failure = app.platform.failureOf(thrown)
      if (failure && app.platform.failures[failure.failure].item === 'retry') {
        throw errors.unavailable(say`${{ platform: app.platform.name }} cannot be reached now; try again in a minute`, {
          cause: thrown,
          retryAfterSeconds: 60,
        })
      }
      if (!failure || isAppError(thrown)) throw thrown
      return null
    }
  }

  /** Ids that `q` stands for, as far as we know without asking the platform. */
  function idsIn(q: string): string[] {
    const targets = app.platform.targetsIn(q).filter((target) => target.type === 'channel')
    return [
      q.trim(),
      ...targets.map((target) => ('isHandle' in target ? handles.lookUp(target.id) : target.id)),
    ].filter((id) => typeof id === 'string')
  }

  async function find({ subscribed, q, from, size }: ChannelQuery): Promise<{ texts: string[]; total: number }> {
    const filter =
      subscribed === undefined
        ? undefined
        : { eq: ['channel_subscribed', subscribed] as ['channel_subscribed', boolean] }
    const sort = [{ by: 'channel_name', order: 'asc' } as const]
    const text =
      q === undefined ? undefined : { words: q, fields: { channel_name: 1 }, match: 'all' as const, prefixLast: true }
    const meant = q === undefined ? [] : [...(await collection.known(idsIn(q)))]
    const found = meant.length === 0 ? await collection.find({ filter, text, sort, from, size }) : await findBoth(meant)
    return { texts: found.hits.map((hit) => reply(hit.text)), total: found.total }

    async function findBoth(ids: string[]) {
      const named = await collection.find({ text, size: MATCH_LIMIT, withoutTotal: true, withoutTexts: true })
      const either = {
        in: ['channel_id', [...new Set([...ids, ...named.hits.map((hit) => hit.id)])]] as ['channel_id', string[]],
      }
      return collection.find({ filter: filter ? { and: [filter, either] } : either, sort, from, size })
    }
  }

  /** The record of contract 5.2: the stored text, its page on the platform, and its rank. */
  const reply = (text: string, score = 0): string => {
    const original = app.platform.original('channel', textUnder(text, 'channel_id') ?? '')
    return withKeys(text, { ...original, _index: indexName, _score: roundScore(score) })
  }

  return {
    collection,
    get,
    known: (ids: readonly string[]) => collection.known(ids),
    /** @param idOrHandle  a handle is looked up among those of our own channels and those asked for lately */
    async isOurs(idOrHandle: string): Promise<boolean> {
      const id = handles.lookUp(idOrHandle) ?? idOrHandle
      return (await collection.known([id])).has(id)
    },
    /** As stored: the channel as part of a video's record. */
    text: (id: string) => collection.getText(id),
    texts: (ids: readonly string[]) => collection.getTexts(ids),
    /**
     * As `texts`, and whoever is missing, or is not to be seen, is there by its name alone: a video's record always has
     * a whole channel.
     */
    async textsFor(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const texts = await collection.getTexts(ids)
      const missing = ids.filter((id) => !texts.has(id))
      if (missing.length === 0) return texts
      const names = await namesOf(missing)
      for (const id of missing) texts.set(id, standIn(id, names.get(id) ?? ''))
      return texts
    },
    reply,
    find,
    ensure,
    record,
    recordName,
    resolve,
    /** Of a handle that has been asked for before; nobody is asked now. */
    remembered: (handle: string): string | undefined => handles.lookUp(handle) ?? undefined,
    shared,
    exclusive,

    names: namesOf,

    /** Writes metadata and art as the platform has them now. @returns false: the channel is not archived */
    async refreshWith(metadata: ChannelMetadata, options: { signal?: AbortSignal | undefined } = {}): Promise<boolean> {
      if (!(await collection.known([metadata.id])).has(metadata.id)) return false
      const isThere = await update(metadata, options)
      if (!isThere) await removeArt(metadata.id) // removed meanwhile
      return isThere
    },

    /** @throws not_found */
    async change(id: string, change: ChannelChangeValues): Promise<void> {
      const set = {
        ...(change.channel_subscribed !== undefined && { channel_subscribed: change.channel_subscribed }),
        ...(change.channel_overwrites !== undefined && { channel_overwrites: change.channel_overwrites }),
      }
      if (!(await collection.patch(id, { set }, { visible: true }))) throw errors.notFound('channel', id)
      await app.emit('channel.changed', { id, change })
    },

    /** Notes whether the platform still has them. @returns how many of them are archived */
    async setActive(ids: readonly string[], isActive: boolean): Promise<number> {
      let changed = 0
      for (const id of ids)
        if (await collection.patch(id, { set: { channel_active: isActive } }, { visible: true })) changed++
      return changed
    },

    /** Channels where this preference differs from everybody's. */
    async withOverwrite<Key extends OverwriteKey>(
      key: Key,
    ): Promise<Array<{ id: string; value: NonNullable<ChannelOverwrites[Key]> }>> {
      const found: Array<{ id: string; value: NonNullable<ChannelOverwrites[Key]> }> = []
      for await (const batch of collection.scan()) {
        for (const { id, doc } of batch) {
          const value = doc.channel_overwrites[key]
          if (value !== undefined) found.push({ id, value })
        }
      }
      return found
    },

    /**
     * Removes the channel, its videos and whatever later plugins have of it, files first.
     * @throws not_found; unavailable: a file cannot be moved, and nothing was removed
     */
    async remove(id: string): Promise<void> {
      await existing(id)
      await app.jobs.run(removeChannel, { channelId: id })
    },

    /** The last part of a removal: art, handles, document. */
    async drop(id: string): Promise<void> {
      await removeArt(id)
      await handles.forget(id)
      await app.accounts.dropFromViews('channel', id)
      await collection.remove(id, { visible: true })
    },
  }
}
export type Channels = ReturnType<typeof openChannels>

declare module 'archivolt' {
  interface Services {
    channel: {
      channels: Channels
    }
  }
  interface Events {
    /** Emitted when somebody has changed the subscription or the settings of a channel. */
    'channel.changed': { id: string; change: ChannelChangeValues }
  }
  interface Hooks {
    /** Asked while a channel is removed, after its files: removes what else goes with it. Every step may be done twice. */
    'channel.remove': (channelId: string, step: Step) => Promise<void>
  }
}

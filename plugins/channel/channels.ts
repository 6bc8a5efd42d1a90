/** The service `channels`: the one home of channel documents, their art and their handles. */
import {
  beyondView,
  type Collection,
  epochSeconds,
  errors,
  type Filter,
  type FindQuery,
  type Found,
  isAppError,
  type Locks,
  localDay,
  type NamesOf,
  openLocks,
  roundScore,
  type Step,
  say,
  textUnder,
  told,
  withKeys,
} from 'archivolt'
import type { ChannelMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { openHandles } from './handles.ts'
import { removeChannel } from './removal-task.ts'
import { type ChannelDoc, type ChannelOverwrites, channelIndex } from './schema.ts'

type OverwriteKey = keyof ChannelOverwrites
type ChannelName = NamesOf<typeof channelIndex>
/** What the platform says; the rest of a document is what people have set. */
type PlatformPart = Omit<ChannelDoc, 'channel_subscribed' | 'channel_active' | 'channel_overwrites'>

interface AskedBy {
  /** A job's id: jobs take turns at the platform by it. */
  asker: string
  signal?: AbortSignal | undefined
  /** Somebody waits for the answer of a request, so it goes before jobs. */
  isUrgent?: boolean
  /** Whose request it is. */
  account?: number
}

interface ChannelChangeValues {
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

/** Its locks are by channel id: what works on a channel waits for what else does. */
interface Channels extends Locks {
  readonly collection: Collection<ChannelDoc, ChannelName>
  /**
   * Beyond the view of who asks: whoever sees a video sees its channel's name, and the ids are those of videos that
   * they see.
   */
  names(ids: readonly string[]): Promise<Map<string, string>>
  get(id: string): Promise<ChannelDoc | undefined>
  /** Writes what the platform says: a new document, or the metadata and art of one we have. */
  record(metadata: ChannelMetadata, options?: { signal?: AbortSignal | undefined }): Promise<ChannelDoc>
  /** Writes a channel of which only the name is known. It counts as never refreshed, so the next refresh reads it. */
  recordName(id: string, name: string, isActive?: boolean): Promise<ChannelDoc>
  /**
   * The channel, fetched from the platform with its art and indexed if it is not ours yet.
   * @param idOrHandle  a channel's id; or what `platform.targets` calls a handle
   * @param asked.name  with an id: where the platform cannot tell more, the channel is kept by this name instead of
   *        failing
   * @throws what the platform throws
   */
  ensure(idOrHandle: string, asked: AskedBy & { name?: string }): Promise<ChannelDoc>
  /**
   * The channel id that a text of a user stands for, ours or not.
   * @returns undefined: the platform knows none
   * @throws bad_request: the text is no channel's; unavailable: the platform cannot be asked now; throttled: the
   *         account asks too often
   */
  resolve(text: string, asked: AskedBy): Promise<string | undefined>
  find(options: ChannelQuery): Promise<{ texts: string[]; total: number }>
  /** The record of contract 5.2: the stored text, its page on the platform, and its rank. */
  reply(text: string, score?: number): string
  known(ids: readonly string[]): Promise<Set<string>>
  /** @param idOrHandle  a handle is looked up among those of our own channels and those asked for lately */
  isOurs(idOrHandle: string): Promise<boolean>
  /** As stored: the channel as part of a video's record. */
  text(id: string): Promise<string | undefined>
  texts(ids: readonly string[]): Promise<Map<string, string>>
  /**
   * As `texts`, and whoever is missing, or is not to be seen, is there by its name alone: a video's record always has
   * a whole channel.
   */
  textsFor(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Of a handle that has been asked for before; nobody is asked now. */
  remembered(handle: string): string | undefined
  /** Writes metadata and art as the platform has them now. @returns false: the channel is not archived */
  refreshWith(metadata: ChannelMetadata, options?: { signal?: AbortSignal | undefined }): Promise<boolean>
  /** @throws not_found */
  change(id: string, change: ChannelChangeValues): Promise<void>
  /** Notes whether the platform still has them. @returns how many of them are archived */
  setActive(ids: readonly string[], isActive: boolean): Promise<number>
  /** Channels where this preference differs from everybody's. */
  withOverwrite<Key extends OverwriteKey>(
    key: Key,
  ): Promise<Array<{ id: string; value: NonNullable<ChannelOverwrites[Key]> }>>
  /**
   * Removes the channel, its videos and whatever later plugins have of it, files first.
   * @throws not_found; unavailable: a file cannot be moved, and nothing was removed
   */
  remove(id: string): Promise<void>
  /** The last part of a removal: art, handles, document. */
  drop(id: string): Promise<void>
}

export function openChannels(app: App): Channels {
  const collection = app.index.collection(channelIndex)
  const handles = openHandles(app)
  const indexName = `${app.settings.prefix}_channel`
  const fetching = new Map<string, Promise<ChannelDoc>>()
  const locks = openLocks()

  function names(ids: readonly string[]): Promise<Map<string, string>> {
    return beyondView(async () => {
      const docs = await collection.getMany(ids)
      return new Map([...docs].map(([id, doc]) => [id, doc.channel_name]))
    })
  }

  async function get(id: string): Promise<ChannelDoc | undefined> {
    return collection.get(id)
  }

  async function record(
    metadata: ChannelMetadata,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<ChannelDoc> {
    if (!(await update(metadata, options))) {
      const isNew = await add(toWholeFields(metadata, epochSeconds(app.clock)), true)
      if (!isNew) await update(metadata, options)
      if (metadata.handle !== undefined) await handles.remember(metadata.handle, metadata.id, true)
    }
    return existing(metadata.id)
  }

  async function recordName(id: string, name: string, isActive = true): Promise<ChannelDoc> {
    const known = await get(id)
    if (known) return known
    await add(toWholeFields(byName(id, name), 0), isActive)
    return existing(id)
  }

  /** Those of these ids, and those whose name the text is. */
  async function findBoth(ids: string[], { filter, text, ...page }: FindQuery<ChannelName>): Promise<Found> {
    const named = await collection.find({ text, size: MATCH_LIMIT, withoutTotal: true, withoutTexts: true })
    const either: Filter<ChannelName> = {
      in: ['channel_id', [...new Set([...ids, ...named.hits.map((hit) => hit.id)])]],
    }
    return collection.find({ filter: filter ? { and: [filter, either] } : either, ...page })
  }

  function reply(text: string, score = 0): string {
    const original = app.platform.original('channel', textUnder(text, 'channel_id') ?? '')
    return withKeys(text, { ...original, _index: indexName, _score: roundScore(score) })
  }

  function toWholeFields(metadata: ChannelMetadata, refreshedAt: number): PlatformPart {
    const { id } = metadata
    return {
      ...locks,
      ...{ channel_id: id, channel_name: id, channel_description: '', channel_subs: 0, channel_views: 0 },
      ...{ channel_tags: [], channel_tabs: [] },
      channel_thumb_url: app.media.artUrl('channel_thumb', id),
      channel_banner_url: app.media.artUrl('channel_banner', id),
      channel_tvart_url: app.media.artUrl('channel_tvart', id),
      ...toFields(metadata, refreshedAt, {}),
    }
  }

  async function fetchArt(metadata: ChannelMetadata, signal?: AbortSignal): Promise<void> {
    for (const picture of PICTURES) {
      const url = metadata.art[picture]
      if (url !== undefined) await app.media.fetchArt(`channel_${picture}`, metadata.id, url, signal)
    }
  }

  /** @returns false: somebody else has added it meanwhile */
  function add(fields: PlatformPart, isActive: boolean): Promise<boolean> {
    return collection.create(
      fields.channel_id,
      { ...fields, channel_subscribed: false, channel_active: isActive, channel_overwrites: {} },
      { visible: true },
    )
  }

  function standIn(id: string, name: string): string {
    const { refreshed_at, art, ...fields } = toWholeFields(byName(id, name), 0)
    return JSON.stringify({ ...fields, channel_subscribed: false, channel_active: false, channel_overwrites: {} })
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
    const art = JSON.parse((await get(metadata.id))?.art ?? '{}') as ChannelMetadata['art']
    // A patch, not a put: people may change their part of the document at this very moment.
    const isThere = await collection.patch(
      metadata.id,
      { set: { ...toFields(metadata, epochSeconds(app.clock), art), channel_active: true } },
      { visible: true },
    )
    if (isThere && metadata.handle !== undefined) await handles.remember(metadata.handle, metadata.id, true)
    return isThere
  }

  /** A damaged document is known, and takes no patch. */
  async function replaceDamaged(metadata: ChannelMetadata): Promise<boolean> {
    if (!(await collection.known([metadata.id])).has(metadata.id)) return false
    return add(toWholeFields(metadata, epochSeconds(app.clock)), true)
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

  return {
    ...locks,
    ...{ collection, names, get, record, recordName, reply },

    async ensure(idOrHandle, asked) {
      const known = await get(handles.lookUp(idOrHandle) ?? idOrHandle)
      if (known) return known
      const running = fetching.get(idOrHandle)
      if (running) return running
      const fetch = fetchNew(idOrHandle, asked).finally(() => fetching.delete(idOrHandle))
      fetching.set(idOrHandle, fetch)
      return fetch
    },

    async resolve(text, asked) {
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
    },

    async find({ subscribed, q, from, size }) {
      const filter =
        subscribed === undefined
          ? undefined
          : { eq: ['channel_subscribed', subscribed] as ['channel_subscribed', boolean] }
      const sort = [{ by: 'channel_name', order: 'asc' } as const]
      const text =
        q === undefined ? undefined : { words: q, fields: { channel_name: 1 }, match: 'all' as const, prefixLast: true }
      const meant = q === undefined ? [] : [...(await collection.known(idsIn(q)))]
      const found =
        meant.length === 0
          ? await collection.find({ filter, text, sort, from, size })
          : await findBoth(meant, { filter, text, sort, from, size })
      return { texts: found.hits.map((hit) => reply(hit.text)), total: found.total }
    },

    known: (ids) => collection.known(ids),

    async isOurs(idOrHandle) {
      const id = handles.lookUp(idOrHandle) ?? idOrHandle
      return (await collection.known([id])).has(id)
    },

    text: (id) => collection.getText(id),

    texts: (ids) => collection.getTexts(ids),

    async textsFor(ids) {
      const texts = await collection.getTexts(ids)
      const missing = ids.filter((id) => !texts.has(id))
      if (missing.length === 0) return texts
      const named = await names(missing)
      for (const id of missing) texts.set(id, standIn(id, named.get(id) ?? ''))
      return texts
    },

    remembered: (handle) => handles.lookUp(handle) ?? undefined,

    async refreshWith(metadata, options = {}) {
      if (!(await collection.known([metadata.id])).has(metadata.id)) return false
      const isThere = (await update(metadata, options)) || (await replaceDamaged(metadata))
      if (!isThere) await removeArt(metadata.id) // removed meanwhile
      return isThere
    },

    async change(id, change) {
      const set = {
        ...(change.channel_subscribed !== undefined && { channel_subscribed: change.channel_subscribed }),
        ...(change.channel_overwrites !== undefined && { channel_overwrites: change.channel_overwrites }),
      }
      if (!(await collection.patch(id, { set }, { visible: true }))) throw errors.notFound('channel', id)
      await app.emit('channel.changed', { id, change })
    },

    async setActive(ids, isActive) {
      let changed = 0
      for (const id of ids)
        if (await collection.patch(id, { set: { channel_active: isActive } }, { visible: true })) changed++
      return changed
    },

    async withOverwrite<Key extends OverwriteKey>(key: Key) {
      const found: Array<{ id: string; value: NonNullable<ChannelOverwrites[Key]> }> = []
      for await (const batch of collection.scan()) {
        for (const { id, doc } of batch) {
          const value = doc.channel_overwrites[key]
          if (value !== undefined) found.push({ id, value })
        }
      }
      return found
    },

    async remove(id) {
      await existing(id)
      await app.jobs.run(removeChannel, { channelId: id })
    },

    async drop(id) {
      await removeArt(id)
      await handles.forget(id)
      await app.accounts.dropFromViews('channel', id)
      await collection.remove(id, { visible: true })
    },
  }
}

/** What the platform says, for a patch: what it says nothing of stays as it was known. @param art  as it was known */
function toFields(metadata: ChannelMetadata, refreshedAt: number, art: ChannelMetadata['art']) {
  return {
    ...told({
      channel_name: metadata.name,
      channel_description: metadata.description,
      channel_subs: metadata.subscribers,
      channel_views: metadata.views,
      channel_tags: metadata.tags,
      channel_tabs: metadata.tabs as string[],
    }),
    channel_last_refresh: localDay(refreshedAt),
    refreshed_at: refreshedAt,
    art: JSON.stringify({ ...art, ...metadata.art }),
  }
}

const byName = (id: string, name: string): ChannelMetadata => ({
  id,
  name,
  description: '',
  tags: [],
  tabs: [],
  art: {},
})

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
    /**
     * Asked while a channel is removed, after its files: removes what else goes with it. Every step may be done twice.
     */
    'channel.remove': (channelId: string, step: Step) => Promise<void>
  }
}

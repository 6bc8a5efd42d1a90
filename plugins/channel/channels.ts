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
import { type Handles, openHandles } from './handles.ts'
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

class ChannelDocs implements Channels {
  readonly #app: App
  readonly collection: Channels['collection']
  readonly #handles: Handles
  readonly #indexName: string
  readonly #fetching = new Map<string, Promise<ChannelDoc>>()
  readonly #locks = openLocks()

  constructor(app: App) {
    this.#app = app
    this.collection = app.index.collection(channelIndex)
    this.#handles = openHandles(app)
    this.#indexName = `${app.settings.prefix}_channel`
  }

  names(ids: readonly string[]): Promise<Map<string, string>> {
    return beyondView(async () => {
      const docs = await this.collection.getMany(ids)
      return new Map([...docs].map(([id, doc]) => [id, doc.channel_name]))
    })
  }

  async get(id: string): Promise<ChannelDoc | undefined> {
    return this.collection.get(id)
  }

  async record(metadata: ChannelMetadata, options: { signal?: AbortSignal | undefined } = {}): Promise<ChannelDoc> {
    if (!(await this.#update(metadata, options))) {
      const isNew = await this.#add(this.#toWholeFields(metadata, epochSeconds(this.#app.clock)), true)
      if (!isNew) await this.#update(metadata, options)
      if (metadata.handle !== undefined) await this.#handles.remember(metadata.handle, metadata.id, true)
    }
    return this.#existing(metadata.id)
  }

  async recordName(id: string, name: string, isActive = true): Promise<ChannelDoc> {
    const known = await this.get(id)
    if (known) return known
    await this.#add(this.#toWholeFields(byName(id, name), 0), isActive)
    return this.#existing(id)
  }

  async ensure(idOrHandle: string, asked: AskedBy & { name?: string }): Promise<ChannelDoc> {
    const known = await this.get(this.#handles.lookUp(idOrHandle) ?? idOrHandle)
    if (known) return known
    const running = this.#fetching.get(idOrHandle)
    if (running) return running
    const fetch = this.#fetchNew(idOrHandle, asked).finally(() => this.#fetching.delete(idOrHandle))
    this.#fetching.set(idOrHandle, fetch)
    return fetch
  }

  async resolve(text: string, asked: AskedBy): Promise<string | undefined> {
    const word = text.trim()
    if ((await this.collection.known([word])).has(word)) return word
    const [target, ...others] = this.#app.platform.targets(word)
    if (target?.type !== 'channel' || others.length > 0)
      throw errors.badRequest('q must be the id, handle or URL of one channel', {
        fields: { q: 'must be one channel' },
      })
    if (!target.isHandle) return target.id
    const remembered = this.#handles.lookUp(target.id)
    if (remembered !== undefined) return remembered ?? undefined
    const found = await this.#askForHandle(target.id, asked)
    const isOurs = found !== null && (await this.collection.known([found])).has(found)
    await this.#handles.remember(target.id, found, isOurs)
    return found ?? undefined
  }

  async find({ subscribed, q, from, size }: ChannelQuery): Promise<{ texts: string[]; total: number }> {
    const filter =
      subscribed === undefined
        ? undefined
        : { eq: ['channel_subscribed', subscribed] as ['channel_subscribed', boolean] }
    const sort = [{ by: 'channel_name', order: 'asc' } as const]
    const text =
      q === undefined ? undefined : { words: q, fields: { channel_name: 1 }, match: 'all' as const, prefixLast: true }
    const meant = q === undefined ? [] : [...(await this.collection.known(this.#idsIn(q)))]
    const found =
      meant.length === 0
        ? await this.collection.find({ filter, text, sort, from, size })
        : await this.#findBoth(meant, { filter, text, sort, from, size })
    return { texts: found.hits.map((hit) => this.reply(hit.text)), total: found.total }
  }

  /** Those of these ids, and those whose name the text is. */
  async #findBoth(ids: string[], { filter, text, ...page }: FindQuery<ChannelName>): Promise<Found> {
    const named = await this.collection.find({ text, size: MATCH_LIMIT, withoutTotal: true, withoutTexts: true })
    const either: Filter<ChannelName> = {
      in: ['channel_id', [...new Set([...ids, ...named.hits.map((hit) => hit.id)])]],
    }
    return this.collection.find({ filter: filter ? { and: [filter, either] } : either, ...page })
  }

  reply(text: string, score = 0): string {
    const original = this.#app.platform.original('channel', textUnder(text, 'channel_id') ?? '')
    return withKeys(text, { ...original, _index: this.#indexName, _score: roundScore(score) })
  }

  shared<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    return this.#locks.shared(id, work)
  }

  exclusive<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    return this.#locks.exclusive(id, work)
  }

  known(ids: readonly string[]): Promise<Set<string>> {
    return this.collection.known(ids)
  }

  async isOurs(idOrHandle: string): Promise<boolean> {
    const id = this.#handles.lookUp(idOrHandle) ?? idOrHandle
    return (await this.collection.known([id])).has(id)
  }

  text(id: string): Promise<string | undefined> {
    return this.collection.getText(id)
  }

  texts(ids: readonly string[]): Promise<Map<string, string>> {
    return this.collection.getTexts(ids)
  }

  async textsFor(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const texts = await this.collection.getTexts(ids)
    const missing = ids.filter((id) => !texts.has(id))
    if (missing.length === 0) return texts
    const names = await this.names(missing)
    for (const id of missing) texts.set(id, this.#standIn(id, names.get(id) ?? ''))
    return texts
  }

  remembered(handle: string): string | undefined {
    return this.#handles.lookUp(handle) ?? undefined
  }

  async refreshWith(metadata: ChannelMetadata, options: { signal?: AbortSignal | undefined } = {}): Promise<boolean> {
    if (!(await this.collection.known([metadata.id])).has(metadata.id)) return false
    const isThere = (await this.#update(metadata, options)) || (await this.#replaceDamaged(metadata))
    if (!isThere) await this.#removeArt(metadata.id) // removed meanwhile
    return isThere
  }

  async change(id: string, change: ChannelChangeValues): Promise<void> {
    const set = {
      ...(change.channel_subscribed !== undefined && { channel_subscribed: change.channel_subscribed }),
      ...(change.channel_overwrites !== undefined && { channel_overwrites: change.channel_overwrites }),
    }
    if (!(await this.collection.patch(id, { set }, { visible: true }))) throw errors.notFound('channel', id)
    await this.#app.emit('channel.changed', { id, change })
  }

  async setActive(ids: readonly string[], isActive: boolean): Promise<number> {
    let changed = 0
    for (const id of ids)
      if (await this.collection.patch(id, { set: { channel_active: isActive } }, { visible: true })) changed++
    return changed
  }

  async withOverwrite<Key extends OverwriteKey>(
    key: Key,
  ): Promise<Array<{ id: string; value: NonNullable<ChannelOverwrites[Key]> }>> {
    const found: Array<{ id: string; value: NonNullable<ChannelOverwrites[Key]> }> = []
    for await (const batch of this.collection.scan()) {
      for (const { id, doc } of batch) {
        const value = doc.channel_overwrites[key]
        if (value !== undefined) found.push({ id, value })
      }
    }
    return found
  }

  async remove(id: string): Promise<void> {
    await this.#existing(id)
    await this.#app.jobs.run(removeChannel, { channelId: id })
  }

  async drop(id: string): Promise<void> {
    await this.#removeArt(id)
    await this.#handles.forget(id)
    await this.#app.accounts.dropFromViews('channel', id)
    await this.collection.remove(id, { visible: true })
  }

  #toWholeFields(metadata: ChannelMetadata, refreshedAt: number): PlatformPart {
    const { id } = metadata
    return {
      ...{ channel_id: id, channel_name: id, channel_description: '', channel_subs: 0, channel_views: 0 },
      ...{ channel_tags: [], channel_tabs: [] },
      channel_thumb_url: this.#app.media.artUrl('channel_thumb', id),
      channel_banner_url: this.#app.media.artUrl('channel_banner', id),
      channel_tvart_url: this.#app.media.artUrl('channel_tvart', id),
      ...toFields(metadata, refreshedAt, {}),
    }
  }

  async #fetchArt(metadata: ChannelMetadata, signal?: AbortSignal): Promise<void> {
    for (const picture of PICTURES) {
      const url = metadata.art[picture]
      if (url !== undefined) await this.#app.media.fetchArt(`channel_${picture}`, metadata.id, url, signal)
    }
  }

  /** @returns false: somebody else has added it meanwhile */
  #add(fields: PlatformPart, isActive: boolean): Promise<boolean> {
    return this.collection.create(
      fields.channel_id,
      { ...fields, channel_subscribed: false, channel_active: isActive, channel_overwrites: {} },
      { visible: true },
    )
  }

  #standIn(id: string, name: string): string {
    const { refreshed_at, art, ...fields } = this.#toWholeFields(byName(id, name), 0)
    return JSON.stringify({ ...fields, channel_subscribed: false, channel_active: false, channel_overwrites: {} })
  }

  async #existing(id: string): Promise<ChannelDoc> {
    const doc = await this.get(id)
    if (!doc) throw errors.notFound('channel', id)
    return doc
  }

  /**
   * Fetches art first, so that the document is never without it.
   * @returns false: the channel is not archived
   */
  async #update(metadata: ChannelMetadata, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<boolean> {
    await this.#fetchArt(metadata, signal)
    const art = JSON.parse((await this.get(metadata.id))?.art ?? '{}') as ChannelMetadata['art']
    // A patch, not a put: people may change their part of the document at this very moment.
    const isThere = await this.collection.patch(
      metadata.id,
      { set: { ...toFields(metadata, epochSeconds(this.#app.clock), art), channel_active: true } },
      { visible: true },
    )
    if (isThere && metadata.handle !== undefined) await this.#handles.remember(metadata.handle, metadata.id, true)
    return isThere
  }

  /** A damaged document is known, and takes no patch. */
  async #replaceDamaged(metadata: ChannelMetadata): Promise<boolean> {
    if (!(await this.collection.known([metadata.id])).has(metadata.id)) return false
    return this.#add(this.#toWholeFields(metadata, epochSeconds(this.#app.clock)), true)
  }

  async #removeArt(id: string): Promise<void> {
    for (const picture of PICTURES) await this.#app.media.removeArt(`channel_${picture}`, id)
  }

  async #fetchNew(idOrHandle: string, asked: AskedBy & { name?: string }): Promise<ChannelDoc> {
    try {
      const metadata = await this.#app.platform.channel(idOrHandle, asked)
      return await this.record(metadata, asked)
    } catch (thrown) {
      const failure = this.#app.platform.failureOf(thrown)
      if (!failure || asked.name === undefined) throw thrown
      this.#app.log.warn(
        { channelId: idOrHandle, failure: failure.failure },
        'the channel cannot be read now: kept by its name alone',
      )
      return this.recordName(idOrHandle, asked.name, !this.#app.platform.failures[failure.failure].deactivates)
    }
  }

  async #askForHandle(handle: string, asked: AskedBy): Promise<string | null> {
    try {
      return (await this.#app.platform.channel(handle, asked)).id
    } catch (thrown) {
      const failure = this.#app.platform.failureOf(thrown)
      if (failure && this.#app.platform.failures[failure.failure].item === 'retry') {
        throw errors.unavailable(
          say`${{ platform: this.#app.platform.name }} cannot be reached now; try again in a minute`,
          {
            cause: thrown,
            retryAfterSeconds: 60,
          },
        )
      }
      if (!failure || isAppError(thrown)) throw thrown
      return null
    }
  }

  /** Ids that `q` stands for, as far as we know without asking the platform. */
  #idsIn(q: string): string[] {
    const targets = this.#app.platform.targetsIn(q).filter((target) => target.type === 'channel')
    return [
      q.trim(),
      ...targets.map((target) => ('isHandle' in target ? this.#handles.lookUp(target.id) : target.id)),
    ].filter((id) => typeof id === 'string')
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

export function openChannels(app: App): Channels {
  return new ChannelDocs(app)
}

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

/** The service `channels`: all access to channel documents, their pictures and their handles. */
import { randomUUID } from 'node:crypto'
import {
  type Actor,
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
import type { AskOptions, ChannelMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { type ChannelBelongings, type OwnChannelBelongings, openChannelBelongings } from './belongings.ts'
import { openHandles } from './handles.ts'
import { removeChannel } from './removal-task.ts'
import { type ChannelDoc, type ChannelOverwrites, channelIndex } from './schema.ts'

type OverwriteKey = keyof ChannelOverwrites
type ChannelName = NamesOf<typeof channelIndex>
/** The fields from the platform; all others are set by people. */
type PlatformPart = Omit<ChannelDoc, 'channel_subscribed' | 'channel_active' | 'channel_overwrites'>

interface ChannelChangeValues {
  channel_subscribed?: boolean
  /** null removes the key. */
  channel_overwrites?: { [Key in OverwriteKey]?: ChannelOverwrites[Key] | null }
}

/** A group of channels and playlists. */
interface Group {
  name: string
  channels: string[]
  playlists: string[]
}

interface ChannelQuery {
  subscribed: boolean | undefined
  /** Only channels of this group. */
  group: number | undefined
  /** An id, handle or URL, or words of the name. */
  q: string | undefined
  from: number
  size: number
}

/** Maximum number of results of a search, which finds channels by name and the channel that `q` identifies. */
const MATCH_LIMIT = 1000
const PICTURES = ['thumb', 'banner', 'tvart'] as const

/** Stores removed channels for a while; implements the hook `channel.bin`. */
export interface ChannelBin {
  isOn(): boolean
  /** Records the belongings of the channel and of its videos, after their files were moved to the trash. */
  hold(trashId: string, channelId: string): Promise<void>
  /** Adds the channel to the bin, after it was deleted from the index. */
  keep(trashId: string, channelId: string, removal: string, by: number | undefined): Promise<void>
  /** After a failed removal, restores data that was already deleted from the index, before the files are moved back. */
  takeBack(trashId: string, channelId: string): Promise<void>
}

/** Its locks are by channel id: work on a channel waits for other work on the same channel. */
interface Channels extends Locks {
  readonly collection: Collection<ChannelDoc, ChannelName>
  /**
   * The names of channels, whatever the view of the account: an account that sees a video may see the name of its
   * channel. Callers pass only channels of such videos.
   */
  names(ids: readonly string[]): Promise<Map<string, string>>
  get(id: string): Promise<ChannelDoc | undefined>
  /** Writes the platform's data: a new document, or metadata and pictures of an existing one. */
  record(metadata: ChannelMetadata, options?: { signal?: AbortSignal | undefined }): Promise<ChannelDoc>
  /** Writes a channel with only its name. It counts as never refreshed, so the next refresh requests its data. */
  recordName(id: string, name: string, isActive?: boolean): Promise<ChannelDoc>
  /**
   * Returns the channel. If it is not archived, it is fetched from the platform with its pictures, and indexed.
   * @param idOrHandle  a channel's id, or a handle as in `platform.targets`
   * @param asked.name  with an id: if the platform returns no data, the channel is stored with this name instead of
   * failing
   * @throws errors of the platform
   */
  ensure(idOrHandle: string, asked: AskOptions & { name?: string }): Promise<ChannelDoc>
  /**
   * The channel id for a text entered by a person, whether the channel is archived or not.
   * @returns undefined: the platform knows no such channel
   * @throws bad_request: the text identifies no channel; unavailable: the platform cannot be asked now; throttled: the
   * account asks too often
   */
  resolve(text: string, asked: AskOptions): Promise<string | undefined>
  find(options: ChannelQuery, actor?: Pick<Actor, 'view'>): Promise<{ texts: string[]; total: number }>
  /**
   * @param actor  the account that requests it; omitted: the server itself
   * @returns undefined: there is no such group, or the actor sees only a part of the archive, and therefore no groups
   */
  group(id: number, actor?: Pick<Actor, 'view'>): Group | undefined
  /** The record of contract 5.2: the stored text, its page on the platform, and its rank. */
  reply(text: string, score?: number): string
  known(ids: readonly string[]): Promise<Set<string>>
  /** @param idOrHandle  handles are searched among those of archived channels and recently resolved ones */
  isOurs(idOrHandle: string): Promise<boolean>
  /** The stored text of the channel, for a video's record. */
  text(id: string): Promise<string | undefined>
  texts(ids: readonly string[]): Promise<Map<string, string>>
  /**
   * Like `texts`, but a channel that is missing, or hidden from the account, is included with only its name, because a
   * video's record always has a complete channel.
   */
  textsFor(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The id of a handle that was resolved before, without asking the platform. */
  remembered(handle: string): string | undefined
  /** Writes the platform's current metadata and pictures. @returns false: the channel is not archived */
  refreshWith(metadata: ChannelMetadata, options?: { signal?: AbortSignal | undefined }): Promise<boolean>
  /** @throws not_found */
  change(id: string, change: ChannelChangeValues): Promise<void>
  /** Records whether the platform still has the channels. @returns how many of them are archived */
  setActive(ids: readonly string[], isActive: boolean): Promise<number>
  /** Channels that overwrite this preference. */
  withOverwrite<Key extends OverwriteKey>(
    key: Key,
  ): Promise<Array<{ id: string; value: NonNullable<ChannelOverwrites[Key]> }>>
  /**
   * Removes the channel, its videos and the data of other plugins about it, files first.
   * @throws not_found; unavailable: a file cannot be moved, and nothing was removed
   */
  remove(id: string, by?: number): Promise<string>
  /** The last part of a removal: pictures, handles, document. */
  drop(id: string, options?: { isArtKept?: boolean }): Promise<void>
  /** Collects all belongings of the channel itself, for the bin; undefined: it is not archived. */
  collect(id: string): Promise<ChannelBelongings | undefined>
  /**
   * Checks belongings that were read from a file of the bin. @throws unprocessable: the file is damaged, or about
   * another channel
   */
  checkBelongings(id: string, told: unknown): ChannelBelongings
  /** Restores the channel; an existing channel is unchanged. May be repeated. */
  giveBack(id: string, stored: ChannelBelongings): Promise<void>
  removeArt(id: string): Promise<void>
}

export function openChannels(app: App): Channels {
  const collection = app.index.collection(channelIndex)
  const handles = openHandles(app)
  const indexName = `${app.settings.prefix}_channel`
  const fetching = new Map<string, Promise<ChannelDoc>>()
  const locks = openLocks()

  function names(ids: readonly string[]): Promise<Map<string, string>> {
    return beyondView(async () => {
      const texts = await collection.getTexts(ids)
      return new Map([...texts].map(([id, text]) => [id, textUnder(text, 'channel_name' satisfies keyof ChannelDoc)!]))
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
      await noteHandle(metadata)
    }
    return existing(metadata.id)
  }

  async function noteHandle({ id, handle }: ChannelMetadata): Promise<void> {
    if (handle === undefined) return
    await handles.forgetFormer(id, handle)
    await handles.remember(handle, id, true)
  }

  async function recordName(id: string, name: string, isActive = true): Promise<ChannelDoc> {
    const known = await get(id)
    if (known) return known
    await add(toWholeFields(byName(id, name), 0), isActive)
    return existing(id)
  }

  /** Finds channels with these ids, and channels with the text in their name. */
  async function findBoth(ids: string[], { filter, text, ...page }: FindQuery<ChannelName>): Promise<Found> {
    const named = await collection.find({ text, size: MATCH_LIMIT, withoutTotal: true, withoutTexts: true })
    const either: Filter<ChannelName> = {
      in: ['channel_id', [...new Set([...ids, ...named.hits.map((hit) => hit.id)])]],
    }
    return collection.find({ filter: filter ? { and: [filter, either] } : either, ...page })
  }

  function group(id: number, actor?: Pick<Actor, 'view'>): Group | undefined {
    if (actor?.view) return undefined
    for (const ask of app.hook('channel.group')) {
      const found = ask(id)
      if (!found) continue
      const idsOf = (kind: 'channel' | 'playlist') =>
        found.members.filter((one) => one.kind === kind).map((one) => one.id)
      return { name: found.name, channels: idsOf('channel'), playlists: idsOf('playlist') }
    }
    return undefined
  }

  function reply(text: string, score = 0): string {
    const original = app.platform.original('channel', textUnder(text, 'channel_id') ?? '')
    return withKeys(text, Object.assign({}, original, { _index: indexName, _score: roundScore(score) }))
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

  /** @returns false: another request has added the channel meanwhile */
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
    // Uses a patch instead of a put, because people may change their fields at the same time.
    const isThere = await collection.patch(
      metadata.id,
      { set: { ...toFields(metadata, epochSeconds(app.clock), art), channel_active: true } },
      { visible: true },
    )
    if (isThere) await noteHandle(metadata)
    if (isThere) await app.emit('channel.renewed', { id: metadata.id })
    return isThere
  }

  /** Replaces a damaged document, which cannot be patched. */
  async function replaceDamaged(metadata: ChannelMetadata): Promise<boolean> {
    if (!(await collection.known([metadata.id])).has(metadata.id)) return false
    return add(toWholeFields(metadata, epochSeconds(app.clock)), true)
  }

  async function removeArt(id: string): Promise<void> {
    for (const picture of PICTURES) await app.media.removeArt(`channel_${picture}`, id)
  }

  async function fetchNew(idOrHandle: string, asked: AskOptions & { name?: string }): Promise<ChannelDoc> {
    try {
      const metadata = await app.platform.channel(idOrHandle, asked)
      return await record(metadata, asked)
    } catch (thrown) {
      const failure = app.platform.failureOf(thrown)
      if (!failure || asked.name === undefined) throw thrown
      app.log.warn(
        { channelId: idOrHandle, failure: failure.failure },
        'the channel cannot be read now; only its name is stored',
      )
      return recordName(idOrHandle, asked.name, !app.platform.failures[failure.failure].deactivates)
    }
  }

  async function askForHandle(handle: string, asked: AskOptions): Promise<string | null> {
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

  /** The ids for `q` that are known without asking the platform. */
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

    group,

    async find({ subscribed, group: groupId, q, from, size }, actor) {
      const filters: Array<Filter<ChannelName>> = []
      if (subscribed !== undefined) filters.push({ eq: ['channel_subscribed', subscribed] })
      if (groupId !== undefined) filters.push({ in: ['channel_id', group(groupId, actor)?.channels ?? []] })
      const filter = filters.length > 1 ? { and: filters } : filters[0]
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
      if (!isThere) await removeArt(metadata.id) // the channel was removed meanwhile
      return isThere
    },

    async change(id, change) {
      const set = {
        ...(change.channel_subscribed !== undefined && { channel_subscribed: change.channel_subscribed }),
        ...(change.channel_overwrites !== undefined && { channel_overwrites: change.channel_overwrites }),
      }
      if (change.channel_subscribed === false) for (const prepare of app.hook('channel.unsubscribe')) await prepare(id)
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

    async remove(id, by) {
      await existing(id)
      const removal = randomUUID()
      await app.jobs.run(removeChannel, { channelId: id, removal, ...(by !== undefined && { by }) })
      return removal
    },

    removeArt,
    ...openChannelBelongings(app, collection, handles),

    async drop(id, { isArtKept = false } = {}) {
      if (!isArtKept) await removeArt(id)
      await handles.forget(id)
      await app.accounts.dropFromViews('channel', id)
      await collection.remove(id, { visible: true })
    },
  }
}

/** The platform's values for a patch; values that it does not give stay unchanged. @param art  the stored URLs */
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
    /** Emitted when name, description and pictures of a channel were updated from the platform. */
    'channel.renewed': { id: string }
  }
  interface Hooks {
    /** Asked before the subscription to a channel ends: withdraws what has been requested for it. */
    'channel.unsubscribe': (channelId: string) => Promise<void>
    /**
     * Asked during the removal of a channel, after its files: removes other data about it. Every step may be repeated.
     */
    'channel.remove': (channelId: string, step: Step) => Promise<void>
    /**
     * Asked when a channel is moved to the bin, and when it is restored: collects or restores the plugin's own data
     * about it.
     */
    'channel.belongings': OwnChannelBelongings
    /** Asked during the removal of a channel: stores the channel, so that it can be restored. */
    'channel.bin': ChannelBin
    /** Asked for the name and members of a group of channels and playlists; undefined: there is no such group. */
    'channel.group': (
      id: number,
    ) => { name: string; members: ReadonlyArray<{ kind: 'channel' | 'playlist'; id: string }> } | undefined
  }
}

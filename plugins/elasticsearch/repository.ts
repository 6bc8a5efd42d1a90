/** Snapshots by the server itself, in a folder that all its nodes see; restored beside, looked at, and swapped. */
import { setTimeout as realTime } from 'node:timers/promises'
import type { estypes } from '@elastic/elasticsearch'
import type { IndexDefinition, RestoreOptions, RestoreResult, SnapshotRecord, StepOptions } from 'archivolt'
import { errors, type Log, say } from 'archivolt'
import { type IndexAdapter, restoreAll, type Snapshots, type StoredCollection, wholeSnapshot } from 'archivolt/index'
import type { ElasticConnection } from './connection.ts'
import { decode, type Stored } from './encode.ts'
import { ElasticError } from './fault.ts'
import { EVERYTHING } from './filter.ts'
import { metaIn } from './layout.ts'
import { pages } from './scan.ts'
import type { Store } from './store.ts'

/** What the server allows, less its own words such as `_all`. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,127}$/
/** Elasticsearch names a number of its own, or a range of releases, where several have the same form of index. */
const RELEASE = /\d{1,4}\.\d{1,4}\.\d{1,4}/
const LOOK_EVERY_MS = 250
const MOST_ATTEMPTS = 3
const BATCH = 500
const UNSET =
  'There is no place for snapshots of Elasticsearch: set AV_ELASTICSEARCH_REPOSITORY to a folder that path.repo of all its nodes names'

/** Where parts of a snapshot lie for a while. No collection's name begins with a digit. */
const besideOf = (prefix: string): string => `${prefix}_0restore_`

/** Of the indexes whose health counts: not what a restore has beside, which can be made again. */
export const lastingNames = (prefix: string): string => `${prefix}_*,-${besideOf(prefix)}*`

interface RepositoryParts {
  connection: ElasticConnection
  store: Store
  definitions: readonly IndexDefinition[]
  prefix: string
  /** The folder, as the cluster sees it. null: none, no snapshots. */
  folder: string | null
  log: Log
}

interface Part {
  collection: string
  /** Its index in the snapshot. */
  inside: string
  /** Where it is restored to. */
  index: string
}

interface Repository {
  readonly folder: string | null
  list(): Promise<SnapshotRecord[]>
  get(name: string): Promise<SnapshotRecord | undefined>
  take(name: string, options: StepOptions): Promise<void>
  remove(name: string): Promise<void>
  restore(
    index: Pick<IndexAdapter, 'definitions' | 'replaceAll'>,
    name: string,
    options: RestoreOptions,
  ): Promise<RestoreResult>
  /** Single documents of a snapshot, by id; what is damaged there too is left out. */
  read(name: string, collection: string, ids: readonly string[]): Promise<Map<string, Record<string, unknown>>>
  /** What an interrupted restore has left. */
  clean(): Promise<void>
}

class FolderRepository implements Repository {
  readonly #connection: ElasticConnection
  readonly #store: Store
  readonly #definitions: RepositoryParts['definitions']
  readonly #prefix: string
  readonly folder: string | null
  readonly #log: Log
  readonly #repository: string
  readonly #beside: string
  #registered: Promise<unknown> | undefined

  constructor({ connection, store, definitions, prefix, folder, log }: RepositoryParts) {
    this.#connection = connection
    this.#store = store
    this.#definitions = definitions
    this.#prefix = prefix
    this.folder = folder
    this.#log = log
    this.#repository = `${prefix}_snapshots`
    this.#beside = besideOf(prefix)
  }

  async get(name: string): Promise<SnapshotRecord | undefined> {
    const [found] = NAME.test(name) ? await this.#find(name) : []
    return found && toRecord(found)
  }

  async clean(): Promise<void> {
    const found = await this.#connection.run((client) =>
      client.indices.get({
        index: `${this.#beside}*`,
        features: ['aliases'],
        allow_no_indices: true,
        expand_wildcards: 'all',
      }),
    )
    await this.#store.remove(Object.keys(found))
  }

  async list(): Promise<SnapshotRecord[]> {
    return (await this.#find('*'))
      .filter((given) => this.#isOurs(given))
      .map(toRecord)
      .sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
  }

  async take(name: string, { signal, progress }: StepOptions): Promise<void> {
    await this.#ready()
    signal?.throwIfAborted()
    const indices = this.#definitions.map((definition) => this.#store.alias(definition.name))
    await this.#connection.run(async (client) => {
      try {
        await client.snapshot.create({
          repository: this.#repository,
          snapshot: name,
          indices,
          include_global_state: false,
          feature_states: ['none'],
          partial: false,
          wait_for_completion: false,
        })
      } catch (error) {
        // Asked a second time, after the way to the server broke.
        if (!isTaken(error)) throw error
      }
    })
    for (;;) {
      const state = (await this.get(name))?.state
      if (state !== 'IN_PROGRESS') {
        if (state === 'SUCCESS') return
        // What cannot be finished, the server forgets.
        throw errors.unavailable(
          state
            ? say`The snapshot has ended as ${{ state }}: see the log of Elasticsearch`
            : say`Elasticsearch could not write the snapshot to ${{ folder: String(this.folder) }}: see its log`,
        )
      }
      if (signal?.aborted) {
        await this.#connection.run((client) =>
          client.snapshot.delete({ repository: this.#repository, snapshot: name }, { ignore: [404] }),
        )
        throw signal.reason
      }
      if (progress) await this.#tellProgress(name, progress)
      await realTime(LOOK_EVERY_MS)
    }
  }

  async remove(name: string): Promise<void> {
    await this.#ready()
    await this.#connection.run((client) =>
      client.snapshot.delete({ repository: this.#repository, snapshot: name }, { ignore: [404] }),
    )
  }

  async restore(
    index: Pick<IndexAdapter, 'definitions' | 'replaceAll'>,
    name: string,
    options: RestoreOptions,
  ): Promise<RestoreResult> {
    const [found] = NAME.test(name) ? await this.#find(name) : []
    if (!found) throw errors.notFound('snapshot', name)
    const parts = this.#definitions.flatMap(({ name: collection }) => this.#partOf(found, collection) ?? [])
    if (parts.length === 0)
      throw errors.unprocessable(
        say`The snapshot holds nothing of this archive: its indexes would begin with ${{ prefix: this.#prefix }}_`,
      )
    return this.#whileBeside(name, parts, options.signal, async () => {
      const stored: Record<string, StoredCollection> = {}
      for (const { collection, index: restored } of parts)
        stored[collection] = await this.#storedIn(restored, options.signal)
      return restoreAll(index, stored, options)
    })
  }

  async read(name: string, collection: string, ids: readonly string[]): Promise<Map<string, Record<string, unknown>>> {
    const [found] = NAME.test(name) ? await this.#find(name) : []
    const part = found && this.#partOf(found, collection)
    if (!part) return new Map()
    return this.#whileBeside(name, [part], undefined, async () => {
      const { docs } = await this.#connection.run((client) => client.mget<Stored>({ index: part.index, ids: [...ids] }))
      return new Map(
        docs.flatMap((doc): Array<[string, Record<string, unknown>]> => {
          const read = 'found' in doc && doc._source && decode(doc._source)
          return read ? [[doc._id, read]] : []
        }),
      )
    })
  }

  /** Where a collection lies in a snapshot, and where it is restored to. */
  #partOf({ indices = [] }: estypes.SnapshotSnapshotInfo, collection: string): Part | undefined {
    const start = `${this.#store.alias(collection)}_v`
    const inside = indices.find((each) => each.startsWith(start) && /^\d+$/.test(each.slice(start.length)))
    return inside === undefined ? undefined : { collection, inside, index: `${this.#beside}${inside}` }
  }

  /** While parts of a snapshot lie beside the collections. */
  async #whileBeside<Result>(
    snapshot: string,
    parts: readonly Part[],
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      await this.#restoreBeside(snapshot, parts, signal)
      return await work()
    } finally {
      await this.clean().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'what a restore has left is removed at the next start'),
      )
    }
  }

  /** A server that went down meanwhile has forgotten that it was restoring: its half-made indexes never come to be. */
  async #restoreBeside(snapshot: string, parts: readonly Part[], signal: AbortSignal | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await this.#connection.run(async (client) => {
        // Inside, since this is sent again where the server went down before it answered, and the indexes are there then.
        await this.clean()
        await client.snapshot.restore({
          ...{
            repository: this.#repository,
            snapshot,
            indices: parts.map(({ inside }) => inside).join(','),
            include_global_state: false,
            include_aliases: false,
            wait_for_completion: false,
          },
          ...{ rename_pattern: '(.+)', rename_replacement: `${this.#beside}$1` },
          index_settings: { 'index.auto_expand_replicas': false, 'index.number_of_replicas': 0 },
        })
      })
      if (await this.#areThere(parts, signal)) return
      if (attempt === MOST_ATTEMPTS)
        throw errors.unavailable('Elasticsearch went down again and again while it restored the snapshot: see its log')
      this.#log.warn({ snapshot }, 'Elasticsearch went down while it restored a snapshot; it is restored once more')
    }
  }

  /** The server forgets nothing, but the folder may have been named anew since. */
  async #ready(): Promise<string> {
    const { folder } = this
    if (folder === null) throw errors.conflict(UNSET)
    this.#registered ??= this.#connection.run((client) =>
      client.snapshot.createRepository({
        name: this.#repository,
        repository: { type: 'fs', settings: { location: folder, compress: true } },
      }),
    )
    await this.#registered.catch((error: unknown) => {
      this.#registered = undefined
      if (!(error instanceof ElasticError)) throw error
      throw errors.unavailable(
        say`Elasticsearch cannot use ${{ folder }} for snapshots: name it in path.repo of all its nodes, and let them write there`,
        { cause: error },
      )
    })
    return this.#repository
  }

  async #find(name: string): Promise<estypes.SnapshotSnapshotInfo[]> {
    if (this.folder === null) return []
    await this.#ready()
    try {
      const { snapshots = [] } = await this.#connection.run((client) =>
        client.snapshot.get({ repository: this.#repository, snapshot: name, ignore_unavailable: true }),
      )
      return snapshots
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  /** Others may keep theirs in the same folder. */
  #isOurs({ snapshot, indices = [] }: estypes.SnapshotSnapshotInfo): boolean {
    return indices.some((index) => index.startsWith(`${this.#prefix}_`)) || snapshot.startsWith(`${this.#prefix}_`)
  }

  async #tellProgress(name: string, progress: NonNullable<StepOptions['progress']>): Promise<void> {
    const { snapshots } = await this.#connection.run((client) =>
      client.snapshot.status({ repository: this.#repository, snapshot: name, ignore_unavailable: true }),
    )
    const { incremental, processed } = (snapshots[0]?.stats ?? {}) as Partial<
      Record<'incremental' | 'processed', estypes.SnapshotFileCountSnapshotStats>
    >
    if (incremental)
      progress(Math.min(processed?.size_in_bytes ?? 0, incremental.size_in_bytes), incremental.size_in_bytes)
  }

  /** @returns false: what is missing will never be there */
  async #areThere(parts: readonly Part[], signal: AbortSignal | undefined): Promise<boolean> {
    for (;;) {
      signal?.throwIfAborted()
      // Without copies it is green when it is there; while it is being restored the server calls it yellow.
      const health = await this.#connection.run((client) =>
        client.cluster.health(
          { index: parts.map(({ index }) => index).join(','), wait_for_status: 'green', timeout: '10s' },
          { ignore: [408] },
        ),
      )
      if (!health.timed_out) return true
      if (health.initializing_shards === 0 && health.status === 'red') return false
    }
  }

  async #storedIn(index: string, signal: AbortSignal | undefined): Promise<StoredCollection> {
    const found = await this.#connection.run((client) => client.indices.getMapping({ index }))
    const meta = metaIn(found[index]?.mappings._meta)
    if (!meta)
      throw errors.unprocessable(
        say`The snapshot's ${{ name: index.slice(this.#beside.length) }} is not of this program's making`,
      )
    const { count } = await this.#connection.run((client) => client.count({ index }))
    return {
      form: String(meta.shape.rest['form'] ?? ''),
      count,
      batches: () => this.#batchesIn(index, signal),
    }
  }

  async *#batchesIn(index: string, signal: AbortSignal | undefined): AsyncGenerator<[string, string, string | null][]> {
    for await (const hits of pages(this.#connection, { index, query: EVERYTHING, batch: BATCH, signal })) {
      yield hits.map(({ _id: id, _source: source }): [string, string, string | null] => [
        id!,
        source?.text ?? '',
        source?.internal ?? null,
      ])
    }
  }
}

export function openRepository(parts: RepositoryParts): Repository {
  return new FolderRepository(parts)
}

/** @param index  behind the write barrier, so that a restore shuts it */
export function openElasticSnapshots(
  repository: Repository,
  index: Pick<IndexAdapter, 'snapshotTo' | 'restoreFrom' | 'readFrom'>,
): Snapshots {
  let isTaking = false
  return {
    ...(repository.folder === null && { off: UNSET }),
    list: () => repository.list(),
    get: (id) => repository.get(id),
    async take(id, options) {
      if (isTaking) throw errors.conflict('A snapshot is being taken; try again when it has ended')
      isTaking = true
      try {
        await index.snapshotTo(id, options)
      } finally {
        isTaking = false
      }
    },
    async remove(id) {
      const record = await repository.get(id)
      if (!record) throw errors.notFound('snapshot', id)
      if (record.state === 'IN_PROGRESS')
        throw errors.conflict('The snapshot is being taken; try again when it has ended')
      await repository.remove(id)
    },
    async read(id, collection, ids) {
      await wholeSnapshot(repository, id)
      return (await index.readFrom?.(id, collection, ids)) ?? new Map()
    },
    async restore(id, options) {
      await wholeSnapshot(repository, id)
      return index.restoreFrom(id, options)
    },
  }
}

function toRecord(info: estypes.SnapshotSnapshotInfo): SnapshotRecord {
  const state =
    info.state === 'SUCCESS' || info.state === 'PARTIAL' || info.state === 'IN_PROGRESS' ? info.state : 'FAILED'
  return {
    id: info.snapshot,
    state,
    version: RELEASE.exec(info.version ?? '')?.[0] ?? '',
    startedAt: Number(info.start_time_in_millis ?? 0),
    endedAt: state === 'IN_PROGRESS' ? 0 : Number(info.end_time_in_millis ?? 0),
  }
}

const isMissing = (error: unknown): boolean => error instanceof ElasticError && error.statusCode === 404
const isTaken = (error: unknown): boolean =>
  /already|in[- ]progress|in_progress|same name/i.test(
    (error as { meta?: { body?: { error?: { reason?: string } } } }).meta?.body?.error?.reason ?? '',
  )

/**
 * Snapshots taken by the server itself, in a folder that all its nodes can access. A restore creates indexes under
 * other names, checks them, and swaps them in.
 */
import { setTimeout as realTime } from 'node:timers/promises'
import type { estypes } from '@elastic/elasticsearch'
import type { IndexDefinition, RestoreOptions, RestoreResult, SnapshotRecord, StepOptions } from 'archivolt'
import { errors, type Log, say, snapshotRuns, wholeSnapshot } from 'archivolt'
import { type IndexAdapter, restoreAll, type Snapshots, type StoredCollection } from 'archivolt/index'
import type { ElasticConnection } from './connection.ts'
import { decode } from './encode.ts'
import { ElasticError } from './fault.ts'
import { EVERYTHING } from './filter.ts'
import { metaIn } from './layout.ts'
import { readAll } from './points.ts'
import { pages } from './scan.ts'
import type { Store } from './store.ts'

/** Names that the server accepts, without its reserved ones such as `_all`. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,127}$/
/**
 * If several releases have the same index format, Elasticsearch reports a number of its own or a range of releases
 * instead of a version.
 */
const RELEASE = /\d{1,4}\.\d{1,4}\.\d{1,4}/
const POLL_EVERY_MS = 250
const MOST_ATTEMPTS = 3
const BATCH = 500
const UNSET =
  'Snapshots of Elasticsearch need a folder: set AV_ELASTICSEARCH_REPOSITORY to a folder in path.repo of all its nodes'

/** The prefix of temporarily restored indexes. No collection's name begins with a digit. */
const temporaryPrefix = (prefix: string): string => `${prefix}_0restore_`

/** A pattern for the indexes whose health counts, without temporary ones, which can be recreated. */
export const lastingNames = (prefix: string): string => `${prefix}_*,-${temporaryPrefix(prefix)}*`

interface RepositoryParts {
  connection: ElasticConnection
  store: Store
  definitions: readonly IndexDefinition[]
  prefix: string
  /** The folder, as the cluster sees it; null: no folder, so no snapshots. */
  folder: string | null
  log: Log
}

interface Part {
  collection: string
  /** The collection's index in the snapshot. */
  inside: string
  /** The name under which it is restored. */
  index: string
}

type Repository = ReturnType<typeof openRepository>

export function openRepository({ connection, store, definitions, prefix, folder, log }: RepositoryParts) {
  const repository = `${prefix}_snapshots`
  const beside = temporaryPrefix(prefix)
  let registered: Promise<unknown> | undefined

  async function get(name: string): Promise<SnapshotRecord | undefined> {
    const [found] = NAME.test(name) ? await find(name) : []
    return found && toRecord(found)
  }

  /** Removes the leftovers of an interrupted restore. */
  async function clean(): Promise<void> {
    const found = await connection.run((client) =>
      client.indices.get({
        index: `${beside}*`,
        features: ['aliases'],
        allow_no_indices: true,
        expand_wildcards: 'all',
      }),
    )
    await store.remove(Object.keys(found))
  }

  /** A collection's index in a snapshot, and the name under which it is restored. */
  function partOf({ indices = [] }: estypes.SnapshotSnapshotInfo, collection: string): Part | undefined {
    const start = `${store.alias(collection)}_v`
    const inside = indices.find((each) => each.startsWith(start) && /^\d+$/.test(each.slice(start.length)))
    return inside === undefined ? undefined : { collection, inside, index: `${beside}${inside}` }
  }

  /** Restores indexes temporarily, works with them, and removes them. */
  async function withTemporary<Result>(
    snapshot: string,
    parts: readonly Part[],
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      await restoreTemporarily(snapshot, parts, signal)
      return await work()
    } finally {
      await clean().catch((error: unknown) =>
        log.warn({ err: error }, 'leftovers of a restore will be removed at the next start'),
      )
    }
  }

  /**
   * Restores indexes under temporary names. It starts again if the server went down meanwhile, because the server has
   * then forgotten the restore and the unfinished indexes never become complete.
   */
  async function restoreTemporarily(
    snapshot: string,
    parts: readonly Part[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await connection.run(async (client) => {
        // Cleaned within each attempt: if the server went down before its reply, the request is repeated although the
        // indexes exist.
        await clean()
        await client.snapshot.restore({
          ...{
            repository,
            snapshot,
            indices: parts.map(({ inside }) => inside).join(','),
            include_global_state: false,
            include_aliases: false,
            wait_for_completion: false,
          },
          ...{ rename_pattern: '(.+)', rename_replacement: `${beside}$1` },
          index_settings: { 'index.auto_expand_replicas': false, 'index.number_of_replicas': 0 },
        })
      })
      if (await areThere(parts, signal)) return
      if (attempt === MOST_ATTEMPTS)
        throw errors.unavailable('Elasticsearch went down repeatedly while it restored the snapshot: see its log')
      log.warn({ snapshot }, 'Elasticsearch went down while it restored a snapshot; the restore is repeated')
    }
  }

  /** Registers the folder in each process: the server still knows it, but the setting may have changed since. */
  async function ready(): Promise<string> {
    if (folder === null) throw errors.conflict(UNSET)
    registered ??= connection.run((client) =>
      client.snapshot.createRepository({
        name: repository,
        repository: { type: 'fs', settings: { location: folder, compress: true } },
      }),
    )
    await registered.catch((error: unknown) => {
      registered = undefined
      if (!(error instanceof ElasticError)) throw error
      throw errors.unavailable(
        say`Elasticsearch cannot use ${{ folder }} for snapshots: add it to path.repo of all its nodes, and make it writable for them`,
        { cause: error },
      )
    })
    return repository
  }

  async function find(name: string): Promise<estypes.SnapshotSnapshotInfo[]> {
    if (folder === null) return []
    await ready()
    try {
      const { snapshots = [] } = await connection.run((client) =>
        client.snapshot.get({ repository, snapshot: name, ignore_unavailable: true }),
      )
      return snapshots
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  /** Whether the snapshot is ours: other programs may store theirs in the same folder. */
  function isOurs({ snapshot, indices = [] }: estypes.SnapshotSnapshotInfo): boolean {
    return indices.some((index) => index.startsWith(`${prefix}_`)) || snapshot.startsWith(`${prefix}_`)
  }

  async function tellProgress(name: string, progress: NonNullable<StepOptions['progress']>): Promise<void> {
    const { snapshots } = await connection.run((client) =>
      client.snapshot.status({ repository, snapshot: name, ignore_unavailable: true }),
    )
    const { incremental, processed } = (snapshots[0]?.stats ?? {}) as Partial<
      Record<'incremental' | 'processed', estypes.SnapshotFileCountSnapshotStats>
    >
    if (incremental)
      progress(Math.min(processed?.size_in_bytes ?? 0, incremental.size_in_bytes), incremental.size_in_bytes)
  }

  /** @returns false: the missing parts will never arrive */
  async function areThere(parts: readonly Part[], signal: AbortSignal | undefined): Promise<boolean> {
    for (;;) {
      signal?.throwIfAborted()
      // Without replicas, an index is green when it is complete, and yellow while it is being restored.
      const health = await connection.run((client) =>
        client.cluster.health(
          { index: parts.map(({ index }) => index).join(','), wait_for_status: 'green', timeout: '10s' },
          { ignore: [408] },
        ),
      )
      if (!health.timed_out) return true
      if (health.initializing_shards === 0 && health.status === 'red') return false
    }
  }

  async function storedIn(index: string, signal: AbortSignal | undefined): Promise<StoredCollection> {
    const found = await connection.run((client) => client.indices.getMapping({ index }))
    const meta = metaIn(found[index]?.mappings._meta)
    if (!meta)
      throw errors.unprocessable(
        say`The snapshot's ${{ name: index.slice(beside.length) }} was not made by this program`,
      )
    const { count } = await connection.run((client) => client.count({ index }))
    return {
      form: String(meta.shape.rest['form'] ?? ''),
      count,
      batches: () => batchesIn(index, signal),
    }
  }

  async function* batchesIn(
    index: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<[string, string, string | null][]> {
    for await (const hits of pages(connection, { index, query: EVERYTHING, batch: BATCH, signal })) {
      yield hits.map(({ _id: id, _source: source }): [string, string, string | null] => [
        id!,
        source?.text ?? '',
        source?.internal ?? null,
      ])
    }
  }

  return {
    folder,
    get,
    clean,

    list: async (): Promise<SnapshotRecord[]> =>
      (await find('*'))
        .filter((given) => isOurs(given))
        .map(toRecord)
        .sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1)),

    async take(name: string, { signal, progress }: StepOptions): Promise<void> {
      await ready()
      signal?.throwIfAborted()
      const indices = definitions.map((definition) => store.alias(definition.name))
      await connection.run(async (client) => {
        try {
          await client.snapshot.create({
            repository,
            snapshot: name,
            indices,
            include_global_state: false,
            feature_states: ['none'],
            partial: false,
            wait_for_completion: false,
          })
        } catch (error) {
          // The request was repeated after the connection broke, and the first one had succeeded.
          if (!isTaken(error)) throw error
        }
      })
      for (;;) {
        const state = (await get(name))?.state
        if (state !== 'IN_PROGRESS') {
          if (state === 'SUCCESS') return
          // The server deletes a snapshot that it cannot finish.
          throw errors.unavailable(
            state
              ? say`The snapshot has ended as ${{ state }}: see the log of Elasticsearch`
              : say`Elasticsearch could not write the snapshot to ${{ folder: String(folder) }}: see its log`,
          )
        }
        if (signal?.aborted) {
          await connection.run((client) => client.snapshot.delete({ repository, snapshot: name }, { ignore: [404] }))
          throw signal.reason
        }
        if (progress) await tellProgress(name, progress)
        await realTime(POLL_EVERY_MS)
      }
    },

    async remove(name: string): Promise<void> {
      await ready()
      await connection.run((client) => client.snapshot.delete({ repository, snapshot: name }, { ignore: [404] }))
    },

    async restore(
      index: Pick<IndexAdapter, 'definitions' | 'replaceAll'>,
      name: string,
      options: RestoreOptions,
    ): Promise<RestoreResult> {
      const [found] = NAME.test(name) ? await find(name) : []
      if (!found) throw errors.notFound('snapshot', name)
      const parts = definitions.flatMap(({ name: collection }) => partOf(found, collection) ?? [])
      if (parts.length === 0)
        throw errors.unprocessable(
          say`The snapshot has no index of this archive, whose names begin with ${{ prefix }}_`,
        )
      return withTemporary(name, parts, options.signal, async () => {
        const stored: Record<string, StoredCollection> = {}
        for (const { collection, index: restored } of parts)
          stored[collection] = await storedIn(restored, options.signal)
        return restoreAll(index, stored, options)
      })
    },

    /** Single documents of a snapshot, by id; damaged ones are left out. */
    async read(
      name: string,
      collection: string,
      ids: readonly string[],
    ): Promise<Map<string, Record<string, unknown>>> {
      const [found] = NAME.test(name) ? await find(name) : []
      const part = found && partOf(found, collection)
      if (!part) return new Map()
      return withTemporary(name, [part], undefined, async () => {
        const docs = await readAll({ connection, index: part.index }, ids)
        return new Map(
          docs.flatMap(({ _id: id, _source: source }): Array<[string, Record<string, unknown>]> => {
            const read = source && decode(source)
            return read ? [[id, read]] : []
          }),
        )
      })
    },
  }
}

/** @param index  the index behind the write barrier, so that a restore closes the barrier */
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
      if (isTaking) throw snapshotRuns()
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
      if (record.state === 'IN_PROGRESS') throw snapshotRuns()
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

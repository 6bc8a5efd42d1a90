/**
 * Opens the index on Elasticsearch: waits for the server, migrates the collections, and replaces all of them at once.
 */
import { randomUUID } from 'node:crypto'
import type { Clock, IndexDefinition, Log, ReplaceWrite } from 'archivolt'
import {
  definitionData,
  type IndexAdapter,
  migrate,
  type OnGarbled,
  openCollections,
  type Snapshots,
  undeclaredIndex,
  waitAtBarrier,
} from 'archivolt/index'
import { putAll } from './bulk.ts'
import { openCollection } from './collection.ts'
import type { ElasticConnection } from './connection.ts'
import { openGeneration } from './generation.ts'
import { type Layout, layoutOf } from './layout.ts'
import { leftoverOf } from './leftover.ts'
import { underLock } from './lock.ts'
import { migrationOf } from './migration.ts'
import { openElasticSnapshots, openRepository } from './repository.ts'
import { openStore } from './store.ts'

export interface ElasticIndexOptions {
  /** The connection, which is closed with the index. */
  connection: ElasticConnection
  definitions: readonly IndexDefinition[]
  log: Log
  clock: Clock
  /** The prefix of the names of all indexes and aliases. */
  prefix: string
  /** Identifies this server among those on one cluster; unchanged after a restart. */
  owner?: string
  /** Aborts the wait for an offline server at the start. */
  signal?: AbortSignal | undefined
  /** Folder for snapshots, as the cluster sees it. */
  repository?: string | null | undefined
  onGarbled?: OnGarbled | undefined
  /** Called with the collections that are missing on the server, and awaited before they are created. */
  onMissing?: (collections: string[]) => Promise<void>
  /** Called once before the first collection is rebuilt, with a function that takes a snapshot of the present data. */
  beforeRebuild?: (snapshotTo: IndexAdapter['snapshotTo']) => Promise<void>
}

export interface ElasticIndex extends IndexAdapter {
  /** @param guarded  this index behind its write barrier */
  openSnapshots(guarded: IndexAdapter): Promise<Snapshots>
}

/**
 * Opens the index; waits without limit for an offline server, even during a migration.
 * @throws StartError, or the error of `reform`; the next opening completes an interrupted one
 */
export async function openElasticIndex(options: ElasticIndexOptions): Promise<ElasticIndex> {
  const {
    connection,
    definitions,
    log,
    clock,
    prefix,
    owner = randomUUID(),
    signal = new AbortController().signal,
  } = options
  const layouts = new Map(
    definitions.map((definition): [string, Layout] => [definition.name, layoutOf(definitionData(definition))]),
  )
  const store = openStore(connection, prefix)
  const repository = openRepository({ connection, store, definitions, prefix, folder: options.repository ?? null, log })
  const lock = { connection, clock, log, index: lockIndex(prefix), owner }
  const snapshotTo: IndexAdapter['snapshotTo'] = (name, step = {}) => repository.take(name, step)
  const { version } = await connection.begin(signal)

  await waitAtBarrier(signal, () =>
    underLock(lock, async () => {
      const migrations = []
      for (const definition of definitions)
        migrations.push(await migrationOf({ store, connection, log }, definition, layouts.get(definition.name)!))
      await options.onMissing?.(migrations.filter(({ inPlace }) => inPlace === undefined).map(({ name }) => name))
      const before = options.beforeRebuild
      await migrate(migrations, log, clock, before && (() => before(snapshotTo)))
      await repository.clean()
    }),
  )

  const aliases = definitions.map(({ name }) => store.alias(name))
  connection.expect(aliases)

  const collection = openCollections(definitions, (definition) => {
    const { name } = definition
    const onGarbled = (id: string) => options.onGarbled?.(name, id)
    const target = { connection, index: store.alias(name), isAlias: true, onGarbled }
    return openCollection(target, definition, layouts.get(name)!)
  })

  /**
   * Replaces all collections under the lock, because another starting server would mistake unfinished indexes for
   * leftovers.
   */
  async function replaceAll(load: (write: ReplaceWrite) => Promise<void>): Promise<void> {
    const built = new Map<Layout, string>()
    try {
      await underLock(lock, async (lost) => {
        for (const layout of layouts.values()) built.set(layout, await store.createBeside(layout))
        await load((name, docs, bulk = {}) => {
          lost.throwIfAborted()
          const layout = layouts.get(name)
          const index = layout && built.get(layout)
          if (!index) throw undeclaredIndex(name)
          return putAll({ connection, index, isAlias: false }, layout, docs, { ...bulk, visible: false })
        })
        lost.throwIfAborted()
        await store.swap(built)
      })
    } catch (error) {
      await removeUnused(built).catch((failure: unknown) =>
        log.warn({ err: failure }, 'leftovers of a failed restore will be removed at the next start'),
      )
      throw error
    }
  }

  /** Removes unused new indexes. If the reply to the swap was lost, they may be in use. */
  async function removeUnused(built: ReadonlyMap<Layout, string>): Promise<void> {
    for (const [layout, index] of built)
      if ((await store.stateOf(layout.data.name)).inUse !== index) await store.remove([index])
  }

  const index: ElasticIndex = {
    kind: 'elasticsearch',
    version,
    definitions,
    available: () => connection.available(),
    openSnapshots: async (guarded) => openElasticSnapshots(repository, guarded),
    snapshotTo,
    restoreFrom: (name, restore = {}) => repository.restore(index, name, restore),
    leftover: (name) => leftoverOf({ store, connection, name, declared: layouts, onGarbled: options.onGarbled }),
    readFrom: (snapshot, name, ids) => underLock(lock, () => repository.read(snapshot, name, ids)),
    collection,
    async refresh() {
      await connection.run((client) => client.indices.refresh({ index: aliases }))
    },
    replaceAll,
    generation: openGeneration(connection, lock.index),
    close: () => connection.close(),
  }
  return index
}

/** The index of the lock: no collection's name begins with a digit. */
const lockIndex = (prefix: string): string => `${prefix}_0lock`

/** Opens the embedded index: worker, migrations, read-only connection. Moves a damaged file aside. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, IndexDefinition, Log } from 'archivolt'
import { definitionData, type IndexAdapter, migrate, type OnGarbled, openCollections, readDoc } from 'archivolt/index'
import { openCollection, putAll } from './collection.ts'
import { type Connection, connect, ofCollection } from './connection.ts'
import { type Damage, openDamage } from './damage.ts'
import { type LastingLink, openLastingLink } from './lasting-link.ts'
import { type Layout, layoutOf, tableNames } from './layout.ts'
import { leftoverOf } from './leftover.ts'
import { DamagedError } from './link.ts'
import { migrationOf } from './migration.ts'
import { type Arguments, CHANGES_OF_ONE, type Result } from './protocol.ts'
import { restoreSnapshot } from './restore.ts'

interface SqliteIndexOptions {
  /** The index file; created if missing. */
  file: string
  definitions: readonly IndexDefinition[]
  log: Log
  clock: Clock
  /** Awaited after a damaged file was moved to this path, before a blank one is created. */
  onDamaged?: (movedTo: string) => Promise<void>
  onGarbled?: OnGarbled | undefined
  /** Called when the disk is full. @returns true if space was freed: try once more */
  onFull?: (() => boolean) | undefined
  /** Called once before the first rebuild, with a function that takes a snapshot. */
  beforeRebuild?: (snapshotTo: IndexAdapter['snapshotTo']) => Promise<void>
}

/** The state that the functions of the index share. */
interface OpenIndex {
  readonly options: SqliteIndexOptions
  readonly opening: Arguments<'open'>
  readonly layouts: ReadonlyMap<string, Layout>
  readonly damage: Damage
  readonly link: LastingLink
  /** Collection → current version. */
  readonly versions: Map<string, number>
  /** The path to which a damaged file was moved. */
  recovered: string | undefined
}

/**
 * Opens the index, migrates its collections to their definitions, and resolves when it is ready.
 * @throws errors of `reform`; the next opening finishes an interrupted migration
 */
export async function openSqliteIndex(options: SqliteIndexOptions): Promise<IndexAdapter> {
  const { file, log, onFull } = options
  mkdirSync(dirname(file), { recursive: true })
  const count = options.definitions.length * CHANGES_OF_ONE
  const changes = new Uint32Array(new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT * count))
  const opening = { file, definitions: options.definitions.map(definitionData), changes }
  const layouts = new Map(opening.definitions.map((each) => [each.name, layoutOf(each)]))
  const damage = openDamage(options)
  const recovered = damage.isNoted ? await damage.moveAside() : undefined
  const link = openLastingLink({ opening, log, onFull, onDamage: damage.note })
  const index: OpenIndex = { options, opening, layouts, damage, link, versions: new Map(), recovered }
  try {
    const first = await openFile(index)
    await migrateAll(index, first.collections)
    const reader = connect(file, { isReader: true })
    link.ready()
    clean(index)
    return adapterOf(index, first.version, reader)
  } catch (error) {
    await link.close()
    throw error
  }
}

/** Moves a damaged file aside and opens a blank one. */
async function openFile(index: OpenIndex): Promise<Result<'open'>> {
  const { link, opening, damage, versions } = index
  const open = () => link.current.call('open', opening)
  const first = await open().catch(async (error: unknown) => {
    if (!(error instanceof DamagedError)) throw error
    index.recovered = await damage.moveAside()
    return open()
  })
  for (const [name, { version }] of Object.entries(first.collections)) versions.set(name, version)
  return first
}

async function migrateAll(index: OpenIndex, states: Result<'open'>['collections']): Promise<void> {
  const { options, layouts, versions, link } = index
  const { definitions, log, clock, beforeRebuild } = options
  const migrations = definitions.map((definition) =>
    migrationOf({
      definition,
      expected: layouts.get(definition.name)!.shape,
      state: states[definition.name],
      link: () => link.current,
      onVersion: (version) => versions.set(definition.name, version),
      log,
    }),
  )
  await migrate(migrations, log, clock, beforeRebuild && (() => beforeRebuild(snapshotOf(index))))
}

function adapterOf(index: OpenIndex, version: string, reader: Connection): IndexAdapter {
  const { options, opening, layouts, versions, link, damage, recovered } = index
  const { definitions, onGarbled } = options
  const offsets = new Map(definitions.map(({ name }, at) => [name, at * CHANGES_OF_ONE]))
  const versionOf = (name: string) => Atomics.load(opening.changes, offsets.get(name)!)
  const versionsOf = (name: string) => ({
    all: versionOf(name),
    columns: Atomics.load(opening.changes, offsets.get(name)! + 1),
  })
  const readers = new Map(definitions.map(({ name }) => [name, ofCollection(reader, () => versionsOf(name))]))
  const adapter: IndexAdapter = {
    kind: 'sqlite',
    version,
    definitions,
    recovered,
    collection: openCollections(definitions, (definition) =>
      openCollection({
        definition,
        layout: layouts.get(definition.name)!,
        names: () => tableNames(definition.name, versions.get(definition.name)!),
        read: (use) => damage.watch(() => use(readers.get(definition.name)!)),
        link: () => link.current,
        onGarbled: (id) => onGarbled?.(definition.name, id),
      }),
    ),
    // Read at each request: SQLite's own version number needs a file access.
    versionOf,
    generation: {
      read: () => damage.watch(async () => Number(reader.db.pragma('user_version', { simple: true }))),
      keep: async (generation) => void (await link.current.call('keepGeneration', { generation })),
    },
    async relax() {
      await link.current.call('merge', null)
      reader.relax()
      for (const each of readers.values()) each.relax()
      await link.current.call('relax', null)
    },
    async findGarbled(signal) {
      for (const { name } of definitions) {
        for (let after: number | undefined = -1; after !== undefined; ) {
          signal.throwIfAborted()
          const { ids, at }: Result<'garbled'> = await link.current.call('garbled', { name, after })
          for (const id of ids) onGarbled?.(name, id)
          after = at
        }
      }
    },
    // Every write is visible at once.
    refresh: async () => undefined,
    snapshotTo: snapshotOf(index),
    replaceAll: (load) => replaceAll(index, load),
    restoreFrom: (path, restore = {}) => restoreSnapshot(link.current, adapter, path, restore),
    leftover: (name) =>
      damage.watch(async () => {
        if (layouts.has(name)) return undefined
        const remove = async () => {
          await link.current.call('forget', { name })
          clean(index)
        }
        return leftoverOf({ reader, name, onGarbled: (id) => onGarbled?.(name, id), remove })
      }),
    async readFrom(path, name, ids) {
      const found = await link.current.call('snapshotPick', { path, name, ids })
      return new Map(
        found.flatMap(([id, text, internal]): Array<[string, Record<string, unknown>]> => {
          const doc = readDoc(text, internal)
          return doc ? [[id, doc]] : []
        }),
      )
    },
    async close() {
      reader.close()
      await link.close()
    },
  }
  return adapter
}

const snapshotOf =
  ({ link }: OpenIndex): IndexAdapter['snapshotTo'] =>
  async (path, { signal, progress } = {}) => {
    await link.current.call('snapshot', { path }, { signal, progress })
  }

async function replaceAll(index: OpenIndex, load: Parameters<IndexAdapter['replaceAll']>[0]): Promise<void> {
  const { options, link, versions } = index
  await link.current.call('replaceBegin', null)
  try {
    await load((name, docs, bulk = {}) => putAll(link.current, name, docs, bulk, true))
  } catch (error) {
    await link.current
      .call('replaceAbort', null)
      .catch((failure: unknown) =>
        options.log.warn({ err: failure }, 'leftovers of a failed restore will be removed at the next start'),
      )
    clean(index)
    throw error
  }
  for (const [name, version] of Object.entries(await link.current.call('replaceEnd', null))) versions.set(name, version)
  clean(index)
}

/** Removes obsolete tables in the background. */
function clean({ options, link }: OpenIndex): void {
  link.current.call('clean', null).catch((error: unknown) => {
    if (!link.isClosing)
      options.log.warn({ err: error }, 'old tables of the index could not be removed; the next start tries again')
  })
}

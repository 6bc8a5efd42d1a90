/** Opens the embedded index: worker, migration, read-only connection; a damaged file is moved aside. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, Log } from 'archivolt'
import {
  definitionData,
  type IndexAdapter,
  type IndexDefinition,
  isDiskFull,
  type Migration,
  migrate,
  openCollections,
  type StepOptions,
} from 'archivolt/index'
import { openCollection, putAll } from './collection.ts'
import { type Connection, connect } from './connection.ts'
import { layoutOf, tableNames } from './layout.ts'
import { DamagedError, type Link, openLink } from './link.ts'
import { type CollectionState, type IdText, RULES } from './protocol.ts'
import { restoreSnapshot } from './restore.ts'

export interface SqliteIndexOptions {
  /** Holds the index and nothing else; made if missing. */
  file: string
  definitions: readonly IndexDefinition[]
  log: Log
  clock: Clock
  /** Awaited when a damaged file has been moved to this path, before a blank one takes its place. */
  onDamaged?: (movedTo: string) => Promise<void>
  /** Called when the disk takes nothing more. @returns true: it does again, try once more */
  onFull?: (() => boolean) | undefined
  /** Called once before the first collection is rebuilt, with what takes a snapshot of what is there. */
  beforeRebuild?: (snapshotTo: IndexAdapter['snapshotTo']) => Promise<void>
}

const MOST_RESTARTS = 5
/**
 * Opens the index, brings its collections to what the definitions say, and resolves when it may be used.
 * @throws what `reform` throws; an interruption at any point is finished by the next opening
 */
export async function openSqliteIndex(options: SqliteIndexOptions): Promise<IndexAdapter> {
  const { file, definitions, log, clock } = options
  const data = definitions.map(definitionData)
  const layouts = new Map(data.map((each) => [each.name, layoutOf(each)]))
  const versions = new Map<string, number>()
  const mark = `${file}.damaged`
  mkdirSync(dirname(file), { recursive: true })

  let restarts = 0
  let isReady = false
  let isClosing = false
  const watched = (link: Link): Link => ({
    close: () => link.close(),
    async call(op, args, callOptions) {
      try {
        return await link.call(op, args, callOptions)
      } catch (error) {
        if (error instanceof DamagedError) noteDamage(error)
        if (isDiskFull(error) && 'isRepeatable' in RULES[op] && options.onFull?.())
          return link.call(op, args, callOptions)
        throw error
      }
    },
  })
  const lost = (error: Error): void => {
    if (isClosing || !isReady) return
    const isOver = ++restarts > MOST_RESTARTS
    log.error(
      { err: error },
      `the index worker has ended; ${isOver ? 'the server must be started again' : 'starting another'}`,
    )
    if (isOver) return
    link = watched(openLink(lost))
    link
      .call('open', { file, definitions: data })
      .catch((failure: unknown) => log.error({ err: failure }, 'the index cannot be opened again'))
  }
  let hasNoted = false
  /** Found while running: the file is kept in use, as most of it can be read, and moved aside by the next start. */
  const noteDamage = (error: unknown): void => {
    if (hasNoted) return
    hasNoted = true
    writeFileSync(mark, 'Found malformed; the next start moves it aside.\n')
    log.error({ err: error }, 'the index file is damaged; the next start moves it aside')
  }

  let recovered = existsSync(mark) ? await moveAside() : undefined
  let link = watched(openLink(lost))
  const open = () => link.call('open', { file, definitions: data })
  const first = await open().catch(async (error: unknown) => {
    if (!(error instanceof DamagedError)) throw await closing(error)
    recovered = await moveAside()
    return open()
  })
  for (const [name, { version }] of Object.entries(first.collections)) versions.set(name, version)

  let reader: Connection
  try {
    const before = options.beforeRebuild
    await migrate(
      definitions.map((definition) => migrationOf(definition, first.collections[definition.name])),
      log,
      clock,
      before && (() => before(snapshotTo)),
    )
    reader = connect(file, { isReader: true })
  } catch (error) {
    throw await closing(error)
  }
  isReady = true
  const clean = (): void => {
    link.call('clean', null).catch((error: unknown) => {
      if (!isClosing)
        log.warn({ err: error }, 'old tables of the index could not be removed; the next start tries again')
    })
  }
  clean()

  const collection = openCollections(definitions, (definition) =>
    openCollection({
      definition,
      layout: layouts.get(definition.name)!,
      names: () => tableNames(definition.name, versions.get(definition.name)!),
      reader: () => reader,
      link: () => link,
      noteDamage,
    }),
  )

  const index: IndexAdapter = {
    kind: 'sqlite',
    version: first.version,
    definitions,
    recovered,
    collection,
    // Every write is seen as soon as it is done.
    refresh: async () => undefined,
    snapshotTo,
    async replaceAll(load) {
      await link.call('replaceBegin', null)
      try {
        await load((name, docs, bulk = {}) => putAll(link, name, docs, bulk, true))
      } catch (error) {
        await link
          .call('replaceAbort', null)
          .catch((failure: unknown) =>
            log.warn({ err: failure }, 'what a broken restore has left is removed at the next start'),
          )
        clean()
        throw error
      }
      for (const [name, version] of Object.entries(await link.call('replaceEnd', null))) versions.set(name, version)
      clean()
    },
    restoreFrom: (path, restore = {}) => restoreSnapshot(link, index, path, restore),
    async close() {
      isClosing = true
      reader.close()
      await link.close()
    },
  }
  return index

  async function snapshotTo(path: string, { signal, progress }: StepOptions = {}): Promise<void> {
    await link.call('snapshot', { path }, { signal, progress })
  }

  async function closing(error: unknown): Promise<unknown> {
    isClosing = true
    await link.close()
    return error
  }

  async function moveAside(): Promise<string> {
    const aside = `${file}.damaged-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`
    for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, aside + end)
    await options.onDamaged?.(aside)
    rmSync(mark, { force: true })
    log.error(`the index file was damaged and has been moved to ${aside}; starting with a blank one`)
    return aside
  }

  function migrationOf(definition: IndexDefinition, state: CollectionState | undefined): Migration {
    const { name } = definition
    const warn = (wrong: number) => {
      if (wrong > 0)
        log.warn(`index ${name}: ${wrong} values are of another type than the mapping says and cannot be filtered by`)
    }
    return {
      name,
      expected: layouts.get(name)!.shape,
      inPlace: state?.shape,
      async create() {
        versions.set(name, await link.call('create', { name }))
      },
      async add(_added, progress) {
        await link.call('addFields', { name })
        const total = state ? await link.call('count', { name, filter: undefined, cap: Number.MAX_SAFE_INTEGER }) : 0
        warn(await link.call('fill', { name }, { progress: (done) => progress(done, total) }))
        await link.call('arrange', { name })
      },
      async rebuild(progress) {
        const { done, total } = await link.call('rebuildBegin', { name })
        if (definition.reform) await reformAll(definition.reform, done, total, progress)
        else warn(await link.call('rebuild', { name }, { progress: (count) => progress(count, total) }))
        versions.set(name, await link.call('rebuildEnd', { name }))
      },
      async discard() {
        await link.call('discard', { name })
        await link.call('arrange', { name })
      },
    }

    /** A function cannot go to another thread: the documents come here, a hundred at a time. */
    async function reformAll(
      reform: (doc: never) => unknown,
      done: number,
      total: number,
      progress: (done: number, total: number) => void,
    ): Promise<void> {
      let wrong = 0
      let count = done
      for (;;) {
        const batch = await link.call('rebuildRead', { name })
        if (!batch) break
        const docs = batch.docs.map(([id, text]): IdText => [id, JSON.stringify(reform(JSON.parse(text) as never))])
        wrong += await link.call('rebuildWrite', { name, docs, last: batch.last })
        count += docs.length
        progress(count, total)
      }
      warn(wrong)
    }
  }
}

/**
 * Migrates one collection on the server to its current definition. Each step may be repeated, by this process or the
 * next.
 */
import { type IndexDefinition, type Log, StartError } from 'archivolt'
import type { Migration, Progress, WrongType } from 'archivolt/index'
import { putAll, type Target, type Version } from './bulk.ts'
import { versionOf } from './change.ts'
import type { ElasticConnection } from './connection.ts'
import { EVERYTHING, type Query } from './filter.ts'
import type { Layout } from './layout.ts'
import { pages, parsed } from './scan.ts'
import type { IndexState, Store } from './store.ts'

const BATCH = 500
const MOST_NAMED = 100

interface MigrationParts {
  store: Store
  connection: ElasticConnection
  log: Log
}

export async function migrationOf(
  parts: MigrationParts,
  definition: IndexDefinition,
  layout: Layout,
): Promise<Migration> {
  const { store, connection, log } = parts
  const { name } = definition
  const alias = store.alias(name)
  const state = await findInUse(store, name, log)
  if (state.inUse !== undefined && state.shape === undefined) {
    throw new StartError(
      `Elasticsearch has ${state.inUse} under the name ${alias}, which was not made by this program: set AV_PREFIX to another prefix, or remove that index`,
    )
  }

  const count = (query: Query) => connection.run(async (client) => (await client.count({ index: alias, query })).count)

  /**
   * Runs documents through `reform` and rewrites them; values of a wrong type are dropped, but the document is kept.
   */
  async function rewrite(
    query: Query,
    target: Target,
    options: { inPlace: boolean; total: number; progress: Progress },
  ): Promise<number> {
    const wrong: WrongType[] = []
    const garbled: string[] = []
    let done = 0
    for await (const hits of pages(connection, { index: alias, query, batch: BATCH })) {
      const found = await parsed(hits, { onGarbled: (id) => garbled.push(id) })
      const docs = found.map(({ id, doc }) => ({
        id,
        // The document has an older form, for which there is no type.
        doc: (options.inPlace || !definition.reform ? doc : definition.reform(doc as never)) as object,
      }))
      const versions = options.inPlace
        ? new Map(found.map(({ id, hit }): [string, Version] => [id, versionOf(hit)]))
        : undefined
      const { failed } = await putAll(target, layout, docs, { versions, onWrong: (error) => wrong.push(error) })
      // A document that fails here would be lost forever.
      if (failed[0]) throw new Error(`index ${name}: ${failed[0].reason}`)
      done += docs.length
      options.progress(done, options.total)
    }
    if (wrong.length > 0)
      log.warn(
        `index ${name}: ${wrong.length} values have a different type than in the mapping and cannot be used in filters`,
      )
    if (garbled.length > 0)
      log.error(
        { ids: garbled.slice(0, MOST_NAMED) },
        `index ${name}: ${garbled.length} documents are damaged and cannot be brought up to date`,
      )
    return garbled.length
  }

  return {
    name,
    expected: layout.shape,
    inPlace: state.shape,

    create: () => store.create(layout),

    async add(_added, progress) {
      await store.addFields(layout)
      await connection.run((client) => client.indices.refresh({ index: alias }))
      // Documents that an interrupted run has already rewritten have the new stamp.
      const left: Query = { bool: { must_not: [{ term: { stamp: { value: layout.stamp } } }] } }
      await rewrite(
        left,
        { connection, index: alias, isAlias: true },
        { inPlace: true, total: await count(left), progress },
      )
      await connection.run((client) => client.indices.refresh({ index: alias }))
      await store.noteShape(layout)
    },

    async rebuild(progress) {
      await connection.run((client) => client.indices.refresh({ index: alias }))
      const total = await count(EVERYTHING)
      const { others } = await store.stateOf(name)
      const index = await store.createBeside(layout)
      if (others.some((other) => other.index === index))
        log.info(`index ${name}: discarded ${index}, half built before an interruption; it will be rebuilt`)
      log.info(`index ${name}: ${total} documents are copied to ${index}`)
      const garbled = await rewrite(
        EVERYTHING,
        { connection, index, isAlias: false },
        { inPlace: false, total, progress },
      )
      await connection.run((client) => client.indices.refresh({ index }))
      const copied = await connection.run(async (client) => (await client.count({ index })).count)
      if (copied !== total - garbled)
        throw new Error(
          `index ${name}: ${copied} of ${total - garbled} documents were copied to ${index}; the next start tries again`,
        )
      await store.swap(new Map([[layout, index]]))
      log.info(`index ${name}: ${alias} now points to ${index}`)
    },

    async discard() {
      const { others } = await store.stateOf(name)
      if (others.length === 0) return
      log.info(`index ${name}: removing ${others.map(({ index }) => index).join(', ')}, left by an interruption`)
      await store.remove(others.map(({ index }) => index))
    },
  }
}

/** Finds the index in use. If the alias was lost but a complete index exists, that index was its target. */
async function findInUse(store: Store, name: string, log: Log): Promise<IndexState> {
  const found = await store.stateOf(name)
  const candidate = found.others.filter(({ isWhole }) => isWhole).at(-1) ?? found.others.at(-1)
  if (found.inUse !== undefined || !candidate) return found
  log.warn(`index ${name}: no index has the alias ${store.alias(name)}; it now points to ${candidate.index}`)
  await store.pointTo(name, candidate.index)
  return store.stateOf(name)
}

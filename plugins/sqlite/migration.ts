/** Migrates one collection of the embedded index to its definition. */
import type { IndexDefinition, Log } from 'archivolt'
import type { Migration } from 'archivolt/index'
import type { Link } from './link.ts'
import type { CollectionState, IdText } from './protocol.ts'

interface Migrated {
  definition: IndexDefinition
  expected: Migration['expected']
  /** The state in the file; undefined: the file has no such collection. */
  state: CollectionState | undefined
  link(): Link
  /** Called with the new current version. */
  onVersion(version: number): void
  log: Log
}

export function migrationOf({ definition, expected, state, link, onVersion, log }: Migrated): Migration {
  const { name, reform } = definition
  const warn = (wrong: number) => {
    if (wrong > 0)
      log.warn(`index ${name}: ${wrong} values have a different type than in the mapping and cannot be used in filters`)
  }
  return {
    name,
    expected,
    inPlace: state?.shape,
    async create() {
      onVersion(await link().call('create', { name }))
    },
    async add(_added, progress) {
      await link().call('addFields', { name })
      const total = state ? await link().call('count', { name, filter: undefined, cap: Number.MAX_SAFE_INTEGER }) : 0
      warn(await link().call('fill', { name }, { progress: (done) => progress(done, total) }))
      await link().call('arrange', { name })
    },
    async rebuild(progress) {
      const { done, total } = await link().call('rebuildBegin', { name })
      const wrong = reform
        ? await reformAll({ name, reform, link, done, progress: (count) => progress(count, total) })
        : await link().call('rebuild', { name }, { progress: (count) => progress(count, total) })
      warn(wrong)
      onVersion(await link().call('rebuildEnd', { name }))
    },
    async discard() {
      await link().call('discard', { name })
      await link().call('arrange', { name })
    },
  }
}

interface Reforming extends Pick<Migrated, 'link'> {
  name: string
  reform: NonNullable<IndexDefinition['reform']>
  /** Number of documents already rebuilt before an interruption. */
  done: number
  progress(count: number): void
}

/**
 * Rebuilds with a function. It cannot be sent to the worker, so the documents come here, a hundred at a time.
 * @returns how many values cannot be used in filters
 */
async function reformAll({ name, reform, link, done, progress }: Reforming): Promise<number> {
  let wrong = 0
  let count = done
  for (;;) {
    const batch = await link().call('rebuildRead', { name })
    if (!batch) return wrong
    // An older form, which no type describes.
    const docs = batch.docs.map(([id, text]): IdText => [id, JSON.stringify(reform(JSON.parse(text) as never))])
    wrong += await link().call('rebuildWrite', { name, docs, last: batch.last })
    count += docs.length
    progress(count)
  }
}

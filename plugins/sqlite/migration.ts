/** How one collection of the embedded index is brought to what its definition says. */
import type { IndexDefinition, Log } from 'archivolt'
import type { Migration } from 'archivolt/index'
import type { Link } from './link.ts'
import type { CollectionState, IdText } from './protocol.ts'

interface Migrated {
  definition: IndexDefinition
  expected: Migration['expected']
  /** As the file has it; undefined: not at all. */
  state: CollectionState | undefined
  link(): Link
  /** Told the version that counts from now on. */
  onVersion(version: number): void
  log: Log
}

export function migrationOf({ definition, expected, state, link, onVersion, log }: Migrated): Migration {
  const { name, reform } = definition
  const warn = (wrong: number) => {
    if (wrong > 0)
      log.warn(`index ${name}: ${wrong} values are of another type than the mapping says and cannot be filtered by`)
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
  /** How many an interrupted rebuild has done. */
  done: number
  progress(count: number): void
}

/**
 * A function cannot go to another thread: the documents come here, a hundred at a time.
 * @returns how many values cannot be filtered by
 */
async function reformAll({ name, reform, link, done, progress }: Reforming): Promise<number> {
  let wrong = 0
  let count = done
  for (;;) {
    const batch = await link().call('rebuildRead', { name })
    if (!batch) return wrong
    // Of an older form: no type describes it.
    const docs = batch.docs.map(([id, text]): IdText => [id, JSON.stringify(reform(JSON.parse(text) as never))])
    wrong += await link().call('rebuildWrite', { name, docs, last: batch.last })
    count += docs.length
    progress(count)
  }
}

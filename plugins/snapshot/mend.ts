/**
 * Repairs damaged documents from the newest snapshot that has them. Documents in no snapshot are reported to admins,
 * and `index.damaged` asks other plugins to read them again from the library or the platform.
 */
import {
  type Collection,
  defineTask,
  type GarbledDocument,
  inEnglish,
  type JobContext,
  say,
  Type,
  Value,
} from 'archivolt'
import type { App } from './app.ts'

const MOST_SNAPSHOTS = 10
const MOST_NAMED = 20
const TOLD_FOR_SECONDS = 24 * 3600

type Run = JobContext<object>
type Doc = Record<string, unknown>

export const mendDocuments = defineTask({
  name: 'snapshot.mend',
  title: 'Repair damaged documents',
  payload: Type.Object({}),
  lane: 'index',
  internal: true,
  async run(job, app: App) {
    const damaged = app.snapshots.takeDamaged()
    const mended = await job.step('snapshot.mendDocuments', () => mendFromSnapshots(damaged, job, app))
    if (mended > 0) await app.emit('index.replaced', {})
    const isStill = new Set(app.index.garbled.list())
    const left = damaged.filter((document) => isStill.has(document))
    if (left.length > 0) await app.emit('index.damaged', { documents: left })
    if (damaged.length > 0) await tell(mended, left, job, app)
  },
})

/** @returns the number of repaired documents */
async function mendFromSnapshots(damaged: readonly GarbledDocument[], job: Run, app: App): Promise<number> {
  const { index } = app
  const complete = (await index.snapshots.list()).filter(({ state }) => state === 'SUCCESS').slice(0, MOST_SNAPSHOTS)
  let mended = 0
  for (const definition of index.definitions) {
    const { name } = definition
    const collection = index.collection(definition) as unknown as Collection<Doc>
    const left = new Set(damaged.flatMap(({ collection: of, id }) => (of === name ? [id] : [])))
    const settle = (id: string) => left.delete(id) && index.garbled.settle({ collection: name, id })
    for (const id of await soundOrGone(collection, [...left])) settle(id)
    for (const snapshot of complete) {
      if (left.size === 0) break
      job.signal.throwIfAborted()
      for (const [id, doc] of await read(snapshot.id, name, [...left], job, app)) {
        const taken = usable(name, id, doc, app)
        if (!taken || !Value.Check(definition.doc, taken)) continue
        // Replaces only a document that is still damaged, never one that was written meanwhile.
        await collection.create(id, taken, { visible: true })
        job.log.info({ collection: name, id, snapshot: snapshot.id }, 'a damaged document was repaired')
        settle(id)
        mended++
      }
    }
  }
  return mended
}

/** Those of these ids that were repaired in another way, or removed. */
async function soundOrGone(collection: Collection<Doc>, ids: readonly string[]): Promise<string[]> {
  const [known, sound] = [await collection.known(ids), await collection.getMany(ids)]
  return ids.filter((id) => !known.has(id) || sound.has(id))
}

/** Skips a snapshot that cannot be read, because an older one may work. */
const read = async (snapshot: string, collection: string, ids: readonly string[], job: Run, app: App) =>
  (await app.index.snapshots.read?.(snapshot, collection, ids).catch((error: unknown) => {
    job.signal.throwIfAborted()
    job.log.warn({ err: error, snapshot }, 'a snapshot cannot be read')
    return undefined
  })) ?? new Map<string, Doc>()

function usable(collection: string, id: string, doc: Doc, app: App): Doc | undefined {
  try {
    return app.backups.accept(collection, id, doc)
  } catch {
    return undefined
  }
}

async function tell(mended: number, left: readonly GarbledDocument[], job: Run, app: App): Promise<void> {
  const names = left.slice(0, MOST_NAMED).map(({ collection, id }) => `${collection} ${id}`)
  const sentence =
    left.length === 0
      ? say`${{ count: mended }} damaged documents were repaired from a snapshot. Check the disk of the data folder`
      : say`${{ count: left.length }} documents are damaged and in no snapshot: ${{ names: names.join(', ') }}. They are missing from lists and backups until Archivolt has read them again from the library and the platform. Restore a backup if they stay missing, and check the disk of the data folder`
  job.log[left.length === 0 ? 'warn' : 'error'](inEnglish(sentence))
  await app.jobs.notify({
    title: 'Documents are damaged',
    group: 'setting:application',
    level: 'error',
    messages: [sentence],
    shownForSeconds: TOLD_FOR_SECONDS,
  })
}

declare module 'archivolt' {
  interface Events {
    /** Emitted when damaged documents are in no snapshot, so that other plugins read them again. */
    'index.damaged': { documents: readonly GarbledDocument[] }
  }
}

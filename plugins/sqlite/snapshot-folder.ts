/** Snapshots of the embedded index: one file each in a folder, with a description file. */
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SnapshotRecord } from 'archivolt'
import {
  type Clock,
  errors,
  idInName,
  isDamage,
  isId,
  type Log,
  mustBeWhole,
  openFolder,
  type Static,
  snapshotRuns,
  Type,
  Value,
  wholeSnapshot,
  writeWhole,
} from 'archivolt'
import type { IndexAdapter, Snapshots } from 'archivolt/index'

const FILE = '.sqlite'
/** Temporary files that are renamed once complete. */
const UNFINISHED = /\.(sqlite|json)(\.part)+(-wal|-shm|-journal)?$/

/** The description of a snapshot. */
const About = Type.Object({
  state: Type.Enum(['SUCCESS', 'PARTIAL', 'FAILED']),
  version: Type.String(),
  startedAt: Type.Integer(),
  endedAt: Type.Integer(),
})

interface SnapshotFolder {
  index: Pick<IndexAdapter, 'version' | 'snapshotTo' | 'restoreFrom' | 'readFrom'>
  folder: string
  clock: Clock
  log: Log
}

/** Opens the folder and removes unfinished snapshots. Other files are left alone. */
export async function openSnapshotFolder({ index, folder, clock, log }: SnapshotFolder): Promise<Snapshots> {
  await openFolder('folder for snapshots', folder, { isPrivate: true })
  let running: SnapshotRecord | undefined
  const pathOf = (id: string) => join(folder, `${id}.sqlite`)
  const partOf = (id: string) => `${pathOf(id)}.part`
  const aboutOf = (id: string) => join(folder, `${id}.json`)
  const writeAbout = (id: string, about: Static<typeof About>) => writeWhole(aboutOf(id), JSON.stringify(about))

  for (const name of await readdir(folder)) {
    if (UNFINISHED.test(name)) await removeUnfinished(name)
    else await describe(name)
  }

  async function removeUnfinished(name: string): Promise<void> {
    log.warn({ file: name }, 'a snapshot was interrupted: its leftovers are removed')
    await rm(join(folder, name), { force: true })
  }

  /**
   * A snapshot gets its final name when it is complete, and its description after that: one without a description was
   * interrupted in between, or copied in by hand.
   */
  async function describe(name: string): Promise<void> {
    const id = idInName(name, FILE)
    if (id === undefined || (await readAbout(aboutOf(id)))) return
    const file = await stat(pathOf(id))
    if (!file.isFile()) return
    const endedAt = Math.floor(file.mtimeMs)
    await writeAbout(id, { state: 'SUCCESS', version: index.version, startedAt: endedAt, endedAt })
    log.info({ snapshot: id }, 'a snapshot without its description was found; it is listed by the time of its file')
  }

  async function get(id: string): Promise<SnapshotRecord | undefined> {
    if (running?.id === id) return running
    if (!isId(id)) return undefined
    const about = await readAbout(aboutOf(id))
    if (!about) return undefined
    const file = await stat(pathOf(id)).catch(() => undefined)
    if (!file?.isFile()) return { id, ...about, state: about.state === 'SUCCESS' ? 'FAILED' : about.state }
    return { id, ...about, bytes: file.size }
  }

  async function list(): Promise<SnapshotRecord[]> {
    const ids = (await readdir(folder)).flatMap((name) =>
      name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : [],
    )
    const found = (await Promise.all(ids.map(get))).filter((record) => record !== undefined)
    if (running && !found.includes(running)) found.push(running)
    return found.sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
  }

  return {
    list,
    get,

    async take(id, options) {
      if (running) throw snapshotRuns()
      const startedAt = clock.now()
      running = { id, state: 'IN_PROGRESS', version: index.version, startedAt, endedAt: 0 }
      try {
        await index.snapshotTo(partOf(id), options)
        await refuseDamaged(partOf(id), options?.signal)
        await rename(partOf(id), pathOf(id))
        await writeAbout(id, { state: 'SUCCESS', version: index.version, startedAt, endedAt: clock.now() })
      } catch (error) {
        await rm(partOf(id), { force: true })
        await rm(pathOf(id), { force: true })
        const failed = { state: 'FAILED' as const, version: index.version, startedAt, endedAt: clock.now() }
        // After a full disk made the snapshot fail, there may be no space for its description either.
        await writeAbout(id, failed).catch((fault: unknown) =>
          log.warn({ err: fault, snapshot: id }, 'the failed snapshot could not be recorded'),
        )
        throw error
      } finally {
        running = undefined
      }
    },

    async remove(id) {
      const record = await get(id)
      if (!record) throw errors.notFound('snapshot', id)
      if (record.state === 'IN_PROGRESS') throw snapshotRuns()
      // In this order: after an interruption it is listed as failed, not as complete.
      await rm(pathOf(id), { force: true })
      await rm(aboutOf(id), { force: true })
    },

    async read(id, collection, ids) {
      await wholeSnapshot({ get }, id)
      return (await index.readFrom?.(pathOf(id), collection, ids)) ?? new Map()
    },

    async restore(id, options) {
      await wholeSnapshot({ get }, id)
      return index.restoreFrom(pathOf(id), options)
    },
  }
}

/** A damaged snapshot, which means a damaged index, must not cause the removal of an older one. */
async function refuseDamaged(path: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await mustBeWhole(path, signal)
  } catch (cause) {
    if (!isDamage(cause)) throw cause
    throw errors.unprocessable(
      'The index is damaged, so the snapshot was discarded, and no older one was removed. Stop the server, move the index file away and start again: the newest snapshot is then offered',
      { cause },
    )
  }
}

/** @returns undefined: missing or unreadable */
async function readAbout(path: string): Promise<Static<typeof About> | undefined> {
  try {
    const about: unknown = JSON.parse(await readFile(path, 'utf8'))
    return Value.Check(About, about) ? about : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

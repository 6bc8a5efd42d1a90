/** Snapshots of the embedded index: one file each in a folder, with what is known of it beside. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../clock.ts'
import { errors } from '../../error.ts'
import type { Log } from '../../log.ts'
import type { IndexAdapter } from '../port.ts'
import type { SnapshotRecord, Snapshots } from '../snapshots.ts'

const FILE = /^([A-Za-z0-9_-]{1,128})\.sqlite$/

/** The file beside a snapshot. */
const About = Type.Object({
  state: Type.Enum(['SUCCESS', 'PARTIAL', 'FAILED']),
  version: Type.String(),
  startedAt: Type.Integer(),
  endedAt: Type.Integer(),
})

export interface SnapshotFolder {
  index: Pick<IndexAdapter, 'version' | 'snapshotTo' | 'restoreFrom'>
  folder: string
  clock: Clock
  log: Log
}

/** Opens the folder; what an interruption left of a snapshot is removed. */
export async function openSnapshotFolder({ index, folder, clock, log }: SnapshotFolder): Promise<Snapshots> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let running: SnapshotRecord | undefined
  const pathOf = (id: string) => join(folder, `${id}.sqlite`)
  const aboutOf = (id: string) => join(folder, `${id}.json`)

  await removeUnfinished()

  /** A snapshot appears complete, its description after it: whatever has no description or another ending is not whole. */
  async function removeUnfinished(): Promise<void> {
    for (const name of await readdir(folder)) {
      const id = FILE.exec(name)?.[1]
      if (name.endsWith('.json')) continue
      if (id && (await readAbout(id))) continue
      log.warn({ file: name }, 'a snapshot was interrupted: what is left of it is removed')
      await rm(join(folder, name), { force: true })
    }
  }

  async function readAbout(id: string): Promise<Static<typeof About> | undefined> {
    try {
      const about: unknown = JSON.parse(await readFile(aboutOf(id), 'utf8'))
      return Value.Check(About, about) ? about : undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  async function writeAbout(id: string, about: Static<typeof About>): Promise<void> {
    const beside = `${aboutOf(id)}.partial`
    await writeFile(beside, JSON.stringify(about), { mode: 0o600, flush: true })
    await rename(beside, aboutOf(id))
  }

  async function get(id: string): Promise<SnapshotRecord | undefined> {
    if (running?.id === id) return running
    if (!FILE.test(`${id}.sqlite`)) return undefined
    const about = await readAbout(id)
    return about && { id, ...about }
  }

  async function list(): Promise<SnapshotRecord[]> {
    const ids = (await readdir(folder)).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
    const found = (await Promise.all(ids.map(get))).filter((record) => record !== undefined)
    if (running && !found.includes(running)) found.push(running)
    return found.sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
  }

  return {
    list,
    get,

    async take(id, options) {
      if (running) throw errors.conflict('A snapshot is being taken; try again when it has ended')
      const startedAt = clock.now()
      running = { id, state: 'IN_PROGRESS', version: index.version, startedAt, endedAt: 0 }
      try {
        await index.snapshotTo(pathOf(id), options)
        await writeAbout(id, { state: 'SUCCESS', version: index.version, startedAt, endedAt: clock.now() })
      } catch (error) {
        await rm(pathOf(id), { force: true })
        await writeAbout(id, { state: 'FAILED', version: index.version, startedAt, endedAt: clock.now() })
        throw error
      } finally {
        running = undefined
      }
    },

    async remove(id) {
      const record = await get(id)
      if (!record) throw errors.notFound('snapshot', id)
      if (record.state === 'IN_PROGRESS') throw errors.conflict('The snapshot is being taken; try again when it has ended')
      await rm(aboutOf(id), { force: true })
      await rm(pathOf(id), { force: true })
    },

    async restore(id, options) {
      const record = await get(id)
      if (!record) throw errors.notFound('snapshot', id)
      const isThere = await stat(pathOf(id)).then(() => true, () => false)
      if (record.state !== 'SUCCESS' || !isThere) throw errors.conflict(`The snapshot is in state ${record.state}: only a complete one can be restored`)
      return index.restoreFrom(pathOf(id), options)
    },
  }
}

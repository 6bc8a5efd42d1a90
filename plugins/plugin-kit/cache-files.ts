/**
 * Cached files that can be recreated, one for each id, up to a total size; the oldest are removed first. The list is
 * read from the folder at the start, without a table.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../core/log.ts'
import { idInName } from './ids.ts'
import { openLocks } from './locks.ts'

export interface CacheFile {
  bytes: number
  /** Modification time of the file. */
  atMs: number
}

interface CacheFilesOptions {
  /** Absolute. */
  folder: string
  /** `.mp4` */
  ending: string
  /** The total size limit in bytes. */
  room: () => number
  /** Whether a file is removed before all others; default: no. */
  isSpare?: (id: string) => boolean
}

export interface Followed {
  preferences: { watch(listener: () => void): void }
  log: Pick<Log, 'warn'>
}

export function openCacheFiles({ folder, ending, room, isSpare = () => false }: CacheFilesOptions) {
  const files = new Map<string, CacheFile>()
  /** The ids of drafts that are still valid: a `drop` removes an id, because the draft's source is out of date then. */
  const begun = new Set<string>()
  /** By id: adding a file and removing it wait for each other. */
  const locks = openLocks()
  let changes = 0

  const pathOf = (id: string): string => join(folder, `${id}${ending}`)
  /** The path of a file before `keep`. */
  const draftOf = (id: string): string => join(folder, `${id}.part`)
  /** Call it when the source is read, because a later `drop` makes the draft invalid. @returns the path of the draft */
  const beginDraft = (id: string): string => {
    begun.add(id)
    return draftOf(id)
  }

  /** Reads the list of files, and removes unfinished ones. */
  async function begin(): Promise<void> {
    await mkdir(folder, { recursive: true })
    for (const name of await readdir(folder)) {
      const id = idInName(name, ending)
      const { size, mtimeMs } = await stat(join(folder, name))
      if (id === undefined) await rm(join(folder, name), { recursive: true, force: true })
      else files.set(id, { bytes: size, atMs: mtimeMs })
    }
  }

  const remove = (id: string): Promise<void> =>
    locks.exclusive(id, async () => {
      if (!files.delete(id)) return
      changes++
      await rm(pathOf(id), { force: true })
    })

  /** Removes files, and makes their drafts invalid. */
  async function drop(ids: readonly string[]): Promise<void> {
    for (const id of ids) begun.delete(id)
    for (const id of ids) await remove(id)
  }

  /** Adds a finished draft to the cache, unless it has become invalid meanwhile. */
  async function keep(id: string): Promise<void> {
    if (!begun.delete(id)) return
    await locks.exclusive(id, async () => {
      const draft = draftOf(id)
      const { size, mtimeMs } = await stat(draft)
      await rename(draft, pathOf(id))
      files.set(id, { bytes: size, atMs: mtimeMs })
      changes++
    })
    await makeRoom(id)
  }

  async function dropOlder(thanMs: number): Promise<void> {
    await drop([...files].filter(([, { atMs }]) => atMs < thanMs).map(([id]) => id))
  }

  /** Removes files of documents that no longer exist. */
  async function dropUnknown(known: (ids: readonly string[]) => Promise<Set<string>>): Promise<void> {
    const ids = [...files.keys(), ...begun]
    const there = await known(ids)
    await drop(ids.filter((id) => !there.has(id)))
  }

  /** @param needed  a file that stays, whatever its size */
  async function makeRoom(needed?: string): Promise<void> {
    const oldest = [...files].sort(
      ([one, a], [other, b]) => Number(isSpare(other)) - Number(isSpare(one)) || a.atMs - b.atMs,
    )
    let sum = oldest.reduce((all, [, { bytes }]) => all + bytes, 0)
    for (const [id, { bytes }] of oldest) {
      if (sum <= room()) return
      if (id === needed) continue
      sum -= bytes
      await remove(id)
    }
  }

  return {
    begin,
    pathOf,
    draftOf,
    beginDraft,
    room,
    has: (id: string): boolean => files.has(id),
    get: (id: string): Readonly<CacheFile> | undefined => files.get(id),
    keep,
    drop,
    /** Removes files beyond the limit when a preference reduces `room`. @param removed  called afterwards */
    followRoom({ preferences, log }: Followed, removed = () => {}): void {
      const told = (err: unknown) => log.warn({ err, folder }, 'cached files beyond their limit could not be removed')
      preferences.watch(() => void makeRoom().then(removed).catch(told))
    },
    dropUnknown,
    /** @param thanMs  epoch milliseconds */
    dropOlder,
    /** Increases whenever a file is added or removed. */
    changes: (): number => changes,
  }
}

export type CacheFiles = ReturnType<typeof openCacheFiles>

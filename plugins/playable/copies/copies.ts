/**
 * Copies of films for browsers that do not play the original. They are files in the cache, up to a total size; the
 * oldest are removed first. There is no table: the list is read from the folder at startup.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type App, idInName, openLocks } from 'archivolt'

const FOLDER = 'playable'
const ENDING = '.mp4'
/** The video id in the name of a copy. */
export const copyOf = (name: string): string | undefined => idInName(name, ENDING)
const GIGABYTE = 1e9

interface Copy {
  bytes: number
  madeMs: number
}

export function openCopies({ settings, preferences }: App) {
  const folder = join(resolve(settings.cacheDir), FOLDER)
  const copies = new Map<string, Copy>()
  /** Serialises the requests of each account. */
  const asked = openLocks()
  /** Progress of the copies that are being made, 0 to 1. */
  const making = new Map<string, number>()

  function pathOf(id: string): string {
    return join(folder, `${id}${ENDING}`)
  }

  function urlOf(id: string): string | undefined {
    return copies.has(id) ? `/cache/${FOLDER}/${id}.mp4` : undefined
  }

  /** Bytes that all copies may take together. */
  function room(): number {
    return preferences.section('playback').copy_room * GIGABYTE
  }

  async function drop(ids: readonly string[]): Promise<void> {
    for (const id of ids) if (copies.delete(id)) await rm(pathOf(id), { force: true })
  }

  /** Removes unfinished copies. */
  async function begin(): Promise<void> {
    await mkdir(folder, { recursive: true })
    for (const name of await readdir(folder)) {
      const id = copyOf(name)
      const { size, mtimeMs } = await stat(join(folder, name))
      if (id === undefined) await rm(join(folder, name), { recursive: true, force: true })
      else copies.set(id, { bytes: size, madeMs: mtimeMs })
    }
  }

  /** The path to write a copy to before `keep`. */
  function draftOf(id: string): string {
    return join(folder, `${id}.part`)
  }

  async function keep(id: string): Promise<void> {
    const draft = draftOf(id)
    const { size, mtimeMs } = await stat(draft)
    await rename(draft, pathOf(id))
    copies.set(id, { bytes: size, madeMs: mtimeMs })
    await makeRoom(id)
  }

  /** Keys for video records: the address of each copy. */
  function keysOf(ids: readonly string[]): Map<string, { copy_url: string }> {
    return new Map(
      ids.flatMap((id) => {
        const url = urlOf(id)
        return url === undefined ? [] : [[id, { copy_url: url }] as const]
      }),
    )
  }

  /** Removes copies of videos that no longer exist. */
  async function dropUnknown(known: (ids: readonly string[]) => Promise<Set<string>>): Promise<void> {
    const there = await known([...copies.keys()])
    await drop([...copies.keys()].filter((id) => !there.has(id)))
  }

  async function makeRoom(kept: string): Promise<void> {
    const oldest = [...copies].sort(([, a], [, b]) => a.madeMs - b.madeMs)
    let sum = oldest.reduce((all, [, { bytes }]) => all + bytes, 0)
    for (const [id, { bytes }] of oldest) {
      if (sum <= room()) return
      if (id === kept) continue
      sum -= bytes
      await drop([id])
    }
  }

  return {
    asked,
    making,
    begin,
    pathOf,
    draftOf,
    urlOf,
    keysOf,
    room,
    keep,
    drop,
    dropUnknown,
  }
}

export type Copies = ReturnType<typeof openCopies>

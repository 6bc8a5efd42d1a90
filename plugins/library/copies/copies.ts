/**
 * Copies that play, of films that some browsers do not: in the cache, up to a size, the oldest out first. The files are
 * all there is to know; which there are is read once, at the start.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { idInName, openLocks } from 'archivolt'
import type { App } from '../app.ts'

const FOLDER = 'playable'
const ENDING = '.mp4'
/** Whose copy it is, by its name. */
export const copyOf = (name: string): string | undefined => idInName(name, ENDING)
const GIGABYTE = 1e9

interface Copy {
  bytes: number
  madeMs: number
}

export class Copies {
  readonly #preferences: App['preferences']
  readonly #folder: string
  readonly #copies = new Map<string, Copy>()
  /** By account: what it asks for is looked at one after the other. */
  readonly asked = openLocks()
  /** How far those are that are being made: 0 to 1. */
  readonly making = new Map<string, number>()

  constructor({ settings, preferences }: Pick<App, 'settings' | 'preferences'>) {
    this.#preferences = preferences
    this.#folder = join(resolve(settings.cacheDir), FOLDER)
  }

  pathOf(id: string): string {
    return join(this.#folder, `${id}${ENDING}`)
  }

  urlOf(id: string): string | undefined {
    return this.#copies.has(id) ? `/cache/${FOLDER}/${id}.mp4` : undefined
  }

  /** Bytes that they may have together. */
  room(): number {
    return this.#preferences.section('playback').copy_room * GIGABYTE
  }

  async drop(ids: readonly string[]): Promise<void> {
    for (const id of ids) if (this.#copies.delete(id)) await rm(this.pathOf(id), { force: true })
  }

  /** What was cut off goes. */
  async begin(): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    for (const name of await readdir(this.#folder)) {
      const id = copyOf(name)
      const { size, mtimeMs } = await stat(join(this.#folder, name))
      if (id === undefined) await rm(join(this.#folder, name), { recursive: true, force: true })
      else this.#copies.set(id, { bytes: size, madeMs: mtimeMs })
    }
  }

  /** Where one is written; `keep` takes it from there. */
  draftOf(id: string): string {
    return join(this.#folder, `${id}.part`)
  }

  async keep(id: string): Promise<void> {
    const draft = this.draftOf(id)
    const { size, mtimeMs } = await stat(draft)
    await rename(draft, this.pathOf(id))
    this.#copies.set(id, { bytes: size, madeMs: mtimeMs })
    await this.#makeRoom(id)
  }

  /** For records: which of these videos have one. */
  keysOf(ids: readonly string[]): Map<string, { copy_url: string }> {
    return new Map(
      ids.flatMap((id) => {
        const url = this.urlOf(id)
        return url === undefined ? [] : [[id, { copy_url: url }] as const]
      }),
    )
  }

  /** Of videos that are no more. */
  async dropUnknown(known: (ids: readonly string[]) => Promise<Set<string>>): Promise<void> {
    const there = await known([...this.#copies.keys()])
    await this.drop([...this.#copies.keys()].filter((id) => !there.has(id)))
  }

  async #makeRoom(kept: string): Promise<void> {
    const oldest = [...this.#copies].sort(([, a], [, b]) => a.madeMs - b.madeMs)
    let sum = oldest.reduce((all, [, { bytes }]) => all + bytes, 0)
    for (const [id, { bytes }] of oldest) {
      if (sum <= this.room()) return
      if (id === kept) continue
      sum -= bytes
      await this.drop([id])
    }
  }
}

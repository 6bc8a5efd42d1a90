/**
 * Pictures of videos that the cache has lost, made again from the disk: what lies beside the film, else what is in it.
 */
import { readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAppError } from 'archivolt'
import { codeOf } from '../film-kit/disk-fault.ts'
import { groupNames } from '../film-kit/names.ts'
import { isPicture } from '../film-kit/sidecars.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { frameOf, pictureIn } from './film.ts'

const MOST_FOLDERS = 100

export class LostPictures {
  readonly #app: App
  readonly #endings: ReadonlySet<string>
  /** Folders that were read last: many films lie in one. By the film's name, the picture's. */
  readonly #folders = new Map<string, ReadonlyMap<string, string>>()

  constructor(app: App) {
    this.#app = app
    this.#endings = new Set<string>(app.media.containers.endings)
  }

  /** @returns whether there is one now */
  async takeBeside(id: string, doc: VideoDoc): Promise<boolean> {
    const film = await this.#filmOf(id, doc)
    const picture = film && (await this.#besideOf(film))
    if (picture === undefined || !(await isPicture(picture))) return false
    return this.#keep(id, picture)
  }

  /** The picture in the film, or one of its frames. Only for what the platform cannot give: the film is read for it. */
  async takeFrom(id: string, doc: VideoDoc, signal: AbortSignal): Promise<boolean> {
    const film = await this.#filmOf(id, doc)
    if (film === undefined || (await this.#app.media.absence()) !== undefined) return false
    return this.#app.media
      .scratch(async (folder) => {
        const made = join(folder, 'picture')
        const inside = (await this.#app.media.streamsIn(film, signal)).find((stream) => stream.isPicture)
        const picture = inside
          ? await pictureIn(this.#app, film, inside.index, signal)
          : // The film may be shorter than its record says.
            await frameOf(this.#app, film, doc.player.duration / 3, signal).catch(() =>
              frameOf(this.#app, film, 0, signal),
            )
        await writeFile(made, picture)
        return this.#keep(id, made)
      })
      .catch((thrown: unknown) => {
        signal.throwIfAborted()
        if (!isAppError(thrown)) throw thrown
        return false
      })
  }

  /** Undefined: it cannot be had now. */
  async #filmOf(id: string, { channel_id: channelId }: VideoDoc): Promise<string | undefined> {
    try {
      const path = await this.#app.media.filmPath(channelId, id)
      return (await this.#app.media.isThere(path)) ? path : undefined
    } catch (thrown) {
      if (!isAppError(thrown) && codeOf(thrown) === '') throw thrown
      return undefined
    }
  }

  async #besideOf(film: string): Promise<string | undefined> {
    const path = dirname(film)
    const picture = (this.#folders.get(path) ?? (await this.#read(path))).get(basename(film))
    return picture === undefined ? undefined : join(path, picture)
  }

  async #read(path: string): Promise<ReadonlyMap<string, string>> {
    const { films } = groupNames(await readdir(path).catch(() => []), this.#endings)
    const pictures = new Map(films.flatMap(({ name, picture }) => (picture === undefined ? [] : [[name, picture]])))
    const [oldest] = this.#folders.keys()
    if (this.#folders.size >= MOST_FOLDERS && oldest !== undefined) this.#folders.delete(oldest)
    this.#folders.set(path, pictures)
    return pictures
  }

  async #keep(id: string, picture: string): Promise<boolean> {
    try {
      await this.#app.media.keepArt('video', id, picture)
      return true
    } catch (thrown) {
      if (!isAppError(thrown)) throw thrown
      return false
    }
  }
}

/** Restores missing thumbnails from disk: from a picture next to the film, otherwise from the film. */
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

export function openLostPictures(app: App) {
  const endings = new Set<string>(app.media.containers.endings)
  /** Picture names by film name, for recently read folders, because one folder contains many films. */
  const folders = new Map<string, ReadonlyMap<string, string>>()

  /** @returns whether the video has a picture now */
  async function takeSidecarPicture(id: string, doc: VideoDoc): Promise<boolean> {
    const film = await filmOf(id, doc)
    const picture = film && (await sidecarPictureOf(film))
    if (picture === undefined || !(await isPicture(picture))) return false
    return store(id, picture)
  }

  /**
   * Takes the picture embedded in the film, or a frame. This reads the film, so it is only used if the platform has no
   * picture.
   */
  async function takeFrom(id: string, doc: VideoDoc, signal: AbortSignal): Promise<boolean> {
    const film = await filmOf(id, doc)
    if (film === undefined || (await app.media.absence()) !== undefined) return false
    return app.media
      .scratch(async (folder) => {
        const made = join(folder, 'picture')
        const inside = (await app.media.streamsIn(film, signal)).find((stream) => stream.isPicture)
        const picture = inside
          ? await pictureIn(app, film, inside.index, signal)
          : // The film may be shorter than its record says.
            await frameOf(app, film, doc.player.duration / 3, signal).catch(() => frameOf(app, film, 0, signal))
        await writeFile(made, picture)
        return store(id, made)
      })
      .catch((thrown: unknown) => {
        signal.throwIfAborted()
        if (!isAppError(thrown)) throw thrown
        return false
      })
  }

  /** undefined: the film cannot be read now. */
  async function filmOf(id: string, { channel_id: channelId }: VideoDoc): Promise<string | undefined> {
    try {
      const path = await app.media.filmPath(channelId, id)
      return (await app.media.isThere(path)) ? path : undefined
    } catch (thrown) {
      if (!isAppError(thrown) && codeOf(thrown) === '') throw thrown
      return undefined
    }
  }

  async function sidecarPictureOf(film: string): Promise<string | undefined> {
    const path = dirname(film)
    const picture = (folders.get(path) ?? (await read(path))).get(basename(film))
    return picture === undefined ? undefined : join(path, picture)
  }

  async function read(path: string): Promise<ReadonlyMap<string, string>> {
    const { films } = groupNames(await readdir(path).catch(() => []), endings)
    const pictures = new Map(films.flatMap(({ name, picture }) => (picture === undefined ? [] : [[name, picture]])))
    const [oldest] = folders.keys()
    if (folders.size >= MOST_FOLDERS && oldest !== undefined) folders.delete(oldest)
    folders.set(path, pictures)
    return pictures
  }

  async function store(id: string, picture: string): Promise<boolean> {
    try {
      await app.media.keepArt('video', id, picture)
      return true
    } catch (thrown) {
      if (!isAppError(thrown)) throw thrown
      return false
    }
  }

  return {
    takeSidecarPicture,
    takeFrom,
  }
}

export type LostPictures = ReturnType<typeof openLostPictures>

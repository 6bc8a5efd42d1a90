/**
 * Indexes films of the library that have no document, from the information in their files and the files next to them.
 */
import { basename } from 'node:path'
import type { JobContext, Words } from 'archivolt'
import type { Reading } from '../film-kit/reading.ts'
import { infoInTags } from '../film-kit/tags.ts'
import type { Info } from '../film-kit/types.ts'
import { given, textOf } from '../film-kit/values.ts'
import type { App } from './app.ts'
import { type FoundFilm, filmsOf, mediaDirOf } from './disk.ts'
import { takeIn } from './found.ts'
import { openReading } from './reading.ts'
import { reasonOf } from './report.ts'

export interface LooseRun extends Pick<JobContext<object>, 'id' | 'signal' | 'step'> {
  /** Only count them. */
  isPreview: boolean
  /** Whether the video is skipped, because its document comes from another source. */
  isLeftOut(id: string): boolean
  refuse(path: string, why: Words): void
}

/** Sends no request to the platform. @returns the number of films that were indexed, or would be (in a preview) */
export type LooseFilms = (run: LooseRun) => Promise<number>

export const openLoose =
  (app: App): LooseFilms =>
  async (run) => {
    const reading = openReading(run, app)
    const mediaDir = mediaDirOf(app)
    let count = 0
    try {
      for await (const films of filmsOf(mediaDir, reading, app)) {
        const meant = films.filter(({ name, isStray }) => !isStray && !run.isLeftOut(name))
        const known = await app.videos.readable(meant.map(({ name }) => name))
        for (const film of meant) {
          run.signal.throwIfAborted()
          if (known.has(film.name)) continue
          const path = film.path.slice(mediaDir.length + 1)
          try {
            if (!film.isId) run.refuse(path, 'its name is not the id of a video')
            else if (run.isPreview || (await takeInAlone(film, { run, reading, mediaDir, app }))) count++
          } catch (thrown) {
            run.refuse(path, reasonOf(thrown, app))
          }
        }
      }
    } finally {
      await reading.end()
    }
    return count
  }

interface Alone {
  run: LooseRun
  reading: Reading
  mediaDir: string
  app: App
}

async function takeInAlone(film: FoundFilm, { run, reading, mediaDir, app }: Alone): Promise<true> {
  const info = await infoOf(film, run.signal, { reading, mediaDir, app })
  await takeIn(film, run, app, { info, isOffline: true })
  const comments = await reading.child().ask('comments', { id: film.name, path: mediaDir, file: film.file }, run.signal)
  if (comments.length > 0) await app.videos.setComments(film.name, app.platform.commentsOf(comments))
  return true
}

/** More detailed sources have priority: the information file, the NFO file, the tags, the names. */
async function infoOf(
  { path, folder, name: id, file }: FoundFilm,
  signal: AbortSignal,
  { reading, mediaDir, app }: Omit<Alone, 'run'>,
): Promise<Info> {
  const [look] = await reading.look(mediaDir, [file])
  const told = look?.isFilm ? { ...look.show, ...look.nfo?.info, ...(look.info?.id === id && look.info) } : {}
  const named: Info = { title: id, ...infoInTags(await app.media.tagsIn(path, signal)), ...given(told) }
  const channel_id = basename(folder)
  return { channel_id, channel: textOf(named['channel']) || channel_id, ...named, id }
}

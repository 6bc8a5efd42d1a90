/** Reads the folders of the library entry by entry. Skips hidden names and names of file servers. */

import type { Dir, Dirent } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { errors, isId } from 'archivolt'
import { codeOf } from '../film-kit/disk-fault.ts'
import { isIgnored, pathOf } from '../film-kit/names.ts'
import { isAbsent } from '../film-kit/plain-file.ts'
import type { Reading } from '../film-kit/reading.ts'
import type { FoundFile } from '../film-kit/types.ts'
import type { App } from './app.ts'

/** Yields nothing if the folder is missing. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  let names: Dir
  try {
    names = await opendir(folder, { bufferSize: 256 })
  } catch (thrown) {
    if (isAbsent(thrown)) return
    throw thrown
  }
  for await (const entry of names) if (!isIgnored(entry.name)) yield entry
}

/** A film file in the library. */
export interface FoundFilm {
  path: string
  folder: string
  /** The name without its extension, usually a video id. */
  name: string
  isId: boolean
  /** Its folder is not named like a channel: it is only used for films that are missing elsewhere. */
  isStray: boolean
  /** The film with the files next to it. */
  file: FoundFile
}

export const mediaDirOf = (app: Pick<App, 'settings'>): string => resolve(app.settings.mediaDir)

const isChannelFolder = async (mediaDir: string, entry: Dirent): Promise<boolean> =>
  isId(entry.name) && isOfKind(join(mediaDir, entry.name), entry, 'isDirectory')

/** @throws unavailable: the library is unavailable, and why */
export async function mustBeThere({ media }: Pick<App, 'media'>): Promise<void> {
  const absence = await media.absence()
  if (absence !== undefined) throw errors.unavailable(absence)
}

/**
 * Yields films in batches: those in folders of channels, including renamed ones, and those next to these folders. Links
 * are followed, because a library may be spread over several disks.
 */
export async function* filmsOf(
  mediaDir: string,
  reading: Pick<Reading, 'walk'>,
  { media }: Pick<App, 'media'>,
): AsyncGenerator<FoundFilm[]> {
  if (!(await isThere(mediaDir))) return
  const endings = media.containers.own
  for await (const { files } of reading.walk({ path: mediaDir, isOwn: true, deepest: 1, endings }))
    yield files
      .filter(({ name }) => endings.some((one) => name.endsWith(`.${one}`)))
      .map((file) => {
        const name = file.name.slice(0, -extname(file.name).length)
        const isStray = file.folder !== '' && !isId(file.folder)
        return {
          ...{ path: join(mediaDir, pathOf(file)), folder: join(mediaDir, file.folder) },
          ...{ name, isId: isId(name), isStray, file },
        }
      })
}

async function isThere(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory()
  } catch (thrown) {
    if (isAbsent(thrown)) return false
    throw thrown
  }
}

async function isOfKind(path: string, entry: Dirent, kind: 'isFile' | 'isDirectory'): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry[kind]()
  try {
    return (await stat(path))[kind]()
  } catch (thrown) {
    if (isAbsent(thrown) || codeOf(thrown) === 'ELOOP') return false
    throw thrown
  }
}

/**
 * Moves a film and the files of the same name into the folder of its channel. May be repeated.
 * @throws unprocessable: a file of this name exists there, or the folder cannot be reached
 */
export async function moveFilm(film: FoundFilm, channelId: string, { media }: Pick<App, 'media'>): Promise<void> {
  const home = media.homeOf(channelId, film.name, film.path)
  const own = basename(film.path)
  if (await media.isThere(home)) throw errors.unprocessable('another file with this name already exists')
  const names: string[] = []
  for await (const entry of entriesOf(film.folder)) {
    if (entry.name.startsWith(`${film.name}.`) && entry.name !== own && entry.isFile()) names.push(entry.name)
  }
  // The film goes last: after an interruption it is still found at its old path.
  for (const name of [...names, own]) {
    if (!(await media.isThere(join(dirname(home), name)))) await media.moveInto(channelId, join(film.folder, name))
  }
  await media.filmPath(channelId, film.name) // records the film's extension, if it differs from the known one
}

const SUBTITLE = /^(.+)\.([^.]+)\.vtt$/

/** Languages of the subtitle files next to a film, from their names. */
export async function subtitlesIn(folder: string, name: string): Promise<string[]> {
  const languages: string[] = []
  for await (const entry of entriesOf(folder)) {
    const found = subtitleOf(entry)
    if (found?.film === name) languages.push(found.lang)
  }
  return languages.sort()
}

export interface FoundSubtitle {
  channelId: string
  /** Id of the film. */
  film: string
  /** The part of the name that contains the language. */
  lang: string
}

/** Subtitle files in folders of channels whose names begin with an id. */
export async function* subtitlesOf(mediaDir: string): AsyncGenerator<FoundSubtitle> {
  for await (const entry of entriesOf(mediaDir)) {
    if (!(await isChannelFolder(mediaDir, entry))) continue
    for await (const inner of entriesOf(join(mediaDir, entry.name))) {
      const found = subtitleOf(inner)
      if (found && isId(found.film)) yield { channelId: entry.name, ...found }
    }
  }
}

function subtitleOf(entry: Dirent): { film: string; lang: string } | undefined {
  const [, film, lang] = SUBTITLE.exec(entry.name) ?? []
  return film !== undefined && lang !== undefined && entry.isFile() ? { film, lang } : undefined
}

/**
 * Recognises TubeArchivist's folders, and reads them without a backup: `<channel id>/<video id>.mp4`, and pictures in
 * its cache.
 */
import { readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { orWhereAbsent } from '../../film-kit/disk-fault.ts'

const CHANNEL = /(?:^|\/)(UC[A-Za-z0-9_-]{22})$/
const FILM = /(?:^|\/)UC[A-Za-z0-9_-]{22}\/[A-Za-z0-9_-]{11}\.mp4$/
const MOST_FOLDERS = 1000

/** The channel of such a folder. */
export const channelOfFolder = (folder: string): string | undefined => CHANNEL.exec(folder)?.[1]

/**
 * How surely the folders are TubeArchivist's: 0.8 if most films have such names, otherwise 0.
 * @param names  files in the upper folders of a place
 */
export function looksLikeTubeArchivist(names: readonly string[]): number {
  const films = names.filter((name) => /\.mp4$/i.test(name))
  return films.length > 0 && films.filter((name) => FILM.test(name)).length > films.length / 2 ? 0.8 : 0
}

const isFolder = (path: string): boolean =>
  orWhereAbsent(() => statSync(path, { throwIfNoEntry: false })?.isDirectory(), undefined) === true

/** Finds the picture of a video in a cache next to the place. */
export function cachedPictures(
  place: string,
  isAllowed: (path: string) => boolean,
): (id: string) => string | undefined {
  const outer = dirname(place)
  const beside = isAllowed(outer) ? orWhereAbsent(() => readdirSync(outer), []) : []
  const caches = beside
    .slice(0, MOST_FOLDERS)
    .map((name) => `${outer}/${name}`)
    .filter((folder) => isFolder(`${folder}/videos`) && isFolder(`${folder}/channels`))
  return (id) =>
    caches
      .map((cache) => `${cache}/videos/${id[0]!.toLowerCase()}/${id}.jpg`)
      .find(
        (path) => orWhereAbsent(() => statSync(path, { throwIfNoEntry: false })?.isFile(), false) && isAllowed(path),
      )
}

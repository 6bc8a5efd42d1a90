/** Copies of films for browsers that do not play the original: files in the cache, up to a total size. */
import { join, resolve } from 'node:path'
import { type App, idInName, openCacheFiles, openLocks } from 'archivolt'

const FOLDER = 'playable'
const ENDING = '.mp4'
/** The video id in the name of a copy. */
export const copyOf = (name: string): string | undefined => idInName(name, ENDING)
const GIGABYTE = 1e9

export function openCopies({ settings, preferences, log, touch }: App) {
  const files = openCacheFiles({
    folder: join(resolve(settings.cacheDir), FOLDER),
    ending: ENDING,
    room: () => preferences.section('playback').copy_room * GIGABYTE,
  })
  files.followRoom({ preferences, log }, touch)

  function urlOf(id: string): string | undefined {
    return files.has(id) ? `/cache/${FOLDER}/${id}.mp4` : undefined
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

  return {
    ...files,
    /** Serializes the requests of each account. */
    asked: openLocks(),
    /** Progress of the copies that are being made, 0 to 1. */
    making: new Map<string, number>(),
    urlOf,
    keysOf,
  }
}

export type Copies = ReturnType<typeof openCopies>

/**
 * Matches films and information files in different folders, which yt-dlp creates with `-P infojson:info`: films without
 * an information file are held back until all folders were read.
 */
import { posix } from 'node:path'
import type { FoundFile } from './types.ts'

/** Maximum number of films that are held back, to limit memory. */
const MOST_HELD = 50_000
const MOST_INFOS = 100_000
const INFO_ENDING = /\.info\.json(?:\.gz)?$/i

export function openApart() {
  const held: FoundFile[] = []
  /** Paths of information files, by the name of their film. */
  const infos = new Map<string, string[]>()
  let count = 0
  let at = 0

  /** The number of path segments that differ: among several files of the same name, the nearest is used. */
  const distance = (one: string, other: string): number => {
    const [a, b] = [one.split('/'), other.split('/')]
    const same = a.filter((part) => b.includes(part)).length
    return a.length + b.length - 2 * same
  }

  function matched(film: FoundFile): FoundFile {
    const paths = infos.get(film.base)
    if (!paths) return film
    const ranked = paths
      .map((path) => ({ path, far: distance(film.folder, posix.dirname(path)) }))
      .sort((a, b) => a.far - b.far)
    const [best, second] = ranked
    if (!best || best.far === second?.far) return film
    return { ...film, info: posix.relative(film.folder, best.path) }
  }

  return {
    /** Stores information files without a film. @param paths  relative to the place */
    addInfos(paths: readonly string[]): void {
      for (const path of paths) {
        if (count++ >= MOST_INFOS) return
        const base = posix.basename(path).normalize('NFC').replace(INFO_ENDING, '')
        infos.set(base, [...(infos.get(base) ?? []), path])
      }
    },
    /** @returns false: the film is not held back */
    hold(film: FoundFile): boolean {
      if (film.info !== undefined || held.length >= MOST_HELD) return false
      held.push(film)
      return true
    },
    /** Returns films that were held back, once all folders were read. */
    release(most: number): FoundFile[] {
      const some = held.slice(at, at + most).map(matched)
      at += some.length
      return some
    },
    left: (): number => held.length - at,
  }
}

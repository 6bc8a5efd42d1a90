/**
 * Finds films in folders by means of reading children, for rescans, the import folder and imports of other libraries.
 */

import { isAppError, say } from 'archivolt'
import type { Media } from '../media/types.ts'
import type { Seen } from './read-film.ts'
import type { ReadingChild } from './reading-child.ts'
import type { Requests } from './serve.ts'
import type { FoundFile, Look } from './types.ts'
import type { WalkArgs, Walked } from './walk.ts'

/** @typeParam Asked  the requests that its children answer */
export interface Reading<Asked extends Requests = Requests> {
  /** Yields the films in pieces; the next piece is read while the caller works on the previous one. */
  walk(what: Omit<WalkArgs, 'endings'> & { endings?: readonly string[] }): AsyncGenerator<Walked>
  /**
   * Reads the head of each film and its information file, checked for size and form.
   * @param path  of the folder that was walked
   * @param notes  of a catalog that describes the films too
   * @returns the results in the same order
   */
  look(path: string, files: readonly FoundFile[], notes?: Asked['look']['args']['notes']): Promise<Look[]>
  /** The number of files that are read concurrently. */
  lanes(): number
  /** The child for all other requests. */
  child(): ReadingChild<Asked>
  /** Ends the children, which frees their memory. A later request starts new ones. */
  end(): Promise<void>
}

/** Number of files that are read concurrently if each takes long. */
const MOST_AT_ONCE = 4
/** A file that takes longer is on a network or a spinning disk, where reading several concurrently is faster. */
const SLOW_MS = 20

/** @param start  starts one of its children */
export function openReading<Asked extends Requests = Requests>(
  start: () => ReadingChild<Asked>,
  { signal }: { signal: AbortSignal },
  { media }: { media: Pick<Media, 'containers'> },
): Reading<Asked> {
  let walking: ReadingChild<Asked> | undefined
  const looking: ReadingChild<Asked>[] = []
  let isSlow = false
  const child = (): ReadingChild<Asked> => (walking?.isLost() === false ? walking : (walking = start()))
  const lookingOn = (lane: number): ReadingChild<Asked> =>
    looking[lane]?.isLost() === false
      ? looking[lane]
      : // To save memory, the child that walks also looks at files.
        (looking[lane] = lane === 0 ? child() : start())

  /**
   * Reads files in one of the children. A file that makes its child run out of memory counts as unreadable, and the
   * others are read again.
   */
  async function lookOn(lane: number, path: string, files: readonly FoundFile[], notes: unknown): Promise<Seen[]> {
    const own: ReadingChild = lookingOn(lane)
    try {
      const { seen, tookMs } = await own.ask('look', { path, files, notes }, signal)
      if (files.length > 1 && tookMs / files.length > SLOW_MS) isSlow = true
      return seen
    } catch (thrown) {
      if (!isAppError(thrown, 'unprocessable')) throw thrown
      if (files.length === 1) return [{ why: say`the files next to it need too much memory` }]
      const each: Seen[] = []
      for (const file of files) each.push(...(await lookOn(lane, path, [file], notes)))
      return each
    }
  }

  return {
    async *walk(what) {
      const { endings } = media.containers
      const own: ReadingChild = child()
      const id = await own.ask('open', { endings, ...what }, signal)
      let next = own.ask('next', { walk: id }, signal)
      for (;;) {
        const walked = await next
        if (!walked.isDone) {
          // The next piece is read ahead; its error is thrown when the piece is awaited.
          next = own.ask('next', { walk: id }, signal)
          next.catch(() => undefined)
        }
        yield walked
        if (walked.isDone) return
      }
    },
    async look(path, files, notes) {
      const lanes = Math.max(1, looking.length)
      const size = Math.ceil(files.length / lanes)
      const parts = Array.from({ length: lanes }, (_, lane) => files.slice(lane * size, (lane + 1) * size))
      const seen = await Promise.all(
        parts.map((part, lane) => (part.length > 0 ? lookOn(lane, path, part, notes) : [])),
      )
      if (isSlow && lanes < MOST_AT_ONCE) looking[lanes] = start()
      return seen.flat().map((one) => toLook(one, media.containers.isFilm))
    },
    lanes: () => looking.length,
    child,
    async end() {
      const children = new Set([walking, ...looking.splice(0)])
      walking = undefined
      await Promise.all([...children].map((one) => one?.end()))
    },
  }
}

function toLook(seen: Seen, isFilm: (head: Uint8Array) => boolean): Look {
  if ('why' in seen) return { isFilm: false, code: 'unreadable_file', why: seen.why }
  const { head, ...rest } = seen
  if (head.length === 0) return { isFilm: false, code: 'not_a_film', why: say`the file is empty` }
  if (!isFilm(head)) return { isFilm: false, code: 'not_a_film', why: say`it is not a video, despite its name` }
  return { isFilm: true, ...rest }
}

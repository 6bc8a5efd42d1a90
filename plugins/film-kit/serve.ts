/**
 * The child's side of a reading child: answers the requests that are common to all. A plugin's `worker.ts` calls
 * `serve` with its own requests.
 */

import { lstatSync } from 'node:fs'
import { codeOf } from './disk-fault.ts'
import { onAlive, reportAlive } from './heartbeat.ts'
import { readCommentsOf, readFilm, readWithSidecars, type Seen } from './read-film.ts'
import { trimmed } from './trimmed.ts'
import type { FoundFile, Listed } from './types.ts'
import { openWalk, type PictureOf, type Walk, type WalkArgs, type Walked } from './walk.ts'

/** @typeParam Notes  names the notes of a catalog that describes the films too */
export interface Requests<Notes = unknown> {
  open: { args: WalkArgs; result: number }
  next: { args: { walk: number }; result: Walked }
  end: { args: { walk: number }; result: undefined }
  look: {
    args: { path: string; files: readonly FoundFile[]; notes?: Notes | undefined }
    result: { seen: Seen[]; tookMs: number }
  }
  /** Comments of a video in yt-dlp's form: from its information file, otherwise from the film. Empty: it has none. */
  comments: { args: { id: string; path: string; file: FoundFile; notes?: Notes | undefined }; result: unknown[] }
}
export type Response = { number: number; result: unknown } | { number: number; error: string; code: string }
/** Sent during a long request, to show that the child is still working. */
export interface Alive {
  isAlive: true
}

type Shape<Asked> = { [Name in keyof Asked]: { args: unknown; result: unknown } }
export type Answers<Asked extends Shape<Asked>> = {
  [Name in keyof Asked]: (args: Asked[Name]['args']) => Asked[Name]['result'] | Promise<Asked[Name]['result']>
}

/** The data that the catalog of another program adds. */
interface Told<Notes> {
  picturesOf(args: WalkArgs): PictureOf | undefined
  listedIn(notes: Notes): (file: FoundFile) => Listed | undefined
}

export function answersOfFilms<Notes>(told?: Told<Notes>): Answers<Requests<Notes>> {
  const walks = new Map<number, Walk>()
  let count = 0

  function readWith(root: string, file: FoundFile, listedOf: ((file: FoundFile) => Listed | undefined) | undefined) {
    reportAlive()
    const seen = readWithSidecars(root, file)
    if ('why' in seen) return seen
    const listed = listedOf?.(file)
    if (listed) return { ...seen, listed: { ...listed, info: trimmed(listed.info) } }
    const inFilm = seen.info ? undefined : readFilm(root, file)
    return inFilm ? { ...seen, info: trimmed(inFilm.info) } : seen
  }

  return {
    open(args) {
      lstatSync(args.path)
      walks.set(++count, openWalk(args, told?.picturesOf(args)))
      return count
    },
    next: ({ walk }) => walks.get(walk)!.next(),
    end: ({ walk }) => void walks.delete(walk),
    look({ path, files, notes }) {
      const listedOf = notes === undefined ? undefined : told?.listedIn(notes)
      const began = performance.now()
      const seen = files.map((file) => readWith(path, file, listedOf))
      return { seen, tookMs: performance.now() - began }
    },
    comments: ({ id, path, file }) => readCommentsOf(id, path, file),
  }
}

export function serve<Asked extends Shape<Asked>>(answers: Answers<Asked>): void {
  interface Request {
    number: number
    op: keyof Asked
    args: Asked[keyof Asked]['args']
  }

  async function answer({ number, op, args }: Request): Promise<Response> {
    try {
      return { number, result: await answers[op](args) }
    } catch (thrown) {
      return { number, error: (thrown as Error).message, code: codeOf(thrown) }
    }
  }

  // If the server is killed, its child continues to run, and the child of the next server would write the same notes.
  const server = process.ppid
  /** Ends this process at once: a normal exit would wait for a disk that hangs. */
  const endSelf = () => process.kill(process.pid, 'SIGKILL')
  process.once('disconnect', endSelf)

  onAlive(() => {
    // During blocking work, no `disconnect` event arrives.
    if (process.ppid !== server) endSelf()
    process.send!({ isAlive: true } satisfies Alive)
  })

  process.on('message', async (request: Request) => process.send!(await answer(request)))
}

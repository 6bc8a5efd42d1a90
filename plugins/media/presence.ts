/**
 * Whether the library is available. A mark in its folder identifies it, so that the empty mount point of a missing disk
 * is never mistaken for it.
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type AppError, chunksOf, errors, say, sentenceOf, type Words } from 'archivolt'
import type { App } from './app.ts'
import { OWN_ENDINGS } from './containers.ts'
import { codeOf, exists, isMissing, isRefusal, lackOfSpace, sync } from './files.ts'
import type { LibraryLock } from './library-lock.ts'
import type { Paths } from './paths.ts'

/** In the library's folder: this installation's id, and a sentence for people who find the file. */
const MARK = '.archivolt-library'
const MARK_TEXT =
  'This file tells Archivolt that its library is here. It belongs on the same disk as the videos: leave it in its place.'
const MARK_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MOST_MARK_BYTES = 200
/** Number of films that are looked up for an installation that is older than marks: one match is sufficient. */
const SEARCHED = 500
const STEP = 50
/** Minimum interval between failed searches: a failed search for all films takes a while, and Home asks often. */
const SEARCH_AGAIN_MS = 60_000

export const presenceTables = {
  number: 1,
  // `next_mark` is stored before it is written to disk: after a crash between the two, the mark is still recognized.
  sql: 'CREATE TABLE media_library (id INTEGER PRIMARY KEY CHECK (id = 1), mark TEXT, next_mark TEXT) STRICT',
}

interface Marks {
  mark: string | null
  next_mark: string | null
}

type PresenceApp = Pick<App, 'ledger' | 'hook' | 'log' | 'clock'>
type PresencePaths = Pick<Paths, 'mediaDir' | 'pathOf'>

type Found = { kind: 'missing' | 'unmarked' } | { kind: 'marked'; id: string } | { kind: 'unreadable'; why: string }

const away = (why: Words, remedy: Words): Words =>
  say`The library can’t be found: ${{ why: sentenceOf(why) }}. Until it is back, nothing is written or removed. ${{ remedy: sentenceOf(remedy) }}`
const OR_ACCEPT = say`Connect the disk, or accept this folder as the library.`
const REASONS = {
  missing: away(say`the media folder is missing`, say`Connect its disk; everything then continues automatically.`),
  unmarked: away(say`the media folder has no marker file of this archive, as if its disk were not mounted`, OR_ACCEPT),
  foreign: away(
    say`the media folder belongs to another installation`,
    say`Connect the right disk, or accept this folder as the library.`,
  ),
  taken: away(say`another Archivolt is using it`, say`Stop the other one, or give each its own library.`),
  unknown: away(say`none of the expected videos is in the media folder`, OR_ACCEPT),
  unreadable: (why: string) =>
    away(
      say`its marker file ${{ file: MARK }} cannot be read (${{ why }})`,
      say`Check the disk, or accept this folder as the library.`,
    ),
  unwritable: (why: string) =>
    away(
      say`its marker file ${{ file: MARK }} cannot be written (${{ why }})`,
      say`Check the disk and its permissions.`,
    ),
}

/** The file that identifies a library. */
function openMark(folder: string) {
  const path = join(folder, MARK)

  async function find(): Promise<Found> {
    try {
      const id = await read()
      return MARK_ID.test(id) ? { kind: 'marked', id } : { kind: 'unreadable', why: 'it is damaged' }
    } catch (thrown) {
      if (!isMissing(thrown)) return { kind: 'unreadable', why: codeOf(thrown) }
    }
    try {
      return { kind: (await isFolder(folder)) ? 'unmarked' : 'missing' }
    } catch (thrown) {
      return { kind: 'unreadable', why: codeOf(thrown) }
    }
  }

  async function read(): Promise<string> {
    // Anything else at its path, such as a pipe, must not block.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_MARK_BYTES), 0, MOST_MARK_BYTES, 0)
      return buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? ''
    } finally {
      await file.close()
    }
  }

  async function write(id: string): Promise<void> {
    const part = `${path}.part`
    const file = await open(part, 'w')
    try {
      await file.writeFile(`${id}\n${MARK_TEXT}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
    await sync(folder)
  }

  return { find, write }
}

/** @param prepare  cleans up after an earlier run; called once, before the library counts as available */
export function openPresence(app: PresenceApp, paths: PresencePaths, lock: LibraryLock, prepare: () => Promise<void>) {
  const mark = openMark(paths.mediaDir)
  /** Resolved once per run; a failure is retried. */
  let prepared: Promise<void> | undefined
  let marking: Promise<void> | undefined
  /** Steady time of the last search that found none of the films. */
  let failedSearchMs = -Infinity

  /**
   * Why the library is unavailable, as a sentence; undefined: it is available. Checked at each call, because a disk may
   * fail at any moment.
   */
  async function absence(): Promise<Words | undefined> {
    const reason = await check()
    if (reason !== undefined) return reason
    prepared ??= prepare()
    try {
      await prepared
    } catch (thrown) {
      prepared = undefined
      throw thrown
    }
    return undefined
  }

  /** Whether the library is available, but locked by another server. */
  async function isTaken(): Promise<boolean> {
    return (await check()) === REASONS.taken
  }

  /** Whether nothing was ever stored here, so that the folder may be created. */
  async function isNew(): Promise<boolean> {
    const { mark, next_mark } = marks()
    return mark === null && next_mark === null && (await films(1)).length === 0
  }

  /**
   * Accepts the current folder as the library. @throws conflict: the folder does not exist; unavailable: it cannot be
   * written
   */
  async function accept(): Promise<void> {
    const reason = await check()
    if (reason === undefined) return
    if (!(await isFolder(paths.mediaDir)))
      throw errors.conflict(
        'There is no media folder to accept: connect its disk, or create the folder, then accept it',
      )
    if ((await lock.take()) === 'taken') throw errors.conflict(REASONS.taken)
    try {
      await markAnew()
    } catch (cause) {
      throw errors.unavailable(REASONS.unwritable(codeOf(cause)), { cause })
    }
    app.log.warn('the media folder as it is now was accepted as the library')
  }

  /**
   * Wraps work that may only begin while the library is available, and fails with the reason if it became unavailable.
   */
  function whileThere<Args extends unknown[], Result>(
    work: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      await mustBeThere()
      try {
        return await work(...args)
      } catch (cause) {
        throw refusalOf(cause) ?? cause
      } finally {
        // If the disk disappeared during the work, its empty folder may have looked like a success.
        await mustBeThere()
      }
    }
  }

  /** The error of work that the library's disk refused as a whole, so that no single file is at fault. */
  function refusalOf(cause: unknown): AppError | undefined {
    const { path = '' } = cause as NodeJS.ErrnoException
    if (!isRefusal(cause) || !`${path}/`.startsWith(`${paths.mediaDir}/`)) return undefined
    const [root, reason] = [basename(paths.mediaDir), codeOf(cause)]
    return (
      lackOfSpace(cause) ??
      errors.unavailable(say`${{ root }} cannot be written (${{ reason }}): check its disk and its permissions`, {
        cause,
      })
    )
  }

  async function mustBeThere(): Promise<void> {
    const reason = await absence()
    if (reason !== undefined) throw errors.unavailable(reason)
  }

  async function check(): Promise<Words | undefined> {
    const reason = await checkMark()
    if (reason !== undefined) return reason
    return (await lock.take()) === 'taken' ? REASONS.taken : undefined
  }

  async function checkMark(): Promise<Words | undefined> {
    const found = await mark.find()
    const { mark: known, next_mark: next } = marks()
    if (found.kind === 'unreadable') return REASONS.unreadable(found.why)
    if (found.kind !== 'marked') return known === null ? markFirst(found.kind) : REASONS[found.kind]
    if (found.id === known) return undefined
    if (found.id !== next) return REASONS.foreign
    if (!marking) await storeMarks({ mark: next, next_mark: null })
    return undefined
  }

  /** Recognizes a library without a mark by its content, and marks it. */
  async function markFirst(kind: 'missing' | 'unmarked'): Promise<Words | undefined> {
    if (kind === 'missing') return REASONS.missing
    if (app.clock.steady() - failedSearchMs < SEARCH_AGAIN_MS) return REASONS.unknown
    const known = await films(SEARCHED)
    if (known.length > 0 && !(await hasOneOf(known))) {
      failedSearchMs = app.clock.steady()
      return REASONS.unknown
    }
    try {
      await markAnew()
      return undefined
    } catch (thrown) {
      app.log.error({ err: thrown }, 'the library could not be marked')
      return REASONS.unwritable(codeOf(thrown))
    }
  }

  /** Writes a new mark each time, so that a previously accepted library is no longer recognized. */
  function markAnew(): Promise<void> {
    const write = async () => {
      const id = randomUUID()
      await storeMarks({ ...marks(), next_mark: id })
      await mark.write(id)
      await storeMarks({ mark: id, next_mark: null })
    }
    return (marking ??= write().finally(() => (marking = undefined)))
  }

  async function films(atMost: number) {
    return (await Promise.all(app.hook('media.films').map((fill) => fill(atMost)))).flat()
  }

  async function hasOneOf(known: ReadonlyArray<{ channelId: string; videoId: string }>): Promise<boolean> {
    for (const some of chunksOf(known, STEP)) {
      const checks = some.flatMap(({ channelId, videoId }) =>
        OWN_ENDINGS.map((ending) => exists(paths.pathOf(channelId, videoId, ending))),
      )
      // A disk with errors counts as unavailable.
      if ((await Promise.allSettled(checks)).some((one) => one.status === 'fulfilled' && one.value)) return true
    }
    return false
  }

  function marks(): Marks {
    const { ledger } = app
    return ledger.sql<Marks>('SELECT mark, next_mark FROM media_library').get() ?? { mark: null, next_mark: null }
  }

  async function storeMarks({ mark, next_mark }: Marks): Promise<void> {
    const { ledger } = app
    await ledger.write(() =>
      ledger
        .sql(
          'INSERT INTO media_library (id, mark, next_mark) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET mark = excluded.mark, next_mark = excluded.next_mark',
        )
        .run(mark, next_mark),
    )
  }

  return { absence, isTaken, isNew, accept, whileThere }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (thrown) {
    if (isMissing(thrown)) return false
    throw thrown
  }
}

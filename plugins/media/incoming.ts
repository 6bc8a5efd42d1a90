/**
 * Processes incoming pictures: downloads within limits, or uploads. Each is in a temporary folder until it is
 * converted.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isAppError, openLocks, withLimit } from 'archivolt'
import type { App } from './app.ts'
import { isFull } from './files.ts'
import { VARIANT_WIDTHS } from './paths.ts'
import { type Jpeg, type Picture, toJpegs } from './programs.ts'
import type { FetchedJpeg } from './types.ts'

const FETCH_LIMIT_MS = 30_000

/** Maximum size of a small picture; one of 320 pixels usually has a tenth of this. */
const MOST_SMALL_BYTES = 200_000

/** Width of a user's picture: sharp at the largest size on our page. */
const PORTRAIT_WIDTH = 256

export function openIncoming(app: Pick<App, 'platform' | 'log' | 'settings'>, folder: string) {
  /** Converts one upload at a time, however many people upload. */
  const portraits = openLocks()

  /** @returns the result of `use` for the downloaded file; undefined: it is not available */
  async function fetch<Made>(
    id: string,
    url: string,
    signal: AbortSignal | undefined,
    use: (path: string) => Promise<Made>,
  ): Promise<Made | undefined> {
    const { platform, log } = app
    if (!platform.isArtUrl(url, id)) return undefined
    try {
      return await withTemporary(async (path) => {
        await withLimit(FETCH_LIMIT_MS, signal, (limited) => platform.fetchPicture(url, path, limited, id))
        return use(path)
      })
    } catch (thrown) {
      signal?.throwIfAborted()
      const isLocal = typeof (thrown as NodeJS.ErrnoException).syscall === 'string' && 'path' in (thrown as object)
      if (isLocal || isFull(thrown) || isAppError(thrown, 'unavailable')) throw thrown
      log.info({ id, reason: (thrown as Error).message }, 'a picture could not be fetched')
      return undefined
    }
  }

  function fetchSmall(id: string, url: string, signal?: AbortSignal): Promise<Buffer | undefined> {
    return fetch(id, url, signal, async (path) => {
      const made = await jpegOf(path, { width: VARIANT_WIDTHS.small }, signal)
      return made.length > MOST_SMALL_BYTES ? undefined : made
    })
  }

  async function fetchJpegs(
    id: string,
    [next, ...later]: readonly FetchedJpeg[],
    signal?: AbortSignal,
    fetched: readonly Picture[] = [],
  ): Promise<boolean> {
    if (!next) return toJpegs(app.settings.ffmpeg, fetched, signal).then(() => true)
    const use = (from: string) => fetchJpegs(id, later, signal, [...fetched, { from, jpegs: [{ path: next.to }] }])
    return (await fetch(id, next.url, signal, use)) ?? false
  }

  function portraitOf(picture: Readable, signal: AbortSignal): Promise<Buffer> {
    return withTemporary(async (path) => {
      await pipeline(picture, createWriteStream(path, { mode: 0o600 }), { signal })
      return portraits.exclusive('portrait', () => jpegOf(path, { width: PORTRAIT_WIDTH, isSquare: true }, signal))
    })
  }

  /** Runs with a temporary folder for one picture, and removes it afterwards. */
  async function withTemporary<Made>(use: (path: string) => Promise<Made>): Promise<Made> {
    const path = join(folder, randomUUID())
    try {
      await mkdir(folder, { recursive: true })
      return await use(path)
    } finally {
      await rm(path, { force: true })
    }
  }

  async function jpegOf(fromPath: string, form: Omit<Jpeg, 'path'>, signal?: AbortSignal): Promise<Buffer> {
    const path = `${fromPath}.jpg`
    try {
      await toJpegs(app.settings.ffmpeg, [{ from: fromPath, jpegs: [{ path, ...form }] }], signal)
      return await readFile(path)
    } finally {
      await rm(path, { force: true })
    }
  }

  return { fetch, fetchSmall, fetchJpegs, portraitOf }
}

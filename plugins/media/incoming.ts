/** Pictures that arrive: fetched within limits, or sent. Each lies in a folder of its own until something is made of it. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isAppError, openLocks, withLimit } from 'archivolt'
import type { App } from './app.ts'
import { VARIANT_WIDTHS } from './paths.ts'
import { type Jpeg, toJpegs } from './programs.ts'

const FETCH_LIMIT_MS = 30_000

/** A picture of 320 pixels has a tenth of it. */
const MOST_SMALL_BYTES = 200_000

/** Of a person’s picture: sharp at the largest that our page shows. */
const PORTRAIT_WIDTH = 256

export class Incoming {
  readonly #app: Pick<App, 'platform' | 'log' | 'settings'>
  readonly #folder: string
  /** However many people choose one at once, one is made at a time. */
  readonly #portraits = openLocks()

  constructor(app: Pick<App, 'platform' | 'log' | 'settings'>, folder: string) {
    this.#app = app
    this.#folder = folder
  }

  /** @returns what `use` makes of the fetched file; undefined: it cannot be had */
  async fetch<Made>(
    id: string,
    url: string,
    signal: AbortSignal | undefined,
    use: (path: string) => Promise<Made>,
  ): Promise<Made | undefined> {
    const { platform, log } = this.#app
    if (!platform.isArtUrl(url, id)) return undefined
    try {
      return await this.#lying(async (path) => {
        await withLimit(FETCH_LIMIT_MS, signal, (limited) => platform.fetchPicture(url, path, limited, id))
        return use(path)
      })
    } catch (thrown) {
      signal?.throwIfAborted()
      const isLocal = typeof (thrown as NodeJS.ErrnoException).syscall === 'string' && 'path' in (thrown as object)
      if (isLocal || isAppError(thrown, 'unavailable')) throw thrown
      log.info({ id, reason: (thrown as Error).message }, 'a picture could not be fetched')
      return undefined
    }
  }

  fetchSmall(id: string, url: string, signal?: AbortSignal): Promise<Buffer | undefined> {
    return this.fetch(id, url, signal, async (path) => {
      const made = await this.#jpegOf(path, { width: VARIANT_WIDTHS.small }, signal)
      return made.length > MOST_SMALL_BYTES ? undefined : made
    })
  }

  async fetchJpeg(id: string, url: string, to: string, signal?: AbortSignal): Promise<boolean> {
    const use = (path: string) => toJpegs(this.#app.settings.ffmpeg, path, [{ path: to }], signal).then(() => true)
    return (await this.fetch(id, url, signal, use)) ?? false
  }

  portraitOf(picture: Readable, signal: AbortSignal): Promise<Buffer> {
    return this.#lying(async (path) => {
      await pipeline(picture, createWriteStream(path, { mode: 0o600 }), { signal })
      return this.#portraits.exclusive('portrait', () =>
        this.#jpegOf(path, { width: PORTRAIT_WIDTH, isSquare: true }, signal),
      )
    })
  }

  /** With a place for one picture, which goes afterwards. */
  async #lying<Made>(use: (path: string) => Promise<Made>): Promise<Made> {
    const path = join(this.#folder, randomUUID())
    try {
      await mkdir(this.#folder, { recursive: true })
      return await use(path)
    } finally {
      await rm(path, { force: true })
    }
  }

  async #jpegOf(fromPath: string, form: Omit<Jpeg, 'path'>, signal?: AbortSignal): Promise<Buffer> {
    const path = `${fromPath}.jpg`
    try {
      await toJpegs(this.#app.settings.ffmpeg, fromPath, [{ path, ...form }], signal)
      return await readFile(path)
    } finally {
      await rm(path, { force: true })
    }
  }
}

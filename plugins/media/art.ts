/** Pictures of videos, channels and playlists: fetched within limits, made JPEG, kept in full and narrower. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isAppError, openLocks } from 'archivolt'
import type { App } from './app.ts'
import { exists, isMissing, sync } from './files.ts'
import { type ArtFolder, type Paths, parseArtName, VARIANT_WIDTHS, VARIANTS, variantPath, variantsOf } from './paths.ts'
import { type Jpeg, toJpegs } from './programs.ts'
import type { ArtKind, Media } from './types.ts'

const FETCH_LIMIT_MS = 30_000

/** A picture of 320 pixels has a tenth of it. */
const MOST_SMALL_BYTES = 200_000

/** Of a person’s picture: sharp at the largest that our page shows. */
const PORTRAIT_WIDTH = 256

type Art = Pick<
  Media,
  'keepArt' | 'fetchArt' | 'fetchSmall' | 'fetchJpeg' | 'portraitOf' | 'hasArt' | 'removeArt' | 'artIds'
>

const FOLDERS: Record<ArtKind, ArtFolder> = {
  video: 'videos',
  channel_thumb: 'channels',
  channel_banner: 'channels',
  channel_tvart: 'channels',
  playlist: 'playlists',
}

export function openArt(app: Pick<App, 'platform' | 'log' | 'settings'>, paths: Paths): Art {
  /** However many people choose one at once, one is made at a time. */
  const portraits = openLocks()

  async function keepArt(kind: ArtKind, id: string, fromPath: string, signal?: AbortSignal): Promise<void> {
    const path = paths.artOf(kind, id)
    const full = join(paths.incomingDir, `${randomUUID()}.jpg`)
    await mkdir(paths.incomingDir, { recursive: true })
    await mkdir(dirname(path), { recursive: true })
    try {
      const made = variantsOf(kind).map((variant) => ({
        variant,
        path: variantPath(full, variant),
        width: VARIANT_WIDTHS[variant],
      }))
      await toJpegs(app.settings.ffmpeg, fromPath, [{ path: full }, ...made], signal)
      for (const { variant, path: from } of made) {
        await sync(from)
        await rename(from, variantPath(path, variant))
      }
      await sync(full)
      await rename(full, path)
    } finally {
      await rm(full, { force: true })
      for (const variant of VARIANTS) await rm(variantPath(full, variant), { force: true })
    }
  }

  /** @returns what `use` makes of the fetched file; undefined: it cannot be had */
  async function fetched<Made>(
    id: string,
    url: string,
    signal: AbortSignal | undefined,
    use: (incoming: string) => Promise<Made>,
  ): Promise<Made | undefined> {
    if (!app.platform.isArtUrl(url, id)) return undefined
    const incoming = join(paths.incomingDir, randomUUID())
    const limit = AbortSignal.timeout(FETCH_LIMIT_MS)
    try {
      await mkdir(paths.incomingDir, { recursive: true })
      await app.platform.fetchPicture(url, incoming, signal ? AbortSignal.any([signal, limit]) : limit, id)
      return await use(incoming)
    } catch (thrown) {
      signal?.throwIfAborted()
      const isLocal = typeof (thrown as NodeJS.ErrnoException).syscall === 'string' && 'path' in (thrown as object)
      if (isLocal || isAppError(thrown, 'unavailable')) throw thrown
      app.log.info({ id, reason: (thrown as Error).message }, 'a picture could not be fetched')
      return undefined
    } finally {
      await rm(incoming, { force: true })
    }
  }

  async function jpegOf(fromPath: string, form: Omit<Jpeg, 'path'>, signal?: AbortSignal): Promise<Buffer> {
    const path = `${fromPath}.jpg`
    try {
      await toJpegs(app.settings.ffmpeg, fromPath, [{ path, ...form }], signal)
      return await readFile(path)
    } finally {
      await rm(path, { force: true })
    }
  }

  async function toSmall(fromPath: string, signal?: AbortSignal): Promise<Buffer | undefined> {
    const made = await jpegOf(fromPath, { width: VARIANT_WIDTHS.small }, signal)
    return made.length > MOST_SMALL_BYTES ? undefined : made
  }

  async function portraitOf(picture: Readable, signal: AbortSignal): Promise<Buffer> {
    const incoming = join(paths.incomingDir, randomUUID())
    try {
      await mkdir(paths.incomingDir, { recursive: true })
      await pipeline(picture, createWriteStream(incoming, { mode: 0o600 }), { signal })
      return await portraits.exclusive('portrait', () =>
        jpegOf(incoming, { width: PORTRAIT_WIDTH, isSquare: true }, signal),
      )
    } finally {
      await rm(incoming, { force: true })
    }
  }

  return {
    keepArt: (kind, id, fromPath) => keepArt(kind, id, fromPath),

    fetchArt: async (kind, id, url, signal) =>
      (await fetched(id, url, signal, async (incoming) => {
        await keepArt(kind, id, incoming, signal)
        return true
      })) ?? false,

    fetchSmall: (id, url, signal) => fetched(id, url, signal, (incoming) => toSmall(incoming, signal)),

    fetchJpeg: async (id, url, to, signal) =>
      (await fetched(id, url, signal, async (incoming) => {
        await toJpegs(app.settings.ffmpeg, incoming, [{ path: to }], signal)
        return true
      })) ?? false,

    portraitOf,

    hasArt: (kind, id) => exists(paths.artOf(kind, id)),

    async removeArt(kind, id) {
      const path = paths.artOf(kind, id)
      await unlinkIfThere(path)
      for (const variant of VARIANTS) await unlinkIfThere(variantPath(path, variant))
    },

    async *artIds(kind) {
      const folder = FOLDERS[kind]
      const top = join(paths.cacheDir, folder)
      for (const part of kind === 'video' ? await namesOf(top) : ['.']) {
        for (const name of await namesOf(join(top, part))) {
          const found = parseArtName(folder, name)
          if (found?.kind === kind) yield found.id
        }
      }
    },
  }
}

/** As `rm` does by force, which looks at the file first. */
async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((thrown: unknown) => {
    if (!isMissing(thrown)) throw thrown
  })
}

async function namesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    if (isMissing(thrown)) return []
    throw thrown
  }
}

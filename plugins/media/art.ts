/** Stores pictures of videos, channels and playlists as JPEG, in full width and in smaller widths. */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { App } from './app.ts'
import { exists, isMissing, sync } from './files.ts'
import { openIncoming } from './incoming.ts'
import { type ArtFolder, type Paths, parseArtName, VARIANT_WIDTHS, VARIANTS, variantPath, variantsOf } from './paths.ts'
import { toJpegs } from './programs.ts'
import type { ArtKind, Media, ReplacedPicture, WrittenFile } from './types.ts'

type Art = Pick<
  Media,
  'keepArt' | 'fetchArt' | 'fetchSmall' | 'fetchJpegs' | 'portraitOf' | 'hasArt' | 'removeArt' | 'artIds'
>
type ArtApp = Pick<App, 'platform' | 'log' | 'settings' | 'hook'>

const FOLDERS: Record<ArtKind, ArtFolder> = {
  video: 'videos',
  channel_thumb: 'channels',
  channel_banner: 'channels',
  channel_tvart: 'channels',
  playlist: 'playlists',
}

export function openArt(app: ArtApp, paths: Paths, written: (files: readonly WrittenFile[]) => Promise<void>): Art {
  const incoming = openIncoming(app, paths.incomingDir)
  const store = async (kind: ArtKind, id: string, fromPath: string, signal?: AbortSignal): Promise<void> => {
    if (await storeArt(kind, id, fromPath, paths, app, signal)) await written([{ kind: 'picture', id, part: kind }])
  }
  return {
    keepArt: store,
    async fetchArt(kind, id, url, signal) {
      const use = (path: string) => store(kind, id, path, signal).then(() => true)
      return (await incoming.fetch(id, url, signal, use)) ?? false
    },
    fetchSmall: incoming.fetchSmall,
    fetchJpegs: incoming.fetchJpegs,
    portraitOf: incoming.portraitOf,
    hasArt: (kind, id) => exists(paths.artOf(kind, id)),
    removeArt: (kind, id) => removeArt(paths.artOf(kind, id)),
    artIds: (kind) => artIds(kind, paths.cacheDir),
  }
}

/** @returns false: a plugin wants to keep the current picture (`media.replacing`) */
async function storeArt(
  kind: ArtKind,
  id: string,
  fromPath: string,
  paths: Paths,
  app: ArtApp,
  signal?: AbortSignal,
): Promise<boolean> {
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
    await toJpegs(app.settings.ffmpeg, [{ from: fromPath, jpegs: [{ path: full }, ...made] }], signal)
    if ((await exists(path)) && !(await mayReplace({ kind, id, path, fresh: full }, app))) return false
    for (const { variant, path: from } of made) await putInPlace(from, variantPath(path, variant))
    await putInPlace(full, path)
    return true
  } finally {
    await rm(full, { force: true })
    for (const variant of VARIANTS) await rm(variantPath(full, variant), { force: true })
  }
}

/** Does not replace an equal file: most pictures that a refresh fetches are already stored. */
async function putInPlace(from: string, to: string): Promise<void> {
  const there = await readFile(to).catch(() => undefined)
  if (there?.equals(await readFile(from))) return
  await sync(from)
  await rename(from, to)
}

async function mayReplace(picture: ReplacedPicture, { hook }: ArtApp): Promise<boolean> {
  for (const ask of hook('media.replacing')) if (!(await ask(picture))) return false
  return true
}

async function removeArt(path: string): Promise<void> {
  await unlinkIfThere(path)
  for (const variant of VARIANTS) await unlinkIfThere(variantPath(path, variant))
}

async function* artIds(kind: ArtKind, cacheDir: string): AsyncGenerator<string> {
  const folder = FOLDERS[kind]
  const top = join(cacheDir, folder)
  for (const part of kind === 'video' ? await namesOf(top) : ['.']) {
    for (const name of await namesOf(join(top, part))) {
      const found = parseArtName(folder, name)
      if (found?.kind === kind) yield found.id
    }
  }
}

/** Like `rm` with `force`, but without a stat first. */
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

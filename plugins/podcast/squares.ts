/** Square pictures for podcasts, made from those in the archive: the whole picture on a blurred enlargement. */
import { rm, stat, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { inputOf, openCacheFiles, openLocks } from 'archivolt'
import type { ArtKind } from '../media/types.ts'
import type { App } from './app.ts'

/** Length of a side: the minimum that podcast directories require. */
const SIDE = 1400
/** Total size limit: enough for some thousands of pictures. */
const ROOM_BYTES = 500e6
/** The background is reduced to this size: enlarging it again blurs it. */
const COARSE = 28

/** Whole seconds, which every file system can store. */
const secondsOf = (ms: number): number => Math.floor(ms / 1000)

export function openSquares({ media, settings }: App) {
  const files = openCacheFiles({
    folder: join(resolve(settings.cacheDir), 'squares'),
    ending: '.jpg',
    room: () => ROOM_BYTES,
  })
  /** Draws one picture at a time. */
  const drawing = openLocks()
  const keyOf = (kind: ArtKind, id: string): string => `${kind}-${id}`

  async function draw(from: string, changed: number, key: string, signal: AbortSignal): Promise<void> {
    const draft = files.beginDraft(key)
    const square = (side: number, fit: string) => `scale=${side}:${side}:force_original_aspect_ratio=${fit}`
    const behind = `${square(COARSE, 'increase')},crop=${COARSE}:${COARSE},scale=${SIDE}:${SIDE}`
    const filter = `split[a][b];[a]${behind},setsar=1[behind];[b]${square(SIDE, 'decrease')},setsar=1[whole];[behind][whole]overlay=(W-w)/2:(H-h)/2`
    const output = ['-filter_complex', filter, '-frames:v', '1', '-pix_fmt', 'yuvj420p', '-q:v', '4', '-f', 'mjpeg']
    try {
      await media.ffmpeg([...inputOf('jpeg_pipe', from), ...output, '-y', `file:${draft}`], { signal })
      // The original's time, so that another original is noticed even if it is older, or came while this was drawn.
      await utimes(draft, changed, changed)
      await files.keep(key)
    } finally {
      await rm(draft, { force: true })
    }
  }

  return {
    begin: files.begin,
    dropVideos: (ids: readonly string[]) => files.drop(ids.map((id) => keyOf('video', id))),

    /** @returns the path; undefined: the archive has no such picture */
    async squareOf(kind: ArtKind, id: string, signal: AbortSignal): Promise<string | undefined> {
      const from = media.artPathOf(kind, id)
      const found = await stat(from).catch(() => undefined)
      if (!found) return undefined
      const key = keyOf(kind, id)
      const changed = secondsOf(found.mtimeMs)
      const isCurrent = () => secondsOf(files.get(key)?.atMs ?? Number.NaN) === changed
      if (!isCurrent())
        await drawing.exclusive('draw', async () => {
          if (!isCurrent()) await draw(from, changed, key, signal)
        })
      return files.pathOf(key)
    },
  }
}

export type Squares = ReturnType<typeof openSquares>

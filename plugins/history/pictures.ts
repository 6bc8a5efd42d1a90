/**
 * Stores old pictures. The platform shows some viewers another thumbnail for a while, so a new one replaces the old one
 * only after it was seen twice.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { epochSeconds, giveWay, inputOf, isId, runChild, writeWhole } from 'archivolt'
import type { ReplacedPicture } from '../media/types.ts'
import type { App } from './app.ts'
import type { Kind, Part } from './rows.ts'

/** Minimum time between two sightings that count as two. */
export const APART_SECONDS = 6 * 3600
/** Maximum number of different bits, of 64, between hashes of the same picture. */
const MOST_ALIKE = 10
const HASH_LIMIT_MS = 20_000
/** Size of the scaled picture: one column more than the 8 × 8 differences. */
const [WIDTH, HEIGHT] = [9, 8]

/** The value of a change of a picture. */
export interface PictureValue {
  picture: 'video' | 'thumb' | 'banner' | 'tvart'
  /** In `before`: name of the file, by its content. */
  file?: string
  /** In `after`: distinguishes two changes. The file itself is in the next change, or it is the current picture. */
  hash?: string
}

const SUBJECTS: Partial<Record<ReplacedPicture['kind'], { kind: Kind; part: Part; picture: PictureValue['picture'] }>> =
  {
    video: { kind: 'video', part: 'thumbnail', picture: 'video' },
    channel_thumb: { kind: 'channel', part: 'picture', picture: 'thumb' },
    channel_banner: { kind: 'channel', part: 'picture', picture: 'banner' },
    channel_tvart: { kind: 'channel', part: 'picture', picture: 'tvart' },
  }

export function openPictures(app: App) {
  const folder = join(app.settings.dataDir, 'history')
  const folderOf = (id: string): string => join(folder, id.charAt(0).toLowerCase())
  const pathOf = (id: string, file: string): string => join(folderOf(id), `${id}.${file}.jpg`)

  return {
    pathOf,

    /** Implements `media.replacing`. */
    async mayReplace({ kind: art, id, path, fresh }: ReplacedPicture): Promise<boolean> {
      const about = SUBJECTS[art]
      // A playlist has the picture of its first video.
      if (!about || !isId(id)) return true
      // The stored picture is that of the queue entry.
      if (about.kind === 'video' && !(await app.videos.has(id))) return true
      const [old, now] = await Promise.all([readFile(path), readFile(fresh)])
      const hashes = old.equals(now) ? undefined : await Promise.all([hashOf(path, app), hashOf(fresh, app)])
      // A damaged picture has no hash, and is replaced.
      if (!hashes?.[0] || !hashes[1] || distance(hashes[0], hashes[1]) <= MOST_ALIKE) {
        await drop(art, id)
        return true
      }
      if (art === 'video' && !(await isSeenTwice(art, id, hashes[1]))) return false
      const file = createHash('sha256').update(old).digest('hex').slice(0, 16)
      const to = pathOf(id, file)
      await mkdir(dirname(to), { recursive: true, mode: 0o700 })
      await writeWhole(to, old)
      const { kind, part, picture } = about
      await app.ledger.write(() => {
        app.history.rows.add({
          ...{ kind, subject: id, part, seenAt: epochSeconds(app.clock) },
          before: { picture, file } satisfies PictureValue,
          after: { picture, hash: hashes[1] } satisfies PictureValue,
        })
        dropNow(art, id)
      })
      return true
    },

    /** Removes old pictures of videos and channels that are neither in the archive nor in the bin. */
    async sweep(signal: AbortSignal): Promise<void> {
      for (const letter of await readdir(folder).catch(() => [])) {
        for (const name of await readdir(join(folder, letter)).catch(() => [])) {
          signal.throwIfAborted()
          if (!(await isNeeded(name.split('.')[0]!))) await rm(join(folder, letter, name), { force: true })
        }
      }
    },

    /** Removes the old pictures of a video or channel, unless it may be restored. */
    async removeOf(kind: 'video' | 'channel', id: string): Promise<void> {
      if ((await app.media.isKnown(kind, id)) || (await app.media.isKept(kind, id))) return
      const names = await readdir(folderOf(id)).catch(() => [])
      for (const name of names) if (name.startsWith(`${id}.`)) await rm(join(folderOf(id), name), { force: true })
    },
  }

  async function isNeeded(id: string): Promise<boolean> {
    for (const kind of ['video', 'channel'] as const)
      if ((await app.media.isKnown(kind, id)) || (await app.media.isKept(kind, id))) return true
    return false
  }

  async function isSeenTwice(art: string, id: string, hash: string): Promise<boolean> {
    const now = epochSeconds(app.clock)
    const known = app.ledger
      .sql<{ hash: string; seen_at: number }>(
        'SELECT hash, seen_at FROM history_picture WHERE kind = ? AND subject = ?',
      )
      .get(art, id)
    if (known && distance(known.hash, hash) <= MOST_ALIKE) return now - known.seen_at >= APART_SECONDS
    await app.ledger.write(() =>
      app.ledger
        .sql('INSERT OR REPLACE INTO history_picture (kind, subject, hash, seen_at) VALUES (?, ?, ?, ?)')
        .run(art, id, hash, now),
    )
    return false
  }

  function dropNow(art: string, id: string): void {
    app.ledger.sql('DELETE FROM history_picture WHERE kind = ? AND subject = ?').run(art, id)
  }

  async function drop(art: string, id: string): Promise<void> {
    if (app.ledger.sql('SELECT 1 FROM history_picture WHERE kind = ? AND subject = ?').get(art, id))
      await app.ledger.write(() => dropNow(art, id))
  }
}

/**
 * 64 bits in hexadecimal: whether each of 9 × 8 gray pixels is lighter than the next one. undefined: the picture is not
 * readable
 */
function hashOf(path: string, { settings }: App): Promise<string | undefined> {
  const limits = { encoding: 'buffer', timeout: HASH_LIMIT_MS, killSignal: 'SIGKILL' } as const
  const scaled = [
    '-frames:v',
    '1',
    '-vf',
    `scale=${WIDTH}:${HEIGHT}:flags=area`,
    '-pix_fmt',
    'gray',
    '-f',
    'rawvideo',
    '-',
  ]
  return new Promise((done) => {
    const args = ['-nostdin', '-v', 'error', ...inputOf('jpeg_pipe', path), ...scaled]
    giveWay(
      runChild(settings.ffmpeg, args, limits, (cause, pixels) =>
        done(cause || pixels.length !== WIDTH * HEIGHT ? undefined : hashIn(pixels)),
      ),
    )
  })
}

function hashIn(pixels: Buffer): string {
  let bits = 0n
  for (let row = 0; row < HEIGHT; row++)
    for (let column = 0; column < WIDTH - 1; column++) {
      const at = row * WIDTH + column
      bits = (bits << 1n) | (pixels[at]! > pixels[at + 1]! ? 1n : 0n)
    }
  return bits.toString(16).padStart(16, '0')
}

/** The number of bits that differ. */
function distance(one: string, other: string): number {
  let count = 0
  for (let bits = BigInt(`0x${one}`) ^ BigInt(`0x${other}`); bits > 0n; bits &= bits - 1n) count++
  return count
}

/**
 * Some megabytes of the data folder's disk that are given up when it is full, so that people can still sign in and make
 * room from inside.
 */
import { randomFillSync } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Timer } from './clock.ts'
import { diskSpace } from './folder.ts'
import type { Log } from './log.ts'
import { say, type Words } from './say.ts'

interface Reserve {
  /** Gives it up, at once, where the disk takes nothing more. @returns false: there is none (any more) */
  release(): boolean
  /** How people hear of it, from now on and of what has been; they may hear of it later than it happens. */
  tellBy(tell: (sentence: Words) => Promise<void>): Promise<void>
  close(): Promise<void>
}

interface ReserveOptions {
  folder: string
  clock: Clock
  log: Log
}

/** Logs of ledger and index, and what they grow by in many removals. */
const RESERVE_BYTES = 16 << 20
/** For a start alone: what SQLite makes beside each of its files, and a few rows. */
const START_BYTES = 2 << 20
/** So much stays free beside them: they must not be what fills the disk. */
const HEADROOM_BYTES = 48 << 20
const LOOK_FIRST_MS = 10_000
const LOOK_EVERY_MS = 60_000
const PIECE_BYTES = 1 << 20
const SENTENCE = say`The data disk is full, and the emergency reserve is in use. Delete old snapshots or backups, or free some space.`

/**
 * Two files, made and made again when there is room, looked at each minute. A start that finds the disk full takes the
 * small one, so that the large one is still there for what people do then.
 */
export async function openReserve({ folder, clock, log }: ReserveOptions): Promise<Reserve> {
  const large = join(folder, 'reserve')
  const small = join(folder, 'reserve-start')
  let isClosed = false
  let making: Promise<void> | undefined
  let timer: Timer
  let isReleased = false
  let tell: Parameters<Reserve['tellBy']>[0] | undefined

  const tellIt = async (): Promise<void> => {
    await tell?.(SENTENCE).catch((err: unknown) => log.warn({ err }, 'people could not be told that the disk is full'))
  }

  const freeBytes = async () => (await diskSpace(folder)).free

  const give = (path: string): boolean => {
    // What is just being made goes too: that is noticed when it is to be renamed.
    const held = [path, `${path}.part`].filter((one) => (statSync(one, { throwIfNoEntry: false })?.size ?? 0) > 0)
    for (const one of held) rmSync(one, { force: true })
    if (held.length === 0) return false
    log.error(SENTENCE)
    isReleased = true
    void tellIt()
    return true
  }

  async function make(path: string, bytes: number): Promise<void> {
    if (isClosed || ((await sizeOf(path)) ?? 0) >= bytes || (await freeBytes()) < bytes + HEADROOM_BYTES) return
    const part = `${path}.part`
    const file = await open(part, 'w', 0o600)
    try {
      // Random: a disk that compresses would keep no room for zeros.
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let written = 0; written < bytes; written += PIECE_BYTES) await file.writeFile(randomFillSync(piece))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
  }

  const look = (): Promise<void> =>
    (making = make(small, START_BYTES)
      .then(() => make(large, RESERVE_BYTES))
      .catch((err: unknown) => log.warn({ err }, 'no room could be kept for a full disk; it is tried again')))

  if ((await freeBytes()) < START_BYTES / 2 && !give(small)) give(large)
  // One after the other: two at once would take each other's file away, and the first may be slow.
  timer = clock.after(LOOK_FIRST_MS, async () => {
    await look()
    if (!isClosed) timer = clock.every(LOOK_EVERY_MS, look)
  })
  return {
    release: () => give(large),
    async tellBy(way) {
      tell = way
      if (isReleased) await tellIt()
    },
    async close() {
      isClosed = true
      timer.cancel()
      await making
    },
  }
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  )

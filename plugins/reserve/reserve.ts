/**
 * Reserves some megabytes on the data folder's disk and releases them when the disk is full, so that people can still
 * sign in and delete things.
 */
import { randomFillSync } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskSpace, type Reserve, type ReserveParts, say, type Timer } from 'archivolt'

/** Enough for the logs of ledger and index, and for their growth during many removals. */
const RESERVE_BYTES = 16 << 20
/** Reserved for a start: SQLite's companion files and a few rows. */
const START_BYTES = 2 << 20
/** Space that must stay free, so that the reserve itself does not fill the disk. */
const HEADROOM_BYTES = 48 << 20
const FIRST_CHECK_MS = 10_000
const CHECK_EVERY_MS = 60_000
const PIECE_BYTES = 1 << 20
const SENTENCE = say`The data disk is full, and the emergency reserve is in use. Delete old snapshots or backups, or free some space.`

/**
 * Two files, checked each minute and recreated when there is space. A start on a full disk uses the small one, so that
 * the large one is still available to people afterwards.
 */
export async function openReserve({ folder, clock, log, isTemporary }: ReserveParts): Promise<Reserve> {
  const large = join(folder, 'reserve')
  const small = join(folder, 'reserve-start')
  let isClosed = false
  let making: Promise<void> | undefined
  let timer: Timer
  let isReleased = false
  let isTold = false
  let tell: Parameters<Reserve['tellBy']>[0] | undefined

  /** Notifies people only once, even if a start releases one file and a moment later the other. */
  const notifyOnce = async (): Promise<void> => {
    if (!tell || isTold) return
    isTold = true
    await tell(SENTENCE, () => !isTold).catch((err: unknown) =>
      log.warn({ err }, 'people could not be notified that the disk is full'),
    )
  }

  const freeBytes = async () => (await diskSpace(folder)).free

  const give = (path: string): boolean => {
    // Also removes a file that is being written: its writer notices when it renames the file.
    const held = [path, `${path}.part`].filter((one) => (statSync(one, { throwIfNoEntry: false })?.size ?? 0) > 0)
    for (const one of held) rmSync(one, { force: true })
    if (held.length === 0) return false
    log.error(SENTENCE)
    isReleased = true
    void notifyOnce()
    return true
  }

  async function make(path: string, bytes: number): Promise<void> {
    if (isClosed || ((await sizeOf(path)) ?? 0) >= bytes || (await freeBytes()) < bytes + HEADROOM_BYTES) return
    const part = `${path}.part`
    const file = await open(part, 'w', 0o600)
    try {
      // Random bytes: a compressing file system would reserve nothing for zeros.
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let written = 0; written < bytes; written += PIECE_BYTES) await file.writeFile(randomFillSync(piece))
      await file.sync()
    } finally {
      await file.close()
    }
    isTold = false
    await rename(part, path)
  }

  const check = (): Promise<void> =>
    (making = make(small, START_BYTES)
      .then(() => make(large, RESERVE_BYTES))
      .catch((err: unknown) => log.warn({ err }, 'no space could be reserved for a full disk; trying again')))

  if ((await freeBytes()) < START_BYTES / 2 && !give(small)) give(large)
  // The next check starts after the previous one has ended: two at once would remove each other's file.
  timer = clock.after(FIRST_CHECK_MS, async () => {
    if (isTemporary) return
    await check()
    if (!isClosed) timer = clock.every(CHECK_EVERY_MS, check)
  })
  return {
    release: () => give(large),
    async tellBy(way) {
      tell = way
      if (isReleased) await notifyOnce()
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

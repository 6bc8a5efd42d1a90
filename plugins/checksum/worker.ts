/** Reads one file after the other in a separate process, and calculates the SHA-256 of each. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

export interface Asked {
  path: string
  /** Maximum reading speed; 0: as fast as possible. */
  bytesPerSecond: number
}

export type Answer =
  | { sha256: Buffer; sizeBytes: number; changedMs: number }
  /** `EBUSY`: the file was changed while it was read. */
  | { code: string }
  /** Shows that the process is still working. */
  | { readBytes: number }

const CHUNK_BYTES = 1 << 20
const TELL_EVERY_MS = 1000
/** Length of a pause: a few long pauses cost less than many short ones. */
const PAUSE_MS = 250

async function read(file: FileHandle, bytesPerSecond: number): Promise<Answer> {
  const before = await file.stat()
  if (!before.isFile()) return { code: 'EISDIR' }
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const startedMs = performance.now()
  let toldMs = startedMs
  let sizeBytes = 0
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, sizeBytes)
    if (bytesRead === 0) break
    hash.update(chunk.subarray(0, bytesRead))
    sizeBytes += bytesRead
    const now = performance.now()
    if (now - toldMs > TELL_EVERY_MS) {
      toldMs = now
      process.send!({ readBytes: sizeBytes } satisfies Answer)
    }
    const aheadMs = bytesPerSecond > 0 ? (sizeBytes / bytesPerSecond) * 1000 - (now - startedMs) : 0
    if (aheadMs > PAUSE_MS) await delay(aheadMs)
  }
  const after = await file.stat()
  if (after.size !== sizeBytes || after.mtimeMs !== before.mtimeMs) return { code: 'EBUSY' }
  return { sha256: hash.digest(), sizeBytes, changedMs: Math.floor(after.mtimeMs) }
}

async function answer({ path, bytesPerSecond }: Asked): Promise<Answer> {
  let file: FileHandle | undefined
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return await read(file, bytesPerSecond)
  } catch (thrown) {
    return { code: (thrown as NodeJS.ErrnoException).code ?? 'EIO' }
  } finally {
    await file?.close().catch(() => undefined)
  }
}

process.on('message', (asked: Asked) => void answer(asked).then((told) => process.send!(told)))

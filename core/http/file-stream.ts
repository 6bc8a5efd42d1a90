/** Writes a part of a file to a response by reused buffers, at two thirds of the cost of a stream. */
import { type FileHandle, open } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'

const BUFFER_BYTES = 256 * 1024
/** While one is on its way to the client, the next one is read; not beside many others, which saves memory. */
const AHEAD = 2
const FEW_READERS = 16
const MOST_POOLED = AHEAD * FEW_READERS

const pool: Buffer[] = []
let readers = 0

/** Given the bytes of the next piece; false ends the connection. */
type MayBeSent = (bytes: number) => boolean | Promise<boolean>

/** Frees the buffers that no response uses. */
export function forgetBuffers(): void {
  pool.length = 0
}

/**
 * Resolves when all is handed to the system, or the client has gone. A file that becomes shorter ends the connection.
 * @param part  in bytes, both ends included
 */
export async function streamFile(
  path: string,
  { start = 0, end = Infinity },
  response: ServerResponse,
  mayBeSent?: MayBeSent,
): Promise<void> {
  const file = await open(path)
  readers++
  try {
    await pump(file, start, end, response, mayBeSent)
  } finally {
    readers--
    await file.close()
  }
}

async function pump(file: FileHandle, start: number, end: number, response: ServerResponse, mayBeSent?: MayBeSent) {
  const waiting: Array<(isSent: boolean) => void> = []
  // A write that waits behind another response is not called back.
  response.once('close', () => waiting.forEach((resolve) => resolve(false)))
  const write = (piece: Buffer, turn: number) =>
    new Promise<boolean>((resolve) => {
      waiting[turn] = resolve
      response.write(piece, (error) => resolve(!error))
    })

  // A small file takes no more than its size.
  const size = Math.min(BUFFER_BYTES, end - start + 1)
  const ahead = readers > FEW_READERS ? 1 : AHEAD
  const buffers: Buffer[] = []
  const written: Array<Promise<boolean>> = []
  let position = start
  for (let turn = 0; position <= end; turn = (turn + 1) % ahead) {
    if ((await written[turn]) === false || response.destroyed) return
    const buffer = (buffers[turn] ??= (size === BUFFER_BYTES ? pool.pop() : undefined) ?? Buffer.allocUnsafeSlow(size))
    const { bytesRead } = await file.read(buffer, 0, Math.min(size, end - position + 1), position)
    if (bytesRead === 0) break
    if (mayBeSent && !(await mayBeSent(bytesRead))) return void response.destroy()
    position += bytesRead
    written[turn] = write(buffer.subarray(0, bytesRead), turn)
  }
  if ((await Promise.all(written)).includes(false)) return
  // Only buffers that the system holds no longer are used again.
  if (size === BUFFER_BYTES && pool.length < MOST_POOLED) pool.push(...buffers)
  if (position - start < Number(response.getHeader('content-length'))) response.destroy()
  else response.end()
}

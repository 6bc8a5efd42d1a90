/** Stores an upload on disk, reads it in a separate process, and deletes it. Only one upload is processed at a time. */
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { abortable, errors, startProcess, withLimit } from 'archivolt'
import type { App } from './app.ts'
import type { Found } from './found.ts'
import type { Answer } from './worker.ts'

export const MOST_BYTES = 64 << 20
const LIMIT_MS = 60_000
const MOST_MB = 512

const folderOf = ({ settings }: Pick<App, 'settings'>): string => join(settings.dataDir, 'exports')

export interface Exports {
  /**
   * @param name  of the uploaded file, if known
   * @throws unprocessable: why it cannot be used; unavailable: another upload is being read
   */
  read(stream: Readable, signal: AbortSignal, name?: string): Promise<Found>
}

export function openExports(app: Pick<App, 'settings'>): Exports {
  let isReading = false
  return {
    async read(stream, signal, name) {
      if (isReading) throw errors.unavailable('Another file is being read; try again in a few seconds')
      isReading = true
      const folder = folderOf(app)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const path = join(folder, 'upload')
        await pipeline(stream, createWriteStream(path, { mode: 0o600 }))
        return await readInProcess({ path, name }, signal)
      } finally {
        await rm(folder, { recursive: true, force: true })
        isReading = false
      }
    },
  }
}

/** Deletes uploads that a crash has left. */
export const forgetUploads = (app: Pick<App, 'settings'>): Promise<void> =>
  rm(folderOf(app), { recursive: true, force: true })

interface Upload {
  path: string
  name: string | undefined
}

async function readInProcess(upload: Upload, signal: AbortSignal): Promise<Found> {
  let answer: Answer
  try {
    answer = await withLimit(LIMIT_MS, signal, (limited) => answerOf(upload, limited))
  } catch (cause) {
    signal.throwIfAborted()
    throw errors.unprocessable('The file cannot be read', { cause })
  }
  if ('unusable' in answer) throw errors.unprocessable(answer.unusable)
  return answer.found
}

async function answerOf(upload: Upload, signal: AbortSignal): Promise<Answer> {
  const answered = new AbortController()
  try {
    return await abortable<Answer>(signal, (resolve, reject) => {
      const reader = startProcess(
        new URL('./worker.ts', import.meta.url),
        { memoryMb: MOST_MB },
        { message: (answer) => resolve(answer as Answer), end: reject },
      )
      answered.signal.addEventListener('abort', () => reader.kill(), { once: true })
      reader.send(upload)
    })
  } finally {
    answered.abort()
  }
}

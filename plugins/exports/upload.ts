/** An upload is put on the disk, read by a thread of its own, and forgotten. One at a time. */
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Worker } from 'node:worker_threads'
import { abortable, errors, startWorker } from 'archivolt'
import type { App } from './app.ts'
import type { Found } from './found.ts'
import type { Answer } from './worker.ts'

export const MOST_BYTES = 64 << 20
const LIMIT_MS = 60_000
const MOST_HEAP_MB = 512

const folderOf = ({ settings }: Pick<App, 'settings'>): string => join(settings.dataDir, 'exports')

export interface Exports {
  /** @throws unprocessable: why it cannot be used; unavailable: another one is being read */
  read(stream: Readable, signal: AbortSignal): Promise<Found>
}

export function openExports(app: Pick<App, 'settings'>): Exports {
  let isReading = false
  return {
    async read(stream, signal) {
      if (isReading) throw errors.unavailable('Another file is being read; try again in a few seconds')
      isReading = true
      const folder = folderOf(app)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const path = join(folder, 'upload')
        await pipeline(stream, createWriteStream(path, { mode: 0o600 }))
        return await readInThread(path, signal)
      } finally {
        await rm(folder, { recursive: true, force: true })
        isReading = false
      }
    },
  }
}

/** What a crash has left. */
export const forgetUploads = (app: Pick<App, 'settings'>): Promise<void> =>
  rm(folderOf(app), { recursive: true, force: true })

async function readInThread(path: string, signal: AbortSignal): Promise<Found> {
  const worker: Worker = startWorker(new URL('./worker.ts', import.meta.url), {
    name: 'export',
    workerData: { path },
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  let answer: Answer
  try {
    answer = await abortable<Answer>(limit, (resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('the thread ended without an answer')))
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw errors.unprocessable('The file cannot be read', { cause })
  } finally {
    await worker.terminate()
  }
  if ('unusable' in answer) throw errors.unprocessable(answer.unusable)
  return answer.found
}

/**
 * Writes and reads whole backups in a separate process, so that this work neither blocks the server nor uses its
 * memory.
 */
import { type AppError, abortable, errors, say, startProcess } from 'archivolt'
import type { Head } from './whole/contents.ts'
import { Fault, type FaultKind } from './whole/fault.ts'
import type { Packing } from './whole/pack.ts'
import type { Unpacking } from './whole/unpack.ts'
import type { Answer, Asked } from './worker.ts'

const MEMORY_MB = 128

interface Run {
  signal: AbortSignal
  /** @param done  bytes, out of `all`; 0: unknown */
  progress?: (done: number, all: number) => void
}

/** @throws unavailable: the disk failed; the signal's reason */
export const pack = (packing: Packing, run: Run): Promise<Head> => ask({ pack: packing }, run)

/**
 * @throws unprocessable: the file is not a whole backup, is damaged, or is encrypted with another passphrase;
 * unavailable: the disk failed
 */
export const unpack = (unpacking: Unpacking, run: Run): Promise<Head> => ask({ unpack: unpacking }, run)

async function ask(asked: Asked, { signal, progress }: Run): Promise<Head> {
  let kill = (): void => undefined
  try {
    return await abortable<Head>(signal, (resolve, reject) => {
      const process = startProcess(
        new URL('./worker.ts', import.meta.url),
        { memoryMb: MEMORY_MB, isBehind: true },
        {
          message(message) {
            const answer = message as Answer
            if ('head' in answer) resolve(answer.head)
            else if ('fault' in answer) reject(SAID[answer.fault](answer.what))
            else progress?.(answer.done, answer.all)
          },
          end: (cause) =>
            reject(errors.unavailable('The process that handles the backup has ended; try again', { cause })),
        },
      )
      kill = process.kill
      process.send(asked)
    })
  } finally {
    kill()
  }
}

export const damagedBackup = (cause: unknown): AppError =>
  errors.unprocessable('This backup is damaged or incomplete: use another one', { cause })

/** Whether `unpack` has found the file to be damaged or no backup: no passphrase and no later version can open it. */
export const isDamaged = (error: unknown): boolean => error instanceof Error && error.cause instanceof Fault

export const diskFull = (): AppError => errors.unavailable('The disk is full: free some space for the backup')

const SAID: Record<FaultKind, (what: string) => AppError> = {
  encrypted: () => errors.unprocessable('This backup is encrypted: enter its passphrase'),
  passphrase: () => errors.unprocessable('The passphrase is wrong, or the beginning of this backup is damaged'),
  damaged: (what) => damagedBackup(new Fault('damaged', what)),
  foreign: (what) =>
    errors.unprocessable('This file is not a backup of a whole archive', { cause: new Fault('foreign', what) }),
  later: (version) =>
    errors.unprocessable(say`This backup was made by the later version ${{ version }}: update Archivolt first`),
  full: diskFull,
  disk: (code) => errors.unavailable(say`The backup cannot be read or written (${{ code }}): check the disk`),
}

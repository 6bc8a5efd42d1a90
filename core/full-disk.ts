/** A full disk: what a plugin reserves for it, and its errors, of the system or of SQLite. */
import type { Clock } from './base/clock.ts'
import type { Words } from './base/say.ts'
import type { Log } from './log.ts'
import { StartError } from './start-error.ts'

/** Space on the data folder's disk, opened before anything is written there. */
export interface Reserve {
  /** Releases the reserve at once because the disk is full. @returns false: nothing (left) to release */
  release(): boolean
  /** Sets how people are told, including about earlier releases; they may be told with a delay. */
  tellBy(tell: (sentence: Words, isOver: () => boolean) => Promise<void>): Promise<void>
  close(): Promise<void>
}

export interface ReserveParts {
  folder: string
  clock: Clock
  log: Log
  /** The folder is removed after the close: nothing is reserved. */
  isTemporary: boolean
}

const CODES = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])
const DEEPEST = 8

export function isDiskFull(thrown: unknown): boolean {
  for (let depth = 0; thrown instanceof Error && depth < DEEPEST; depth++, thrown = thrown.cause) {
    if (CODES.has(String((thrown as { code?: unknown }).code))) return true
  }
  return false
}

/** The error of a start that fails because the disk is full. */
export const noRoomLeft = (dataDir: string, cause: unknown): StartError =>
  new StartError(
    `The disk with the data folder ${dataDir} is full, and the emergency reserve is used up: free some space`,
    { cause },
  )

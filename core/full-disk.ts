/** Whether a disk takes nothing more: told by the system, by SQLite, or by what lies behind an error. */
import { StartError } from './error.ts'

const CODES = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])
const DEEPEST = 8

export function isDiskFull(thrown: unknown): boolean {
  for (let depth = 0; thrown instanceof Error && depth < DEEPEST; depth++, thrown = thrown.cause) {
    if (CODES.has(String((thrown as { code?: unknown }).code))) return true
  }
  return false
}

/** Why a start has ended. */
export const noRoomLeft = (dataDir: string, cause: unknown): StartError =>
  new StartError(
    `The disk with the data folder ${dataDir} is full, and nothing more was kept for this: make room on it`,
    { cause },
  )

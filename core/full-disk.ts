/** Detects errors of a full disk: from the system, from SQLite, or in the cause of another error. */
import { StartError } from './start-error.ts'

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

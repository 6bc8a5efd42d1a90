/** Whether a disk takes nothing more: told by the system, by SQLite, or by what lies behind an error. */
const CODES = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])
const DEEPEST = 8

export function isDiskFull(thrown: unknown): boolean {
  for (let depth = 0; thrown instanceof Error && depth < DEEPEST; depth++, thrown = thrown.cause) {
    if (CODES.has(String((thrown as { code?: unknown }).code))) return true
  }
  return false
}

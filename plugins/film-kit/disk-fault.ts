/** Distinguishes errors of a single file (missing, not readable) from errors of a failing disk. */

const FAULTS = new Set([
  ...['EIO', 'ESTALE', 'ETIMEDOUT', 'ENXIO', 'ENODEV', 'EREMOTEIO'],
  ...['ENOTCONN', 'ESHUTDOWN', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
])

export const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | null)?.code ?? '')

/** Whether the disk itself fails, so that its answers about files are not trusted. */
export const isDiskFault = (thrown: unknown): boolean => FAULTS.has(codeOf(thrown))

/** Returns `other` if the file is missing or may not be read. @throws the error of a failing disk */
export function orWhereAbsent<Found, Other>(read: () => Found, other: Other): Found | Other {
  try {
    return read()
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return other
  }
}

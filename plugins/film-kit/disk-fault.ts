/** What an error of the file system tells of: a file that is not there or may not be read, or a disk that fails. */

const FAULTS = new Set([
  ...['EIO', 'ESTALE', 'ETIMEDOUT', 'ENXIO', 'ENODEV', 'EREMOTEIO'],
  ...['ENOTCONN', 'ESHUTDOWN', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
])

export const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | null)?.code ?? '')

/** The disk does not answer as one does that is there: what it says of files is not believed. */
export const isDiskFault = (thrown: unknown): boolean => FAULTS.has(codeOf(thrown))

/** What can be looked at, or something else where it is not there or may not be read. @throws the fault of a disk */
export function orWhereAbsent<Found, Other>(look: () => Found, other: Other): Found | Other {
  try {
    return look()
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    return other
  }
}

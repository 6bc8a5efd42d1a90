/**
 * The reasons why a whole backup cannot be written or read. The process that reads it reports the kind; the server has
 * the sentences.
 */

export type FaultKind = 'encrypted' | 'passphrase' | 'damaged' | 'foreign' | 'later' | 'full' | 'disk'

export class Fault extends Error {
  readonly kind: FaultKind

  /** @param what  a name or a code for the sentence */
  constructor(kind: FaultKind, what = '') {
    super(what)
    this.kind = kind
  }
}

const FULL = ['ENOSPC', 'EDQUOT']

export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  const { code = '', syscall, message } = thrown as NodeJS.ErrnoException
  if (FULL.includes(code)) return new Fault('full')
  return syscall === undefined ? new Fault('damaged', message) : new Fault('disk', code)
}

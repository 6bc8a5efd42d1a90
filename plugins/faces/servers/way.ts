/** What every kind of media server can be asked and told. Paths are the server's own. */
import type { Change } from '../types.ts'

/** @throws unavailable: a sentence on what is wrong */
export interface Way {
  /** The folders that its libraries read. */
  folders(): Promise<string[]>
  tell(changes: readonly Change[]): Promise<void>
}

export const isBelow = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)

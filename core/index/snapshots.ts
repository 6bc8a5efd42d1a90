/** Snapshots as both adapters offer them: what one is, its name, and what can be done with it. */
import { randomInt } from 'node:crypto'
import type { RestoreOptions, RestoreResult, StepOptions } from './port.ts'

const RANDOM_LENGTH = 22
const RANDOM_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `<prefix>_<occasion>_<22 random characters>`. */
export function snapshotName(prefix: string, occasion: 'daily' | 'upgrade'): string {
  return `${prefix}_${occasion}_${Array.from({ length: RANDOM_LENGTH }, () => RANDOM_LETTERS[randomInt(RANDOM_LETTERS.length)]).join('')}`
}

export interface SnapshotRecord {
  id: string
  state: 'IN_PROGRESS' | 'SUCCESS' | 'PARTIAL' | 'FAILED'
  /** Of the index that took it. */
  version: string
  /** Epoch milliseconds; `endedAt` 0 while it is taken. */
  startedAt: number
  endedAt: number
}

export interface Snapshots {
  /** Why none can be taken: a sentence for people. */
  readonly off?: string
  /** Newest first. */
  list(): Promise<SnapshotRecord[]>
  get(id: string): Promise<SnapshotRecord | undefined>
  /** Takes one while reads and writes go on; resolves when it is complete. @throws conflict: one is being taken */
  take(id: string, options?: StepOptions): Promise<void>
  /** @throws not_found, conflict (it is being taken) */
  remove(id: string): Promise<void>
  /** All or nothing. @throws not_found, conflict (not SUCCESS, or a restore runs) */
  restore(id: string, options?: RestoreOptions): Promise<RestoreResult>
}

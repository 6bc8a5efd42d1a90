/** Snapshots as both adapters offer them: what one is, and what can be done with it. */
import type { RestoreOptions, RestoreResult, StepOptions } from './port.ts'

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

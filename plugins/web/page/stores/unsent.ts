/** Positions that could not be sent to the server: they are stored in this browser and sent later. */
import { isPassing, post } from '../server/api.ts'
import { account } from './session.ts'

const KEY = 'av_unsent'
export const SEARCHES_KEY = 'av_searches'
const MOST = 200

/** By video: the position in seconds, and the time at which it was reached, in epoch milliseconds. */
type Positions = Record<string, { position: number; at: number }>

function read(): Positions {
  try {
    const { of, places: stored } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as { of?: number; places?: Positions }
    return of !== undefined && of === account.peek()?.id ? (stored ?? {}) : {}
  } catch {
    return {} // the storage is blocked, or contains something else
  }
}

function write(positions: Positions): void {
  const newest = Object.entries(positions)
    .toSorted(([, a], [, b]) => b.at - a.at)
    .slice(0, MOST)
  try {
    if (newest.length === 0) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, JSON.stringify({ of: account.peek()?.id, places: Object.fromEntries(newest) }))
  } catch {
    return // the storage is full or blocked: the position is lost, the video continues
  }
}

export const noteUnsent = (id: string, position: number): void =>
  write({ ...read(), [id]: { position, at: Date.now() } })

export function settleUnsent(id: string): void {
  const { [id]: sent, ...others } = read()
  if (sent) write(others)
}

/** The unsent position in seconds. */
export const unsentPosition = (id: string): number | undefined => read()[id]?.position

/**
 * Also deletes the account's recent searches. Their key is in this file, because Home does not load
 * `recent-searches.ts`.
 */
export const dropUnsent = (): void => [KEY, SEARCHES_KEY].forEach((key) => localStorage.removeItem(key))

/** Sends the age of each position, so that the server keeps newer ones from other devices. */
export async function sendUnsent(): Promise<void> {
  for (const [id, { position, at }] of Object.entries(read())) {
    const ago = Math.max(1, Math.round((Date.now() - at) / 1000))
    try {
      await post(`/api/video/${id}/progress/`, { position, ago })
    } catch (error) {
      if (isPassing(error)) return
    }
    if (read()[id]?.at === at) settleUnsent(id)
  }
}

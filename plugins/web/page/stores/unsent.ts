/** Positions in videos that the server could not be told: stored in this browser, sent later. */
import { isPassing, post } from '../server/api.ts'
import { account } from './session.ts'

const KEY = 'av_unsent'
const MOST = 200

/** By video: seconds, and when, in epoch milliseconds. */
type Positions = Record<string, { position: number; at: number }>

function read(): Positions {
  try {
    const { of, places } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as { of?: number; places?: Positions }
    return of !== undefined && of === account.peek()?.id ? (places ?? {}) : {}
  } catch {
    return {} // shut, or not ours
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
    return // full or shut: the position is lost, the video plays on
  }
}

export const noteUnsent = (id: string, position: number): void =>
  write({ ...read(), [id]: { position, at: Date.now() } })

export function settleUnsent(id: string): void {
  const { [id]: sent, ...others } = read()
  if (sent) write(others)
}

/** Seconds. */
export const unsentPosition = (id: string): number | undefined => read()[id]?.position

export const dropUnsent = (): void => localStorage.removeItem(KEY)

/** What was done elsewhere since stays: the server is told how long ago it was. */
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

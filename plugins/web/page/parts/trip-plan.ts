/** Chooses the videos for a trip: in their order, as many as fit into the time and the space of this device. */

import type { Video } from '../server/records.ts'

export interface TripSource {
  /** Where the videos are from, for people; empty: from everything. */
  name: string
  read: (signal: AbortSignal) => Promise<Video[]>
}

export interface Candidate {
  seconds: number
  bytes: number
}

export interface TripPlan<Video> {
  taken: Video[]
  seconds: number
  bytes: number
  /** Videos that were passed over because they are longer than the rest of the time, or larger than the rest of the space. */
  tooLong: number
  tooLarge: number
}

const MOST = 100

export function planTrip<Video extends Candidate>(
  candidates: readonly Video[],
  { seconds: time, bytes: room }: Candidate,
): TripPlan<Video> {
  const plan: TripPlan<Video> = { taken: [], seconds: 0, bytes: 0, tooLong: 0, tooLarge: 0 }
  for (const one of candidates) {
    if (plan.taken.length >= MOST) break
    if (plan.seconds + one.seconds > time) plan.tooLong++
    else if (plan.bytes + one.bytes > room) plan.tooLarge++
    else {
      plan.taken.push(one)
      plan.seconds += one.seconds
      plan.bytes += one.bytes
    }
  }
  return plan
}

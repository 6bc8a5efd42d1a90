/** Chooses the videos for a trip: in their order, as many as fit into the time and the space of this device. */

import type { Video } from '../server/records.ts'
import type { OnDevice } from '../stores/offline-videos.ts'

/** Share of the free space that a trip may use, because other pages need some as well. */
export const SHARE = 0.9
export const HOUR_S = 3600

export interface Film extends Candidate {
  video: Video
}

const secondsLeft = ({ player }: Video): number => Math.ceil(player.duration * (1 - (player.progress ?? 0) / 100))

/** The rest of each video that is left to watch, without videos that are on this device already, or have no file. */
export const toFilms = (videos: readonly Video[], here: readonly OnDevice[]): Film[] =>
  videos
    .filter(({ player, media_size: bytes, missing, place }) => {
      return !player.watched && bytes > 0 && !missing && place?.state !== 'away'
    })
    .filter(({ platform_id: id }) => !here.some(({ video }) => video.platform_id === id))
    .map((video) => ({ video, seconds: secondsLeft(video), bytes: video.media_size }))

/** The videos to add to the pack of a trip. */
export function planRefill(films: readonly Film[], here: readonly OnDevice[], room: { hours: number; free: number }) {
  const there = here.filter(({ isForTrip }) => isForTrip).reduce((sum, { video }) => sum + secondsLeft(video), 0)
  return planTrip(films, { seconds: room.hours * HOUR_S - there, bytes: room.free * SHARE })
}

export interface Candidate {
  seconds: number
  bytes: number
}

export interface TripPlan<Video> {
  taken: Video[]
  seconds: number
  bytes: number
  /**
   * Numbers of videos that were skipped because they are longer than the rest of the time, or larger than the rest of
   * the space.
   */
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

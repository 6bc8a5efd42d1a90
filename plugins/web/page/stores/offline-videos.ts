/** Videos that are saved in this browser for offline use, and the progress of their downloads. */
import { signal } from '@preact/signals'
import type { Video } from '../server/records.ts'

export interface OnDevice {
  video: Video
  /** The URL of the stored film, as in the API. */
  film: string
  /** The size of the film in bytes; `done` of them are stored. */
  bytes: number
  done: number
  isWhole: boolean
  /** The video is removed once the account has watched it. */
  isForTrip?: boolean
}

export const offlineVideos = signal<readonly OnDevice[]>([])
/** Whether the list has been read. A player that starts earlier would play from the server. */
export const isDeviceKnown = signal(false)

/** The URL of a film that can be played from this browser. */
export const filmHere = (id: string): string | undefined =>
  offlineVideos.peek().find(({ video, isWhole }) => isWhole && video.platform_id === id)?.film

/** Videos that are saved in this browser for use without the server, and how far each has come. */
import { signal } from '@preact/signals'
import type { Video } from '../server/records.ts'

export interface OnDevice {
  video: Video
  /** What is stored of it to play, as the API names it. */
  film: string
  /** Bytes: of the film, and of those how many are here. */
  bytes: number
  done: number
  isWhole: boolean
}

export const offlineVideos = signal<readonly OnDevice[]>([])
/** Whether it is known which there are: a player that began before would ask the server. */
export const isDeviceKnown = signal(false)

/** Of a video that plays from this browser. */
export const filmHere = (id: string): string | undefined =>
  offlineVideos.peek().find(({ video, isWhole }) => isWhole && video.platform_id === id)?.film

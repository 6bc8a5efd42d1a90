/** Sources of the videos of a trip. */
import type { Query } from '../server/api.ts'
import { getAll } from '../server/paged.ts'
import type { Video } from '../server/records.ts'

export interface TripSource {
  /** The source in words; empty: all videos. */
  name: string
  /** A list, which can be read again; undefined: a search. */
  list?: { path: string; query: Query }
  read: (signal?: AbortSignal) => Promise<Video[]>
}

/** Limits the number of requests: a page may have only a few videos. */
const MOST_VIDEOS = 300

/** The first unwatched videos of a list. */
export const listSource = (name: string, path: string, query: Query): TripSource => ({
  name,
  list: { path, query },
  read: (signal) => getAll<Video>(path, { ...query, watch: 'unwatched' }, MOST_VIDEOS, signal),
})

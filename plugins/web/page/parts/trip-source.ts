/** Sources of the videos of a trip. */
import { get, type Query } from '../server/api.ts'
import type { Page, Video } from '../server/records.ts'

export interface TripSource {
  /** The source in words; empty: all videos. */
  name: string
  /** A list, which can be read again; undefined: a search. */
  list?: { path: string; query: Query }
  read: (signal?: AbortSignal) => Promise<Video[]>
}

const PAGE = 100
const MOST_PAGES = 3
/** The first unwatched videos of a list. */
export const listSource = (name: string, path: string, query: Query): TripSource => ({
  name,
  list: { path, query },
  async read(signal) {
    const found: Video[] = []
    for (let page = 1, last = 1; page <= Math.min(last, MOST_PAGES); page++) {
      const asked = { ...query, watch: 'unwatched', page, page_size: PAGE }
      const { data, paginate } = await get<Page<Video>>(path, asked, signal)
      found.push(...data)
      last = paginate.last_page || 1
    }
    return found
  },
})

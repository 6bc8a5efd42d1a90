/** Chooses the next video if no playlist does: one of the same channel, a similar one, or any other. */
import { toVideoRow, type VideoRow } from '../parts/video-row.ts'
import type { Query } from '../server/api.ts'
import { getPage } from '../server/paged.ts'
import type { Video } from '../server/records.ts'

/** Videos played in this visit, so that the chain never repeats itself. */
const seen = new Set<string>()
const MOST_SEEN = 1000

export function noteSeen(id: string): void {
  seen.delete(id)
  seen.add(id)
  if (seen.size > MOST_SEEN) seen.delete(seen.values().next().value!)
}

async function read(query: Query, signal: AbortSignal) {
  const { data, paginate } = await getPage<Video>('/api/video/', query, signal)
  return { rows: data.map(toVideoRow), paginate }
}

/** Maximum number of pages to search. If a channel published more videos on one day, a similar video follows. */
const MOST_PAGES = 10

/** The next unwatched video that its channel published. Videos of one day are ordered by id. */
export async function laterInChannel(video: Video, signal: AbortSignal): Promise<VideoRow | undefined> {
  const { channel, platform_id: id, published } = video
  const query = {
    channel: channel.channel_id,
    after: published.slice(0, 10),
    watch: 'unwatched',
    order: 'asc',
  }
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { rows, paginate } = await read({ ...query, sort: 'published', page }, signal)
    const found = rows.find((row) => row.published > published || (row.published === published && row.id > id))
    if (found || paginate.last_page <= page) return found
  }
  return undefined
}

/**
 * Any unwatched video of its channel.
 * @param chance  a random number from 0 to below 1
 */
export async function someInChannel(video: Video, chance: number, signal: AbortSignal): Promise<VideoRow | undefined> {
  const query = { channel: video.channel.channel_id, watch: 'unwatched' }
  const isNew = ({ id }: VideoRow) => id !== video.platform_id && !seen.has(id)
  const first = await read(query, signal)
  const { total_hits: total, page_size: size } = first.paginate
  const at = Math.floor(chance * total)
  const page = Math.floor(at / size) + 1
  const { rows } = page === 1 ? first : await read({ ...query, page }, signal)
  const from = at % size
  return [...rows.slice(from), ...rows.slice(0, from), ...first.rows].find(isNew)
}

/** The best match among similar videos; unwatched and unseen ones are preferred. */
export const bestOf = (rows: readonly VideoRow[] = []): VideoRow | undefined =>
  rows.find(({ id, isWatched }) => !isWatched && !seen.has(id)) ?? rows.find(({ id }) => !seen.has(id)) ?? rows[0]

/** The newest video of the archive, if nothing else is found. */
export async function newestBut(id: string, signal: AbortSignal): Promise<VideoRow | undefined> {
  const { rows } = await read({}, signal)
  return rows.find((row) => row.id !== id && !seen.has(row.id)) ?? rows.find((row) => row.id !== id)
}

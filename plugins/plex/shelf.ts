/**
 * Shows in the numbering of Plex: the season and episode of each video. Faces assign the numbers, and their file names
 * contain them; a video without a number is not an episode yet.
 */
import { type Actor, chunksOf, isUnchanged, recordSources, Slice, type Sources } from 'archivolt'
import type { App } from './app.ts'

export interface Episode {
  id: string
  /** The year of publication; 0: unknown. */
  season: number
  number: number
  /** YYYY-MM-DD; '': unknown. */
  published: string
}

/** Maximum number of cached episodes, of all shows together. */
const MOST_CACHED = 100_000
/**
 * Minimum number of episodes that each cached show counts as: any word in a file name can be requested as a show, so
 * shows without episodes must count, too.
 */
const LEAST_COUNTED = 100
const NUMBERED_TOGETHER = 1000

interface Cached {
  episodes: Episode[]
  sources: Sources
  view: Actor['view']
}

const weightOf = ({ episodes }: Cached): number => Math.max(LEAST_COUNTED, episodes.length)

const seasonOf = (published: string): number => Number(published.slice(0, 4)) || 0

export function openShelf(app: Pick<App, 'videos'> & { readonly faces: Pick<App['faces'], 'rows'> }) {
  const cache = new Map<string, Cached>()
  const numberOf = (show: string, id: string, season: number): number | undefined =>
    app.faces.rows.numbers(show, [id]).get(id)?.get(season)

  async function read(show: string): Promise<Episode[]> {
    const videos: Array<{ id: string; published: string }> = []
    const slice = new Slice()
    const query = { filter: { eq: ['channel_id', show] as ['channel_id', string] }, paths: ['published'] }
    for await (const part of app.videos.collection.parts(query)) {
      for (const { id, values } of part) videos.push({ id, published: String(values[0] ?? '') })
      if (slice.isOver) await slice.next()
    }
    const episodes: Episode[] = []
    for (const some of chunksOf(videos, NUMBERED_TOGETHER)) {
      const ids = some.map(({ id }) => id)
      const numbers = app.faces.rows.numbers(show, ids)
      for (const { id, published } of some) {
        const season = seasonOf(published)
        const number = numbers.get(id)?.get(season)
        if (number !== undefined) episodes.push({ id, season, number, published })
      }
      if (slice.isOver) await slice.next()
    }
    return episodes.sort((a, b) => a.season - b.season || a.number - b.number)
  }

  function store(key: string, one: Cached): void {
    cache.delete(key)
    cache.set(key, one)
    let sum = 0
    for (const each of cache.values()) sum += weightOf(each)
    for (const [oldest, each] of cache) {
      if (sum <= MOST_CACHED) return
      sum -= weightOf(each)
      cache.delete(oldest)
    }
  }

  return {
    /** Episodes that the account sees, by season and number. Empty: the show does not exist, or has no numbers yet. */
    async episodesOf(show: string, { id, view }: Pick<Actor, 'id' | 'view'>): Promise<readonly Episode[]> {
      const key = `${id} ${show}`
      const known = cache.get(key)
      if (known?.view === view && known && isUnchanged(known.sources)) return known.episodes
      const sources: Sources = new Map()
      const episodes = await recordSources(sources, () => read(show))
      store(key, { episodes, sources, view })
      return episodes
    },

    /** undefined: the video has no number */
    episodeOf(video: { platform_id: string; channel_id: string; published: string }): Episode | undefined {
      const { platform_id: id, channel_id: show, published } = video
      const season = seasonOf(published)
      const number = numberOf(show, id, season)
      return number === undefined ? undefined : { id, season, number, published }
    },
  }
}

export type Shelf = ReturnType<typeof openShelf>

/** The seasons of a show, each with the day of its first video. */
export function seasonsIn(episodes: readonly Episode[]): Array<{ season: number; published: string }> {
  const days = new Map<number, string>()
  for (const { season, published } of episodes) {
    const known = days.get(season)
    if (known === undefined || published < known) days.set(season, published)
  }
  return [...days].map(([season, published]) => ({ season, published }))
}

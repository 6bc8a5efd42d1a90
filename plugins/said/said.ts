/** The service `said`: the clips of a search in subtitles. */
import type { AppOf } from 'archivolt'
import { type Clip, toClips } from './clips.ts'

/** Maximum number of hits, before those of one video are merged. */
const MOST_HITS = 100

export const openSaid = ({ spoken }: AppOf<'search'>) => ({
  /** @throws bad_request: it is not a search in subtitles */
  async clips(query: string): Promise<{ clips: Clip[]; isMore: boolean }> {
    const hits = await spoken.find(query, MOST_HITS + 1)
    return { clips: toClips(hits.slice(0, MOST_HITS)), isMore: hits.length > MOST_HITS }
  },
})

export type SaidClips = ReturnType<typeof openSaid>

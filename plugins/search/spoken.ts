/** The service `spoken`: hits in subtitles, for other plugins. */
import { errors } from 'archivolt'
import type { App } from './app.ts'
import type { SubtitleHit } from './fragments.ts'
import { parseQuery } from './query-syntax.ts'
import { findSpoken } from './search.ts'

export const openSpoken = (app: App) => ({
  /**
   * Limited to the view of the requesting account.
   * @param text  a search with `full:`
   * @param size  maximum number of hits; the best come first
   * @throws bad_request: it is another search, or empty
   */
  async find(text: string, size: number): Promise<SubtitleHit[]> {
    if (!text.trim()) throw errors.wrongField('query', 'is required')
    const query = parseQuery(text)
    if (query.type !== 'full') throw errors.wrongField('query', 'must begin with full:')
    return findSpoken(query, app, size)
  },
})

export type Spoken = ReturnType<typeof openSpoken>

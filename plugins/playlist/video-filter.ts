/**
 * The parameter `playlist` of lists of videos: the playlist's archived videos, always in its order, whatever sort is
 * requested.
 */
import { type Hooks, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

export function listFilter(app: App): Hooks['video.filter'] {
  return {
    query: {
      playlist: Type.Optional(
        Type.String({ pattern: ID_PATTERN, description: 'videos of this playlist, in its order' }),
      ),
    },
    async apply({ playlist }, actor) {
      if (typeof playlist !== 'string') return undefined
      return { ids: (await app.playlists.videosOf(playlist, actor)) ?? [], order: 'always' }
    },
  }
}

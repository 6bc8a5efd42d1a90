/** `playlist=` in lists of videos: its archived videos, in its order whatever sort is asked for. */
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

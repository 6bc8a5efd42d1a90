/** `playlist=` in lists of videos: its archived videos, in its order whatever sort is asked for. */
import { type App, type Hooks, queryId } from 'archivolt'

export function listFilter(app: App): Hooks['video.filter'] {
  return {
    query: { playlist: queryId({ description: 'videos of this playlist, in its order' }) },
    async apply({ playlist }) {
      return typeof playlist === 'string' ? { ids: await app.playlists.videosOf(playlist), order: 'always' } : undefined
    },
  }
}

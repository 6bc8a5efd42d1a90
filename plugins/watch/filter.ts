/** `watch=` in lists of videos. */
import { type Hooks, queryEnum } from 'archivolt'
import type { VideoListPart } from '../video/listing.ts'
import type { App } from './app.ts'

export function listFilter(app: App): Hooks['video.filter'] {
  return {
    query: {
      watch: queryEnum(['watched', 'unwatched', 'continue'], {
        description: '`continue`: begun by the caller and not watched; by when the position last changed',
      }),
    },
    apply({ watch }, actor): VideoListPart | undefined {
      if (watch === 'watched') return { filter: { eq: ['watched', true] } }
      if (watch === 'unwatched') return { filter: { eq: ['watched', false] } }
      return watch === 'continue' ? { ids: app.watch.begun(actor.id), filter: { eq: ['watched', false] } } : undefined
    },
  }
}

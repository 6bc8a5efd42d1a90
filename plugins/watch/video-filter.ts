/** The parameter `watch` of lists of videos. */
import { type Hooks, Type } from 'archivolt'
import type { VideoFilter, VideoListPart } from '../video/listing.ts'
import type { App } from './app.ts'

export function listFilter(app: App): Hooks['video.filter'] {
  return {
    query: {
      watch: Type.Optional(
        Type.Enum(['watched', 'unwatched', 'continue'], {
          description: 'by the caller; `continue`: begun but not watched, sorted by the last change of the position',
        }),
      ),
    },
    apply({ watch }, actor): VideoListPart | undefined {
      const watched: VideoFilter = { eq: ['watched_by', String(actor.id)] }
      if (watch === 'watched') return { filter: watched }
      if (watch === 'unwatched') return { filter: { not: watched } }
      return watch === 'continue' ? { ids: app.watch.begun(actor.id), filter: { not: watched } } : undefined
    },
  }
}

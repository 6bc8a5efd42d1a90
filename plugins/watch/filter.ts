/** `watch=` in lists of videos. */
import { type Hooks, queryEnum } from 'archivolt'
import type { App } from './app.ts'

type ListPart = Awaited<ReturnType<Hooks['video.filter']['apply']>>

export function listFilter(app: App): Hooks['video.filter'] {
  return {
    query: {
      watch: queryEnum(['watched', 'unwatched', 'continue'], {
        description: '`continue`: begun by the caller and not watched; by when the position last changed',
      }),
    },
    apply({ watch }, actor): ListPart {
      if (watch === 'watched') return { filter: { eq: ['watched', true] } }
      if (watch === 'unwatched') return { filter: { eq: ['watched', false] } }
      return watch === 'continue' ? { ids: app.watch.begun(actor.id), filter: { eq: ['watched', false] } } : undefined
    },
  }
}

/**
 * Removes videos for tasks and plugins that decide automatically, so that the videos stay removed and can be restored.
 */
import { definePlugin } from 'archivolt'
import { openRemovals, type Removals } from './removals.ts'

export default definePlugin({
  name: 'removal',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download', 'bin'],
  services: (app) => ({ removals: openRemovals(app) }),
})

declare module 'archivolt' {
  interface Services {
    removal: {
      /**
       * Removes videos for tasks and plugins that select them automatically: the videos stay removed, and can be
       * restored.
       */
      removals: Removals
    }
  }
}

/** Search: one field for videos, channels, playlists and the words of subtitles (contract 7). */
import { definePlugin } from 'archivolt'
import { search } from './routes.ts'
import { openSpoken, type Spoken } from './spoken.ts'

export default definePlugin({
  name: 'search',
  needs: ['platform', 'channel', 'video', 'playlist'],
  services: (app) => ({ spoken: openSpoken(app) }),
  routes: [search],
})

declare module 'archivolt' {
  interface Services {
    search: {
      /** Finds spoken words in videos, like the search `full:`. */
      spoken: Spoken
    }
  }
}

/** Search: one field for videos, channels, playlists and the words of subtitles (contract 7). */
import { definePlugin } from 'archivolt'
import { search } from './routes.ts'

export default definePlugin({
  name: 'search',
  needs: ['platform', 'channel', 'video', 'playlist'],
  routes: [search],
})

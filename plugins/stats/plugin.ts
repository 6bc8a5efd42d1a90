/** Statistics: counts, sizes and hours of archived, queued and watched videos. */
import { definePlugin } from 'archivolt'
import { openCounts } from './counts.ts'
import {
  biggestChannels,
  channelStats,
  downloadHistory,
  downloadStats,
  growth,
  playlistStats,
  qualityStats,
  videoStats,
  watchStats,
} from './routes.ts'

export default definePlugin({
  name: 'stats',
  needs: ['channel', 'video', 'playlist', 'download'],
  routes: [
    videoStats,
    channelStats,
    playlistStats,
    qualityStats,
    downloadStats,
    watchStats,
    downloadHistory,
    biggestChannels,
    growth,
  ],
  services: (app) => ({ stats: openCounts(app) }),
})

/** Videos with their comments and subtitles: ingest, list, show, remove. */
import { definePlugin } from 'archivolt'
import { indexComments } from './comment-texts.ts'
import { makeLink } from './link-route.ts'
import { withoutFilter } from './listing.ts'
import { removeVideo, tellRemoved } from './removal-tasks.ts'
import {
  changeChosen,
  deleteVideo,
  keepVideo,
  listChannelVideos,
  listComments,
  listMonths,
  listSimilar,
  listThreads,
  listVideos,
  showThread,
  showVideo,
  sumUpChannel,
} from './routes.ts'
import { commentIndex, commentTextIndex, subtitleIndex, videoIndex } from './schema.ts'
import { openVideos } from './videos.ts'

export default definePlugin({
  name: 'video',
  needs: ['platform', 'media', 'channel'],
  indexes: [videoIndex, commentIndex, commentTextIndex, subtitleIndex],
  owns: ['comment', 'comment_text', 'subtitle'],
  hooks: [
    'video.tail',
    'video.keys',
    'video.filter',
    'video.lists',
    'video.storyboard',
    'video.remove',
    'video.belongings',
    'video.bin',
  ],
  hookRules: {
    'video.tail': { isSync: true, otherwise: () => new Map() },
    'video.keys': { isSync: true, otherwise: () => new Map() },
    'video.filter': { otherwise: withoutFilter },
    'video.lists': { otherwise: () => new Map() },
    'video.storyboard': { otherwise: () => undefined },
    'video.remove': { withinSeconds: 600, otherwise: () => undefined },
  },
  events: ['video.added', 'video.changed', 'video.moved', 'video.removed', 'video.restored', 'video.adopted'],
  implements: {
    'platform.known': (app) => async (target) => target.type === 'video' && app.videos.has(target.id),
    'platform.canaries': (app) => () => app.videos.canaries(),
    'media.known': (app) => async (kind, id) => kind === 'video' && app.videos.has(id),
    'media.titled': (app) => async (kind, id) => (kind === 'video' ? (await app.videos.get(id))?.title : undefined),
    'media.films': (app) => (atMost) => app.videos.someFilms(atMost),
    'channel.remove': (app) => (channelId, step) => app.videos.removeOfChannel(channelId, step),
  },
  routes: [
    listVideos,
    listMonths,
    changeChosen,
    listChannelVideos,
    sumUpChannel,
    showVideo,
    keepVideo,
    deleteVideo,
    listComments,
    listThreads,
    showThread,
    listSimilar,
    makeLink,
  ],
  tasks: [removeVideo, tellRemoved, indexComments],
  setup: (app) => app.videos.startIndexing(),
  services: (app) => ({ videos: openVideos(app) }),
})

/** Dislikes: an estimate of a video's dislikes, from the public service that collects them. */
import { definePlugin } from 'archivolt'
import { ServiceUrl } from '../community-kit/ask.ts'
import { dislikeTables, openDislikes } from './dislikes.ts'
import { readDislikes } from './read-dislikes-task.ts'

export default definePlugin({
  name: 'dislike',
  needs: ['video', 'download'],
  settings: {
    dislikesUrl: {
      env: 'AV_DISLIKES_URL',
      schema: ServiceUrl,
      default: 'https://returnyoutubedislikeapi.com',
      meaning: 'the service that estimates dislikes',
    },
  },
  migrations: [dislikeTables],
  tasks: [readDislikes],
  services: (app) => ({ dislikes: openDislikes(app) }),
  on: {
    'video.added':
      (app) =>
      ({ id }) =>
        app.dislikes.note(id),
  },
  setup: (app) => app.dislikes.goOn(),
})

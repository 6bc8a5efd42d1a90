/** Dislikes: an estimate of a video's dislikes, from the public service that collects them. */
import { definePlugin, Type } from 'archivolt'
import { dislikeTables, openDislikes } from './dislikes.ts'
import { readDislikes } from './read-dislikes-task.ts'

export default definePlugin({
  name: 'dislike',
  needs: ['video', 'download'],
  settings: {
    dislikesUrl: {
      env: 'AV_DISLIKES_URL',
      schema: Type.String({
        pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
        description: 'a URL of http or https, without a slash at its end',
      }),
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

/** Skip segments of videos, from the community service. */
import { definePlugin, Type } from 'archivolt'
import { beginRounds } from '../community-kit/round.ts'
import type { App } from './app.ts'
import { refreshSegments } from './refresh-task.ts'
import { sendSegment, showSegments } from './routes.ts'
import { openSegments } from './segments.ts'

const begin = (app: App) => beginRounds(refreshSegments, app.segments.isWanted, app)

export default definePlugin({
  name: 'segment',
  needs: ['channel', 'video', 'download'],
  settings: {
    segmentsUrl: {
      env: 'AV_SEGMENTS_URL',
      schema: Type.String({
        pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
        description: 'a URL of http or https, without a slash at its end',
      }),
      default: 'https://sponsor.ajay.app',
      meaning: 'the service that knows skip segments',
    },
  },
  lanes: { segments: 1 },
  routes: [showSegments, sendSegment],
  tasks: [refreshSegments],
  services: (app) => ({ segments: openSegments(app) }),
  implements: {
    'session.community':
      ({ segments }) =>
      async () =>
        (await segments.isWanted()) ? ['segments'] : [],
  },
  on: {
    'video.added':
      (app) =>
      ({ id }) =>
        app.segments.refresh(id),
    'channel.changed':
      (app) =>
      async ({ change }) => {
        if (change.channel_overwrites?.integrate_sponsorblock) await begin(app)
      },
  },
  async setup(app) {
    app.preferences.watch(() => void begin(app).catch((err) => app.log.warn({ err }, 'no rounds of segments')))
    await begin(app)
  },
})

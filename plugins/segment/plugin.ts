/** Skip segments of videos, from the community service. */
import { definePlugin } from 'archivolt'
import { ServiceUrl } from '../community-kit/ask.ts'
import { beginRounds } from '../community-kit/refresh-rounds.ts'
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
      schema: ServiceUrl,
      default: 'https://sponsor.ajay.app',
      meaning: 'the community service for skip segments',
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
    // Its channel may come back with a setting of its own.
    'video.restored': (app) => () => begin(app),
    'channel.changed':
      (app) =>
      async ({ change }) => {
        if (change.channel_overwrites?.integrate_sponsorblock) await begin(app)
      },
  },
  async setup(app) {
    app.preferences.watch(
      () => void begin(app).catch((err) => app.log.warn({ err }, 'the refresh of skip segments could not be started')),
    )
    await begin(app)
  },
})

/** Skip segments of videos, from the community service. */
import { definePlugin, Type } from 'archivolt'
import { sendSegment, showSegments } from './routes.ts'
import { openSegments } from './segments.ts'

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
  routes: [showSegments, sendSegment],
  services: (app) => ({ segments: openSegments(app) }),
  on: {
    'video.added':
      (app) =>
      ({ id }) =>
        app.segments.refresh(id),
  },
})

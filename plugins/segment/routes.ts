/** Routes of segments: returns the known ones; votes and submissions are checked, but not forwarded (contract 6.5). */
import { defineRoute, errors, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'
import { SegmentList } from './schema.ts'

const VideoPath = Type.Object({ videoId: Type.String({ pattern: ID_PATTERN }) })
const seconds = Type.Number({ minimum: 0 })
const Opinion = Type.Object({
  vote: Type.Optional(
    Type.Object({
      uuid: Type.String({ minLength: 1 }),
      yourVote: Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(20)]),
    }),
  ),
  segment: Type.Optional(Type.Object({ startTime: seconds, endTime: seconds })),
})

export const showSegments = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/sponsor/',
  access: 'viewer',
  summary: 'The parts of a video to skip',
  params: VideoPath,
  reply: SegmentList,
  errors: ['not_found'],
  async handle({ params: { videoId } }, app: App) {
    const video = await app.videos.get(videoId)
    if (!video) throw errors.notFound('video', videoId)
    return app.segments.ofVideo(video)
  },
})

export const sendSegment = defineRoute({
  method: 'POST',
  path: '/api/video/:videoId/sponsor/',
  access: 'viewer',
  summary: 'Vote on a segment or submit a new one: only checked, nothing is sent or stored',
  params: VideoPath,
  body: Opinion,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found'],
  async handle({ params: { videoId }, body: { vote, segment } }, app: App) {
    if ((vote === undefined) === (segment === undefined)) {
      throw errors.badRequest('Either vote or segment is needed, not both', {
        fields: { vote: 'this or segment', segment: 'this or vote' },
      })
    }
    if (segment && segment.endTime < segment.startTime) {
      throw errors.badRequest('A segment cannot end before it starts', {
        fields: { 'segment.endTime': 'must not be before startTime' },
      })
    }
    if (!(await app.videos.known([videoId])).has(videoId)) throw errors.notFound('video', videoId)
    return { success: true }
  },
})

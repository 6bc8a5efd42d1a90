/** Routes for seek previews: state, request, and the sheets (contract 9.20). */
import { defineRoute, errors, file, Type } from 'archivolt'
import type { App } from '../app.ts'
import { FileName, mustBeSeen, VideoId, VideoParams } from '../requests.ts'
import { makePreviews } from './make.ts'

const STATES = ['none', 'wanted', 'there', 'impossible'] as const

const PreviewRecord = Type.Object({
  state: Type.Enum([...STATES]),
  interval: Type.Optional(Type.Number({ description: 'seconds between two pictures; the first is of the beginning' })),
  count: Type.Optional(Type.Integer({ description: 'number of pictures' })),
  width: Type.Optional(Type.Integer({ description: 'of one picture, in pixels' })),
  height: Type.Optional(Type.Integer()),
  columns: Type.Optional(Type.Integer({ description: 'pictures in each row of a sheet' })),
  rows: Type.Optional(Type.Integer()),
  sheets: Type.Optional(Type.Array(Type.String(), { description: 'URLs of the sheets, in order' })),
})

function recordOf(id: string, { previews }: App) {
  const sheets = previews.sheetsOf(id)
  if (sheets) return { state: 'there' as const, ...sheets }
  const state = previews.stateOf(id)
  return { state: state === 'wanted' || state === 'impossible' ? state : ('none' as const) }
}

export const showPreviews = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/preview/',
  access: 'viewer',
  summary: 'The state of the seek previews of a video, and the URLs of their sheets',
  params: VideoParams,
  reply: PreviewRecord,
  errors: ['not_found'],
  async handle({ params: { videoId } }, app: App) {
    await mustBeSeen(videoId, app)
    return recordOf(videoId, app)
  },
})

export const wantPreviews = defineRoute({
  method: 'POST',
  path: '/api/video/:videoId/preview/',
  access: 'viewer',
  summary: 'Request seek previews of a video; they are made when no other task is running',
  params: VideoParams,
  reply: PreviewRecord,
  errors: ['not_found'],
  async handle({ params: { videoId }, actor }, app: App) {
    await mustBeSeen(videoId, app)
    if (await app.previews.want(videoId, actor.id)) await app.jobs.start(makePreviews)
    return recordOf(videoId, app)
  },
})

export const showSheet = defineRoute({
  method: 'GET',
  path: '/cache/previews/:videoId/:file',
  access: 'viewer',
  summary: 'A sheet of seek previews',
  params: Type.Object({
    videoId: VideoId,
    file: FileName,
  }),
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle({ params: { videoId, file: name } }, app: App) {
    const path = app.previews.pathOf(videoId, name)
    if (path === undefined || !(await app.videos.has(videoId))) throw errors.notFound('file')
    return file(path, 'image/jpeg', { immutable: true })
  },
})

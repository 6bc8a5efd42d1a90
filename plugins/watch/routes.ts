/** Routes of marks and positions (contract 6.1, 6.5). A position is always the caller's own. */
import { DAY_SECONDS, defineRoute, errors, ID_PATTERN, say, Type } from 'archivolt'
import type { App } from './app.ts'

export const markAsWatched = defineRoute({
  method: 'POST',
  path: '/api/watched/',
  access: 'viewer',
  summary: 'Mark a video, or all videos of a channel or playlist, as watched or not',
  body: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }), is_watched: Type.Boolean() }),
  reply: Type.Object({
    message: Type.Literal('success'),
    id: Type.String(),
    is_watched: Type.Boolean(),
    marking: Type.Optional(
      Type.Integer({
        description:
          'only for a channel or playlist: the number with which the marking can be undone for a day; omitted if nothing has changed',
      }),
    ),
  }),
  errors: ['bad_request', 'not_found'],
  async handle({ body: { id, is_watched }, actor }, app: App) {
    const marking = await app.watch.mark(actor.id, id, is_watched)
    return { message: 'success', id, is_watched, ...(marking !== undefined && { marking }) }
  },
})

export const undoMarking = defineRoute({
  method: 'POST',
  path: '/api/watched/undo/',
  access: 'viewer',
  summary: 'Undo the marking of a channel or playlist, except where the caller has changed marks since',
  body: Type.Object({ marking: Type.Integer({ minimum: 1 }) }),
  reply: Type.Object({ updated: Type.Integer({ description: 'number of videos whose former state was restored' }) }),
  errors: ['bad_request', 'not_found'],
  async handle({ body: { marking }, actor }, app: App) {
    if (!app.watch.hasUndo(actor.id, marking)) throw errors.notFound('marking', String(marking))
    return { updated: await app.watch.undo(actor.id, marking) }
  },
})

/** All of them are processed before the reply. */
const ChosenIds = Type.Array(Type.String({ pattern: ID_PATTERN }), { minItems: 1, maxItems: 100 })

export const markChosen = defineRoute({
  method: 'POST',
  path: '/api/watched/bulk/',
  access: 'viewer',
  summary: 'Mark chosen videos as watched or not',
  body: Type.Object({ ids: ChosenIds, is_watched: Type.Boolean() }),
  reply: Type.Object({ updated: Type.Integer({ description: 'number of these videos that are in the archive' }) }),
  errors: ['bad_request'],
  handle: async ({ body: { ids, is_watched }, actor }, app: App) => ({
    updated: await app.watch.markChosen(actor.id, ids, is_watched),
  }),
})

const path = '/api/video/:videoId/progress/'
const VideoId = Type.Object({ videoId: Type.String({ pattern: ID_PATTERN }) })
const Progress = Type.Object({ platform_id: Type.String(), user_id: Type.Integer(), position: Type.Number() })

const toProgress = (app: App, videoId: string, userId: number, position: number) => ({
  platform_id: videoId,
  ...app.platform.mirror(videoId),
  user_id: userId,
  position,
})

export const showProgress = defineRoute({
  method: 'GET',
  path,
  access: 'viewer',
  summary: 'The playback position of the caller in a video, in seconds',
  params: VideoId,
  reply: Progress,
  errors: ['not_found'],
  handle: async ({ params: { videoId }, actor }, app: App) =>
    toProgress(app, videoId, actor.id, await app.watch.position(actor.id, videoId)),
})

/** Players send numbers, some of them as text. */
const Position = Type.Union([
  Type.Number({ minimum: 0 }),
  Type.String({ pattern: '^[0-9]{1,12}([.][0-9]{1,30})?$', 'x-words': false }),
])

/** The delay of a report from a player that was offline. */
const Ago = Type.Integer({
  minimum: 0,
  maximum: 3_650 * DAY_SECONDS,
  description: 'age of the position in seconds: later positions and marks take precedence',
})

export const setProgress = defineRoute({
  method: 'POST',
  path,
  access: 'viewer',
  summary: 'Store the playback position of the caller in a video; 0 removes it',
  params: VideoId,
  body: Type.Object({ position: Type.Optional(Position), ago: Type.Optional(Ago) }),
  reply: Progress,
  errors: ['bad_request', 'not_found'],
  async handle({ params: { videoId }, body, actor }, app: App) {
    if (body.position === undefined) refuseUnlessKnown(Object.keys(body), toProgress(app, videoId, actor.id, 0))
    const position = await app.watch.setPosition(actor.id, videoId, Number(body.position ?? 0), body.ago)
    return toProgress(app, videoId, actor.id, position)
  },
})

/**
 * An omitted position means 0, because players omit zeros. If the body has other keys, the key may be misspelled, and
 * the stored position must not be lost.
 * @throws bad_request
 */
function refuseUnlessKnown(keys: string[], progress: object): void {
  const unknown = keys.find((key) => !Object.hasOwn(progress, key))
  if (unknown !== undefined)
    throw errors.badRequest(say`position is required with ${{ unknown }}`, { fields: { position: 'is required' } })
}

export const clearProgress = defineRoute({
  method: 'DELETE',
  path,
  access: 'viewer',
  summary: 'Remove the playback position of the caller in a video',
  params: VideoId,
  reply: Type.Object({ 'progress-reset': Type.String() }),
  errors: ['not_found'],
  async handle({ params: { videoId }, actor }, app: App) {
    await app.watch.clearPosition(actor.id, videoId)
    return { 'progress-reset': videoId }
  },
})

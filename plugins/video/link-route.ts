/** The signed address of a film for a device without a cookie, such as a television (contract 6.5). */
import { defineRoute, errors, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'
import { ownKeysOf } from './join-records.ts'

export const makeLink = defineRoute({
  method: 'POST',
  path: '/api/video/:videoId/link/',
  access: 'viewer',
  scope: 'none',
  summary: 'An address of the video file for a device without a cookie',
  params: Type.Object({ videoId: Type.String({ pattern: ID_PATTERN }) }),
  reply: Type.Object({
    url: Type.String({ description: 'of the playable copy, if there is one' }),
    expires: Type.Integer({ description: 'epoch seconds; signing out also makes the address invalid' }),
  }),
  errors: ['not_found', 'conflict'],
  async handle({ params: { videoId: id }, actor }, app: App) {
    const { session } = actor
    if (session === undefined)
      throw errors.conflict(
        'Such an address belongs to a session, which a token does not have: sign in with a password',
      )
    const video = await app.videos.get(id)
    if (!video) throw errors.notFound('video', id)
    const path = ownKeysOf([id], actor, app).get(id)?.copy_url ?? video.media_url
    const { signed, expires } = app.accounts.link(path, session)
    return { url: `${path}?signed=${signed}`, expires }
  },
})

/**
 * Playlists over HTTP: list, show, edit, remove (contract 6.6, appendix B). Subscribing is the subscription plugin's.
 */
import {
  type Actor,
  defineRoute,
  errors,
  ID_PATTERN,
  json,
  listing,
  queryBool,
  queryEnum,
  queryId,
  Type,
} from 'archivolt'
import type { App } from './app.ts'
import { ACTIONS, type Action } from './entry-order.ts'
import { PlaylistDoc, PlaylistEntry } from './schema.ts'

const PlaylistId = Type.Object({ playlistId: Type.String({ pattern: ID_PATTERN }) })
const PlaylistRecord = Type.Interface([Type.Omit(PlaylistDoc, ['refreshed_at', 'art', 'playlist_entries'])], {
  playlist_entries: Type.Array(PlaylistEntry),
  _index: Type.String(),
  _score: Type.Number(),
})
const Success = Type.Object({ success: Type.Literal(true) })

const TYPES = ['regular', 'custom'] as const

export const listPlaylists = defineRoute({
  method: 'GET',
  path: '/api/playlist/',
  access: 'user',
  summary: 'Playlists by name',
  query: {
    playlist_type: queryEnum(TYPES),
    type: queryEnum(TYPES, { description: 'the same as playlist_type' }),
    channel: queryId({ description: 'playlists of this channel' }),
    subscribed: queryBool(),
  },
  envelope: 'page',
  reply: Type.Array(PlaylistRecord),
  async handle({ query: { playlist_type, type, channel, subscribed }, page: { from, size } }, app: App) {
    const { texts, total } = await app.playlists.find({ type: playlist_type ?? type, channel, subscribed, from, size })
    return listing(texts, total)
  },
})

async function recordOf(app: App, id: string): Promise<string> {
  const text = await app.playlists.record(id)
  if (text === undefined) throw errors.notFound('playlist', id)
  return text
}

export const showPlaylist = defineRoute({
  method: 'GET',
  path: '/api/playlist/:playlistId/',
  access: 'user',
  summary: 'One playlist',
  params: PlaylistId,
  envelope: 'item',
  reply: PlaylistRecord,
  errors: ['not_found'],
  handle: async ({ params: { playlistId } }, app: App) => json(await recordOf(app, playlistId)),
})

export const createCustom = defineRoute({
  method: 'POST',
  path: '/api/playlist/custom/',
  access: 'admin',
  summary: 'Make a custom playlist',
  body: Type.Object({ playlist_name: Type.String({ minLength: 1, maxLength: 200 }) }),
  reply: PlaylistRecord,
  errors: ['bad_request'],
  async handle({ body }, app: App) {
    const name = body.playlist_name.trim()
    if (name === '')
      throw errors.badRequest('playlist_name must not be blank', { fields: { playlist_name: 'must not be blank' } })
    return json(await recordOf(app, await app.playlists.create(name)))
  },
})

/** Loose on purpose: which playlist it is decides first what is wrong with the rest (contract 9.6, order of checks). */
const CustomChange = Type.Object({
  action: Type.Optional(Type.Unknown({ description: ACTIONS.join(', ') })),
  video_id: Type.Optional(
    Type.Unknown({ description: 'id of an archived video; the keys of an id in records are taken too' }),
  ),
  index: Type.Optional(Type.Unknown({ description: 'with `move`: the place in the whole list, from 0' })),
})

const wrong = (field: string, rule: string) => errors.badRequest(`${field} ${rule}`, { fields: { [field]: rule } })

async function change(id: string, body: Record<string, unknown>, actor: Actor, app: App): Promise<void> {
  await app.playlists.mustBeCustom(id)
  const { action, video_id, index } = body
  if (!ACTIONS.includes(action as Action)) throw wrong('action', `must be one of ${ACTIONS.join(', ')}`)
  // It may also stand under the keys that ids have in records (contract 1.2).
  const videoId = video_id === undefined ? app.platform.idOf(body) : video_id
  if (typeof videoId !== 'string' || videoId === '') throw wrong('video_id', 'is required')
  if (action === 'move' && !(Number.isSafeInteger(index) && (index as number) >= 0))
    throw wrong('index', 'must be an integer of at least 0')
  const hideWatched = app.accounts.userPreferences(actor.id)['hide_watched'] === true
  await app.playlists.act(id, {
    action: action as Action,
    videoId,
    hideWatched,
    index: action === 'move' ? (index as number) : undefined,
  })
}

export const changePlaylist = defineRoute({
  method: 'POST',
  path: '/api/playlist/:playlistId/',
  access: 'admin',
  summary: 'Add, remove or move a video of a custom playlist',
  params: PlaylistId,
  body: CustomChange,
  reply: Success,
  status: 201,
  errors: ['bad_request', 'not_found'],
  async handle({ params: { playlistId }, body, actor }, app: App) {
    await change(playlistId, body, actor, app)
    return { success: true }
  },
})

export const changeCustom = defineRoute({
  method: 'POST',
  path: '/api/playlist/custom/:playlistId/',
  access: 'admin',
  summary: 'The same; answers with the playlist',
  params: PlaylistId,
  body: CustomChange,
  reply: PlaylistRecord,
  errors: ['bad_request', 'not_found'],
  async handle({ params: { playlistId }, body, actor }, app: App) {
    await change(playlistId, body, actor, app)
    return json(await recordOf(app, playlistId))
  },
})

export const deletePlaylist = defineRoute({
  method: 'DELETE',
  path: '/api/playlist/:playlistId/',
  access: 'admin',
  summary: 'Remove a playlist, with or without its videos',
  params: PlaylistId,
  query: {
    'delete-videos': queryBool({ description: 'also remove all archived videos in it' }),
    delete_videos: queryBool({ description: 'the same as delete-videos' }),
  },
  reply: Success,
  errors: ['not_found', 'unavailable'],
  async handle({ params: { playlistId }, query }, app: App) {
    await app.playlists.remove(playlistId, { withVideos: query['delete-videos'] ?? query.delete_videos ?? false })
    return { success: true }
  },
})

export const listPlaylistVideos = defineRoute({
  method: 'GET',
  path: '/api/playlist/:playlistId/video/',
  access: 'user',
  summary: 'Archived videos of a playlist, in its order',
  params: PlaylistId,
  envelope: 'page',
  reply: Type.Array(Type.Object({ platform_id: Type.String() }, { description: 'a whole video record' })),
  errors: ['not_found'],
  async handle({ params: { playlistId }, actor, page: { from, size } }, app: App) {
    if (!(await app.playlists.has(playlistId))) throw errors.notFound('playlist', playlistId)
    const { texts, total } = await app.videos.find({ ids: await app.playlists.videosOf(playlistId), from, size }, actor)
    return listing(texts, total)
  },
})

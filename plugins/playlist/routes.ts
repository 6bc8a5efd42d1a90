/**
 * Playlists over HTTP: list, show, edit, remove (contract 6.6, appendix B). The plugin `subscription` has the routes
 * for subscribing.
 */
import {
  type Actor,
  checkValue,
  defineRoute,
  errors,
  ID_PATTERN,
  json,
  listing,
  mustNotBeBlank,
  type Static,
  say,
  Type,
} from 'archivolt'
import type { App } from './app.ts'
import { ACTIONS } from './entry-order.ts'
import { VISIBILITIES } from './own.ts'
import { PlaylistDoc, PlaylistEntry } from './schema.ts'

const PlaylistId = Type.Object({ playlistId: Type.String({ pattern: ID_PATTERN }) })
const PlaylistRecord = Type.Interface([Type.Omit(PlaylistDoc, ['refreshed_at', 'art', 'playlist_entries'])], {
  playlist_entries: Type.Array(PlaylistEntry),
  playlist_owner: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description: 'only of a custom playlist: the account that owns it, if any',
    }),
  ),
  playlist_visibility: Type.Optional(Type.Enum([...VISIBILITIES], { description: 'only of a custom playlist' })),
  _index: Type.String(),
  _score: Type.Number(),
})
const Success = Type.Object({ success: Type.Literal(true) })
const Removed = Type.Object({
  success: Type.Literal(true),
  removal: Type.Optional(Type.String({ description: 'the id that restores what was removed (9.25)' })),
})

const TYPES = ['regular', 'custom'] as const

export const listPlaylists = defineRoute({
  method: 'GET',
  path: '/api/playlist/',
  access: 'viewer',
  summary: "The caller's own private playlists, then all others, by name",
  query: {
    playlist_type: Type.Optional(Type.Enum(TYPES)),
    type: Type.Optional(Type.Enum(TYPES, { description: 'the same as playlist_type' })),
    channel: Type.Optional(Type.String({ pattern: ID_PATTERN, description: 'playlists of this channel' })),
    subscribed: Type.Optional(Type.Boolean()),
    visibility: Type.Optional(Type.Enum(VISIBILITIES)),
    own: Type.Optional(
      Type.Boolean({ description: "only the caller's own playlists, private and shared; `false`: only all others" }),
    ),
  },
  envelope: 'page',
  reply: Type.Array(PlaylistRecord),
  revalidates: true,
  async handle({ query, actor, page: { from, size } }, app: App) {
    const { playlist_type, type, channel, subscribed, visibility, own: isOwn } = query
    const { texts, total } = await app.playlists.find(
      { type: playlist_type ?? type, channel, subscribed, visibility, isOwn, from, size },
      actor,
    )
    return listing(texts, total)
  },
})

/** @throws not_found: also for a private playlist of another account */
async function recordOf(app: App, id: string, actor: Actor): Promise<string> {
  const text = await app.playlists.record(id, actor)
  if (text === undefined) throw errors.notFound('playlist', id)
  return text
}

export const showPlaylist = defineRoute({
  method: 'GET',
  path: '/api/playlist/:playlistId/',
  access: 'viewer',
  summary: 'One playlist',
  params: PlaylistId,
  envelope: 'item',
  reply: PlaylistRecord,
  errors: ['not_found'],
  revalidates: true,
  handle: async ({ params: { playlistId }, actor }, app: App) => json(await recordOf(app, playlistId, actor)),
})

const MAX_NAME_LENGTH = 200
const Visibility = Type.Enum([...VISIBILITIES], { description: '`private`: visible only to the caller' })

/** Refuses accounts with a view: a shared playlist belongs to the whole archive, of which they see only parts. */
function refuseToShare({ view }: Actor): void {
  if (view) throw errors.permissionDenied('This account can only have private playlists')
}

/** @throws bad_request */
function checkedName(name: string): string {
  const trimmed = name.trim()
  mustNotBeBlank(trimmed, 'playlist_name')
  if (trimmed.length > MAX_NAME_LENGTH)
    throw errors.wrongField('playlist_name', say`must have at most ${{ count: MAX_NAME_LENGTH }} characters`)
  return trimmed
}

export const createCustom = defineRoute({
  method: 'POST',
  path: '/api/playlist/custom/',
  access: 'viewer',
  summary: 'Create a custom playlist',
  body: Type.Object({
    playlist_name: Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }),
    playlist_visibility: Type.Optional(Visibility),
  }),
  reply: PlaylistRecord,
  errors: ['permission_denied', 'bad_request', 'conflict'],
  async handle({ body, actor }, app: App) {
    const name = checkedName(body.playlist_name)
    // Clients that do not know private playlists belong to admins, and rely on seeing the playlist everywhere.
    const visibility = body.playlist_visibility ?? (actor.isAdmin ? 'shared' : 'private')
    if (visibility === 'shared') refuseToShare(actor)
    return json(await recordOf(app, await app.playlists.create(name, visibility, actor), actor))
  },
})

const ID = { type: 'string', minLength: 1 }

/**
 * Permissive on purpose: which playlist it is decides which error is reported first (contract 9.6, order of checks).
 */
const CustomChange = Type.Object({
  action: Type.Optional(Type.Unknown({ 'x-form': { type: 'string', enum: ACTIONS } })),
  video_id: Type.Optional(
    Type.Unknown({
      'x-form': ID,
      description: 'id of an archived video; an action requires it, here or as platform_id',
    }),
  ),
  platform_id: Type.Optional(Type.Unknown({ 'x-form': ID, description: 'instead of video_id' })),
  index: Type.Optional(
    Type.Unknown({
      'x-form': { type: 'integer', minimum: 0 },
      description: 'for `move`: the new position in the whole list, from 0',
    }),
  ),
  playlist_name: Type.Optional(
    Type.Unknown({
      'x-form': { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH },
      description: 'instead of an action: the new name of the playlist',
    }),
  ),
  playlist_visibility: Type.Optional(
    Type.Unknown({ 'x-form': { type: 'string', enum: VISIBILITIES }, description: 'instead of an action' }),
  ),
})

const Action = Type.Object({ action: Type.Enum(ACTIONS) })
/** What an action requires. */
const OfVideo = Type.Object({ video_id: Type.String({ minLength: 1 }) })
/** What `move` also requires. */
const NewPosition = Type.Object({ index: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })
const OwnChange = Type.Object({
  playlist_name: Type.Optional(Type.String()),
  playlist_visibility: Type.Optional(Type.Enum(VISIBILITIES)),
})

async function change(id: string, body: Static<typeof CustomChange>, actor: Actor, app: App): Promise<void> {
  await app.playlists.mayChange(id, actor)
  const { action, playlist_name, playlist_visibility } = body
  const isOwn = action === undefined && (playlist_name !== undefined || playlist_visibility !== undefined)
  await (isOwn ? changeItself(id, body, actor, app) : act(id, body, actor, app))
}

async function changeItself(id: string, body: unknown, actor: Actor, app: App): Promise<void> {
  const { playlist_name, playlist_visibility: visibility } = checkValue(OwnChange, body)
  const name = playlist_name === undefined ? undefined : checkedName(playlist_name)
  if (visibility === 'shared') refuseToShare(actor)
  if (name !== undefined) await app.playlists.rename(id, name, actor)
  if (visibility !== undefined) await app.playlists.setVisibility(id, visibility, actor)
}

async function act(id: string, body: Static<typeof CustomChange>, actor: Actor, app: App): Promise<void> {
  const { action } = checkValue(Action, body)
  // The id may also be under the keys that ids have in records (contract 1.2).
  const given = body.video_id === undefined ? app.platform.idOf(body) : body.video_id
  const { video_id: videoId } = checkValue(OfVideo, { video_id: given })
  const index = action === 'move' ? checkValue(NewPosition, body).index : undefined
  const isHiding = app.accounts.userPreferences(actor.id)['hide_watched'] === true
  await app.playlists.act(id, { action, videoId, hideWatchedBy: isHiding ? actor.id : undefined, index }, actor)
}

export const changePlaylist = defineRoute({
  method: 'POST',
  path: '/api/playlist/:playlistId/',
  access: 'viewer',
  summary: 'Add, remove or move a video of a custom playlist; rename the playlist, share it or make it private',
  params: PlaylistId,
  body: CustomChange,
  reply: Success,
  status: 201,
  errors: ['permission_denied', 'bad_request', 'not_found', 'conflict'],
  async handle({ params: { playlistId }, body, actor }, app: App) {
    await change(playlistId, body, actor, app)
    return { success: true }
  },
})

/** All of them are processed before the reply. */
const ChosenIds = Type.Array(Type.String({ pattern: ID_PATTERN }), { minItems: 1, maxItems: 100 })

export const changeChosen = defineRoute({
  method: 'POST',
  path: '/api/playlist/:playlistId/bulk/',
  access: 'viewer',
  summary: 'Add chosen videos to a custom playlist, or remove them from it',
  params: PlaylistId,
  body: Type.Object({ action: Type.Enum(['create', 'remove']), video_ids: ChosenIds }),
  reply: Type.Object({
    updated: Type.Integer({ description: 'number of changed videos; ids without an archived video are skipped' }),
  }),
  errors: ['permission_denied', 'bad_request', 'not_found', 'conflict'],
  async handle({ params: { playlistId }, body: { action, video_ids: ids }, actor }, app: App) {
    await app.playlists.mayChange(playlistId, actor)
    return { updated: await app.playlists.actOnChosen(playlistId, action, ids, actor) }
  },
})

export const changeCustom = defineRoute({
  method: 'POST',
  path: '/api/playlist/custom/:playlistId/',
  access: 'viewer',
  summary: 'The same as `POST /api/playlist/<playlist_id>/`, but replies with the playlist',
  params: PlaylistId,
  body: CustomChange,
  reply: PlaylistRecord,
  errors: ['permission_denied', 'bad_request', 'not_found', 'conflict'],
  async handle({ params: { playlistId }, body, actor }, app: App) {
    await change(playlistId, body, actor, app)
    return json(await recordOf(app, playlistId, actor))
  },
})

export const deletePlaylist = defineRoute({
  method: 'DELETE',
  path: '/api/playlist/:playlistId/',
  access: 'viewer',
  summary: 'Remove a playlist; admins can also remove its videos',
  params: PlaylistId,
  query: {
    'delete-videos': Type.Optional(Type.Boolean({ description: 'also remove all archived videos in it' })),
    delete_videos: Type.Optional(Type.Boolean({ description: 'the same as delete-videos' })),
  },
  reply: Removed,
  errors: ['permission_denied', 'bad_request', 'not_found', 'unavailable'],
  async handle({ params: { playlistId }, query, actor }, app: App) {
    const withVideos = query['delete-videos'] ?? query.delete_videos ?? false
    await app.playlists.mayRemove(playlistId, actor, { withVideos })
    const removal = await app.playlists.remove(playlistId, { withVideos, by: actor.id })
    return { success: true, ...(removal !== undefined && { removal }) }
  },
})

export const listPlaylistVideos = defineRoute({
  method: 'GET',
  path: '/api/playlist/:playlistId/video/',
  access: 'viewer',
  summary: 'Archived videos of a playlist, in its order',
  params: PlaylistId,
  envelope: 'page',
  reply: Type.Array(Type.Object({ platform_id: Type.String() }, { description: 'a complete video record' })),
  errors: ['not_found'],
  revalidates: true,
  async handle({ params: { playlistId }, actor, page: { from, size } }, app: App) {
    const ids = await app.playlists.videosOf(playlistId, actor)
    if (!ids) throw errors.notFound('playlist', playlistId)
    const { texts, total } = await app.videos.find({ ids, from, size }, actor)
    return listing(texts, total)
  },
})

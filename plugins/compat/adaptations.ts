/** Paths and bodies of the reference's next line, as a table of adaptations of our own routes. */
import {
  type Adaptation,
  errors,
  ID_PATTERN,
  json,
  type Route,
  type RouteInput,
  say,
  Type,
  type WholeApp,
} from 'archivolt'
import { prefixed } from './media-prefix.ts'
import { bare, dated, endingEmpty, merged, silentInV05 } from './release-lines.ts'

type AnyInput = RouteInput<never, never, never>
type Changed = Partial<Route>

/** Replies with 204 and no body. */
const silent = ({ handle }: Route): Changed => ({
  status: 204,
  reply: Type.Null(),
  handle: async (input, app) => void (await handle(input, app)),
})

/** Further keys, computed after the route has answered. */
const adding =
  (keysOf: (input: AnyInput, app: WholeApp) => Promise<object> | object) =>
  ({ handle, reply }: Route): Changed => ({
    reply: Type.Object({ ...(reply as ReturnType<typeof Type.Object>).properties }, { additionalProperties: true }),
    handle: async (input, app) => ({
      ...((await handle(input, app)) as object),
      // The input of the adapted route, already checked.
      ...(await keysOf(input as never, app)),
    }),
  })

const cookieStatus = adding((_input, app) => app.cookie.status())

/** Adds the keys that a player expects after it has sent its position. */
const player = adding(async ({ params, actor }, app) => {
  const text = await app.videos.record((params as { videoId: string }).videoId, actor)
  if (text === undefined) return {}
  const { position: _position, ...others } = (JSON.parse(text) as { player: Record<string, unknown> }).player
  return { progress: 0, ...others }
})

/** The name of a task in v0.5. */
const renamed = ({ handle }: Route): Changed => ({
  handle(input, app) {
    const params = input.params as { taskName: string }
    if (params.taskName === 'resync_metadata') params.taskName = 'resync_thumbs'
    return handle(input, app)
  },
})

/** Replies to a request for an unknown channel so that the browser extension shows "Subscribe". */
const unknownIsUnsubscribed = (): Changed => ({ ...merged(), errorKeys: { channel_subscribed: false } })

/** A body with v0.5's keys changes a playlist of the platform; any other is handled as before. */
const subscribing = ({ handle, body }: Route): Changed => ({
  body: Type.Object({
    ...(body as ReturnType<typeof Type.Object>).properties,
    playlist_subscribed: Type.Optional(Type.Boolean()),
    playlist_sort_order: Type.Optional(Type.Enum(['top', 'bottom'])),
  }),
  async handle(input, app) {
    const { action, playlist_subscribed: isSubscribed, playlist_sort_order: order } = input.body as PlaylistChange
    if (action !== undefined || (isSubscribed === undefined && order === undefined)) return handle(input, app)
    const id = (input.params as { playlistId: string }).playlistId
    if (!input.actor.isAdmin) throw errors.permissionDenied('Only an admin may do this')
    const text = await app.playlists.record(id, input.actor)
    if (text === undefined) throw errors.notFound('playlist', id)
    if ((JSON.parse(text) as { playlist_type: string }).playlist_type === 'custom')
      throw errors.badRequest(
        say`A playlist of your own is not on ${{ platform: app.platform.name }}: there is nothing to subscribe to`,
      )
    if (isSubscribed !== undefined) await app.playlists.setSubscribed(id, isSubscribed)
    if (order !== undefined) await app.playlists.setSortOrder(id, order)
    return json((await app.playlists.record(id, input.actor))!, 200)
  },
})
interface PlaylistChange {
  action?: unknown
  playlist_subscribed?: boolean
  playlist_sort_order?: 'top' | 'bottom'
}

/** Starts a task with v0.5's parameters, and replies like v0.5: without the second copy. */
const startingLocally = ({ handle }: Route): Changed => ({
  body: Type.Object({
    // This has no effect here: an unusable file never stops the others.
    ignore_error: Type.Optional(Type.Boolean()),
    prefer_local: Type.Optional(Type.Boolean()),
  }),
  reply: Type.Object({ task_id: Type.String(), status: Type.Literal('PENDING'), message: Type.String() }),
  async handle(input, app) {
    const { task_id, status, task_name } = (await handle(input, app)) as Record<string, string>
    return { task_id, status, message: `${task_name} started` }
  },
})

/** The data in the footer of v0.5's page. The plugin release may be omitted. */
const update = adding((_input, app) => {
  const release = (app as Partial<WholeApp>).releases?.newer()
  return release ? { ta_update: { status: true, version: release.version, is_breaking: release.isBreaking } } : {}
})

/** The bulk change of the queue, with the selection in the query. */
const changeByQuery = ({ handle }: Route): Changed => ({
  summary: 'Change all items that match',
  query: {
    filter: Type.Enum(['pending', 'ignore', 'priority']),
    channel: Type.Optional(Type.String({ pattern: ID_PATTERN })),
    vid_type: Type.Optional(Type.Enum(['videos', 'streams', 'shorts', 'unknown'])),
    error: Type.Optional(Type.Boolean()),
  },
  body: Type.Object({ status: Type.Enum(['pending', 'ignore', 'priority', 'clear_error']) }),
  reply: Type.Null(),
  status: 204,
  async handle(input, app) {
    Object.assign(input.body as object, input.query)
    await handle(input, app)
    return undefined
  },
})

const alias = (
  methods: ReadonlyArray<'GET' | 'POST' | 'PUT' | 'DELETE'>,
  at: string,
  of: string,
  change?: Adaptation['change'],
): Adaptation[] => methods.map((method) => ({ of: `${method} ${of}`, at: `${method} ${at}`, change }))

/** Routes that reply with records of videos. */
const WITH_VIDEOS = [
  'GET /api/video/',
  'GET /api/video/:videoId/',
  'GET /api/video/:videoId/similar/',
  'GET /api/channel/:channelId/video/',
  'GET /api/playlist/:playlistId/video/',
  'GET /api/search/',
] as const

/** Routes that reply with records that contain dates. */
const WITH_DAYS = [
  ...WITH_VIDEOS,
  'GET /api/channel/',
  'GET /api/channel/:channelId/',
  'GET /api/channel/search/',
  'GET /api/playlist/',
  'GET /api/playlist/:playlistId/',
  'POST /api/playlist/:playlistId/',
  'POST /api/playlist/custom/',
  'POST /api/playlist/custom/:playlistId/',
  'GET /api/download/',
  'GET /api/download/:videoId/',
] as const

/** Routes that reply with pages. */
const PAGED = [
  'GET /api/video/',
  'GET /api/channel/',
  'GET /api/playlist/',
  'GET /api/download/',
  'GET /api/channel/:channelId/video/',
  'GET /api/playlist/:playlistId/video/',
  'GET /api/video/:videoId/thread/',
  'GET /api/library/missing/',
  'GET /api/adoption/:adoptionId/item/',
  'GET /api/bin/',
  'GET /api/change/',
  'GET /api/checksum/fault/',
] as const

export const adaptations: readonly Adaptation[] = [
  ...WITH_VIDEOS.map((of) => ({ of, change: prefixed })),
  ...PAGED.map((of) => ({ of, change: endingEmpty })),
  // Bodies that allow both forms.
  { of: 'GET /api/video/:videoId/', change: merged },
  { of: 'GET /api/channel/:channelId/', change: merged },
  { of: 'GET /api/playlist/:playlistId/', change: merged },
  { of: 'GET /api/download/:videoId/', change: merged },
  { of: 'GET /api/channel/search/', change: unknownIsUnsubscribed },
  { of: 'GET /api/ping/', change: update },
  { of: 'POST /api/video/:videoId/progress/', change: player },
  { of: 'POST /api/playlist/:playlistId/', change: subscribing },
  { of: 'POST /api/download/bulk/', at: 'PATCH /api/download/', change: changeByQuery },
  // Bodies whose forms exclude each other.
  ...WITH_DAYS.map((of) => ({ of, change: dated })),
  { of: 'GET /api/video/:videoId/comment/', change: bare },
  { of: 'GET /api/video/:videoId/similar/', change: bare },
  { of: 'DELETE /api/video/:videoId/', change: silentInV05 },
  { of: 'DELETE /api/video/:videoId/progress/', change: silentInV05 },
  { of: 'DELETE /api/channel/:channelId/', change: silentInV05 },
  { of: 'DELETE /api/playlist/:playlistId/', change: silentInV05 },
  { of: 'DELETE /api/download/', change: silentInV05 },
  { of: 'DELETE /api/download/:videoId/', change: silentInV05 },
  // Paths.
  ...alias(['POST'], '/api/user/login/', '/login/'),
  ...alias(['POST'], '/api/user/logout/', '/logout/'),
  ...alias(['GET'], '/api/task/by-name/', '/api/task-name/'),
  ...alias(['GET', 'POST'], '/api/task/by-name/:taskName/', '/api/task-name/:taskName/', renamed),
  ...alias(['GET'], '/api/task/by-id/:taskId/', '/api/task-id/:taskId/'),
  ...alias(['POST'], '/api/task/by-id/:taskId/', '/api/task-id/:taskId/', silent),
  ...alias(['GET'], '/api/task/schedule/', '/api/schedule/'),
  ...alias(['GET', 'POST'], '/api/task/notification/', '/api/schedule/notification/'),
  ...alias(['DELETE'], '/api/task/notification/', '/api/schedule/notification/', silent),
  ...alias(['POST'], '/api/task/notification/test/', '/api/schedule/notification/test/', () => ({
    errorKeys: { success: false },
  })),
  ...alias(['GET'], '/api/appsettings/cookie/', '/api/cookie/'),
  ...alias(['POST', 'PUT'], '/api/appsettings/cookie/', '/api/cookie/', cookieStatus),
  ...alias(['DELETE'], '/api/appsettings/cookie/', '/api/cookie/', silent),
  ...alias(['GET'], '/api/appsettings/token/', '/api/token/'),
  ...alias(['DELETE'], '/api/appsettings/token/', '/api/token/', silent),
  ...alias(['GET', 'POST'], '/api/appsettings/snapshot/', '/api/snapshot/'),
  ...alias(['GET', 'POST'], '/api/appsettings/snapshot/:snapshotId/', '/api/snapshot/:snapshotId/'),
  ...alias(['DELETE'], '/api/appsettings/snapshot/:snapshotId/', '/api/snapshot/:snapshotId/', silent),
  ...alias(['GET', 'POST'], '/api/appsettings/backup/', '/api/backup/'),
  ...alias(['GET', 'POST'], '/api/appsettings/backup/:filename/', '/api/backup/:filename/'),
  ...alias(['DELETE'], '/api/appsettings/backup/:filename/', '/api/backup/:filename/', silent),
  ...alias(['POST'], '/api/appsettings/rescan-filesystem/', '/api/library/rescan/', startingLocally),
  ...alias(['POST'], '/api/appsettings/manual-import/', '/api/library/import/', startingLocally),
  ...alias(['GET'], '/youtube/:channelId/:file', '/media/:channelId/:file'),
]

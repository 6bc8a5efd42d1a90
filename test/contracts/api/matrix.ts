/** Contract appendix A, and the methods and paths of B: who may what where, and with which status. */
import { readFileSync } from 'node:fs'
import type { Route } from '../../../core/plugin/define.ts'

export type Class = 'open' | 'user' | 'download' | 'admin-write' | 'admin'

/** Below the address of a metadata provider: what Plex reads. */
export const PLEX_PATHS = [
  '',
  ...['', 'children/', 'grandchildren/', 'images/', 'extras/'].map((name) => `library/metadata/<rating_key>/${name}`),
  ...['', 'children/', 'images/'].map((name) => `library/collections/<rating_key>/${name}`),
  'picture/<kind>/<file>',
]

/** Path, status by method, class. Ids stand as in the contract. */
export const MATRIX: ReadonlyArray<
  readonly [path: string, methods: Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', number>>, Class]
> = [
  ['/api/login/', { POST: 200 }, 'open'],
  ['/api/ping/', { GET: 200 }, 'user'],
  ['/api/search/', { GET: 200 }, 'user'],
  ['/api/watched/', { POST: 200 }, 'user'],
  ['/api/notification/', { GET: 200 }, 'user'],
  ['/api/refresh/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/cookie/', { GET: 200, POST: 200, PUT: 200, DELETE: 200 }, 'admin'],
  ['/api/download/', { GET: 200, POST: 200 }, 'download'],
  ['/api/download/', { DELETE: 200 }, 'admin'],
  ['/api/download/<video_id>/', { GET: 200 }, 'download'],
  ['/api/download/<video_id>/', { POST: 200, DELETE: 200 }, 'admin'],
  ['/api/video/', { GET: 200 }, 'user'],
  ['/api/video/<video_id>/', { GET: 200, POST: 200, DELETE: 200 }, 'admin-write'],
  ['/api/video/<video_id>/comment/', { GET: 200 }, 'user'],
  ['/api/video/<video_id>/thread/', { GET: 200 }, 'user'],
  ['/api/video/<video_id>/thread/<comment_id>/', { GET: 200 }, 'user'],
  ['/api/video/<video_id>/similar/', { GET: 200 }, 'user'],
  ['/api/video/<video_id>/progress/', { GET: 200, POST: 200, DELETE: 200 }, 'user'],
  ['/api/video/<video_id>/copy/', { GET: 200, POST: 200 }, 'user'],
  ['/api/video/<video_id>/copy/', { DELETE: 200 }, 'admin'],
  ['/api/video/<video_id>/link/', { POST: 200 }, 'user'],
  ['/api/video/<video_id>/preview/', { GET: 200, POST: 200 }, 'user'],
  ['/api/video/<video_id>/sponsor/', { GET: 200, POST: 200 }, 'user'],
  ['/api/playlist/', { GET: 200, POST: 200 }, 'admin-write'],
  // Whose playlist it is decides the rest (contract 9.6).
  ['/api/playlist/<playlist_id>/', { GET: 200, POST: 201, DELETE: 200 }, 'user'],
  ['/api/playlist/<playlist_id>/video/', { GET: 200 }, 'user'],
  ['/api/channel/', { GET: 200, POST: 200 }, 'admin-write'],
  ['/api/channel/search/', { GET: 200 }, 'user'],
  ['/api/channel/<channel_id>/', { GET: 200, POST: 200, DELETE: 200 }, 'admin-write'],
  ['/api/channel/<channel_id>/preference/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/channel/<channel_id>/video/', { GET: 200 }, 'user'],
  ...['video', 'channel', 'playlist', 'download', 'watch', 'downloadhist', 'biggestchannels'].map(
    (name) => [`/api/stats/${name}/`, { GET: 200 }, 'user'] as const,
  ),
  ['/api/snapshot/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/snapshot/<snapshot_id>/', { GET: 200, POST: 200, DELETE: 200 }, 'admin'],
  ['/api/backup/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/backup/<filename>/', { GET: 200, POST: 200, PUT: 200, DELETE: 200 }, 'admin'],
  ['/api/task-name/', { GET: 200 }, 'admin'],
  ['/api/task-name/<task_name>/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/task-id/<task_id>/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/schedule/', { GET: 200, POST: 200, DELETE: 200 }, 'admin'],
  ['/api/schedule/notification/', { GET: 200, POST: 200, DELETE: 200 }, 'admin'],
  ['/api/playlist/custom/', { POST: 200 }, 'user'],
  ['/api/playlist/custom/<playlist_id>/', { POST: 200 }, 'user'],
  ['/api/config/user/', { GET: 200, POST: 200 }, 'user'],
  ['/api/session/', { GET: 200, POST: 200 }, 'user'],
  ['/login/', { POST: 204 }, 'open'],
  ['/api/device/', { GET: 200, POST: 204 }, 'open'],
  ['/api/device/<user_id>/', { DELETE: 200 }, 'open'],
  ['/api/device/<user_id>/picture/', { GET: 200 }, 'open'],
  ['/logout/', { POST: 204 }, 'user'],
  ['/api/token/', { GET: 200, DELETE: 200 }, 'user'],
  ['/api/forwarded/', { GET: 200, POST: 204 }, 'open'],
  ['/api/oidc/', { GET: 200 }, 'open'],
  ['/login/oidc/', { GET: 302 }, 'open'],
  ['/login/oidc/back/', { GET: 302 }, 'open'],
  ['/api/oidc/link/', { GET: 200, POST: 200, DELETE: 200 }, 'user'],
  ['/api/totp/', { GET: 200, POST: 200, PUT: 200, DELETE: 200 }, 'user'],
  ['/api/access-token/', { GET: 200, POST: 200 }, 'user'],
  ['/api/access-token/<token_id>/', { DELETE: 200 }, 'user'],
  ['/api/own-session/', { GET: 200, DELETE: 200 }, 'user'],
  ['/api/own-session/<session_id>/', { DELETE: 200 }, 'user'],
  ['/api/new-sign-in/<sign_in_id>/', { DELETE: 200 }, 'user'],
  ['/api/activate/', { POST: 200 }, 'admin'],
  ['/api/config/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/config/schema/', { GET: 200 }, 'admin'],
  ['/api/user/', { GET: 200, POST: 200 }, 'admin'],
  // A user sees itself and changes its own password: DELETE is for admins.
  ['/api/user/<user_id>/', { GET: 200, POST: 200 }, 'user'],
  ['/api/user/<user_id>/', { DELETE: 200 }, 'admin'],
  ['/api/user/<user_id>/picture/', { GET: 200, PUT: 200, DELETE: 200 }, 'user'],
  ['/api/plugin/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/plugin/<name>/', { POST: 200, DELETE: 200 }, 'admin'],
  ['/api/plugin/<name>/update/', { POST: 200 }, 'admin'],
  ['/api/plugin/<name>/start/', { POST: 200 }, 'admin'],
  ['/api/plugin/page/', { GET: 200 }, 'user'],
  ['/metrics', { GET: 200 }, 'admin'],
  ['/api/platform/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/events/', { GET: 200 }, 'user'],
  ['/api/stats/growth/', { GET: 200 }, 'user'],
  ['/api/stats/quality/', { GET: 200 }, 'user'],
  ['/api/backup/<filename>/download/', { GET: 200 }, 'admin'],
  ['/api/backup/<filename>/preview/', { GET: 200 }, 'admin'],
  ['/api/schedule/notification/test/', { POST: 200 }, 'admin'],
  ['/api/bin/', { GET: 200 }, 'admin'],
  ['/api/bin/restore/', { POST: 200 }, 'user'],
  ['/api/bin/empty/', { POST: 200 }, 'admin'],
  ['/api/download/bulk/', { POST: 200 }, 'admin'],
  ['/api/download/restore/', { POST: 200 }, 'admin'],
  ['/api/subscription/preview/', { POST: 200 }, 'admin'],
  ['/api/subscription/history/', { POST: 200 }, 'admin'],
  ['/api/resolve/', { GET: 200 }, 'user'],
  ['/api/resolve/look/', { GET: 200 }, 'download'],
  ['/api/task/', { GET: 200 }, 'admin'],
  ['/api/task-id/<task_id>/log/', { GET: 200 }, 'admin'],
  ['/api/schema/', { GET: 200 }, 'user'],
  ['/api/docs/', { GET: 200 }, 'user'],
  ['/api/docs/contract/', { GET: 200 }, 'user'],
  ['/api/video/months/', { GET: 200 }, 'user'],
  ['/api/watched/bulk/', { POST: 200 }, 'user'],
  ['/api/watched/undo/', { POST: 200 }, 'user'],
  ['/api/playlist/<playlist_id>/bulk/', { POST: 200 }, 'user'],
  ['/api/video/bulk/', { POST: 200 }, 'admin'],
  ['/api/library/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/place/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/place/<place_id>/', { POST: 200, DELETE: 200 }, 'admin'],
  ['/api/adoption/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/adoption/found/', { GET: 200 }, 'admin'],
  ['/api/adoption/<adoption_id>/', { GET: 200, POST: 200, DELETE: 200 }, 'admin'],
  ['/api/adoption/<adoption_id>/channel/', { GET: 200 }, 'admin'],
  ['/api/adoption/<adoption_id>/rules/', { POST: 200 }, 'admin'],
  ['/api/adoption/<adoption_id>/item/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/adoption/<adoption_id>/item/<number>/picture/', { GET: 200 }, 'admin'],
  ['/api/rule/', { GET: 200, POST: 200 }, 'download'],
  ['/api/rule/<rule_id>/', { POST: 200, DELETE: 200 }, 'download'],
  ['/api/rule/order/', { POST: 200 }, 'admin'],
  ['/api/rule/preview/', { POST: 200 }, 'admin'],
  ['/api/rule/preview/<list_id>/', { GET: 200 }, 'admin'],
  ['/api/rule/preview/<list_id>/row/', { GET: 200 }, 'admin'],
  ['/api/rule/run/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/rule/run/<run_id>/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/change/', { GET: 200 }, 'user'],
  ['/api/change/<change_id>/picture/', { GET: 200 }, 'user'],
  ['/api/change/number/', { GET: 200 }, 'user'],
  ['/api/offsite/', { GET: 200 }, 'admin'],
  ['/api/offsite/test/', { POST: 200 }, 'admin'],
  ['/api/offsite/restore/', { POST: 200 }, 'admin'],
  ['/api/checksum/', { GET: 200 }, 'admin'],
  ['/api/checksum/fault/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/checksum/video/<video_id>/', { GET: 200 }, 'user'],
  ['/api/storage/', { GET: 200 }, 'admin'],
  ['/api/storage/proposal/', { GET: 200 }, 'admin'],
  ['/api/storage/data/', { GET: 200 }, 'admin'],
  ['/api/group/', { GET: 200 }, 'user'],
  ['/api/group/', { POST: 200 }, 'admin'],
  ['/api/group/<group_id>/', { POST: 200, DELETE: 200 }, 'admin'],
  ['/api/webhook/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/webhook/<webhook_id>/', { POST: 200, DELETE: 200 }, 'admin'],
  ['/api/webhook/<webhook_id>/secret/', { POST: 200 }, 'admin'],
  ['/api/webhook/<webhook_id>/test/', { POST: 200 }, 'admin'],
  ['/api/webhook/<webhook_id>/delivery/', { GET: 200 }, 'admin'],
  ['/api/face/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/face/preview/', { POST: 200 }, 'admin'],
  ['/api/face/server/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/face/server/<server_id>/', { POST: 200, DELETE: 200 }, 'admin'],
  ['/api/face/server/<server_id>/test/', { POST: 200 }, 'admin'],
  ['/api/face/<face_id>/', { POST: 200, DELETE: 200 }, 'admin'],
  ['/api/library/rescan/', { POST: 200 }, 'admin'],
  ['/api/library/missing/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/library/import/', { POST: 200 }, 'admin'],
  ['/api/video/<video_id>/nav/', { GET: 200 }, 'user'],
  ['/api/channel/<channel_id>/aggs/', { GET: 200 }, 'user'],
  ['/api/channel/<channel_id>/nav/', { GET: 200 }, 'user'],
  ['/api/download/aggs/', { GET: 200 }, 'admin'],
  // Appendix C: what stands for no other path.
  ['/api/user/me/', { GET: 200, POST: 200 }, 'user'],
  ['/api/user/account/', { GET: 200 }, 'user'],
  ['/api/health/', { GET: 200 }, 'open'],
  ['/api/appsettings/config/', { GET: 200, POST: 200 }, 'admin-write'],
  ['/api/appsettings/membership/token/', { GET: 200, POST: 200 }, 'admin'],
  ['/api/appsettings/membership/profile/', { GET: 200 }, 'admin'],
  ['/api/appsettings/membership/sync/', { POST: 200 }, 'admin'],
  ['/api/task/schedule/<task_name>/', { GET: 200, POST: 200, DELETE: 204 }, 'admin'],
  ['/cache/videos/<letter>/<file>', { GET: 200 }, 'user'],
  ['/cache/channels/<file>', { GET: 200 }, 'user'],
  ['/cache/playlists/<file>', { GET: 200 }, 'user'],
  ['/cache/playable/<file>', { GET: 200 }, 'user'],
  ['/cache/previews/<video_id>/<file>', { GET: 200 }, 'user'],
  ['/media/<channel_id>/<file>', { GET: 200 }, 'user'],
  ['/api/podcast/', { GET: 200, POST: 200 }, 'user'],
  ['/api/podcast/<feed_id>/', { DELETE: 200 }, 'user'],
  ['/api/podcast/opml/', { GET: 200 }, 'user'],
  ...[
    'feed.xml',
    'cover.jpg',
    'sound/<file>',
    'film/<file>',
    'picture/<file>',
    'chapters/<file>',
    'transcript/<file>',
  ].map((name) => [`/podcast/<feed_id>/<signed>/${name}`, { GET: 200 }, 'user'] as const),
  ['/api/plex/', { GET: 200, POST: 200, DELETE: 200 }, 'user'],
  ...PLEX_PATHS.map((path) => [`/plex/<provider_id>/<signed>/${path}`, { GET: 200 }, 'user'] as const),
  ['/plex/<provider_id>/<signed>/library/metadata/matches/', { POST: 200 }, 'user'],
]

/** Without the names of what varies. */
export const plain = (path: string): string => path.replace(/<\w+>/g, '<>').replace(/:\w+/g, '<>')

/** Contract 3.4: what an account with a view may use. */
const VIEWED: ReadonlySet<string> = new Set(
  readFileSync(new URL('../../../plugins/openapi/contract.md', import.meta.url), 'utf8')
    .split('### 3.4')[1]!
    .split('\n---\n')[0]!
    .split('| Methods | Paths |')[1]!
    .split('\n')
    .filter((line) => /^\| [A-Z]/.test(line))
    .flatMap((line) => {
      const [methods, paths] = line.split('|').slice(1, 3) as [string, string]
      return methods
        .split(',')
        .flatMap((method) =>
          paths.split(',').map((path) => `${method.trim()} ${plain(path.trim().replaceAll('\\', ''))}`),
        )
    }),
)

export function accessOf(method: string, path: string, of: Class): Route['access'] {
  if (of === 'download') return 'downloader'
  if (of === 'open' || of === 'admin' || (of === 'admin-write' && method !== 'GET'))
    return of === 'open' ? 'open' : 'admin'
  return VIEWED.has(`${method} ${plain(path)}`) ? 'viewer' : 'user'
}

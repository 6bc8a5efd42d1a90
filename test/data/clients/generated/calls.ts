/** Ten calls of a client with types from openapi-typescript; wrong calls do not compile. */
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'

declare const process: { argv: string[] }
const [, , baseUrl = '', password = '', videoId = '', queuedId = '', channelId = ''] = process.argv

const open = createClient<paths>({ baseUrl })
const login = await open.POST('/api/login/', { body: { username: 'admin', password } })
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Token ${login.data?.token}` } })

const list = await client.GET('/api/video/', { params: { query: { sort: 'published', order: 'asc' } } })
const one = await client.GET('/api/video/{videoId}/', { params: { path: { videoId } } })
const found = await client.GET('/api/search/', { params: { query: { query: 'sourdough' } } })
const queued = await client.POST('/api/download/', { body: { data: [{ youtube_id: 'dQw4w9WgXcQ', status: 'pending' }] } })
const changed = await client.POST('/api/download/{videoId}/', {
  params: { path: { videoId: queuedId } },
  body: { status: 'priority' },
})
const watched = await client.POST('/api/watched/', { body: { id: videoId, is_watched: true } })
const position = await client.POST('/api/video/{videoId}/progress/', {
  params: { path: { videoId } },
  body: { position: 42 },
})
const playlist = await client.POST('/api/playlist/custom/', { body: { playlist_name: 'Bread' } })
const filled = await client.POST('/api/playlist/custom/{playlistId}/', {
  params: { path: { playlistId: playlist.data?.playlist_id ?? '' } },
  body: { action: 'create', video_id: videoId },
})
const subscribed = await client.POST('/api/channel/', {
  body: { data: [{ channel_id: channelId, channel_subscribed: true }] },
})

const record = one.data && ('data' in one.data ? one.data.data : one.data)
const text: string | undefined = record?.title
const ids: string[] | undefined = list.data?.data.map(({ platform_id }) => platform_id)
const entries: number | undefined = filled.data?.playlist_entries.length
const statuses = [login, list, one, found, queued, changed, watched, position, playlist, filled, subscribed].map(
  ({ response }) => response.status,
)
console.log(
  JSON.stringify({
    statuses,
    ids,
    title: text,
    found: found.data?.results.video_results.length,
    status: changed.data?.status,
    position: position.data?.position,
    entries,
    subscribed: subscribed.data?.data[0]?.channel_subscribed,
  }),
)

export const wrong = () => [
  // @ts-expect-error: no such status
  client.POST('/api/download/', { body: { data: [{ youtube_id: 'x', status: 'soon' }] } }),
  // @ts-expect-error: ids are texts
  client.POST('/api/download/', { body: { data: [{ youtube_id: 5 }] } }),
  // @ts-expect-error: no such action
  client.POST('/api/playlist/custom/{playlistId}/', { params: { path: { playlistId: 'x' } }, body: { action: 'jump' } }),
  // @ts-expect-error: an id is a text
  client.POST('/api/playlist/custom/{playlistId}/', { params: { path: { playlistId: 'x' } }, body: { video_id: 5 } }),
  // @ts-expect-error: a password is needed
  open.POST('/api/login/', { body: { username: 'admin' } }),
  // @ts-expect-error: the query is needed
  client.GET('/api/search/', {}),
]

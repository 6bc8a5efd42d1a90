/** The previous and next video in each playlist of a video (contract B). */
import { defineRoute, errors, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'
import { PlaylistEntry } from './schema.ts'

const Neighbour = Type.Union([Type.Interface([PlaylistEntry], { vid_thumb: Type.String() }), Type.Null()])

export const showNeighbours = defineRoute({
  method: 'GET',
  path: '/api/video/:videoId/nav/',
  access: 'viewer',
  summary: 'The previous and the next archived video in each playlist of a video',
  params: Type.Object({ videoId: Type.String({ pattern: ID_PATTERN }) }),
  reply: Type.Array(
    Type.Object({
      playlist_meta: Type.Object({
        current_idx: Type.Integer(),
        playlist_id: Type.String(),
        playlist_name: Type.String(),
        playlist_channel: Type.Union([Type.String(), Type.Null()]),
      }),
      playlist_previous: Neighbour,
      playlist_next: Neighbour,
    }),
  ),
  errors: ['not_found'],
  async handle({ params: { videoId } }, app: App) {
    const video = await app.videos.collection.get(videoId)
    if (!video) throw errors.notFound('video', videoId)
    const playlists = await app.playlists.collection.getMany(video.playlist)
    for (const id of app.playlists.hidden()) playlists.delete(id)
    return video.playlist.flatMap((id) => {
      const playlist = playlists.get(id)
      const there = playlist?.playlist_entries.filter(({ downloaded }) => downloaded) ?? []
      const at = there.findIndex((entry) => entry.platform_id === videoId)
      if (!playlist || at < 0 || there.length < 2) return []
      const { playlist_name, playlist_channel } = playlist
      return {
        playlist_meta: { current_idx: there[at]!.idx, playlist_id: id, playlist_name, playlist_channel },
        playlist_previous: neighbour(there[at - 1], app),
        playlist_next: neighbour(there[at + 1], app),
      }
    })
  },
})

const neighbour = (entry: PlaylistEntry | undefined, { platform, media }: App) =>
  entry
    ? { ...entry, ...platform.mirror(entry.platform_id), vid_thumb: media.artUrl('video', entry.platform_id) }
    : null

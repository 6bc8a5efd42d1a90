/** Playlists: the platform's, and custom ones of archived videos, private or shared (contract 5.3, 6.6, 9.5, 9.6). */
import { definePlugin } from 'archivolt'
import { belongings, channelBelongings } from './belongings.ts'
import { WATCH_LATER } from './custom-rows.ts'
import { oneHome, ownTables } from './custom-tables.ts'
import { showNeighbours } from './neighbours.ts'
import type { PlaylistBin } from './playlist-belongings.ts'
import { openPlaylists, type Playlists } from './playlists.ts'
import {
  changeChosen,
  changeCustom,
  changePlaylist,
  createCustom,
  deletePlaylist,
  listPlaylists,
  listPlaylistVideos,
  showPlaylist,
} from './routes.ts'
import { playlistIndex } from './schema.ts'
import { addTwins, removePlaylist, settlePlaylists } from './tasks.ts'
import { twinTables } from './twins.ts'
import { listFilter } from './video-filter.ts'

export default definePlugin({
  name: 'playlist',
  needs: ['platform', 'media', 'channel', 'video'],
  indexes: [playlistIndex],
  hooks: ['playlist.unsubscribe', 'playlist.bin'],
  hookRules: { 'playlist.unsubscribe': { otherwise: () => undefined } },
  events: ['playlist.renewed'],
  migrations: [ownTables, oneHome, twinTables],
  implements: {
    'media.known': (app) => async (kind, id) =>
      kind === 'playlist' && (id === WATCH_LATER || (await app.playlists.has(id))),
    'media.titled': (app) => async (kind, id) =>
      kind === 'playlist' ? (await app.playlists.get(id))?.playlist_name : undefined,
    'platform.known':
      (app) =>
      async ({ type, id }) =>
        type === 'playlist' && app.playlists.has(id),
    'video.filter': listFilter,
    'video.lists': (app) => (ids) => app.playlists.listing(ids),
    'video.keys': (app) => (ids, actor) => app.playlists.keysOf(ids, actor.id),
    'video.belongings': belongings,
    'channel.belongings': channelBelongings,
    'video.remove': ({ videos, playlists }) =>
      videos.removal((ids, step) => step('playlist.forgetVideo', () => playlists.forgetVideos(ids))),
    'channel.remove': (app) => (channelId, step) => app.playlists.removeOfChannel(channelId, step),
  },
  on: {
    'video.added':
      (app) =>
      ({ id }) =>
        app.playlists.takeIn(id),
    'video.adopted': (app) => () => app.playlists.takeInAll(),
    'index.replaced': (app) => () => app.playlists.compare('index'),
    'ledger.replaced': (app) => () => app.playlists.compare('ledger'),
  },
  routes: [
    ...[listPlaylists, createCustom, changeCustom, showPlaylist, changePlaylist, changeChosen, deletePlaylist],
    listPlaylistVideos,
    showNeighbours,
  ],
  tasks: [removePlaylist, settlePlaylists, addTwins],
  services: (app) => ({ playlists: openPlaylists(app) }),
  setup: (app) => app.playlists.begin(),
})

declare module 'archivolt' {
  interface Hooks {
    /** Asked before the subscription to a playlist ends, or the playlist is removed: withdraws what was requested for it. */
    'playlist.unsubscribe': (playlistId: string) => Promise<void>
    /** Asked when a person removes a playlist: stores it, so that it can be restored. */
    'playlist.bin': PlaylistBin
  }
  interface Events {
    /** Emitted when a shared playlist was added, removed or changed. */
    'playlist.renewed': { id: string }
  }
  interface Services {
    playlist: {
      playlists: Playlists
    }
  }
}

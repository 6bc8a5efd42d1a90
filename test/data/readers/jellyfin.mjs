/** The same as jellyfin.py with Jellyfin's SDK for JavaScript. */
import { Jellyfin } from '@jellyfin/sdk'
import { getLibraryApi } from '@jellyfin/sdk/lib/utils/api/library-api.js'
import { getPlaylistApi } from '@jellyfin/sdk/lib/utils/api/playlist-api.js'

const [address, key, userId] = process.argv.slice(2)
const api = new Jellyfin({
  clientInfo: { name: 'Archivolt', version: '1' },
  deviceInfo: { name: 'test', id: 'test' },
}).createApi(address, key)
const [library, playlists] = [getLibraryApi(api), getPlaylistApi(api)]

const films = async (playlistId) =>
  (await playlists.getPlaylistItems({ playlistId, userId, fields: ['Path'], startIndex: 0, limit: 100 })).data.Items
const paths = (found) => found.map(({ Path }) => Path)

const { data } = await library.getItems({ userId, includeItemTypes: ['Playlist'], recursive: true })
const both = await films(data.Items.find(({ Name }) => Name === 'Both').Id)
const [first, ...others] = both.map(({ Id }) => Id)
const made = await playlists.createPlaylist({ createPlaylistDto: { Name: 'Mine', Ids: [first], UserId: userId } })
const mine = made.data.Id
await playlists.addItemToPlaylist({ playlistId: mine, ids: others, userId })
const [{ PlaylistItemId }] = await films(mine)
await playlists.removeItemFromPlaylist({ playlistId: mine, entryIds: [PlaylistItemId] })
console.log(JSON.stringify({ both: paths(both), mine: paths(await films(mine)) }))

"""Reads and changes playlists of a Jellyfin with its client in Python, by a key, and prints what it has found."""

import json
import sys

from jellyfin_apiclient_python import JellyfinClient

address, key, user = sys.argv[1:]
client = JellyfinClient()
client.config.app('Archivolt', '1', 'test', 'test')
client.config.data['auth.ssl'] = False
client.config.data['auth.server'] = address
client.config.data['auth.user_id'] = user
client.config.data['auth.token'] = key
client.http.start_session()
api = client.jellyfin


def films(playlist):
    found = api.get_playlist_items(playlist, fields='Path', start_index=0, limit=100)['Items']
    return [(one['Path'], one['Id'], one['PlaylistItemId']) for one in found]


playlists = {one['Name']: films(one['Id']) for one in api.get_user_items(include_item_types='Playlist', recursive=True)['Items']}
(first, *others) = [item for _, item, _ in playlists['Both']]
mine = api.new_playlist('Mine', [first])['Id']
api.add_playlist_items(mine, others)
(_, _, entry), *_ = films(mine)
api.remove_playlist_items(mine, [entry])
print(json.dumps({'both': [path for path, *_ in playlists['Both']], 'mine': [path for path, *_ in films(mine)]}))

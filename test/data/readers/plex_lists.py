"""Reads and changes playlists of a Plex with PlexAPI, and prints what it has found."""

import json
import sys

from plexapi.server import PlexServer

address, token = sys.argv[1:]
plex = PlexServer(address, token)


def paths(playlist):
    return [path for one in playlist.items() for path in one.locations]


(both,) = [one for one in plex.playlists() if one.title == 'Both']
first, *others = both.items()
mine = plex.createPlaylist('Mine', items=[first])
mine.addItems(others)
mine = plex.fetchItem(mine.key)
mine.moveItem(others[-1])
mine = plex.fetchItem(mine.key)
mine.removeItems([first])
print(json.dumps({'both': paths(both), 'mine': paths(plex.fetchItem(mine.key))}))

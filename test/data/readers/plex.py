"""Reads a metadata provider with PlexAPI, and prints what it has understood. PlexAPI reads XML: a Plex server answers in
either form, and translates one into the other in the way of `element`."""

import json
import sys
from xml.etree.ElementTree import Element

import requests
from plexapi.server import PlexServer

TAGS = {'show': 'Directory', 'season': 'Directory', 'episode': 'Video', 'collection': 'Directory'}


def element(tag, value):
    made = Element(TAGS.get(value.get('type'), tag) if tag == 'Metadata' else tag)
    for key, one in value.items():
        if isinstance(one, list):
            made.extend(element(key, each) for each in one)
        elif isinstance(one, dict):
            made.append(element(key, one))
        else:
            made.set(key, str(one))
    return made


class Provider(PlexServer):
    def __init__(self, address):
        self._baseurl = address
        self._token = None
        self._showSecrets = False
        self._timeout = 30
        self._session = requests.Session()
        self._server = self

    def query(self, key, method=None, headers=None, params=None, timeout=None, **kwargs):
        answer = self._session.get(self._baseurl + key, headers=headers, params=params, timeout=30)
        answer.raise_for_status()
        return element('MediaContainer', answer.json()['MediaContainer'])


def told(one):
    return {
        'type': one.type,
        'key': one.key,
        'guid': one.guid,
        'title': one.title,
        'index': getattr(one, 'index', None),
        'day': one.originallyAvailableAt.strftime('%Y-%m-%d') if hasattr(one, 'originallyAvailableAt') else None,
        'duration': getattr(one, 'duration', None),
        'parent': getattr(one, 'parentTitle', None),
        'grandparent': getattr(one, 'grandparentTitle', None),
    }


provider = Provider(sys.argv[1])
show = provider.fetchItem(f'/library/metadata/{sys.argv[2]}')
seasons = provider.fetchItems(f'{show.key}/children')
episodes = provider.fetchItems(f'{show.key}/grandchildren', container_size=2)
print(json.dumps([told(one) for one in [show, *seasons, *episodes]]))

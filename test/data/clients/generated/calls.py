"""Ten calls of a client that openapi-python-client has made."""
import json
import sys
from http import HTTPStatus

from archive import AuthenticatedClient, Client
from archive.api.channel import post_api_channel
from archive.api.download import post_api_download, post_api_download_video_id
from archive.api.login import post_api_login
from archive.api.playlist import post_api_playlist_custom, post_api_playlist_custom_playlist_id
from archive.api.search import get_api_search
from archive.api.video import get_api_video, get_api_video_video_id, post_api_video_video_id_progress
from archive.api.watched import post_api_watched
from archive import models

base_url, password, video_id, queued_id, channel_id = sys.argv[1:]
statuses = []


def asked(call, *args, client, **values):
    response = call.sync_detailed(*args, client=client, **values)
    statuses.append(int(response.status_code))
    return response.parsed


login = asked(post_api_login, client=Client(base_url), body=models.PostApiLoginBody(username='admin', password=password))
client = AuthenticatedClient(base_url, token=login.token, prefix='Token')
videos = asked(get_api_video, client=client, sort=models.GetApiVideoSort.PUBLISHED, order=models.GetApiVideoOrder.ASC)
one = asked(get_api_video_video_id, video_id, client=client)
found = asked(get_api_search, client=client, query='sourdough')
pending = models.PostApiDownloadBodyDataItemStatus.PENDING
item = models.PostApiDownloadBodyDataItem(youtube_id='dQw4w9WgXcQ', status=pending)
asked(post_api_download, client=client, body=models.PostApiDownloadBody(data=[item]))
priority = models.PostApiDownloadVideoIdBody(status=models.PostApiDownloadVideoIdBodyStatus.PRIORITY)
changed = asked(post_api_download_video_id, queued_id, client=client, body=priority)
asked(post_api_watched, client=client, body=models.PostApiWatchedBody(id=video_id, is_watched=True))
progress = models.PostApiVideoVideoIdProgressBody(position=42)
position = asked(post_api_video_video_id_progress, video_id, client=client, body=progress)
named = models.PostApiPlaylistCustomBody(playlist_name='Bread')
playlist = asked(post_api_playlist_custom, client=client, body=named)
create = models.PostApiPlaylistCustomPlaylistIdBodyAction.CREATE
added = models.PostApiPlaylistCustomPlaylistIdBody(action=create, video_id=video_id)
filled = asked(post_api_playlist_custom_playlist_id, playlist.playlist_id, client=client, body=added)
channel = models.PostApiChannelBodyDataItem(channel_id=channel_id, channel_subscribed=True)
subscribed = asked(post_api_channel, client=client, body=models.PostApiChannelBody(data=[channel]))

assert all(status == HTTPStatus.OK for status in statuses), statuses
print(json.dumps({
    'statuses': statuses,
    'ids': [video.platform_id for video in videos.data],
    'title': one.data.title,
    'found': len(found.results.video_results),
    'status': changed.status.value,
    'position': position.position,
    'entries': len(filled.playlist_entries),
    'subscribed': subscribed.data[0].channel_subscribed,
}))

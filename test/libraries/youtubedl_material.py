"""YoutubeDL-Material: names without ids, and its local database."""
from common import *


def youtubedl_material(base):
    expected = Expected(base, 'youtubedl-material', 'v4.3.2', library='.', database='appdata/local_db.json', mounts={'/app': '.'})
    files, archives = [], []

    def register(video, path, kind='video', **more):
        files.append({'id': path.stem, 'title': video.title, 'thumbnailURL': f'https://i.ytimg.com/vi/{video.id}/maxresdefault.jpg', 'isAudio': kind == 'audio', 'duration': video.seconds, 'url': video.url, 'uploader': video.channel_name,
                      'size': path.stat().st_size if path.exists() else 1, 'path': path.relative_to(base).as_posix(), 'upload_date': video.day, 'description': video.description, 'view_count': 1234, 'height': 36, 'abr': 32, 'favorite': False,
                      'uid': str(uuid.uuid5(uuid.NAMESPACE_URL, path.name)), 'registered': (video.at + 86_400) * 1000, 'thumbnailPath': None, **more})
        archives.append({'extractor': 'youtube', 'id': video.id, 'type': kind, 'title': video.title, 'user_uid': None, 'sub_id': more.get('sub_id'), 'timestamp': video.at + 86_400, 'uid': str(uuid.uuid5(uuid.NAMESPACE_URL, 'a' + video.id))})

    for video in (V('ferry', seconds=3), V('plane')):
        path = film(base / 'video' / f'{ytdlp_name(video.title)}.mp4', video)
        write_json(path.with_suffix('.info.json'), info_of(video))
        register(video, path, favorite=video.id == V('ferry').id)
        expected.video(video, path, facts_from='info.json', info=path.with_suffix('.info.json'), date_downloaded=video.at + 86_400, kept=video.id == V('ferry').id)
    # Side file named after the whole file, as older ones are.
    old = V('bench')
    path = film(base / 'video' / f'{old.title}.mp4', old)
    write_json(f'{path}.info.json', info_of(old))
    register(old, path)
    expected.video(old, path, facts_from='info.json', info=Path(f'{path}.info.json'))
    sub_id = str(uuid.uuid5(uuid.NAMESPACE_URL, 'sub'))
    listed = V('comet')
    path = film(base / 'subscriptions' / 'channels' / 'Orbit Notes' / f'{listed.title}.mp4', listed)
    picture(path.with_suffix('.webp'))
    register(listed, path, sub_id=sub_id)
    expected.video(listed, path, facts_from='database', note='no info.json: the address in the row has the id; the channel is only a name', channel_from='platform', thumbnail=path.with_suffix('.webp'))
    song = V('lagrange')
    path = film(base / 'audio' / f'{song.title}.mp3', song)
    write_json(path.with_suffix('.info.json'), info_of(song, 'mp3'))
    register(song, path, kind='audio')
    expected.video(song, path, facts_from='info.json', info=path.with_suffix('.info.json'), audio_only=True)
    lost = V('nets')
    register(lost, base / 'video' / f'{lost.title}.mp4')
    expected.problem('missing_file', 'a row without a file', id=lost.id)
    archives.append({'extractor': 'youtube', 'id': V('fog').id, 'type': 'video', 'title': None, 'user_uid': None, 'sub_id': sub_id, 'timestamp': NOW, 'uid': 'x'})
    write_json(base / 'appdata' / 'local_db.json', {'files': files, 'playlists': [{'name': 'Mine', 'uids': [files[0]['uid'], files[1]['uid'], 'gone'], 'id': 'p1', 'thumbnailURL': '', 'type': 'video', 'registered': NOW * 1000, 'duration': 5}], 'categories': [],
               'subscriptions': [{'name': 'Orbit Notes', 'url': f'https://www.youtube.com/channel/{ORBIT}', 'id': sub_id, 'type': 'video', 'user_uid': None, 'isPlaylist': False, 'timerange': 'now-30days', 'paused': False, 'videos': []}],
               'downloads': [], 'users': [], 'roles': [], 'download_queue': [], 'tasks': [], 'notifications': [], 'archives': archives, 'test': []}, indent=2)
    write_json(base / 'appdata' / 'default.json', {'YoutubeDLMaterial': {'Downloader': {'path-audio': 'audio/', 'path-video': 'video/', 'use_youtubedl_archive': True}, 'Subscriptions': {'subscriptions_base_path': 'subscriptions/'}}})
    expected.doc['ignored_optional'] = sorted([V('fog').id, lost.id])
    expected.doc['subscriptions'] = [{'type': 'channel', 'id': ORBIT, 'name': 'Orbit Notes', 'timerange': 'now-30days'}]
    expected.doc['playlists'] = [{'name': 'Mine', 'type': 'custom', 'entries': 2}]
    expected.save()

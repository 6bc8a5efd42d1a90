"""TubeArchivist, two lines of it: films by their ids, a backup archive, the dump of its positions."""
from common import *


def ta_channel(channel, **more):
    return {'channel_active': True, 'channel_description': False, 'channel_id': channel, 'channel_last_refresh': NOW - 86_400, 'channel_name': CHANNELS[channel],
            'channel_subs': 4321, 'channel_subscribed': channel == HARBOUR, 'channel_tags': False, 'channel_tabs': ['videos', 'shorts', 'streams'],
            'channel_thumb_url': 'https://yt3.example.invalid/thumb.jpg', 'channel_banner_url': False, 'channel_tvart_url': False, **more}


def ta_video(video, size, *, line='0.5', watched=None, **more):
    player = {'duration': video.seconds, 'duration_str': f'{video.seconds}s', 'watched': watched is not None, **({'watched_date': watched} if watched else {})}
    doc = {'active': True, 'category': ['Education'], 'channel': ta_channel(video.channel), 'date_downloaded': video.at + 86_400, 'description': video.description,
           'media_size': size, 'media_url': f'{video.channel}/{video.id}.mp4', 'player': player, 'playlist': [], 'published': video.at if line == '0.5' else video.day,
           'stats': {'view_count': 1234, 'like_count': 56, 'dislike_count': 0, 'average_rating': None if line == '0.4' else 0},
           'streams': [{'type': 'video', 'index': 0, 'codec': 'h264', 'width': 64, 'height': 36, 'bitrate': 20000}, {'type': 'audio', 'index': 1, 'codec': 'aac', 'bitrate': 32000}],
           'subtitles': [], 'tags': ['sea'], 'title': video.title, 'vid_last_refresh': NOW - 86_400, 'vid_thumb_url': f'https://i.ytimg.com/vi/{video.id}/maxresdefault.jpg',
           'vid_type': video.tab, 'youtube_id': video.id, **more}
    if line == '0.4':
        doc['vid_thumb_base64'] = False
    return doc


def ta_zip(path, collections, day='20240601'):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, docs in collections.items():
            lines = []
            for key, doc in docs:
                lines += [json.dumps({'index': {'_index': f'ta_{name}', '_id': key}}), json.dumps(doc)]
            archive.writestr(zipfile.ZipInfo(f'es_{name}-{day}-0.json', (2024, 6, 1, 12, 0, 0)), '\n'.join([*lines, '\n']))


def rdb_string(data, packed=False):
    data = data.encode()
    if packed and len(data) > 20:  # LZF, in literal runs only: valid for every decoder
        runs = b''.join(bytes([len(data[at:at + 32]) - 1]) + data[at:at + 32] for at in range(0, len(data), 32))
        return b'\xc3' + rdb_length(len(runs)) + rdb_length(len(data)) + runs
    return rdb_length(len(data)) + data


def rdb_length(n):
    return bytes([n]) if n < 64 else bytes([0x40 | n >> 8, n & 255]) if n < 16384 else b'\x80' + struct.pack('>I', n)


def tubearchivist_v05(base):
    """media + cache + backup zip + Redis dump, as v0.5 leaves them."""
    expected = Expected(base, 'tubearchivist', 'v0.5.10', library='media', cache='cache', mounts={'/youtube': 'media', '/cache': 'cache'})
    media, cache = base / 'media', base / 'cache'
    videos, pages, comments, subtitles = [], [], [], []
    cases = [V('breakwater', seconds=3), V('ferry'), V('storm', seconds=3), V('gull'), V('dovetail'), V('comet'), invented('goneMill001', 'The mill before it closed', seconds=2)]
    for number, video in enumerate(cases):
        path = film(media / video.channel / f'{video.id}.mp4', video)
        picture(cache / 'videos' / video.id[0].lower() / f'{video.id}.jpg')
        watched = NOW - 10 * 86_400 if video.id in ('6Qh9CyDYDT4', 'goneMill001') else None
        doc = ta_video(video, path.stat().st_size, watched=watched)
        more = {'facts_from': 'document', 'thumbnail': cache / 'videos' / video.id[0].lower() / f'{video.id}.jpg', 'date_downloaded': video.at + 86_400,
                'watched': watched is not None, **({'watched_date': watched} if watched else {})}
        if video.id == '-breakwater':
            sub = text(media / video.channel / f'{video.id}.en.vtt', VTT)
            doc['subtitles'] = [{'ext': 'json3', 'name': 'English', 'lang': 'en', 'source': 'user', 'media_url': f'{video.channel}/{video.id}.en.vtt', 'url': 'https://www.youtube.com/api/timedtext'}]
            doc['comment_count'] = 1
            comments.append((video.id, {'youtube_id': video.id, 'comment_last_refresh': NOW, 'comment_channel_id': video.channel, 'comment_comments': [
                {'comment_id': 'Ugx1', 'comment_text': 'lovely', 'comment_timestamp': NOW - 9, 'comment_time_text': '2024-06-01 11:59', 'comment_likecount': None, 'comment_is_favorited': False,
                 'comment_author': '@a', 'comment_author_id': HARBOUR, 'comment_author_thumbnail': 'https://yt3.example.invalid/a', 'comment_author_is_uploader': False, 'comment_parent': 'root'}]}))
            subtitles.append((f'{video.id}-en-1', {'youtube_id': video.id, 'title': video.title, 'subtitle_channel': video.channel_name, 'subtitle_channel_id': video.channel, 'subtitle_last_refresh': NOW,
                              'subtitle_lang': 'en', 'subtitle_source': 'user', 'subtitle_fragment_id': f'{video.id}-en-1', 'subtitle_index': 1, 'subtitle_start': '00:00:00.200', 'subtitle_end': '00:00:01.900',
                              'subtitle_line': 'Good morning from the pier. The tide turned an hour ago.'}))
            more['subtitles'] = [{'lang': 'en', 'source': 'user', 'file': sub}]
            more['position'] = {'1': 1.5, '2': 2.25}
            more['playlist'] = [PLAYLISTS['coast'], 'TA_playlist_6f1c0e52-7a54-4f5e-9a55-0c1de5a1f3b7']
            doc['playlist'] = more['playlist']
        if video.id == 'goneMill001':
            doc['active'] = False
            more['active'] = False
        videos.append((video.id, doc))
        expected.video(video, path, **more)
    # Traps: a document without its file; a file without a document; a stray subtitle; a leftover of NAS software.
    lost = V('lagrange')
    videos.append((lost.id, ta_video(lost, 999)))
    expected.problem('missing_file', 'the document has no file', id=lost.id, severity='error')
    stray = V('fog')
    path = film(media / stray.channel / f'{stray.id}.mp4', stray)
    expected.video(stray, path, facts_from='platform', note='no document: like a rescan')
    text(media / HARBOUR / 'KsEjESzrR6k.en.vtt', VTT)
    expected.problem('stray_sidecar', 'subtitle without a film', file=media / HARBOUR / 'KsEjESzrR6k.en.vtt', severity='info')
    text(media / '@eaDir' / HARBOUR / 'x.mp4', b'\0' * 16)
    text(cache / 'download' / f'{V("nets").id}.mp4.part', b'\0' * 64)  # under cache: never looked at as library
    for channel in (HARBOUR, WORKSHOP, ORBIT):
        picture(cache / 'channels' / f'{channel}_thumb.jpg')
        if channel == HARBOUR:
            picture(cache / 'channels' / f'{channel}_banner.jpg')
    picture(cache / 'playlists' / f"{PLAYLISTS['coast']}.jpg")
    entry = lambda key, idx, there: {'youtube_id': SEED[key][0], 'title': SEED[key][3], 'uploader': CHANNELS[SEED[key][1]], 'idx': idx, 'downloaded': there}
    coast = {'playlist_id': PLAYLISTS['coast'], 'playlist_type': 'regular', 'playlist_active': True, 'playlist_subscribed': True, 'playlist_name': 'The coast in five films', 'playlist_channel': CHANNELS[HARBOUR],
             'playlist_channel_id': HARBOUR, 'playlist_description': False, 'playlist_last_refresh': NOW, 'playlist_sort_order': 'top', 'playlist_thumbnail': 'https://i.ytimg.com/vi/x/hq.jpg',
             'playlist_entries': [entry(key, idx, key in ('breakwater', 'ferry')) for idx, key in enumerate(['breakwater', 'lighthouse', 'ferry', 'fog', 'charts'])]}
    mine = {**coast, 'playlist_id': 'TA_playlist_6f1c0e52-7a54-4f5e-9a55-0c1de5a1f3b7', 'playlist_type': 'custom', 'playlist_active': True, 'playlist_subscribed': False, 'playlist_name': 'Evenings', 'playlist_channel': None,
            'playlist_channel_id': None, 'playlist_entries': [entry('comet', 0, True), entry('breakwater', 1, True)]}
    queue = [('KXCVdp8BSfg', 'ignore'), ('mVUt6ZmKK4J', 'pending')]
    downloads = [(key, {'youtube_id': key, 'status': status, 'auto_start': False, 'title': f'title of {key}', 'channel_id': WORKSHOP, 'channel_name': CHANNELS[WORKSHOP], 'channel_indexed': True,
                        'duration': '5s', 'published': NOW - 86_400, 'timestamp': NOW, 'vid_type': 'shorts', 'vid_thumb_url': 'https://i.ytimg.com/x.jpg', **({'message': None} if status == 'pending' else {})}) for key, status in queue]
    ta_zip(cache / 'backup' / 'ta_backup-20240601-auto.zip', {
        'config': [('user_1', {'page_size': 24, 'hide_watched': True}), ('appsettings', {'subscriptions': {'channel_size': 30, 'live_channel_size': 0, 'shorts_channel_size': 5, 'playlist_size': 50, 'auto_start': True, 'extract_flat': False},
                                    'downloads': {'format': 'bv*[height<=1080]+ba', 'autodelete_days': 90, 'subtitle': 'en,de', 'subtitle_source': 'auto', 'subtitle_index': True, 'comment_max': '100,all,5,all',
                                                  'sleep_interval': 10, 'limit_speed': None, 'integrate_sponsorblock': True, 'add_metadata': True, 'cookie_import': False, 'pot_provider_url': None},
                                    'application': {'enable_snapshot': True, 'enable_cast': False}})],
        'channel': [(key, ta_channel(key, **({'channel_overwrites': {'download_format': 'bv*[height<=720]+ba', 'autodelete_days': 0}} if key == HARBOUR else {}))) for key in (HARBOUR, WORKSHOP, ORBIT, GONE_CHANNEL)],
        'video': videos, 'download': downloads, 'playlist': [(coast['playlist_id'], coast), (mine['playlist_id'], mine)], 'comment': comments, 'subtitle': subtitles})
    # redis/dump.rdb: strings, one packed with LZF, one with an end in 60 s (watched), one of another kind of key
    keys = [('ta:1:progress:-breakwater', {'duration': 3, 'duration_str': '3s', 'watched': False, 'position': 1.5, 'youtube_id': '-breakwater'}, True),
            ('ta:2:progress:-breakwater', {'duration': 3, 'duration_str': '3s', 'watched': False, 'position': 2.25, 'youtube_id': '-breakwater'}, False),
            ('ta:1:progress:notThere001', {'duration': 9, 'watched': False, 'position': 6, 'youtube_id': 'notThere001'}, False)]
    body = b'REDIS0011\xfa' + rdb_string('redis-ver') + rdb_string('7.4.0') + b'\xfe\x00\xfb' + rdb_length(len(keys) + 1) + rdb_length(0)
    for key, value, packed in keys:
        body += b'\x00' + rdb_string(key) + rdb_string(json.dumps(value), packed)
    body += b'\x00' + rdb_string('ta:versioncheck') + rdb_string('v0.5.10')
    text(base / 'redis' / 'dump.rdb', body + b'\xff' + b'\0' * 8)
    expected.problem('position_without_video', 'a position of a video that is not in the library', id='notThere001', severity='info')
    expected.doc['ignored'] = ['KXCVdp8BSfg']
    expected.doc['queue'] = ['mVUt6ZmKK4J']
    expected.doc['subscriptions'] = [{'type': 'channel', 'id': HARBOUR, 'name': CHANNELS[HARBOUR], 'overwrites': {'download_format': 'bv*[height<=720]+ba', 'autodelete_days': 0}}, {'type': 'playlist', 'id': coast['playlist_id']}]
    expected.doc['playlists'] = [{'id': coast['playlist_id'], 'type': 'regular', 'entries': 5}, {'id': mine['playlist_id'], 'type': 'custom', 'entries': 2}]
    expected.doc['comments'] = {'-breakwater': 1}
    expected.save()


def tubearchivist_v04(base):
    """v0.4 with its false and null, and two films that a move from v0.3 has left at their old names."""
    expected = Expected(base, 'tubearchivist', 'v0.4.13', library='youtube', cache='cache', mounts={'/youtube': 'youtube', '/cache': 'cache'})
    media, cache = base / 'youtube', base / 'cache'
    videos = []
    for video in (V('lighthouse'), V('nets'), V('stool'), V('sharpen')):
        path = film(media / video.channel / f'{video.id}.mp4', video)
        videos.append((video.id, ta_video(video, path.stat().st_size, line='0.4')))
        expected.video(video, path, facts_from='document', date_downloaded=video.at + 86_400)
    old = V('oil')
    name = f'Kleine Werkstatt/{old.yyyymmdd}_{old.id}_Ol oder Lack Ein Vergleich.mp4'
    path = film(media / name, old)
    videos.append((old.id, ta_video(old, path.stat().st_size, line='0.4', media_url=name)))
    expected.video(old, path, facts_from='document', note='media_url of the document is of v0.3: folder of the name, file <yyyymmdd>_<id>_<title>')
    old2 = V('plane')
    path = film(media / 'Kleine Werkstatt' / f'{old2.yyyymmdd}_{old2.id}_Den Hobel richtig einstellen.mp4', old2)
    expected.video(old2, path, facts_from='platform', note='no document; id of eleven characters after the day')
    # Two channels' worth of the same id: the second file is a second of the first.
    twice = V('lighthouse')
    path = film(media / GONE_CHANNEL / f'{twice.id}.mp4', twice)
    expected.problem('duplicate', 'the same video lies in the folder of another channel', file=path, id=twice.id)
    # An id that only differs by case: two videos, and one file on a file system that does not tell them apart.
    for id in ('abcdefGHIJK', 'ABCDEFghijk'):
        video = invented(id, f'Case {id}', channel=ORBIT)
        path = film(media / ORBIT / f'{id}.mp4', video)
        videos.append((id, ta_video(video, path.stat().st_size, line='0.4', category=None, subtitles=None, playlist=None)))
        expected.video(video, path, facts_from='document')
    broken = ('brokenDoc01', {'youtube_id': 'brokenDoc01', 'title': 'no channel inside', 'active': True})
    videos.append(broken)
    expected.problem('unreadable_document', 'the document names no channel, and no file lies there', id='brokenDoc01', severity='error')
    ta_zip(cache / 'backup' / 'ta_backup-20240601-manual.zip', {'channel': [(key, ta_channel(key)) for key in (HARBOUR, WORKSHOP, ORBIT)], 'video': videos})
    expected.doc['subscriptions'] = [{'type': 'channel', 'id': HARBOUR, 'name': CHANNELS[HARBOUR]}]
    expected.doc['note'] = 'positions of v0.4 are in Redis as RedisJSON values: not in this fixture'
    expected.save()

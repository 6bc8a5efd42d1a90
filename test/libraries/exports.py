"""Exports of subscriptions, as other programs write them."""
from common import *


def exports(base):
    expected = Expected(base, 'exports', '-')
    names = [(HARBOUR, 'Harbour & Tide'), (WORKSHOP, 'Kleine "Werkstatt", Hof'), (ORBIT, 'Orbit Notes')]
    doc = {}
    csv = lambda header, eol='\n': header + eol + ''.join(f'{key},http://www.youtube.com/channel/{key},' + ('"' + name.replace('"', '""') + '"' if '"' in name or ',' in name else name) + eol for key, name in names) + eol
    text(base / 'takeout' / 'subscriptions.csv', csv('Channel Id,Channel Url,Channel Title'))
    text(base / 'takeout' / 'Abos.csv', '\ufeff' + csv('Kanal-ID,Kanal-URL,Kanaltitel', '\r\n'))
    write_json(base / 'takeout' / 'subscriptions.json', [{'kind': 'youtube#subscription', 'snippet': {'title': name, 'resourceId': {'kind': 'youtube#channel', 'channelId': key}, 'channelId': 'UCownOwnOwnOwnOwnOwnOwn1', 'publishedAt': '2019-05-01T10:00:00Z'}} for key, name in names])
    write_json(base / 'takeout' / 'watch-history.json', [
        {'header': 'YouTube', 'title': f'Watched {V("ferry").title}', 'titleUrl': f'https://www.youtube.com/watch?v={V("ferry").id}', 'subtitles': [{'name': 'Harbour & Tide', 'url': f'https://www.youtube.com/channel/{HARBOUR}'}], 'time': '2024-05-01T10:00:00.123Z', 'products': ['YouTube'], 'activityControls': ['YouTube watch history']},
        {'header': 'YouTube', 'title': 'Watched a video that has been removed', 'time': '2024-04-01T10:00:00Z', 'products': ['YouTube']},
        {'header': 'YouTube', 'title': 'Watched an advert', 'titleUrl': 'https://www.youtube.com/watch?v=advertAdve1', 'details': [{'name': 'From Google Ads'}], 'time': '2024-04-01T09:00:00Z', 'products': ['YouTube']}])
    text(base / 'takeout' / 'playlists' / 'Evenings-videos.csv', f'Video ID,Playlist Video Creation Timestamp\n{V("comet").id},2024-05-01T10:00:00+00:00\n{V("ferry").id},2024-05-02T10:00:00+00:00\n')
    escape = lambda words: words.replace('&', '&amp;').replace('"', '&quot;')
    outline = lambda key, name, url: f'<outline text="{escape(name)}" title="{escape(name)}" type="rss" xmlUrl="{url}"/>'
    text(base / 'freetube' / 'youtube-subscriptions.opml', '<opml version="1.1"><body><outline text="YouTube Subscriptions" title="YouTube Subscriptions">' + ''.join(outline(key, name, f'https://www.youtube.com/feeds/videos.xml?channel_id={key}') for key, name in names) + '</outline></body></opml>')
    text(base / 'invidious' / 'subscription_manager.opml', '<opml version="1.1"><body><outline text="Invidious Subscriptions" title="Invidious Subscriptions">' + ''.join(outline(key, name, f'https://inv.example.org/feed/channel/{key}') for key, name in names) + '</outline></body></opml>')
    lines = lambda rows: ''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows)
    subs = [{'id': key, 'name': name, 'thumbnail': None} for key, name in names]
    text(base / 'freetube' / 'profiles.db', lines([{'_id': 'allChannels', 'name': 'All Channels', 'bgColor': '#000', 'textColor': '#fff', 'subscriptions': subs}, {'_id': 'p2', 'name': 'Sea', 'bgColor': '#000', 'textColor': '#fff', 'subscriptions': subs[:1]},
                                                   {'$$indexCreated': {'fieldName': '_id', 'unique': True}}, {'_id': 'p3', '$$deleted': True}, {'_id': 'p2', 'name': 'Sea and shore', 'bgColor': '#000', 'textColor': '#fff', 'subscriptions': subs[:1]}]))
    seen = lambda video, at, watched: {'_id': video.id, 'videoId': video.id, 'title': video.title, 'author': video.channel_name, 'authorId': video.channel, 'published': video.at * 1000, 'description': '', 'viewCount': 5, 'lengthSeconds': video.seconds,
                                       'watchProgress': at, 'timeWatched': watched * 1000, 'isLive': False, 'type': 'video'}
    text(base / 'freetube' / 'history.db', lines([seen(V('ferry'), 1.25, NOW - 9), seen(V('comet', seconds=2), 2, NOW - 99), seen(V('ferry'), 1.5, NOW - 5)]))
    text(base / 'freetube' / 'playlists.db', lines([{'_id': 'favorites', 'playlistName': 'Favorites', 'protected': True, 'createdAt': NOW * 1000, 'videos': []}, {'_id': 'ft-1', 'playlistName': 'Evenings', 'description': '', 'protected': False,
         'videos': [{'videoId': V('comet').id, 'title': 'c', 'author': 'Orbit Notes', 'authorId': ORBIT, 'lengthSeconds': 2, 'timeAdded': NOW * 1000, 'playlistItemId': 'u1', 'type': 'video'}], 'createdAt': NOW * 1000, 'lastUpdatedAt': NOW * 1000}]))
    write_json(base / 'newpipe' / 'newpipe_subscriptions_202406011200.json', {'app_version': '0.28.4', 'app_version_int': 1009, 'subscriptions': [{'service_id': 0, 'url': f'https://www.youtube.com/channel/{key}', 'name': name} for key, name in names]
               + [{'service_id': 1, 'url': 'https://soundcloud.com/somebody', 'name': 'Sounds'}, {'service_id': 0, 'url': 'https://www.youtube.com/user/oldname', 'name': 'Old'}]})
    folder = base / 'newpipe'
    db = sqlite3.connect(folder / 'newpipe.db')
    db.executescript("""CREATE TABLE subscriptions (uid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, service_id INTEGER NOT NULL, url TEXT, name TEXT, avatar_url TEXT, subscriber_count INTEGER, description TEXT, notification_mode INTEGER NOT NULL);
        CREATE TABLE streams (uid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, service_id INTEGER NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, stream_type TEXT NOT NULL, duration INTEGER NOT NULL, uploader TEXT NOT NULL, uploader_url TEXT, thumbnail_url TEXT, view_count INTEGER, textual_upload_date TEXT, upload_date INTEGER, is_upload_date_approximation INTEGER);
        CREATE TABLE stream_history (stream_id INTEGER NOT NULL, access_date INTEGER NOT NULL, repeat_count INTEGER NOT NULL, PRIMARY KEY (stream_id, access_date));
        CREATE TABLE stream_state (stream_id INTEGER NOT NULL PRIMARY KEY, progress_time INTEGER NOT NULL);
        CREATE TABLE playlists (uid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT, is_thumbnail_permanent INTEGER NOT NULL, thumbnail_stream_id INTEGER NOT NULL, display_index INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE playlist_stream_join (playlist_id INTEGER NOT NULL, stream_id INTEGER NOT NULL, join_index INTEGER NOT NULL, PRIMARY KEY (playlist_id, join_index));
        CREATE TABLE remote_playlists (uid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, service_id INTEGER NOT NULL, name TEXT, url TEXT, thumbnail_url TEXT, uploader TEXT, display_index INTEGER NOT NULL, stream_count INTEGER);""")
    for key, name in names[:2]:
        insert(db, 'subscriptions', {'service_id': 0, 'url': f'https://www.youtube.com/channel/{key}', 'name': name, 'notification_mode': 0})
    for number, video in enumerate((V('ferry'), V('comet')), 1):
        insert(db, 'streams', {'service_id': 0, 'url': video.url, 'title': video.title, 'stream_type': 'VIDEO_STREAM', 'duration': video.seconds, 'uploader': video.channel_name, 'uploader_url': f'https://www.youtube.com/channel/{video.channel}', 'upload_date': video.at * 1000})
        insert(db, 'stream_history', {'stream_id': number, 'access_date': (NOW - number) * 1000, 'repeat_count': 1})
    insert(db, 'stream_state', {'stream_id': 1, 'progress_time': 1500})
    insert(db, 'playlists', {'name': 'Evenings', 'is_thumbnail_permanent': 0, 'thumbnail_stream_id': 2})
    db.execute('INSERT INTO playlist_stream_join VALUES (1, 2, 0), (1, 1, 1)')
    insert(db, 'remote_playlists', {'service_id': 0, 'name': 'The coast in five films', 'url': f"https://www.youtube.com/playlist?list={PLAYLISTS['coast']}", 'uploader': 'Harbour & Tide', 'display_index': 0, 'stream_count': 5})
    db.commit()
    db.close()
    with zipfile.ZipFile(folder / 'NewPipeData-20240601_120000.zip', 'w') as archive:
        archive.writestr(zipfile.ZipInfo('newpipe.db', (2024, 6, 1, 12, 0, 0)), (folder / 'newpipe.db').read_bytes())
        archive.writestr(zipfile.ZipInfo('preferences.json', (2024, 6, 1, 12, 0, 0)), '{}')
    (folder / 'newpipe.db').unlink()
    write_json(base / 'invidious' / 'invidious.json', {'subscriptions': [key for key, _ in names], 'watch_history': [V('comet').id, V('ferry').id], 'preferences': {'locale': 'en-US'}, 'playlists': [{'title': 'Evenings', 'description': '', 'privacy': 'Private', 'videos': [V('comet').id, V('ferry').id]}]})
    stores = {'subscriptions': [f'https://www.youtube.com/channel/{key}' for key, _ in names] + ['https://odysee.com/@somebody:1'], 'playlists': ['Evenings:::b0c5\n' + '\n'.join([V('comet').url, V('ferry').url])], 'watch_later': [V('storm').url],
              'history': [f'{V("ferry").url}|||{NOW - 9}|||1|||{V("ferry").title}', f'{V("comet").url}|||{NOW - 99}|||2|||a ||| b'], 'subscription_groups': ['{"name":"Sea"}']}
    (base / 'grayjay').mkdir(parents=True)
    with zipfile.ZipFile(base / 'grayjay' / 'export_2024-06-01_1200.zip', 'w') as archive:
        add = lambda name, data: archive.writestr(zipfile.ZipInfo(name, (2024, 6, 1, 12, 0, 0)), data)
        add('exportInfo', '{"version":"1"}'), add('settings', '{}'), add('stores/', '')
        for name, rows in stores.items():
            add(f'stores/{name}', json.dumps(rows))
        add('plugins', '{}'), add('plugin_settings', '{}')
    raw = (base / 'grayjay' / 'export_2024-06-01_1200.zip').read_bytes()
    text(base / 'grayjay' / 'GrayjayBackup.ezip', b'\x11\x22\x33\x44GJ\x01\x00' + raw)
    three = [key for key, _ in names]
    doc.update({
        'takeout/subscriptions.csv': {'channels': three}, 'takeout/Abos.csv': {'channels': three}, 'takeout/subscriptions.json': {'channels': three}, 'freetube/youtube-subscriptions.opml': {'channels': three},
        'invidious/subscription_manager.opml': {'channels': three}, 'freetube/profiles.db': {'channels': three, 'groups': {'Sea and shore': [HARBOUR]}, 'note': 'append-only: a later line with the same _id replaces, $$deleted removes'},
        'freetube/history.db': {'watched': [V('comet').id], 'position': {V('ferry').id: 1.5}}, 'freetube/playlists.db': {'playlists': {'Favorites': [], 'Evenings': [V('comet').id]}},
        'newpipe/newpipe_subscriptions_202406011200.json': {'channels': three, 'unresolved': ['https://www.youtube.com/user/oldname'], 'skipped': ['https://soundcloud.com/somebody']},
        'newpipe/NewPipeData-20240601_120000.zip': {'channels': [HARBOUR, WORKSHOP], 'playlists_remote': [PLAYLISTS['coast']], 'playlists': {'Evenings': [V('comet').id, V('ferry').id]}, 'seen': [V('ferry').id, V('comet').id], 'position': {V('ferry').id: 1.5}},
        'invidious/invidious.json': {'channels': three, 'watched': [V('comet').id, V('ferry').id], 'playlists': {'Evenings': [V('comet').id, V('ferry').id]}},
        'grayjay/export_2024-06-01_1200.zip': {'channels': three, 'skipped': ['https://odysee.com/@somebody:1'], 'playlists': {'Evenings': [V('comet').id, V('ferry').id], 'Watch later': [V('storm').id]}, 'history': {V('ferry').id: {'position': 1, 'at': NOW - 9}, V('comet').id: {'position': 2, 'at': NOW - 99}}},
        'grayjay/GrayjayBackup.ezip': {'same_as': 'grayjay/export_2024-06-01_1200.zip', 'note': 'bytes 11 22 33 44, then GJ, format 1, flags 0 (1: encrypted, refused), then the zip at offset 8'},
        'takeout/watch-history.json': {'watched': [V('ferry').id], 'skipped': ['a removed video', 'an advert']}, 'takeout/playlists/Evenings-videos.csv': {'playlists': {'Evenings': [V('comet').id, V('ferry').id]}},
    })
    expected.doc['files'] = doc
    expected.save()

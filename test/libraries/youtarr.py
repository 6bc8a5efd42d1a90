"""Youtarr: information files of its own, and a dump of its database."""
from common import *


def youtarr(base):
    """Files carry no info.json (it is kept in jobs/info); a dump of MariaDB beside."""
    expected = Expected(base, 'youtarr', 'v1.76.1', library='data', database='youtarr.sql', mounts={'/usr/src/app/data': 'data', '/app/config': 'config', '/app/jobs': 'jobs'})
    home = base / 'data'
    rows, taken = [], []

    def place(video, sub=None, flat=False, ext='mp4', **more):
        name = f'{video.channel_name} - {ytdlp_name(video.title)[:64]} [{video.id}]'
        folder = home / (f'__{sub}' if sub else '.') / video.channel_name
        folder = folder if flat else folder / f'{video.channel_name} - {ytdlp_name(video.title)[:64]} - {video.id}'
        return film(folder / f'{name}.{ext}', video, tags=tags_of(video) if ext == 'mp4' else None), folder / name

    def row(video, path, **more):
        inside = None if path is None else '/usr/src/app/data/' + path.relative_to(home).as_posix()
        rows.append({'youtubeId': video.id, 'youTubeChannelName': video.channel_name, 'youTubeVideoName': video.title, 'duration': video.seconds, 'originalDate': video.yyyymmdd, 'description': video.description,
                     'channel_id': video.channel, 'filePath': inside, 'fileSize': path.stat().st_size if path and path.exists() else None, 'audioFilePath': None, 'audioFileSize': None, 'removed': 0,
                     'media_type': {'videos': 'video', 'streams': 'livestream', 'shorts': 'short'}[video.tab], 'youtube_removed': 0, 'last_downloaded_at': django(video.at + 86_400)[:19], 'protected': 0, **more})

    for video, sub in ((V('ferry', seconds=3), None), (V('gull'), 'Kids'), (V('stool'), None)):
        path, stem = place(video, sub, flat=video.id == V('stool').id)
        picture(f'{stem}.jpg')
        text(f'{stem}.nfo', f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<movie>\n  <title>{video.title}</title>\n  <uniqueid type="youtube" default="true">{video.id}</uniqueid>\n  <premiered>{video.day}</premiered>\n</movie>\n')
        sub_file = text(f'{stem}.en.srt', SRT)
        write_json(base / 'jobs' / 'info' / f'{video.id}.info.json', info_of(video, _actual_filepath='/usr/src/app/data/' + path.relative_to(home).as_posix(), _actual_video_filepath='/usr/src/app/data/' + path.relative_to(home).as_posix()))
        row(video, path, protected=int(video.id == V('ferry').id))
        taken.append(video.id)
        expected.video(video, path, facts_from='info.json', info=base / 'jobs' / 'info' / f'{video.id}.info.json', thumbnail=Path(f'{stem}.jpg'), subtitles=[{'lang': 'en', 'source': 'file', 'file': sub_file}], kept=video.id == V('ferry').id,
                       **({'watched': True, 'watched_date': NOW - 3 * 86_400} if video.id == V('gull').id else {}))
    # Film and mp3 of one video.
    both = V('comet')
    path, stem = place(both)
    mp3 = film(f'{stem}.mp3', both)
    row(both, path, audioFilePath='/usr/src/app/data/' + mp3.relative_to(home).as_posix(), audioFileSize=mp3.stat().st_size)
    expected.video(both, path, facts_from='database', note='a dump, no info.json')
    expected.problem('second_container', 'the sound of a film that is there: left where it lies', file=mp3, id=both.id, severity='info')
    # Twice on disk: the larger one counts there.
    twice = V('moondust')
    path, stem = place(twice)
    small = home / 'Old' / f'Orbit Notes - {twice.title} [{twice.id}].webm'
    film(small, twice)
    row(twice, path)
    expected.video(twice, path, facts_from='database')
    expected.problem('duplicate', 'a second file of the video', file=small, id=twice.id)
    removed = V('nets')
    row(removed, home / 'Harbour & Tide' / 'x' / f'gone [{removed.id}].mp4', removed=1)
    expected.problem('missing_file', 'removed there; in complete.list, so it was never fetched again', id=removed.id)
    fragment = text(home / 'Orbit Notes' / 'x - lLIkceb1wqx' / 'x [lLIkceb1wqx].f137.mp4', b'\0' * 128)
    expected.problem('unfinished', 'a part of a download', file=fragment, id='lLIkceb1wqx')
    picture(home / 'Harbour & Tide' / 'poster.jpg')
    text(home / 'Harbour & Tide' / '._poster.jpg', b'\0\5\26\7')
    text(base / 'config' / 'complete.list', ''.join(f'youtube {id}\n' for id in [*taken, both.id, twice.id, removed.id]))
    write_json(base / 'config' / 'config.json', {'youtubeOutputDirectory': '/usr/src/app/data', 'preferredResolution': '1080', 'videoFilenamePrefix': '%(uploader,channel,uploader_id).80B - %(title).64B', 'sponsorblockEnabled': False})
    # As mysqldump writes it: no column names in INSERT, their order is that of CREATE TABLE; several rows an INSERT.
    types = {'int': 'int(11) DEFAULT NULL', 'text': 'varchar(500) COLLATE utf8mb4_unicode_ci DEFAULT NULL', 'bool': "tinyint(1) NOT NULL DEFAULT 0", 'date': 'datetime DEFAULT NULL', 'big': 'bigint(20) DEFAULT NULL'}
    tables = {
        'Videos': 'id:int youtubeId:text youTubeChannelName:text youTubeVideoName:text duration:int originalDate:text description:text channel_id:text filePath:text fileSize:big removed:bool media_type:text youtube_removed:bool '
                  'youtube_removed_checked_at:date last_downloaded_at:date content_rating:text age_limit:int normalized_rating:text rating_source:text audioFilePath:text audioFileSize:big protected:bool',
        'channels': 'id:int channel_id:text title:text url:text description:text uploader:text enabled:bool available_tabs:text auto_download_enabled_tabs:text lastFetchedByTab:text sub_folder:text video_quality:text min_duration:int max_duration:int '
                    'title_filter_regex:text folder_name:text default_rating:text audio_format:text skip_video_folder:bool hidden_tabs:text terminated_at:date',
        'channelvideos': 'id:int youtube_id:text channel_id:text title:text thumbnail:text duration:int publishedAt:text availability:text media_type:text youtube_removed:bool youtube_removed_checked_at:date live_status:text ignored:bool ignored_at:date published_at_source:text',
        'video_watch_status': 'id:int video_id:int server_type:text server_user_id:text played:bool play_count:int position_ms:big percent_watched:int last_watched_at:date last_synced_at:date createdAt:date updatedAt:date',
    }
    at = lambda seconds: django(seconds)[:19]
    content = {
        'Videos': [{'id': number, **one} for number, one in enumerate(rows, 1)],
        'channels': [{'id': 1, 'channel_id': HARBOUR, 'title': 'Harbour & Tide', 'url': 'https://www.youtube.com/@HarbourAndTide', 'description': "It's slow;\nmostly (really).", 'uploader': 'Harbour & Tide', 'enabled': 1, 'auto_download_enabled_tabs': 'video,short', 'sub_folder': 'Kids', 'video_quality': '720', 'min_duration': 60, 'folder_name': 'Harbour & Tide'},
                     {'id': 2, 'channel_id': ORBIT, 'title': 'Orbit Notes', 'url': f'https://www.youtube.com/channel/{ORBIT}', 'uploader': 'Orbit Notes', 'enabled': 0, 'auto_download_enabled_tabs': 'video', 'folder_name': 'Orbit Notes'}],
        'channelvideos': [{'id': 1, 'youtube_id': V('fog').id, 'channel_id': HARBOUR, 'title': V('fog').title, 'thumbnail': '', 'media_type': 'video', 'ignored': 1, 'ignored_at': at(NOW - 30 * 86_400)},
                          {'id': 2, 'youtube_id': V('charts').id, 'channel_id': HARBOUR, 'title': V('charts').title, 'thumbnail': '', 'media_type': 'video', 'ignored': 0}],
        'video_watch_status': [{'id': 1, 'video_id': 2, 'server_type': 'jellyfin', 'server_user_id': 'u1', 'played': 1, 'play_count': 1, 'percent_watched': 100, 'last_watched_at': at(NOW - 3 * 86_400), 'last_synced_at': at(NOW)},
                               {'id': 2, 'video_id': 1, 'server_type': 'plex', 'server_user_id': '7', 'played': 0, 'play_count': 0, 'position_ms': 1500, 'percent_watched': 50, 'last_watched_at': at(NOW - 86_400), 'last_synced_at': at(NOW)}],
    }
    quote = lambda value: 'NULL' if value is None else str(value) if isinstance(value, int) else "'" + str(value).replace('\\', '\\\\').replace("'", "\\'").replace('"', '\\"').replace('\n', '\\n') + "'"
    dump = '-- MariaDB dump 10.19  Distrib 10.3.39-MariaDB, for debian-linux-gnu (x86_64)\n--\n-- Host: localhost    Database: youtarr\n/*!40101 SET NAMES utf8mb4 */;\n'
    for table, columns in tables.items():
        names = [column.split(':') for column in columns.split()]
        value = lambda row, name, kind: quote(row.get(name, 0 if kind == 'bool' else None))
        dump += f'\nDROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n' + ',\n'.join(f'  `{name}` {types[kind]}' for name, kind in names) + ',\n  PRIMARY KEY (`id`),\n  KEY `a_key` (`id`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n'
        dump += f'LOCK TABLES `{table}` WRITE;\n/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\nINSERT INTO `{table}` VALUES ' + ','.join('(' + ','.join(value(row, name, kind) for name, kind in names) + ')' for row in content[table]) + f';\n/*!40000 ALTER TABLE `{table}` ENABLE KEYS */;\nUNLOCK TABLES;\n'
    text(base / 'youtarr.sql', dump)
    # The tool's own backup: one folder in a tar.gz.
    with tarfile.open(base / 'youtarr-backup-20240601-120000.tar.gz', 'w:gz') as archive:
        top = 'youtarr-backup-20240601-120000'
        manifest = write_json(base / '.manifest', {'version': '1.0', 'created': '2024-06-01T12:00:00+00:00', 'db_name': 'youtarr', 'items': ['config/config.json', 'database/youtarr.sql'], 'options': {'skip_images': True}})
        for path, name in [(manifest, 'manifest.json'), (base / 'youtarr.sql', 'database/youtarr.sql'), (base / 'config' / 'config.json', 'config/config.json'), (base / 'config' / 'complete.list', 'config/complete.list'), *((one, f'jobs/info/{one.name}') for one in sorted((base / 'jobs' / 'info').iterdir()))]:
            archive.add(path, f'{top}/{name}')
        manifest.unlink()
    next(one for one in expected.doc['videos'] if one['id'] == V('ferry').id)['position'] = {'plex:7': 1.5}
    expected.doc['ignored'] = [V('fog').id]
    expected.doc['subscriptions'] = [{'type': 'channel', 'id': HARBOUR, 'tabs': ['videos', 'shorts'], 'quality': 720, 'min_duration': 60}]
    expected.save()

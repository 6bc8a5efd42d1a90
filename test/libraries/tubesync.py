"""TubeSync: Django's SQLite; metadata in three places."""
from common import *


TUBESYNC = """
CREATE TABLE django_migrations (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, app VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, applied DATETIME NOT NULL);
CREATE TABLE sync_source (uuid CHAR(32) NOT NULL PRIMARY KEY, created DATETIME NOT NULL, last_crawl DATETIME NULL, source_type VARCHAR(1) NOT NULL, "key" VARCHAR(100) NOT NULL UNIQUE, name VARCHAR(100) NOT NULL UNIQUE,
  directory VARCHAR(100) NOT NULL UNIQUE, media_format VARCHAR(200) NOT NULL, index_schedule INTEGER NOT NULL, target_schedule DATETIME NOT NULL, download_media BOOL NOT NULL, index_videos BOOL NOT NULL, index_streams BOOL NOT NULL,
  download_cap INTEGER NOT NULL, delete_old_media BOOL NOT NULL, days_to_keep SMALLINT UNSIGNED NOT NULL, filter_text VARCHAR(200) NOT NULL, filter_text_invert BOOL NOT NULL, filter_seconds INTEGER UNSIGNED NULL,
  filter_seconds_min BOOL NOT NULL, delete_removed_media BOOL NOT NULL, delete_files_on_disk BOOL NOT NULL, source_resolution VARCHAR(8) NOT NULL, source_vcodec VARCHAR(8) NOT NULL, source_acodec VARCHAR(8) NOT NULL,
  prefer_60fps BOOL NOT NULL, prefer_hdr BOOL NOT NULL, fallback VARCHAR(1) NOT NULL, copy_channel_images BOOL NOT NULL, copy_thumbnails BOOL NOT NULL, write_nfo BOOL NOT NULL, write_json BOOL NOT NULL, has_failed BOOL NOT NULL,
  write_subtitles BOOL NOT NULL, auto_subtitles BOOL NOT NULL, sub_langs VARCHAR(30) NOT NULL, enable_sponsorblock BOOL NOT NULL, sponsorblock_categories VARCHAR(128) NOT NULL, embed_metadata BOOL NOT NULL, embed_thumbnail BOOL NOT NULL);
CREATE TABLE sync_media (uuid CHAR(32) NOT NULL PRIMARY KEY, created DATETIME NOT NULL, published DATETIME NULL, "key" VARCHAR(100) NOT NULL, thumb VARCHAR(200) NULL, thumb_width SMALLINT UNSIGNED NULL, thumb_height SMALLINT UNSIGNED NULL,
  metadata TEXT NULL, can_download BOOL NOT NULL, media_file VARCHAR(255) NULL, skip BOOL NOT NULL, manual_skip BOOL NOT NULL, downloaded BOOL NOT NULL, download_date DATETIME NULL, downloaded_format VARCHAR(30) NULL,
  downloaded_height INTEGER UNSIGNED NULL, downloaded_width INTEGER UNSIGNED NULL, downloaded_audio_codec VARCHAR(30) NULL, downloaded_video_codec VARCHAR(30) NULL, downloaded_container VARCHAR(30) NULL,
  downloaded_fps SMALLINT UNSIGNED NULL, downloaded_hdr BOOL NOT NULL, downloaded_filesize BIGINT UNSIGNED NULL, duration INTEGER UNSIGNED NULL, title VARCHAR(200) NOT NULL,
  source_id CHAR(32) NOT NULL REFERENCES sync_source (uuid) DEFERRABLE INITIALLY DEFERRED, UNIQUE (source_id, "key"));
CREATE TABLE sync_media_metadata (uuid CHAR(32) NOT NULL PRIMARY KEY, site VARCHAR(256) NOT NULL, "key" VARCHAR(256) NOT NULL, created DATETIME NOT NULL, retrieved DATETIME NOT NULL, uploaded DATETIME NULL, published DATETIME NULL,
  value TEXT NOT NULL CHECK (JSON_VALID(value) OR value IS NULL), media_id CHAR(32) NULL UNIQUE REFERENCES sync_media (uuid) DEFERRABLE INITIALLY DEFERRED, source_id CHAR(32) NULL REFERENCES sync_source (uuid) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE sync_media_metadata_format (uuid CHAR(32) NOT NULL PRIMARY KEY, site VARCHAR(256) NOT NULL, "key" VARCHAR(256) NOT NULL, number INTEGER UNSIGNED NOT NULL, value TEXT NOT NULL,
  metadata_id CHAR(32) NOT NULL REFERENCES sync_media_metadata (uuid) DEFERRABLE INITIALLY DEFERRED);
"""


def tubesync(base):
    """Django's SQLite; metadata in the media row (old), in sync_media_metadata (new), and in a side file only."""
    expected = Expected(base, 'tubesync', 'v0.18.3', library='downloads', database='config/db.sqlite3', mounts={'/downloads': 'downloads', '/config': 'config'})
    home, config = base / 'downloads', base / 'config'
    config.mkdir(parents=True)
    db = sqlite3.connect(config / 'db.sqlite3')
    db.execute('PRAGMA journal_mode = TRUNCATE')
    db.executescript(TUBESYNC)
    insert(db, 'django_migrations', {'app': 'sync', 'name': '0037_alter_source_fallback', 'applied': django(NOW)})
    hexid = lambda word: uuid.uuid5(uuid.NAMESPACE_URL, word).hex

    def source(key, kind, name, directory, **more):
        row = {'uuid': hexid(key), 'created': django(NOW - 90 * 86_400), 'last_crawl': django(NOW), 'source_type': kind, 'key': key, 'name': name, 'directory': directory,
               'media_format': '{yyyy_mm_dd}_{source}_{title}_{key}_{format}.{ext}', 'index_schedule': 86400, 'target_schedule': django(NOW), 'download_media': 1, 'index_videos': 1, 'index_streams': 0, 'download_cap': 0,
               'delete_old_media': 0, 'days_to_keep': 14, 'filter_text': '', 'filter_text_invert': 0, 'filter_seconds': None, 'filter_seconds_min': 1, 'delete_removed_media': 0, 'delete_files_on_disk': 0,
               'source_resolution': '1080p', 'source_vcodec': 'VP9', 'source_acodec': 'OPUS', 'prefer_60fps': 1, 'prefer_hdr': 0, 'fallback': 'h', 'copy_channel_images': 0, 'copy_thumbnails': 1, 'write_nfo': 1, 'write_json': 1,
               'has_failed': 0, 'write_subtitles': 1, 'auto_subtitles': 0, 'sub_langs': 'en', 'enable_sponsorblock': 1, 'sponsorblock_categories': 'all', 'embed_metadata': 0, 'embed_thumbnail': 0, **more}
        insert(db, 'sync_source', row)
        return row['uuid']

    harbour = source('HarbourAndTide', 'c', 'Harbour and Tide', 'harbour-and-tide', download_cap=31536000, delete_old_media=1, days_to_keep=30, filter_text='unboxing', filter_text_invert=1)
    workshop = source(WORKSHOP, 'i', 'Werkstatt', 'werkstatt', media_format='{yyyy}/{title_full} [{key}].{ext}', index_schedule=0)
    sound = source(PLAYLISTS['mixed'], 'p', 'Sounds', 'sounds', source_resolution='audio', media_format='{playlist_title}/{video_order} {title}_{key}.{ext}')

    def media(video, source_id, path, *, metadata='row', thumb=False, **more):
        key = hexid(video.id + source_id)
        name = None if path is None else Path(path).relative_to(home).as_posix()
        info = info_of(video, 'mkv')
        row = {'uuid': key, 'created': django(video.at + 80_000), 'published': django(video.at), 'key': video.id, 'thumb': f'thumbs/{key[:2]}/{uuid.UUID(key)}.jpg' if thumb else None, 'thumb_width': 64 if thumb else None,
               'thumb_height': 36 if thumb else None, 'metadata': None, 'can_download': 1, 'media_file': name, 'skip': 0, 'manual_skip': 0, 'downloaded': int(name is not None), 'download_date': django(video.at + 86_400) if name else None,
               'downloaded_format': '36p' if name else None, 'downloaded_height': 36, 'downloaded_width': 64, 'downloaded_audio_codec': 'OPUS', 'downloaded_video_codec': 'VP9', 'downloaded_container': 'mkv', 'downloaded_fps': 10,
               'downloaded_hdr': 0, 'downloaded_filesize': Path(path).stat().st_size if path and Path(path).exists() else None, 'duration': video.seconds, 'title': video.title[:200], 'source_id': source_id, **more}
        if metadata == 'row':
            row['metadata'] = json.dumps(info)
        elif metadata == 'table':
            row['metadata'] = json.dumps({'migrated': True, 'epoch': info['epoch'], '_using_table': True})
        insert(db, 'sync_media', row)
        if thumb:
            picture(config / 'media' / row['thumb'])
        if metadata == 'table':
            formats = info.pop('formats')
            meta = hexid('meta' + key)
            insert(db, 'sync_media_metadata', {'uuid': meta, 'site': 'Youtube', 'key': video.id, 'created': django(NOW), 'retrieved': django(NOW), 'uploaded': django(video.at), 'published': django(video.at), 'value': json.dumps(info), 'media_id': key, 'source_id': None})
            insert(db, 'sync_media_metadata_format', {'uuid': hexid('f' + key), 'site': 'Youtube', 'key': video.id, 'number': 1, 'value': json.dumps(formats[0]), 'metadata_id': meta})

    folder = home / 'video' / 'harbour-and-tide'
    for video, where in ((V('breakwater', seconds=3), 'row'), (V('lighthouse'), 'table'), (V('storm'), 'table')):
        stem = folder / f'{video.day}_harbour-and-tide_{slug(video.title)}_{video.id}_1080p-vp9-opus'
        path = film(f'{stem}.mkv', video)
        picture(f'{stem}.jpg')
        sub = text(f'{stem}.en.vtt', VTT)
        text(f'{stem}.nfo', f'<?xml version=\'1.0\' encoding=\'utf8\'?>\n<episodedetails>\n  <title>{video.title}</title>\n  <id>{video.id}</id>\n  <uniqueid type="youtube" default="True">{video.id}</uniqueid>\n  <aired>{video.day}</aired>\n</episodedetails>')
        media(video, harbour, path, metadata=where, thumb=True)
        expected.video(video, path, facts_from='database', thumbnail=Path(f'{stem}.jpg'), subtitles=[{'lang': 'en', 'source': 'file', 'file': sub}], date_downloaded=video.at + 86_400, note='id ends in or begins with _ or -: splitting at _ is wrong' if video.id in ('-breakwater', '_lighthouse') else None)
    # No metadata in the database (it was shrunk or lost); a side file has it.
    side = V('dovetail')
    stem = home / 'video' / 'werkstatt' / '2023' / f'{side.title} [{side.id}]'
    path = film(f'{stem}.mkv', side)
    write_json(f'{stem}.info.json', info_of(side, 'mkv'))
    media(side, workshop, path, metadata='none')
    expected.video(side, path, facts_from='info.json', info=Path(f'{stem}.info.json'))
    # Neither: title, day and length are in the row; the channel is the source's, as it is one by id.
    bare = V('bench')
    path = film(home / 'video' / 'werkstatt' / '2023' / f'{bare.title} [{bare.id}].mkv', bare)
    media(bare, workshop, path, metadata='none')
    expected.video(bare, path, facts_from='database', note='no metadata: channel from the source (type i), rest from the row')
    # The prefix folder was switched off later: the file lies outside of `video/`.
    moved = V('stool')
    path = film(home / 'werkstatt' / '2023' / f'{moved.title} [{moved.id}].mkv', moved)
    media(moved, workshop, home / 'video' / 'werkstatt' / '2023' / f'{moved.title} [{moved.id}].mkv', metadata='row')
    expected.video(moved, path, facts_from='database')
    expected.problem('moved_file', 'found by its id below another folder', file=path, id=moved.id, severity='info')
    song = V('eclipse')
    path = film(home / 'audio' / 'sounds' / 'Watched and liked' / f'05 {slug(song.title)}_{song.id}.ogg', song)
    media(song, sound, path, metadata='table', downloaded_format='audio', downloaded_video_codec=None)
    expected.video(song, path, facts_from='database', audio_only=True, note='channel from metadata, not from the playlist source')
    # Not downloaded: by filter, by hand, deleted there (placeholder).
    media(V('nets'), harbour, None, skip=1)
    media(V('pilots'), harbour, None, skip=1, manual_skip=1)
    media(V('fog'), harbour, None, metadata='none', skip=1, manual_skip=1)
    db.execute("UPDATE sync_media SET metadata = ? WHERE key = ?", (json.dumps({'_media_instance_was_deleted': True, 'extractor_key': 'Youtube', 'thumbnail': 'https://i.ytimg.com/x.jpg'}), V('fog').id))
    premiere = invented('tsPremiere1', 'Premieres in 30 hours', channel=HARBOUR, at=NOW + 30 * 3600)
    media(premiere, harbour, None, metadata='none', skip=0, manual_skip=1)
    db.commit()
    db.close()
    expected.doc['ignored'] = sorted([V('pilots').id, V('fog').id])
    expected.problem('upcoming', 'skipped by hand there only because it is a premiere: not to be ignored', id='tsPremiere1', severity='info')
    expected.problem('filtered', 'skipped by a filter of the source: the filter counts, not the flag', id=V('nets').id, severity='info')
    expected.doc['not_downloaded'] = [V('nets').id, 'tsPremiere1']
    expected.doc['subscriptions'] = [{'type': 'channel', 'handle_or_name': 'HarbourAndTide', 'id': HARBOUR, 'id_from': 'metadata of its videos', 'cutoff_seconds': 31536000, 'retention_days': 30, 'title_filter_exclude': 'unboxing'},
                                     {'type': 'channel', 'id': WORKSHOP, 'enabled': False}, {'type': 'playlist', 'id': PLAYLISTS['mixed'], 'audio_only': True}]
    expected.save()

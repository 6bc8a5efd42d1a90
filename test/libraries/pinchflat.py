"""Pinchflat: an SQLite in WAL form whose newest rows are only in the -wal, and paths as its container sees them."""
from common import *


PINCHFLAT = """
CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, inserted_at TEXT);
CREATE TABLE media_profiles (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, output_path_template TEXT NOT NULL, inserted_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  download_subs INTEGER DEFAULT 1 NOT NULL, download_auto_subs INTEGER DEFAULT 1 NOT NULL, embed_subs INTEGER DEFAULT 1 NOT NULL, sub_langs TEXT DEFAULT 'en' NOT NULL,
  download_thumbnail INTEGER DEFAULT 1 NOT NULL, embed_thumbnail INTEGER DEFAULT 1 NOT NULL, shorts_behaviour TEXT DEFAULT 'include' NOT NULL, livestream_behaviour TEXT DEFAULT 'include' NOT NULL,
  download_metadata INTEGER DEFAULT 1 NOT NULL, embed_metadata INTEGER DEFAULT 1 NOT NULL, preferred_resolution TEXT DEFAULT '1080p' NOT NULL, download_nfo INTEGER DEFAULT 0 NOT NULL,
  download_source_images INTEGER DEFAULT 0 NOT NULL, sponsorblock_behaviour TEXT DEFAULT 'disabled', sponsorblock_categories TEXT DEFAULT '[]', redownload_delay_days INTEGER, marked_for_deletion_at TEXT,
  media_container TEXT, audio_track TEXT);
CREATE TABLE sources (id INTEGER PRIMARY KEY AUTOINCREMENT, collection_name TEXT NOT NULL, collection_id TEXT NOT NULL, collection_type TEXT NOT NULL, original_url TEXT NOT NULL,
  media_profile_id INTEGER NOT NULL CONSTRAINT sources_media_profile_id_fkey REFERENCES media_profiles(id) ON DELETE RESTRICT, inserted_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  index_frequency_minutes INTEGER DEFAULT 1440 NOT NULL, download_media INTEGER DEFAULT 1 NOT NULL, last_indexed_at TEXT, custom_name TEXT NOT NULL, fast_index INTEGER DEFAULT 0 NOT NULL,
  download_cutoff_date TEXT, nfo_filepath TEXT, series_directory TEXT, fanart_filepath TEXT, poster_filepath TEXT, banner_filepath TEXT, title_filter_regex TEXT, uuid TEXT, description TEXT,
  retention_period_days INTEGER, output_path_template_override TEXT, marked_for_deletion_at TEXT, min_duration_seconds INTEGER, max_duration_seconds INTEGER, enabled INTEGER DEFAULT 1 NOT NULL,
  cookie_behaviour TEXT DEFAULT 'disabled' NOT NULL);
CREATE TABLE media_items (id INTEGER PRIMARY KEY AUTOINCREMENT, media_id TEXT NOT NULL, title TEXT, media_filepath TEXT,
  source_id INTEGER NOT NULL CONSTRAINT media_items_source_id_fkey REFERENCES sources(id) ON DELETE RESTRICT, inserted_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  subtitle_filepaths TEXT DEFAULT '[]', thumbnail_filepath TEXT, metadata_filepath TEXT, livestream INTEGER DEFAULT 0 NOT NULL, original_url TEXT NOT NULL, media_downloaded_at TEXT, details_updated_at TEXT,
  description TEXT, media_size_bytes INTEGER, short_form_content INTEGER DEFAULT 0 NOT NULL, uploaded_at TEXT DEFAULT '1970-01-01' NOT NULL, nfo_filepath TEXT, uuid TEXT, duration_seconds INTEGER,
  prevent_download INTEGER DEFAULT 0 NOT NULL, culled_at TEXT, prevent_culling INTEGER DEFAULT 0, media_redownloaded_at TEXT, upload_date_index INTEGER DEFAULT 0 NOT NULL,
  playlist_index INTEGER DEFAULT 0 NOT NULL, predicted_media_filepath TEXT, last_error TEXT);
CREATE UNIQUE INDEX media_items_media_id_source_id_index ON media_items (media_id, source_id);
CREATE TABLE media_metadata (id INTEGER PRIMARY KEY AUTOINCREMENT, media_item_id INTEGER NOT NULL REFERENCES media_items(id) ON DELETE CASCADE, inserted_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  metadata_filepath TEXT NOT NULL, thumbnail_filepath TEXT NOT NULL);
CREATE TABLE source_metadata (id INTEGER PRIMARY KEY AUTOINCREMENT, metadata_filepath TEXT NOT NULL, source_id INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE, inserted_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  fanart_filepath TEXT, poster_filepath TEXT, banner_filepath TEXT);
CREATE TABLE settings (id INTEGER PRIMARY KEY AUTOINCREMENT, onboarding INTEGER DEFAULT 1 NOT NULL, pro_enabled INTEGER DEFAULT 0 NOT NULL, yt_dlp_version TEXT, apprise_server TEXT, apprise_version TEXT,
  video_codec_preference TEXT DEFAULT 'avc' NOT NULL, audio_codec_preference TEXT DEFAULT 'm4a' NOT NULL, youtube_api_key TEXT, route_token TEXT DEFAULT 'tmp-token' NOT NULL,
  extractor_sleep_interval_seconds NUMBER DEFAULT 0 NOT NULL, download_throughput_limit TEXT, restrict_filenames INTEGER DEFAULT 0);
CREATE VIRTUAL TABLE media_items_search_index USING fts5(title, description, tokenize=trigram);
CREATE TRIGGER media_items_search_index_insert AFTER INSERT ON media_items BEGIN INSERT INTO media_items_search_index(rowid, title, description) VALUES (new.id, new.title, new.description); END;
"""


def pinchflat(base):
    """SQLite in WAL form whose newest rows are only in the -wal; paths of the container; one renamed, one missing, two sources with one video."""
    expected = Expected(base, 'pinchflat', 'v2025.9.26', library='downloads', database='config/db/pinchflat.db', mounts={'/downloads': 'downloads', '/config': 'config'})
    home, config = base / 'downloads', base / 'config'
    live = base / '.live' / 'pinchflat.db'
    live.parent.mkdir(parents=True)
    db = sqlite3.connect(live, isolation_level=None)
    db.execute('PRAGMA journal_mode = WAL')
    db.executescript(PINCHFLAT)
    stamp = {'inserted_at': iso(NOW - 90 * 86_400), 'updated_at': iso(NOW)}
    insert(db, 'schema_migrations', {'version': 20250317213740, 'inserted_at': iso(NOW)})
    insert(db, 'settings', {'onboarding': 0})
    centre = insert(db, 'media_profiles', {'name': 'Shows', 'output_path_template': '/shows/{{ source_custom_name }}/{{ season_by_year__episode_by_date_and_index }} - {{ title }}.{{ ext }}', **stamp,
                                           'download_nfo': 1, 'shorts_behaviour': 'exclude', 'livestream_behaviour': 'include', 'preferred_resolution': '1080p', 'sub_langs': 'en,de', 'sponsorblock_behaviour': 'mark', 'sponsorblock_categories': '["sponsor"]'})
    plain = insert(db, 'media_profiles', {'name': 'Default', 'output_path_template': '/{{ source_custom_name }}/{{ upload_yyyy_mm_dd }} {{ title }}/{{ title }} [{{ id }}].{{ ext }}', **stamp, 'media_container': 'mkv', 'preferred_resolution': '720p'})
    audio = insert(db, 'media_profiles', {'name': 'Music', 'output_path_template': '/music/{{ artist_name }}/{{ title }}.{{ ext }}', **stamp, 'preferred_resolution': 'audio', 'media_container': 'm4a'})
    source = lambda row: insert(db, 'sources', {'uuid': str(uuid.uuid5(uuid.NAMESPACE_URL, row['original_url'] + row['custom_name'])), **stamp, **row})
    harbour = source({'collection_name': CHANNELS[HARBOUR], 'collection_id': HARBOUR, 'collection_type': 'channel', 'original_url': 'https://www.youtube.com/@HarbourAndTide', 'media_profile_id': centre, 'custom_name': 'Harbour',
                      'download_cutoff_date': '2023-03-10', 'retention_period_days': 365, 'title_filter_regex': '(?i)^(?!.*unboxing)', 'min_duration_seconds': 1, 'series_directory': '/downloads/shows/Harbour',
                      'nfo_filepath': '/downloads/shows/Harbour/tvshow.nfo', 'poster_filepath': '/downloads/shows/Harbour/poster.jpg'})
    list_ = source({'collection_name': 'The coast in five films', 'collection_id': PLAYLISTS['coast'], 'collection_type': 'playlist', 'original_url': f"https://www.youtube.com/playlist?list={PLAYLISTS['coast']}",
                    'media_profile_id': plain, 'custom_name': 'Coast', 'enabled': 0})
    music = source({'collection_name': CHANNELS[ORBIT], 'collection_id': ORBIT, 'collection_type': 'channel', 'original_url': f'https://www.youtube.com/channel/{ORBIT}', 'media_profile_id': audio, 'custom_name': 'Orbit', 'download_media': 0})
    inside = lambda path: None if path is None else '/downloads/' + Path(path).relative_to(home).as_posix()
    number = 0

    def item(video, source_id, path, *, subs=(), thumb=None, nfo=None, info=None, store=True, **more):
        nonlocal number
        number += 1
        row = {'media_id': video.id, 'title': video.title, 'media_filepath': inside(path), 'source_id': source_id, **stamp, 'original_url': video.url.replace('watch?v=', 'shorts/') if video.tab == 'shorts' else video.url,
               'media_downloaded_at': iso(video.at + 86_400) if path else None, 'description': video.description, 'media_size_bytes': path.stat().st_size if path and path.exists() else None,
               'livestream': int(video.tab == 'streams'), 'short_form_content': int(video.tab == 'shorts'), 'uploaded_at': iso(video.at), 'duration_seconds': video.seconds, 'upload_date_index': 99,
               'subtitle_filepaths': json.dumps([[lang, inside(file)] for lang, file in subs]), 'thumbnail_filepath': inside(thumb), 'nfo_filepath': inside(nfo), 'metadata_filepath': inside(info),
               'uuid': str(uuid.uuid5(uuid.NAMESPACE_URL, f'{video.id}-{source_id}')), **more}
        key = insert(db, 'media_items', row)
        if store:
            folder = config / 'metadata' / 'media_items' / str(key)
            folder.mkdir(parents=True)
            (folder / 'metadata.json.gz').write_bytes(gzip.compress(json.dumps(info_of(video, channel_id=video.channel, requested_subtitles={})).encode(), mtime=0))
            picture(folder / 'thumbnail.jpg')
            insert(db, 'media_metadata', {'media_item_id': key, **stamp, 'metadata_filepath': f'/config/metadata/media_items/{key}/metadata.json.gz', 'thumbnail_filepath': f'/config/metadata/media_items/{key}/thumbnail.jpg'})
        return key

    def episode(video, root, index='99'):
        stem = f"s{video.day[:4]}e{video.day[5:7]}{video.day[8:]}{index} - {ytdlp_name(video.title)}"
        return root / f'Season {video.day[:4]}' / stem

    show = home / 'shows' / 'Harbour'
    for video in (V('lighthouse'), V('ferry', seconds=3), V('storm', seconds=3)):
        stem = episode(video, show)
        path = film(f'{stem}.mp4', video, tags=tags_of(video, video.day))
        sub = text(f'{stem}.en.srt', SRT)
        picture(f'{stem}-thumb.jpg')
        nfo = text(f'{stem}.nfo', f'<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>\n<episodedetails>\n  <title>{video.title}</title>\n  <showtitle>Harbour &amp; Tide</showtitle>\n  <uniqueid type="youtube" default="true">{video.id}</uniqueid>\n  <aired>{video.day} 00:00:00Z</aired>\n</episodedetails>\n')
        write_json(f'{stem}.info.json', info_of(video))
        item(video, harbour, path, subs=[('en', sub)], thumb=Path(f'{stem}-thumb.jpg'), nfo=nfo, info=Path(f'{stem}.info.json'), **({'prevent_culling': 1} if video.id == '6Qh9CyDYDT4' else {}))
        expected.video(video, path, facts_from='database', kept=video.id == '6Qh9CyDYDT4', subtitles=[{'lang': 'en', 'source': 'file', 'file': sub}], thumbnail=Path(f'{stem}-thumb.jpg'), nfo=nfo, info=Path(f'{stem}.info.json'), date_downloaded=video.at + 86_400)
    text(show / 'tvshow.nfo', f'<tvshow><title>Harbour</title><uniqueid type="youtube" default="true">{HARBOUR}</uniqueid></tvshow>')
    picture(show / 'poster.jpg')
    # In both sources: one film in each, different profiles.
    both = V('breakwater', seconds=3)
    stem = home / 'Coast' / f'{both.day} {ytdlp_name(both.title)}' / f'{ytdlp_name(both.title)} [{both.id}]'
    path = film(f'{stem}.mkv', both, kind='mkv-h264')
    item(both, list_, path, playlist_index=1)
    expected.video(both, path, facts_from='database', note='of a playlist source: channel_id is only in metadata.json.gz', playlist=[PLAYLISTS['coast']])
    # Redownloaded under another name; the row still has the old one.
    moved = V('charts')
    now = film(home / 'Coast' / f'{moved.day} {moved.title}' / f'Reading a sea chart (new cut) [{moved.id}].mkv', moved, kind='mkv')
    item(moved, list_, home / 'Coast' / f'{moved.day} {moved.title}' / f'{moved.title} [{moved.id}].mkv', playlist_index=5)
    expected.video(moved, now, facts_from='database', note='the stored path is gone; found by [id] in the same folder')
    expected.problem('moved_file', 'not where the database says; found by its id', file=now, id=moved.id, severity='info')
    # Gone from disk, and from nowhere to be had.
    gone = invented('pfMissing01', 'Lost with the old disk', channel=HARBOUR)
    item(gone, harbour, home / 'shows' / 'Harbour' / 'Season 2022' / 's2022e010199 - Lost.mp4')
    expected.problem('missing_file', 'the database names a file that is not there', id=gone.id, severity='error')
    # Audio, with m4a.
    song = V('comet')
    path = film(home / 'music' / 'Orbit Notes' / f'{song.title}.m4a', song)
    item(song, music, path)
    expected.video(song, path, facts_from='database', audio_only=True)
    # Never downloaded: filtered, culled, forbidden, failed.
    item(V('gull'), harbour, None, store=False)  # a short, profile excludes shorts: pending, no decision
    item(V('nets'), harbour, None, store=False, culled_at=iso(NOW - 5 * 86_400), prevent_download=1)
    item(invented('pfMembers01', 'For members', channel=HARBOUR), harbour, None, store=False, last_error='ERROR: [youtube] pfMembers01: Join this channel to get access to members-only content like this video')
    db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    # Only in the -wal: a person forbade one more, a minute ago.
    item(V('mussels'), harbour, None, store=False, prevent_download=1)
    (config / 'db').mkdir(parents=True)
    for name in ('pinchflat.db', 'pinchflat.db-wal'):
        shutil.copy(live.parent / name, config / 'db' / name)
    db.close()
    shutil.rmtree(live.parent)
    expected.doc['ignored'] = sorted([V('nets').id, V('mussels').id])
    expected.problem('wal', 'newest rows are only in pinchflat.db-wal: read a copy of both files, in a folder of our own', file=config / 'db' / 'pinchflat.db-wal', severity='info')
    expected.problem('not_downloaded', 'indexed there and never downloaded: left to the next scan', id='pfMembers01', severity='info')
    expected.doc['not_downloaded'] = sorted([V('gull').id, 'pfMembers01'])
    expected.doc['subscriptions'] = [
        {'type': 'channel', 'id': HARBOUR, 'name': 'Harbour', 'profile': 'Shows', 'download_format_height': 1080, 'subscriptions_shorts_channel_size': 0, 'cutoff': '2023-03-10', 'retention_days': 365, 'title_filter': '(?i)^(?!.*unboxing)'},
        {'type': 'playlist', 'id': PLAYLISTS['coast'], 'name': 'Coast', 'enabled': False}, {'type': 'channel', 'id': ORBIT, 'name': 'Orbit', 'enabled': True, 'download': False}]
    expected.save()

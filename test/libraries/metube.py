"""MeTube: a flat folder without ids, and a list of what was downloaded."""
from common import *


def metube(base):
    """A flat folder without ids; what is known is in completed.json, by URL and file name."""
    expected = Expected(base, 'metube', '2026.08.21', library='downloads', state='downloads/.metube')
    home, state = base / 'downloads', base / 'downloads' / '.metube'
    done = []

    def record(video, filename, folder='', **more):
        done.append({'key': video.url, 'info': {'id': video.id, 'title': video.title, 'url': video.url, 'quality': 'best', 'download_type': 'video', 'codec': 'auto', 'format': 'any', 'folder': folder, 'custom_name_prefix': '', 'playlist_item_limit': 0,
                    'split_by_chapters': False, 'sponsorblock': False, 'chapter_template': '', 'subtitle_language': 'en', 'subtitle_mode': 'prefer_manual', 'ytdl_options_presets': [], 'ytdl_options_overrides': {}, 'status': 'finished',
                    'timestamp': (video.at + 86_400) * 1_000_000_000, 'filename': filename, 'size': 1234, **more}})

    for video, ext, folder in ((V('ferry', seconds=3), 'mp4', ''), (V('oil'), 'webm', ''), (V('comet'), 'mkv', 'space')):
        name = f'{ytdlp_name(video.title)}.{ext}'
        path = film(home / folder / name, video)
        record(video, name, folder)
        expected.video(video, path, facts_from='platform', id_from='completed.json', date_downloaded=video.at + 86_400)
    tagged = V('lagrange')
    path = film(home / f'{tagged.title}.mkv', tagged, tags=tags_of(tagged))
    expected.video(tagged, path, facts_from='tags', id_from='tags', note='cleared from the list; purl or comment has the address')
    listed = V('fog')
    path = film(home / 'The coast in five films' / f'{listed.title}.mp4', listed)
    record(listed, f'The coast in five films/{listed.title}.mp4')
    expected.video(listed, path, facts_from='platform', id_from='completed.json')
    # Same title, two videos: the second overwrote the first; both records name the file.
    record(invented('mtTwin00001', V('ferry').title), f"{ytdlp_name(V('ferry').title)}.mp4")
    expected.problem('ambiguous_id', 'two videos name the same file: the newer record wins only where its length fits, else a person decides', file=home / f"{ytdlp_name(V('ferry').title)}.mp4", id='mtTwin00001')
    unknown = film(home / 'Holiday 2019.mp4', None)
    expected.problem('no_id', 'no id in name, list or tags', file=unknown)
    song = invented('mtAudio0001', 'A song', channel=GONE_CHANNEL)
    path = film(home / 'A song.mp3', song)
    record(song, 'A song.mp3', download_type='audio', format='mp3')
    expected.problem('no_facts', 'known by its id, but the platform has it no more and nothing beside it tells its channel', file=path, id=song.id, severity='error')
    text(home / 'Half.mp4.part', b'\0' * 64), text(home / 'Half.mp4.ytdl', '{}')
    expected.problem('unfinished', 'a part of a download', file=home / 'Half.mp4.part', severity='info')
    failed = V('storm')
    done.append({'key': failed.url, 'info': {'id': failed.id, 'title': failed.title, 'url': failed.url, 'status': 'error', 'msg': 'ERROR: unavailable', 'folder': '', 'timestamp': NOW * 1_000_000_000, 'entry': {'channel_id': HARBOUR}}})
    write_json(state / 'completed.json', {'schema_version': 2, 'kind': 'persistent_queue:completed', 'items': done})
    write_json(state / 'queue.json', {'schema_version': 2, 'kind': 'persistent_queue:queue', 'items': [{'key': V('charts').url, 'info': {'id': V('charts').id, 'title': V('charts').title, 'url': V('charts').url, 'status': 'pending', 'timestamp': NOW * 1_000_000_000}}]})
    write_json(state / 'pending.json', {'schema_version': 2, 'kind': 'persistent_queue:pending', 'items': []})
    write_json(state / 'subscriptions.json', {'schema_version': 2, 'kind': 'subscriptions', 'items': [{'id': 'a1', 'name': 'Harbour & Tide', 'url': 'https://www.youtube.com/@HarbourAndTide/videos', 'enabled': True, 'check_interval_minutes': 60, 'title_regex': '', 'seen_ids': [V('ferry').id, V('mussels').id], 'timestamp': NOW}]})
    expected.doc['queue'] = [V('charts').id]
    expected.doc['subscriptions'] = [{'type': 'channel', 'handle': '@HarbourAndTide', 'tabs': ['videos'], 'enabled': True}]
    expected.save()

"""Plain yt-dlp: all that can lie in a folder."""
from common import *


def yt_dlp(base):
    """All that can lie in a folder."""
    expected = Expected(base, 'yt-dlp', '2026.08.19', library='videos', archive='videos/archive.txt')
    home = base / 'videos'
    flat = home / 'Harbour & Tide'
    # Default name, all side files, two languages, comments inside.
    full = V('breakwater', seconds=3)
    stem = flat / f'{ytdlp_name(full.title)} [{full.id}]'
    path = film(f'{stem}.mp4', full, tags=tags_of(full))
    write_json(f'{stem}.info.json', info_of(full, comments=[{'id': 'Ugx1', 'text': 'first', 'timestamp': NOW, 'author': '@a', 'author_id': HARBOUR, 'parent': 'root', 'like_count': 3}], comment_count=1))
    picture(f'{stem}.webp'), text(f'{stem}.description', full.description)
    subs = [text(f'{stem}.en.vtt', VTT), text(f'{stem}.de-orig.vtt', VTT.replace('Language: en', 'Language: de'))]
    text(f'{stem}.live_chat.json', '{}\n')
    expected.video(full, path, facts_from='info.json', info=Path(f'{stem}.info.json'), thumbnail=Path(f'{stem}.webp'), comments=1,
                   subtitles=[{'lang': 'de-orig', 'source': 'file', 'file': subs[1]}, {'lang': 'en', 'source': 'file', 'file': subs[0]}])
    # webm and its NFD name; the side file is NFC.
    german = V('oil')
    nfd = unicodedata.normalize('NFD', f'{ytdlp_name(german.title)} [{german.id}]')
    path = film(home / 'Kleine Werkstatt' / f'{nfd}.webm', german)
    nfc = home / 'Kleine Werkstatt' / (unicodedata.normalize('NFC', nfd) + '.info.json')
    write_json(nfc, info_of(german, 'webm'))
    expected.video(german, path, facts_from='info.json', info=nfc, note='the name of the film is NFD, that of the side file NFC: match by normalised names, open by the bytes of the folder')
    # youtube-dl's old name, Title-ID: the id begins with -, so the name has two.
    old = V('plane')
    path = film(home / 'Kleine Werkstatt' / f'{old.title}-{old.id}.mkv', old, kind='mkv-h264')
    expected.video(old, path, facts_from='platform', id_from='name', note='Title-ID of youtube-dl: the last eleven characters, certain only with archive.txt or the platform')
    # Without id in the name: info.json tells.
    named = V('storm', seconds=3)
    path = film(flat / '2023-07-15 The storm.mp4', named)
    write_json(flat / '2023-07-15 The storm.info.json', info_of(named))
    expected.video(named, path, facts_from='info.json', info=flat / '2023-07-15 The storm.info.json', id_from='info.json')
    # Renamed film beside its old side file: only the tags tell; the side file is another name's.
    renamed = V('charts')
    path = film(flat / 'My favourite.mkv', renamed, tags=tags_of(renamed))
    write_json(flat / f'{renamed.title} [{renamed.id}].info.json', info_of(renamed, 'mkv'))
    expected.video(renamed, path, facts_from='info.json', id_from='tags', info=flat / f'{renamed.title} [{renamed.id}].info.json', note='by the id in the tags, then by the id in the name of the side file')
    # Brackets that are no id.
    tricky = V('reentry')
    path = film(home / 'Orbit' / f'Coming home [1080p] [{tricky.id}] [h264].mp4', tricky)
    expected.video(tricky, path, facts_from='platform', id_from='name')
    eleven = film(home / 'Orbit' / 'Talk [director-cut-x] part.mp4', None)
    expected.problem('no_id', 'the brackets hold no id of the platform', file=eleven)
    looks = film(home / 'Orbit' / 'Trailer [Remastered_].mp4', None)  # eleven characters, no video
    expected.problem('unsure_id', 'eleven characters in brackets, but no side file, no tag, not in the archive, and the platform does not know it', file=looks, id='Remastered_')
    # Gone upstream, with a side file, members only.
    gone = invented('goneMill002', 'How flour was made', seconds=3)
    path = film(home / 'Closed Mill' / f'{gone.title} [{gone.id}].mp4', gone)
    write_json(home / 'Closed Mill' / f'{gone.title} [{gone.id}].info.json', info_of(gone, availability='subscriber_only', timestamp=None))
    expected.video(gone, path, facts_from='info.json', info=home / 'Closed Mill' / f'{gone.title} [{gone.id}].info.json', active=None, note='no timestamp: upload_date; not on the platform any more')
    bare = invented('goneMill003', 'Nothing is known')
    path = film(home / 'Closed Mill' / f'{bare.title} [{bare.id}].mp4', bare)
    expected.problem('no_facts', 'not on the platform and nothing beside it', file=path, id=bare.id, severity='error')
    # Broken and foreign side files.
    broken = V('nets')
    path = film(flat / f'{broken.title} [{broken.id}].mp4', broken)
    text(flat / f'{broken.title} [{broken.id}].info.json', '{"id": "KsEjESzrR6k", "title": "Mend')
    expected.video(broken, path, facts_from='platform', note='info.json is cut off')
    expected.problem('unreadable_sidecar', 'the information file is no JSON', file=flat / f'{broken.title} [{broken.id}].info.json', id=broken.id)
    wrong = V('fog')
    path = film(flat / f'{wrong.title} [{wrong.id}].mp4', wrong)
    write_json(flat / f'{wrong.title} [{wrong.id}].info.json', info_of(V('pilots')))
    expected.video(wrong, path, facts_from='platform', note='the side file tells of another video')
    expected.problem('foreign_sidecar', 'the information file tells of another video', file=flat / f'{wrong.title} [{wrong.id}].info.json', id=wrong.id)
    # Unfinished.
    for name in ('x [mVUt6ZmKK4J].mp4.part', 'x [mVUt6ZmKK4J].mp4.ytdl', 'x [mVUt6ZmKK4J].mp4.part-Frag7', 'x [mVUt6ZmKK4J].f137.mp4', 'x [mVUt6ZmKK4J].f140.m4a', 'x [mVUt6ZmKK4J].temp.mp4', 'x [mVUt6ZmKK4J].f251-1.webm'):
        text(flat / name, b'\0' * 64)
    expected.problem('unfinished', 'seven leavings of one download that was cut off: one line, not seven', file=flat / 'x [mVUt6ZmKK4J].f137.mp4', id='mVUt6ZmKK4J', severity='info')
    empty = text(flat / 'Nothing [SxJeyZp0RwU].mp4', b'')
    expected.problem('not_a_film', 'no bytes', file=empty, id='SxJeyZp0RwU', severity='error')
    lies = text(flat / 'List [7FgNHiNcuiC].mp4', '#EXTM3U\n#EXTINF:1,\n/etc/passwd\n')
    expected.problem('not_a_film', 'a playlist that calls itself a film', file=lies, id='7FgNHiNcuiC', severity='error')
    # Playlist folder, with the playlist's own side file; one film is a hard link, one a symbolic link, one a copy.
    coast = home / 'Playlists' / 'The coast in five films'
    write_json(coast / f"The coast in five films [{PLAYLISTS['coast']}].info.json", {'_type': 'playlist', 'id': PLAYLISTS['coast'], 'title': 'The coast in five films', 'channel_id': HARBOUR, 'channel': CHANNELS[HARBOUR], 'playlist_count': 5, 'extractor': 'youtube:tab', 'extractor_key': 'YoutubeTab', 'webpage_url': f"https://www.youtube.com/playlist?list={PLAYLISTS['coast']}"})
    own = V('ferry')
    path = film(coast / f'03 - {own.title} [{own.id}].mp4', own)
    write_json(path.with_suffix('.info.json'), info_of(own, playlist_id=PLAYLISTS['coast'], playlist='The coast in five films', playlist_index=3))
    expected.video(own, path, facts_from='info.json', info=path.with_suffix('.info.json'), playlist=[PLAYLISTS['coast']])
    os.link(f'{stem}.mp4', coast / f'01 - {ytdlp_name(full.title)} [{full.id}].mp4')
    expected.problem('hard_link', 'the same file under two names: one video, no second size', file=coast / f'01 - {ytdlp_name(full.title)} [{full.id}].mp4', id=full.id, severity='info')
    os.symlink(os.path.relpath(flat / f'{wrong.title} [{wrong.id}].mp4', coast), coast / f'04 - {wrong.title} [{wrong.id}].mp4')
    expected.problem('symbolic_link', 'a link into the same library', file=coast / f'04 - {wrong.title} [{wrong.id}].mp4', id=wrong.id, severity='info')
    os.symlink('/etc/hostname', coast / 'outside [SxJeyZp0RwU].mp4')
    expected.problem('outside_root', 'a link that leads out of the library', file=coast / 'outside [SxJeyZp0RwU].mp4', id='SxJeyZp0RwU')
    os.symlink('..', coast / 'round and round')
    expected.problem('loop', 'a folder that contains itself', file=coast / 'round and round', severity='info')
    copy = film(coast / f'05 - {named.title.translate(FULL_WIDTH)} [{named.id}].webm', named)
    expected.problem('duplicate', 'a second file of the video, in another container', file=copy, id=named.id)
    # Split chapters: three files with one id; the whole film lies beside.
    chapters = V('lagrange', seconds=3)
    path = film(home / 'Orbit' / f'{chapters.title} [{chapters.id}].mp4', chapters)
    expected.video(chapters, path, facts_from='platform', id_from='name')
    for number, name in enumerate(('L1', 'L2'), 1):
        part = film(home / 'Orbit' / f'{chapters.title} - {number:03d} {name} [{chapters.id}].mp4', invented(chapters.id, name, channel=ORBIT, seconds=1))
        expected.problem('part_of_film', 'a chapter: its name goes on after the title, and it is shorter', file=part, id=chapters.id)
    # A name that is no UTF-8 (an old disk, Latin-1): as text it cannot be opened again.
    latin = V('glue')
    made = film(home / 'Kleine Werkstatt' / 'latin.mp4', latin)
    raw = os.fsencode(home / 'Kleine Werkstatt') + b'/Zu viel Leim f\xfcr H\xf6lzer [' + latin.id.encode() + b'].mp4'
    try:
        os.rename(os.fsencode(made), raw)
        expected.problem('unreadable_name', 'the name is no UTF-8: read names as bytes, or tell', id=latin.id)
        expected.doc['problems'][-1]['file_hex'] = os.path.relpath(raw, os.fsencode(base)).hex()
    except OSError:
        made.unlink()  # a file system that takes only UTF-8
    # Sound only.
    song = V('comet')
    path = film(home / 'Music' / f'{song.title} [{song.id}].m4a', song, tags=tags_of(song))
    expected.video(song, path, facts_from='platform', audio_only=True, id_from='name')
    vimeo = film(home / 'Elsewhere' / 'A walk [76979871].mp4', None)
    write_json(home / 'Elsewhere' / 'A walk [76979871].info.json', {'id': '76979871', 'title': 'A walk', 'extractor': 'vimeo', 'extractor_key': 'Vimeo', 'uploader': 'Somebody', 'upload_date': '20240101', 'duration': 1, 'webpage_url': 'https://vimeo.com/76979871', '_type': 'video'})
    expected.problem('foreign_platform', 'of vimeo, not of the platform', file=vimeo, id='76979871')
    text(home / 'archive.txt', ''.join(f'youtube {id}\n' for id in [full.id, german.id, old.id, named.id, renamed.id, tricky.id, gone.id, V('mussels').id]) + 'vimeo 76979871\n')
    expected.problem('in_archive_only', 'in archive.txt, no file: offered for the ignore list', id=V('mussels').id, severity='info')
    expected.doc['ignored_optional'] = [V('mussels').id]
    expected.doc['playlists'] = [{'id': PLAYLISTS['coast'], 'type': 'regular', 'from': 'playlist information file'}]
    expected.save()

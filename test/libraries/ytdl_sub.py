"""ytdl-sub: an archive file for each subscription, names without ids."""
from common import *


def ytdl_sub(base):
    """Archive file per subscription; Jellyfin and Plex forms; names without ids."""
    expected = Expected(base, 'ytdl-sub', '2026.07.17', library='tv_shows', mounts={'/tv_shows': 'tv_shows', '/config': 'config'})
    root = base / 'tv_shows'

    def entry(folder, archive, video, index, *, ext='mp4', info=True, nfo=True, thumb='jpg', **more):
        stem = f"Season {video.day[:4]}/s{video.day[:4]}.e{int(video.day[5:7]):02d}{video.day[8:]}{index:02d} - {ytdlp_name(video.title)}"
        path = film(folder / f'{stem}.{ext}', video, tags={'title': f'{video.day} - {video.title}', 'show': folder.name, 'date': video.day, 'synopsis': f'{video.url}\n\n{video.description}'})
        names = [f'{stem}.{ext}']
        if info:
            extra = {'ytdl_sub_entry_variables': {'uid': video.id, 'title': video.title}, 'playlist_index': 1}
            write_json(folder / f'{stem}.info.json', info_of(video, ext, **extra), indent=2)
            names.append(f'{stem}.info.json')
        if nfo:
            text(folder / f'{stem}.nfo', f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<episodedetails>\n  <aired>{video.day}</aired>\n  <title>{video.day} - {video.title}</title>\n  <plot>{video.url}\n\n{video.description}</plot>\n</episodedetails>')
            names.append(f'{stem}.nfo')
        picture(folder / f'{stem}-thumb.jpg')
        names.append(f'{stem}-thumb.jpg')
        archive[video.id] = {'extractor': 'youtube', 'file_names': sorted(names), 'playlist_index': None, 'upload_date': video.day}
        return path, stem

    show, archive = root / 'Harbour & Tide', {}
    for video in (V('ferry', seconds=3), V('charts'), V('storm'), V('gull')):
        path, stem = entry(show, archive, video, 1)
        expected.video(video, path, facts_from='info.json', info=show / f'{stem}.info.json', thumbnail=show / f'{stem}-thumb.jpg', nfo=show / f'{stem}.nfo')
    # Without a side file: id and day from the archive, title from the nfo or the tags (after the day), no channel.
    bare = V('fog')
    path, stem = entry(show, archive, bare, 1, info=False)
    archive[bare.id]['file_names'] = [name for name in archive[bare.id]['file_names']]
    expected.video(bare, path, facts_from='archive', thumbnail=show / f'{stem}-thumb.jpg', nfo=show / f'{stem}.nfo', note='no info.json: id and day from the archive; the rest from the platform')
    # In the archive, and no file: deleted by hand; ytdl-sub would not fetch it again.
    archive[V('nets').id] = {'extractor': 'youtube', 'file_names': ['Season 2023/s2023.e041801 - Mending nets with Ingrid.mp4'], 'upload_date': '2023-04-18'}
    expected.problem('missing_file', 'in the archive, no file', id=V('nets').id)
    archive['123456789'] = {'extractor': 'vimeo', 'file_names': ['Season 2023/s2023.e050101 - From elsewhere.mp4'], 'upload_date': '2023-05-01'}
    elsewhere = film(show / 'Season 2023' / 's2023.e050101 - From elsewhere.mp4', None)
    expected.problem('foreign_platform', 'of vimeo, not of the platform', file=elsewhere, id='123456789')
    write_json(show / '.ytdl-sub-Harbour & Tide-download-archive.json', archive, indent=2)
    text(show / 'tvshow.nfo', '<tvshow><title>Harbour &amp; Tide</title></tvshow>')
    picture(show / 'poster.jpg'), picture(show / 'fanart.jpg')
    # Two subscriptions into one folder, Plex form (no nfo), one video in both archives.
    plex, one, two = root / 'Workshops', {}, {}
    for video, into in ((V('dovetail'), one), (V('stool'), two)):
        path, stem = entry(plex, into, video, 1, nfo=False)
        expected.video(video, path, facts_from='info.json', info=plex / f'{stem}.info.json', thumbnail=plex / f'{stem}-thumb.jpg')
    two[V('dovetail').id] = one[V('dovetail').id]
    # Split by chapters: files of one id.
    whole = V('lagrange')
    path, stem = entry(plex, one, whole, 1, nfo=False)
    parts = []
    for number in (1, 2):
        part = film(plex / 'Season 2024' / f'{whole.title} - {number} L{number}.mp4', invented(whole.id, f'L{number}', channel=ORBIT, seconds=1))
        parts.append(part)
        one[whole.id]['file_names'].append(part.relative_to(plex).as_posix())
        expected.problem('part_of_film', 'a chapter of a film, not the film: the longest is adopted', file=part, id=whole.id)
    expected.video(whole, path, facts_from='info.json', info=plex / f'{stem}.info.json', thumbnail=plex / f'{stem}-thumb.jpg')
    write_json(plex / '.ytdl-sub-Joinery-download-archive.json', one, indent=2)
    write_json(plex / '.ytdl-sub-Wood-download-archive.json', two, indent=2)
    text(base / 'config' / 'subscriptions.yaml', '__preset__:\n  overrides:\n    tv_show_directory: "/tv_shows"\n\nJellyfin TV Show by Date:\n  = Documentaries:\n    "Harbour & Tide": "https://www.youtube.com/@HarbourAndTide"\nPlex TV Show by Date | Only Recent:\n  = Crafts:\n    "Joinery":\n      - "https://www.youtube.com/playlist?list=%s"\n' % PLAYLISTS['joinery'])
    expected.doc['subscriptions'] = [{'type': 'channel', 'handle': '@HarbourAndTide', 'name': 'Harbour & Tide', 'from': 'config/subscriptions.yaml'}, {'type': 'playlist', 'id': PLAYLISTS['joinery'], 'name': 'Joinery'}]
    expected.doc['ignored_optional'] = [V('nets').id]
    expected.save()

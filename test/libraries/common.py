"""What all made libraries share: the videos that exist, films of seconds, side files, and what must be found."""
import gzip, hashlib, json, os, shutil, sqlite3, struct, subprocess, sys, tarfile, unicodedata, uuid, zipfile
from datetime import datetime, timezone
from pathlib import Path

NOW = 1_717_243_200  # 2024-06-01 12:00 UTC: "today" of all fixtures

# ---------------------------------------------------- the loopback platform's ids, and ids that it does not know
HARBOUR, WORKSHOP, ORBIT = 'UCqnT2_QO_aL5-D0vQbK5hpy', 'UC7lENGgesfmSR6hkc0ZGOpV', 'UCT6GhOsRorElfM5DoWddtXo'
CHANNELS = {HARBOUR: 'Harbour & Tide', WORKSHOP: 'Kleine Werkstatt', ORBIT: 'Orbit Notes'}
GONE_CHANNEL = 'UCgone0000000000000000AA'
CHANNELS[GONE_CHANNEL] = 'Closed Mill'
SEED = {  # key: id, channel, tab, title, number of the row (gives the time)
    'breakwater': ('-breakwater', HARBOUR, 'videos', 'Rebuilding the breakwater, stone by stone', 0),
    'lighthouse': ('_lighthouse', HARBOUR, 'videos', 'A night in the lighthouse', 1),
    'ferry': ('6Qh9CyDYDT4', HARBOUR, 'videos', 'Why the old ferry still runs', 2),
    'nets': ('KsEjESzrR6k', HARBOUR, 'videos', 'Mending nets with Ingrid', 3),
    'fog': ('sEIWVGBX6GW', HARBOUR, 'videos', 'Fog signals explained', 4),
    'pilots': ('4BCWOkQi6tN', HARBOUR, 'videos', 'How harbour pilots board a moving ship', 5),
    'mussels': ('s-ZIhTWln9P', HARBOUR, 'videos', 'Mussels, mud and patience', 6),
    'charts': ('OO35n9RkYkZ', HARBOUR, 'videos', 'Reading a sea chart', 7),
    'storm': ('mhBXSc_LrC4', HARBOUR, 'streams', 'LIVE: the November storm from the harbour wall', 8),
    'gull': ('iMPKKHP4HJO', HARBOUR, 'shorts', 'Gull steals breakfast #shorts', 9),
    'knot': ('7FgNHiNcuiC', HARBOUR, 'shorts', 'One knot in five seconds', 10),
    'wave': ('SxJeyZp0RwU', HARBOUR, 'shorts', 'That wave', 11),
    'dovetail': ('KSWqqN3Q0Xw', WORKSHOP, 'videos', 'Schwalbenschwanz von Hand \u2013 ganz ohne Maschine', 12),
    'plane': ('-tkAKAzlSgT', WORKSHOP, 'videos', 'Den Hobel richtig einstellen', 13),
    'stool': ('sEywn6v-a1G', WORKSHOP, 'videos', 'Ein Hocker an einem Tag', 14),
    'oil': ('q3kCvL2RE34', WORKSHOP, 'videos', '\u00d6l oder Lack? Ein Vergleich', 15),
    'bench': ('GzLCjLOMBUg', WORKSHOP, 'videos', 'Die Hobelbank meines Gro\u00dfvaters', 16),
    'sharpen': ('TqWxmO8Yuko', WORKSHOP, 'shorts', 'Stechbeitel sch\u00e4rfen #shorts', 17),
    'glue': ('mVUt6ZmKK4J', WORKSHOP, 'shorts', 'Zu viel Leim?', 18),
    'comet': ('1R95EFHC5fk', ORBIT, 'videos', 'Where comets come from', 20),
    'lagrange': ('lLIkceb1wqx', ORBIT, 'videos', 'Five places to park a telescope', 21),
    'reentry': ('fnZaMxKtFLh', ORBIT, 'videos', 'Coming home: re-entry in six minutes', 22),
    'moondust': ('XmCNBE38P-Y', ORBIT, 'videos', 'The trouble with moon dust', 23),
    'eclipse': ('gLFQnqN2QyU', ORBIT, 'videos', 'Eclipse: \u6708\u98df / \u043b\u0443\u043d\u043d\u043e\u0435 \u0437\u0430\u0442\u043c\u0435\u043d\u0438\u0435 / \u03b5\u03ba\u03bb\u03b5\u03b9\u03c8\u03b7', 24),
}
PLAYLISTS = {'coast': 'PLI8B1oDXziJcYA03PO3cAjPOMFxS4lAcS', 'joinery': 'PL7e1GYstOfptXWUbFMVt-Jd0oAP-Uj68W', 'mixed': 'PLP4_uYk9DsqnWhTUyaaCrPqx4WGOrYidj'}
FIRST_DAY, STEP = 1_677_663_000, 17 * 86_400


class V:
    """One video: what is true of it, wherever it is told."""
    def __init__(self, key=None, *, id=None, channel=GONE_CHANNEL, tab='videos', title='', at=NOW - 400 * 86_400, seconds=2):
        if key:
            self.id, self.channel, self.tab, self.title, row = SEED[key]
            self.at, self.on_platform = FIRST_DAY + row * STEP, True
        else:
            self.id, self.channel, self.tab, self.title, self.at, self.on_platform = id, channel, tab, title, at, False
        self.seconds = seconds
        self.channel_name = CHANNELS[self.channel]
        self.description = f'{self.title}.\n\nSecond line & more.'
    day = property(lambda self: datetime.fromtimestamp(self.at, timezone.utc).strftime('%Y-%m-%d'))
    yyyymmdd = property(lambda self: self.day.replace('-', ''))
    url = property(lambda self: f'https://www.youtube.com/watch?v={self.id}')


def invented(id, title, **more):
    return V(id=id, title=title, **more)


# ---------------------------------------------------------------- films
CLIP_ARGS = {
    'mp4': ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '32k', '-movflags', '+faststart'],
    'mkv': ['-c:v', 'libvpx', '-b:v', '40k', '-c:a', 'libopus', '-b:a', '16k'],
    'mkv-h264': ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '32k'],
    'webm': ['-c:v', 'libvpx', '-b:v', '40k', '-c:a', 'libopus', '-b:a', '16k'],
    'm4a': ['-vn', '-c:a', 'aac', '-b:a', '32k'],
    'mp3': ['-vn', '-c:a', 'libmp3lame', '-b:a', '32k'],
    'ogg': ['-vn', '-c:a', 'libopus', '-b:a', '16k'],
}
FFMPEG = shutil.which(os.environ.get('AV_FFMPEG') or 'ffmpeg')
_clips = {}


def ffmpeg(*args):
    subprocess.run([FFMPEG, '-v', 'error', '-nostdin', '-y', *args], check=True)


def make_clips(folder):
    for kind, args in CLIP_ARGS.items():
        ext = kind.split('-')[0]
        for seconds in (1, 2, 3):
            for shape in ('wide', 'tall') if ext in ('mp4', 'mkv', 'webm') and seconds == 2 else ('wide',):
                path = folder / f'{kind}-{seconds}-{shape}.{ext}'
                size = '64x36' if shape == 'wide' else '36x64'
                ffmpeg('-f', 'lavfi', '-i', f'testsrc=s={size}:r=10:d={seconds}', '-f', 'lavfi', '-i', f'sine=d={seconds}', *args, '-fflags', '+bitexact', '-shortest', str(path))
                _clips[f'{kind}-{seconds}-{shape}'] = path.read_bytes()
    for ext in ('jpg', 'webp', 'png'):
        path = folder / f'picture.{ext}'
        ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=64x36', '-frames:v', '1', str(path))
        _clips[ext] = path.read_bytes()


def unlike(data, ext, word):
    """The same film with other bytes, so that no two files are equal by chance."""
    pad = hashlib.sha256(word.encode()).hexdigest().encode()
    if ext in ('mp4', 'm4a'):
        return data + struct.pack('>I', 8 + len(pad)) + b'free' + pad
    if ext in ('mkv', 'webm'):
        return data + b'\xec' + bytes([0x80 | len(pad)]) + pad  # Void
    return data


def film(path, video, kind=None, tags=None, at=None):
    """@param tags  embedded as `--embed-metadata` does"""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    ext = path.suffix[1:]
    kind = kind or ext
    shape = 'tall' if video and video.tab == 'shorts' else 'wide'
    seconds = video.seconds if video else 1
    data = _clips.get(f'{kind}-{seconds}-{shape}') or _clips[f'{kind}-{seconds}-wide']
    if tags:
        raw = path.with_name('.raw.' + ext)
        raw.write_bytes(data)
        meta = [word for name, value in tags.items() for word in ('-metadata', f'{name}={value}')]
        ffmpeg('-i', str(raw), '-map', '0', '-c', 'copy', *meta, '-fflags', '+bitexact', 'file:' + str(path))
        raw.unlink()
        data = path.read_bytes()
    path.write_bytes(unlike(data, ext, video.id + path.name if video else path.name))
    stamp = at or (video.at + 86_400 if video else NOW)
    os.utime(path, (stamp, stamp))
    return path


def tags_of(video, date=None):
    """What yt-dlp's `--embed-metadata` writes."""
    return {'title': video.title, 'date': date or video.yyyymmdd, 'description': video.description, 'synopsis': video.description,
            'purl': video.url, 'comment': video.url, 'artist': video.channel_name, 'genre': 'Education'}


def picture(path, ext=None):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_clips[ext or path.suffix[1:].replace('jpeg', 'jpg')])


def text(path, content, encoding='utf-8'):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
    return path


def write_json(path, value, indent=None):
    return text(path, json.dumps(value, ensure_ascii=False, indent=indent))


CUES = [('00:00:00.200', '00:00:00.900', 'Good morning from the pier.'), ('00:00:01.000', '00:00:01.900', 'The tide turned an hour ago.')]
VTT = 'WEBVTT\nKind: captions\nLanguage: en\n\n' + '\n'.join(f'{a} --> {b}\n{words}\n' for a, b, words in CUES)
SRT = '\n'.join(f"{n}\n{a.replace('.', ',')} --> {b.replace('.', ',')}\n{words}\n" for n, (a, b, words) in enumerate(CUES, 1))


def info_of(video, ext='mp4', **more):
    """An information file of yt-dlp, cleaned as by default (`clean_infojson`)."""
    info = {
        'id': video.id, 'title': video.title, 'fulltitle': video.title, 'description': video.description,
        'channel_id': video.channel, 'channel': video.channel_name, 'channel_url': f'https://www.youtube.com/channel/{video.channel}', 'channel_follower_count': 4321,
        'uploader': video.channel_name, 'uploader_id': '@' + ''.join(c for c in video.channel_name if c.isalnum()), 'duration': video.seconds,
        'upload_date': video.yyyymmdd, 'timestamp': video.at, 'webpage_url': video.url, 'view_count': 1234, 'like_count': 56, 'age_limit': 0,
        'categories': ['Education'], 'tags': ['sea', 'slow film'], 'live_status': 'was_live' if video.tab == 'streams' else 'not_live', 'availability': 'public',
        'thumbnail': f'https://i.ytimg.com/vi/{video.id}/maxresdefault.jpg', 'thumbnails': [{'url': f'https://i.ytimg.com/vi/{video.id}/maxresdefault.jpg', 'width': 1280, 'height': 720, 'id': '0'}],
        'media_type': {'videos': 'video', 'streams': 'livestream', 'shorts': 'short'}[video.tab],
        'extractor': 'youtube', 'extractor_key': 'Youtube', 'ext': ext, 'width': 64, 'height': 36, 'vcodec': 'avc1.42c00a', 'acodec': 'mp4a.40.2', 'format_id': '137+140', 'format': '137 - 64x36+140 - audio only',
        'epoch': video.at + 86_400, '_type': 'video', '_version': {'version': '2024.05.27', 'repository': 'yt-dlp/yt-dlp'},
        'formats': [{'format_id': '137', 'ext': 'mp4', 'vcodec': 'avc1.42c00a', 'acodec': 'none', 'url': 'https://example.invalid/137'}],
        'subtitles': {}, 'automatic_captions': {},
    }
    info.update(more)
    return {key: value for key, value in info.items() if value is not None}


FULL_WIDTH = str.maketrans({'"': '\uff02', '*': '\uff0a', ':': '\uff1a', '<': '\uff1c', '>': '\uff1e', '?': '\uff1f', '|': '\uff5c', '/': '\u29f8', '\\': '\u29f9'})
ytdlp_name = lambda title: title.translate(FULL_WIDTH)  # yt-dlp's own rule for names, no --restrict-filenames


# ---------------------------------------------------------------- what must be found
class Expected:
    def __init__(self, base, source, version, **more):
        self.base = Path(base)
        self.doc = {'source': source, 'version': version, **more, 'videos': [], 'ignored': [], 'subscriptions': [], 'playlists': [], 'problems': []}

    def video(self, video, file, **more):
        """`file` and all other paths are relative to the fixture's folder."""
        known = {
            'id': video.id, 'title': video.title, 'channel_id': video.channel, 'channel_name': video.channel_name, 'published': video.day,
            'vid_type': video.tab, 'duration': video.seconds, 'file': self.path(file), 'container': str(file).rsplit('.', 1)[-1], 'watched': False,
            'on_platform': video.on_platform, 'subtitles': [], **more,
        }
        for key in ('info', 'thumbnail', 'nfo'):
            if key in known:
                known[key] = self.path(known[key])
        known['subtitles'] = [{**one, 'file': self.path(one['file'])} for one in known['subtitles']]
        self.doc['videos'].append(known)

    def path(self, path):
        return Path(path).relative_to(self.base).as_posix() if Path(path).is_absolute() else str(path)

    def problem(self, code, why, *, file=None, id=None, severity='warning'):
        self.doc['problems'].append({'code': code, 'why': why, 'severity': severity, **({'file': self.path(file)} if file else {}), **({'id': id} if id else {})})

    def save(self):
        self.doc['videos'].sort(key=lambda one: (one['id'], one['file']))
        write_json(self.base / 'expected.json', self.doc, indent=1)


# ---------------------------------------------------------------- databases and names
def insert(db, table, row):
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
    return db.execute('SELECT last_insert_rowid()').fetchone()[0]


iso = lambda at: datetime.fromtimestamp(at, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S')
django = lambda at: datetime.fromtimestamp(at, timezone.utc).strftime('%Y-%m-%d %H:%M:%S.000000')


def slug(words, cut=80):
    kept = ''.join(c for c in words.replace('&', 'and').lower() if c.isalnum() or c in ' -_')
    return '-'.join(kept.replace('-', ' ').split())[:cut]

"""Runs yt-dlp as a library: reads one JSON request per line from stdin, writes JSON lines to stdout.

The first input line is the setup, answered with ``{"ready": …}``. Then it takes one request at a time. If the request
has ``"pauses": true``, the worker announces each further request to the platform with ``{"id": 1, "pause": "request"}``
and waits until the server sends ``{"go": 1}``:

    {"id": 1, "op": "video", "videoId": "…"}  →  {"id": 1, "part": …} …  {"id": 1, "result": …}
                                                 {"id": 1, "error": {"kind": …, "message": …, "warnings": […]}}

No input is used as an option of yt-dlp or in a shell, and no file name contains text from the platform. The end of
stdin ends this process and all its children.
"""

import io
import json
import os
import platform
import queue
import signal
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # with -I, Python does not search the script's folder

from worker_answers import clip, comment_metadata, entry_metadata, flat_entries, pick, receipt, storyboards, texts, thumbnails, video_metadata
from worker_challenge import RUNTIME_SECONDS, limit_runtimes, solve_stored_player
from worker_files import NotBetter, Progress, WrongAnswer, archive_class, converters, end_at_not_found, file_options, note_refusals, rank_sound, refuse_below, refuse_unless_better, refuse_without_room, subtitle_options, subtitles, take_picture
from worker_network import guard_connections, is_file_url, keep_to_own_connections
from worker_route import client_arguments, judged, offer_tokens, own_urls, route_options

sys.path.pop(0)

PAGE_SIZE = 100
MAX_ENTRIES = 50_000
MAX_COMMENTS = 200_000
MAX_LISTINGS = 8
SOUND_KBITS = '192'
# For requests that need no media URL: solving its challenge takes a JavaScript runtime, and seconds on a small board.
UNSOLVED = {'youtube': {'player_skip': ['js']}}

requests = os.fdopen(os.dup(0), 'rb')
out = os.fdopen(os.dup(1), 'w', encoding='utf-8', errors='replace')
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # code that prompts on the terminal gets end of file at once
os.dup2(2, 1)  # output printed by a library must not mix with our lines
out_lock = threading.Lock()


def write(answer):
    line = json.dumps(answer, ensure_ascii=True)
    with out_lock:
        out.write(line + '\n')
        out.flush()


def end_with_children(*_):
    """The server is gone or ends this process: kills the whole group, including a running ffmpeg."""
    try:
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)
    finally:
        os._exit(1)


def read_lines(lines):
    for line in requests:
        lines.put(line)
    end_with_children()


def main():
    lines = queue.Queue()
    setup = json.loads(requests.readline())
    for key in [key for key in os.environ if key.startswith('AV_')]:
        del os.environ[key]  # the downloader must not see the server's settings
    os.environ['AV_PLATFORM_URL'] = setup['platformUrl']
    sys.path[:0] = setup['paths']
    threading.Thread(target=read_lines, args=(lines,), daemon=True).start()
    try:
        archivist = Archivist(setup)
    except Exception as error:  # yt-dlp is not installed, damaged, or for another Python
        write({'failed': f'{type(error).__name__}: {error}'})
        end_with_children()
    write({'ready': archivist.versions()})
    while True:
        request = json.loads(lines.get())
        answer = {'id': request['id']}

        def pause(kind, number=request['id']):
            write({'id': number, 'pause': kind})
            lines.get()

        archivist.pause = pause if request.get('pauses') else None
        archivist.is_signed_in = request.get('isSignedIn', True)
        archivist.is_hasty = request.get('isHasty', False)
        archivist.now = request['now']
        try:
            answer['result'] = archivist.answer(request)
            answer['warnings'] = archivist.log.warnings
        except Exception as error:
            answer['error'] = archivist.described(error)
        jar = archivist.renewed_jar()
        if jar:
            answer['jar'] = jar
        if archivist.token_news is not None:
            answer['token'], archivist.token_news = archivist.token_news, None
        write(answer)


def ask_no_programs():
    """Prevents Cryptodome, which yt-dlp imports, from starting `file` and `ldconfig` to examine this machine."""
    bits = '64bit' if sys.maxsize > 2 ** 32 else '32bit'
    platform.architecture = lambda *_, **__: (bits, '')
    os.environ['PYCRYPTODOME_DISABLE_GMP'] = '1'


class Log:
    """The log of yt-dlp: keeps warnings and errors as evidence, drops everything else."""

    def __init__(self):
        self.warnings = []

    def debug(self, message):
        pass

    info = debug

    def warning(self, message, *_, **__):
        if len(self.warnings) < 40:
            self.warnings.append(clip(message, 1000))

    error = warning


class Archivist:
    def __init__(self, setup):
        ask_no_programs()
        import yt_dlp
        self.yt_dlp = yt_dlp
        self.setup = setup
        self.base = setup['platformUrl'].rstrip('/')
        self.log = Log()
        self.jar_text = setup.get('jar')
        self.jar_in_use = None
        self.is_signed_in = True
        self.is_hasty = False
        self.now = 0
        self.pause = None
        self.token_news = None
        self.listings = {}
        self.listing_count = 0
        self.route = setup.get('route') or {}
        keep_to_own_connections(yt_dlp)
        note_refusals(yt_dlp)
        end_at_not_found(yt_dlp)
        limit_runtimes(setup.get('runtimeTimeout', RUNTIME_SECONDS))
        self.archive_class = archive_class(yt_dlp, guard_connections(yt_dlp, [self.base, *own_urls(self.route)]), setup)
        if self.route.get('tokenProvider'):
            offer_tokens(yt_dlp, self.route['tokenProvider'], self.hear_of_token)

    def versions(self):
        version = self.yt_dlp.version
        return {'version': version.__version__, 'channel': getattr(version, 'CHANNEL', 'stable'), 'python': sys.version.split()[0]}

    def hear_of_token(self, news):
        self.token_news = news

    def answer(self, request):
        self.log = Log()
        return getattr(self, f'do_{request["op"]}')(request)

    def described(self, error):
        """An exception and its causes, as evidence that the server classifies."""
        chain, seen, rest = [], set(), [error]
        while rest and len(chain) < 12:
            one = rest.pop()
            if not isinstance(one, BaseException) or id(one) in seen:
                continue
            seen.add(id(one))
            chain.append(one)
            exc_info = getattr(one, 'exc_info', None)
            rest += [one.__cause__, one.__context__, getattr(one, 'cause', None), exc_info[1] if isinstance(exc_info, tuple) and len(exc_info) > 1 else None]
        networking = self.yt_dlp.networking.exceptions
        statuses = [one.status for one in chain if isinstance(one, networking.HTTPError)]
        numbers = [one.errno for one in chain if isinstance(one, OSError) and one.errno]
        return {
            'kinds': [type(one).__name__ for one in chain],
            'message': clip(error, 3000),
            'status': statuses[0] if statuses else None,
            'errnos': numbers,
            'isTransport': any(isinstance(one, (networking.TransportError, ConnectionError, TimeoutError)) for one in chain),
            'liveStatus': getattr(error, 'live_status', None),
            'availableAt': getattr(error, 'available_at', None),
            'needBytes': getattr(error, 'need_bytes', None),
            'warnings': self.log.warnings,
        }

    # ---- Options ---------------------------------------------------------------------------------

    def open(self, jar=None, **more):
        pause = self.setup.get('retryPause', 1)
        arguments = {'youtube': client_arguments(self.route), 'youtubetab': {}}
        for extractor, values in more.pop('extractor_args', {}).items():
            arguments[extractor].update(values)
        options = {
            'quiet': True,
            'noprogress': True,
            'logger': self.log,
            'color': {'stdout': 'never', 'stderr': 'never'},
            'ignoreerrors': False,
            'cachedir': self.setup.get('cacheDir') or False,
            'socket_timeout': self.setup.get('socketTimeout', 20),
            'extractor_args': arguments,
            'allowed_extractors': ['default', '-generic', 'end'],
            'external_downloader': {'default': 'native'},
            'postprocessor_args': {
                'ffmpeg_i': ['-protocol_whitelist', 'file', '-format_whitelist', self.setup['inputFormats']],
            },
            'js_runtimes': self.setup['jsRuntimes'],
            'retries': 6,
            'fragment_retries': 6,
            'extractor_retries': 3,
            'file_access_retries': 3,
            'retry_sleep_functions': {
                'http': lambda n: min(30, pause * 2 ** n),
                'fragment': lambda n: min(30, pause * 2 ** n),
                'extractor': lambda n: min(10, pause * 2 ** n),
            },
            **({'ffmpeg_location': self.setup['ffmpeg']} if self.setup.get('ffmpeg') else {}),
            **route_options(self.route),
            **more,
        }
        ydl = self.archive_class(options)
        ydl.pause = self.pause
        ydl.now = self.now
        ydl.ends_at_not_found = self.is_hasty
        text = jar if jar is not None else self.jar_text if self.is_signed_in else None
        if text is not None:
            loaded = self.yt_dlp.cookies.YoutubeDLCookieJar(io.StringIO(text))
            loaded.load()
            ydl.__dict__['cookiejar'] = loaded  # in memory only: with a file, yt-dlp would write it after every run
            if jar is None:
                self.jar_in_use = loaded
        return ydl

    def text_of(self, jar):
        kept = io.StringIO()
        jar.save(kept)
        return kept.getvalue()

    def renewed_jar(self):
        """The jar in use if the platform has changed a value in it, otherwise None."""
        jar, self.jar_in_use = self.jar_in_use, None
        if jar is None:
            return None
        values = lambda cookies: {(cookie.domain, cookie.path, cookie.name): cookie.value for cookie in cookies}
        before = self.yt_dlp.cookies.YoutubeDLCookieJar(io.StringIO(self.jar_text))
        before.load()
        if values(before) == values(jar):
            return None
        self.jar_text = self.text_of(jar)
        return self.jar_text

    def watch_url(self, video_id):
        return f'{self.base}/watch?v={urllib.parse.quote(video_id, safe="")}'

    def channel_url(self, path, tab=None):
        return f'{self.base}/{urllib.parse.quote(path, safe="/@")}{f"/{tab}" if tab else ""}'

    def follow(self, ydl, url):
        """A page as its extractor returns it, before any entries are requested."""
        for _ in range(4):
            page = ydl.extract_info(url, download=False, process=False)
            if page.get('_type') not in ('url', 'url_transparent'):
                return page
            url = page['url']
        raise WrongAnswer('The platform redirects in circles')

    # ---- Metadata --------------------------------------------------------------------------------

    def do_probe(self, request):
        """Checks that this yt-dlp accepts our options and has extractors for the platform's pages. Sends no request."""
        with self.open(ignore_no_formats_error=True, skip_download=True):
            extractors = [one for one in self.yt_dlp.extractor.gen_extractor_classes() if one.IE_NAME != 'generic']
            for url in (self.watch_url('a' * 11), self.channel_url(f'channel/UC{"a" * 22}', 'videos')):
                if not any(one.suitable(url) for one in extractors):
                    raise WrongAnswer(f'No extractor for {url}')
        return {}

    def do_solve(self, request):
        with self.open() as ydl:
            return solve_stored_player(self.yt_dlp, ydl, self.log)

    def do_judge(self, request):
        """The settings that yt-dlp does not accept, with its own messages. Sends no request."""
        with self.open() as ydl:
            return {'refused': judged(self.yt_dlp, ydl, request['settings'])}

    def do_canary(self, request):
        """The height of the best picture offered for a film; also checks that its first bytes can be downloaded."""
        with self.open(skip_download=True) as ydl:
            ydl.asked_id = request['videoId']
            info = ydl.extract_info(self.watch_url(request['videoId']), download=False)
            pictures = [one for one in info.get('formats') or [] if one.get('vcodec') not in (None, 'none') and one.get('height')]
            files = [one for one in pictures if one.get('protocol') in ('http', 'https')]
            if request['bytes'] and files:
                headers = {**(files[-1].get('http_headers') or {}), 'Range': f'bytes=0-{request["bytes"] - 1}'}
                with ydl.urlopen(self.yt_dlp.networking.Request(files[-1]['url'], headers=headers)) as response:
                    response.read(request['bytes'])
            return {'height': max((min(one['height'], one.get('width') or one['height']) for one in pictures), default=0)}

    def do_video(self, request):
        with self.open(ignore_no_formats_error=True, skip_download=True, extractor_args=UNSOLVED) as ydl:
            ydl.asked_id = request['videoId']
            metadata = video_metadata(ydl.extract_info(self.watch_url(request['videoId']), download=False), self.now)
            # URLs were left unsolved, so formats may be missing. A video has formats unless an extractor reported a
            # refusal.
            return {**metadata, 'hasFormats': metadata['hasFormats'] or not ydl.is_refused}

    def do_channel(self, request):
        with self.open(playlist_items='0', extract_flat=True) as ydl:
            # An unknown handle is common, so do not retry; an id has existed, so its absence may be temporary.
            ydl.ends_at_not_found |= not request['path'].startswith('channel/')
            page = self.follow(ydl, self.channel_url(request['path']))
            tabs = []
            if page.get('entries') is not None:
                urls = [page.get('webpage_url')]
                if page.get('_type') == 'playlist' and isinstance(page['entries'], (list, tuple)):
                    urls += [entry.get('url') or entry.get('webpage_url') for entry in page['entries'] if isinstance(entry, dict)]
                tabs = [str(url).rstrip('/').rsplit('/', 1)[-1] for url in urls if url]
            return {**pick(page, 'channel_id', 'channel', 'title', 'uploader_id', 'description', 'channel_follower_count', 'view_count'),
                    'id': clip(page.get('id') or '', 200),
                    'tags': texts(page.get('tags'), 200),
                    'tabs': [tab for tab in ('videos', 'streams', 'shorts') if tab in tabs],
                    'thumbnails': thumbnails(page)}

    def do_playlist(self, request):
        with self.open(extract_flat=True) as ydl:
            page = self.follow(ydl, f'{self.base}/playlist?list={urllib.parse.quote(request["playlistId"], safe="")}')
            self.send_parts(request, (entry_metadata(entry, self.now) for entry in flat_entries(page)), min(MAX_ENTRIES, request.get('most', MAX_ENTRIES)))
            return {**pick(page, 'id', 'title', 'description', 'channel_id', 'channel', 'playlist_count'), 'thumbnails': thumbnails(page)}

    def do_playlists(self, request):
        with self.open(extract_flat=True) as ydl:
            page = self.follow(ydl, self.channel_url(f'channel/{request["channelId"]}', 'playlists'))
            self.send_parts(request, (pick(entry, 'id', 'title', 'url') for entry in flat_entries(page)), MAX_ENTRIES)
            return {}

    def do_comments(self, request):
        arguments = {'youtube': {**UNSOLVED['youtube'], 'max_comments': request['max'].split(','), 'comment_sort': [request['sort']]}}
        with self.open(ignore_no_formats_error=True, skip_download=True, getcomments=True, extractor_args=arguments) as ydl:
            ydl.asked_id = request['videoId']
            info = ydl.extract_info(self.watch_url(request['videoId']), download=False)
            ydl.post_extract(info)
            self.send_parts(request, map(comment_metadata, info.get('comments') or []), MAX_COMMENTS)
            return {}

    def do_validate(self, request):
        """Requests the liked videos: a page that only their owner can see."""
        with self.open(jar=request['jar'], extract_flat=True) as ydl:
            page = self.follow(ydl, f'{self.base}/playlist?list=LL')
            return {'id': clip(page.get('id') or '', 100), 'jar': self.text_of(ydl.cookiejar)}

    def send_parts(self, request, rows, limit):
        part = []
        for count, row in enumerate(rows):
            if count >= limit:
                break
            part.append(row)
            if len(part) == PAGE_SIZE:
                write({'id': request['id'], 'part': part})
                part = []
        if part:
            write({'id': request['id'], 'part': part})

    # ---- Listings: the extractor's own entries, read page by page on request -----------------------

    def do_open(self, request):
        if len(self.listings) >= MAX_LISTINGS:
            self.do_close({'listing': next(iter(self.listings))})  # the oldest; a reader that still needs it reopens it
        ydl = self.open(extract_flat=True)
        try:
            page = self.follow(ydl, self.channel_url(f'channel/{request["channelId"]}', request['tab']))
        except BaseException:
            ydl.close()
            raise
        self.listing_count += 1
        entries = flat_entries(page)
        for _ in range(request['skip']):
            if next(entries, None) is None:
                break
        self.listings[self.listing_count] = (ydl, entries)
        return {'listing': self.listing_count}

    def do_next(self, request):
        if request['listing'] not in self.listings:
            return {'isLost': True}
        ydl, entries = self.listings[request['listing']]
        ydl.params['logger'] = self.log
        ydl.pause = self.pause
        page = []
        try:
            for entry in entries:
                page.append(entry_metadata(entry, self.now))
                if len(page) == request['size']:
                    return {'entries': page}
        except BaseException:
            self.do_close(request)
            raise
        self.do_close(request)
        return {'entries': page, 'isEnd': True}

    def do_close(self, request):
        ydl, _ = self.listings.pop(request['listing'], (None, None))
        if ydl:
            ydl.close()
        return {}

    # ---- Files -----------------------------------------------------------------------------------

    def do_download(self, request):
        try:
            return self.download(request)
        except Exception as error:
            evidence = self.described(error)
            if evidence['status'] != 403 or 'unable to download video data' not in evidence['message']:
                raise
            return self.download(request)  # media URLs expire and are bound to a client: retry once with new ones
        finally:
            os.chdir('/')

    def download(self, request):
        video_id = request['videoId']
        os.chdir(request['folder'])  # so that no folder name is ever parsed as an output template
        ending = request['ending']
        postprocessors = [
            # Converts other sound to AAC, because every player of m4a files supports it.
            {'key': 'FFmpegExtractAudio', 'preferredcodec': 'm4a', 'preferredquality': SOUND_KBITS} if ending == 'm4a'
            else {'key': 'FFmpegVideoRemuxer', 'preferedformat': ending},
        ]
        if request.get('embedMetadata'):
            postprocessors.append({'key': 'FFmpegMetadata', 'add_metadata': True, 'add_chapters': True})
        if request.get('embedThumbnail'):
            postprocessors.append({'key': 'EmbedThumbnail', 'already_have_thumbnail': True})
        progress = Progress(lambda told: write({'id': request['id'], 'progress': told}), lambda: write({'id': request['id'], 'fetched': {'areSubtitlesRefused': ydl.are_subtitles_refused}}))
        options = {
            'format': request.get('format') or 'bv*+ba[ext=m4a]/bv*+ba/b',
            'format_sort': [word for word in (request.get('formatSort') or '').split(',') if word],
            'merge_output_format': 'mp4',
            'final_ext': ending,
            'ignore_no_formats_error': True,
            'continuedl': True,
            'writethumbnail': True,
            'postprocessors': postprocessors,
            'progress_hooks': [progress.hook],
            'ratelimit': request.get('bytesPerSecond'),
            'throttledratelimit': request.get('throttledBytesPerSecond'),
            **file_options(video_id),
            **subtitle_options(request),
        }
        arguments = {'youtube': {'lang': [request['language']]}} if request.get('language') else {}
        with self.open(extractor_args=arguments, **options) as ydl:
            ydl.asked_id = video_id
            ydl.is_download = True
            ydl.first_seen = request.get('firstSeen')
            if request.get('isWish'):
                ydl.rank_sound = lambda formats: rank_sound(formats, request.get('soundLanguage'))
            ydl.on_streams = lambda formats: (refuse_without_room(video_id, formats, request['spareBytes']), progress.expect(formats))
            if request.get('there'):
                ydl.on_choice = lambda info: refuse_unless_better(info, request['there'])
            elif request.get('insistsOn'):
                ydl.on_choice = lambda info: refuse_below(info, request['insistsOn'], self.now)
            self.convert(ydl, has_picture=request.get('embedThumbnail'))
            told = lambda info: {'metadata': video_metadata(info, self.now, request.get('firstSeen')), 'receipt': receipt(info, self.yt_dlp.version.__version__)}
            try:
                info = ydl.extract_info(self.watch_url(video_id), download=True)
            except NotBetter as left:
                return {**told(left.info), 'isLeft': True}
            return {
                **told(info),
                'storyboards': storyboards(info),
                'subtitles': subtitles(info),
                'leftOut': texts(ydl.left_out, 100),
                'areSubtitlesRefused': ydl.are_subtitles_refused,
                'hasThumbnail': take_picture(info, request['pictureName']),
                'hasMedia': os.path.isfile(f'{video_id}.{ending}'),
                'streams': progress.finished,
            }

    def convert(self, ydl, has_picture=False):
        for converter in converters(self.yt_dlp, ydl, has_picture):
            ydl.add_post_processor(converter, when='before_dl')

    def do_picture(self, request):
        with self.open() as ydl:
            reply = ydl.urlopen(request['url'])
            if not is_file_url(reply.url, self.base, self.setup['fileHosts']):
                raise WrongAnswer('The picture is not on a host of the platform')
            picture = reply.read(request['most'] + 1)
        if len(picture) > request['most']:
            raise WrongAnswer('The picture is too large')
        with open(request['path'], 'wb') as file:
            file.write(picture)
        return {}

    def do_subtitles(self, request):
        os.chdir(request['folder'])
        options = {
            'ignore_no_formats_error': True,
            'skip_download': True,
            **file_options(request['videoId']),
            **subtitle_options(request),
        }
        try:
            with self.open(extractor_args=UNSOLVED, **options) as ydl:
                ydl.asked_id = request['videoId']
                ydl.except_languages = request['except']
                self.convert(ydl)
                info = ydl.extract_info(self.watch_url(request['videoId']), download=True)
                return {'subtitles': subtitles(info), 'leftOut': texts(ydl.left_out, 100), 'areSubtitlesRefused': ydl.are_subtitles_refused}
        finally:
            os.chdir('/')


if __name__ == '__main__':
    main()

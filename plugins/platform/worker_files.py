"""yt-dlp with checks of the extractors' answers before it acts on them; options, progress and results of a download."""

import os
import re
import time

from worker_answers import clip, is_not_yet
from worker_languages import base_of, choose
from worker_network import HANDLERS, PROTOCOLS, is_file_url

MAX_SUBTITLES = 60
ORIGINAL_PREFERENCE = 10  # set by the built-in extractor
WANTED_PREFERENCE = 100
NOT_OFFERED_AGAIN_SECONDS = 6 * 3600
LEEWAY_SECONDS = 2
LEEWAY_SHARE = 0.03
OTHER_PREFERENCE = -20
PROGRESS_SECONDS = 0.25
SAFE_LANGUAGE = re.compile(r'[A-Za-z0-9][A-Za-z0-9_-]{0,40}')
SAFE_EXT = re.compile(r'[A-Za-z0-9]{1,8}')
SAFE_FORMAT = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.+-]{0,60}')


class WrongAnswer(Exception):
    """The platform answered with something other than what was requested."""


class NotPlayable(Exception):
    """There is nothing to download, now or ever. Has the platform's message, and the announced time."""

    def __init__(self, message, info):
        super().__init__(message)
        self.live_status = info.get('live_status')
        self.available_at = info.get('release_timestamp')


class NoRoom(Exception):
    """A download would fill the disk, so it has not begun."""

    def __init__(self, need_bytes):
        super().__init__('There is no room for it')
        self.need_bytes = need_bytes


class NotBetter(Exception):
    """The present file is as good as the offered one, so the download has not begun."""

    def __init__(self, info):
        super().__init__('It is not better than what is there')
        self.info = info


def refuse_unless_better(info, there):
    """Accepts only a higher picture, or the same height with sound in the wanted language; of the same duration as the
    present file.

    :raises NotBetter:
    """
    formats = info.get('requested_formats') or [info]
    height = max((min(one['width'], one['height']) for one in formats if one.get('width') and one.get('height')), default=0)
    spoken = [one for one in formats if one.get('acodec') != 'none' and one.get('language')]
    is_due = any(one.get('is_original') or one.get('language_preference') == WANTED_PREFERENCE for one in spoken)
    is_better = height > there['height'] or (height == there['height'] and there['isForeign'] and is_due)
    lengths = info.get('duration') or 0, there['seconds']
    if not is_better or abs(lengths[0] - lengths[1]) > max(LEEWAY_SECONDS, LEEWAY_SHARE * lengths[1]):
        raise NotBetter(info)


class NotOffered(Exception):
    """The wanted quality is not offered, or not yet, so the download has not begun."""

    def __init__(self, message, available_at):
        super().__init__(message)
        self.available_at = available_at


def refuse_below(info, wanted, now):
    """Accepts only the wanted height and language, until `waitDays` days after publication.

    :raises NotOffered:
    """
    published = info.get('timestamp') or info.get('release_timestamp')
    until = (published or 0) + (wanted.get('waitDays') or 0) * 86400
    if wanted.get('waitDays') and until <= now:
        return
    offered = [one for one in info.get('formats') or [] if not one.get('has_drm')]
    best = max((min(one['width'], one['height']) for one in offered if one.get('width') and one.get('height') and one.get('vcodec') != 'none'), default=0)
    spoken = {base_of(str(one['language'])) for one in offered if one.get('language') and one.get('acodec') != 'none'}
    language = base_of(wanted.get('language'))
    lacking = [
        *([f'{best}p is the best that is offered, {wanted["height"]}p is wanted'] if best < (wanted.get('height') or 0) else []),
        *([f'The sound is not offered in the language {wanted["language"]}'] if language and spoken and language not in spoken else []),
    ]
    if lacking:
        raise NotOffered('; '.join(lacking), min(until, now + NOT_OFFERED_AGAIN_SECONDS) if wanted.get('waitDays') else None)


def refuse_without_room(video_id, formats, spare_bytes):
    """Needs space for the announced size, minus the files of an earlier attempt; twice if streams are merged.

    :raises NoRoom:
    """
    announced = sum(int(one.get('filesize') or one.get('filesize_approx') or 0) for one in formats)
    left = sum(entry.stat().st_size for entry in os.scandir('.') if entry.name.startswith(f'{video_id}.') and entry.is_file(follow_symlinks=False))
    need = spare_bytes + max(0, announced - left) + (announced if len(formats) > 1 else 0)
    disk = os.statvfs('.')
    if disk.f_bavail * disk.f_frsize < need:
        raise NoRoom(need)


def rank_sound(formats, language):
    """Ranks the wanted language first, then the original one, for `lang` in yt-dlp's order. A picture without sound
    must not lose to one with sound because of its language, but one with sound in another language ranks lower."""
    base = base_of(language)
    for one in formats:
        spoken = base_of(str(one.get('language') or ''))
        is_wanted = base != '' and spoken == base
        if one.get('vcodec') != 'none':
            one['language_preference'] = -1 if is_wanted or spoken == '' or one['is_original'] else OTHER_PREFERENCE
        elif is_wanted:
            one['language_preference'] = WANTED_PREFERENCE


def note_refusals(yt_dlp):
    """Sets `is_refused`: if formats may be missing, an extractor itself only warns of the reason."""
    extractor = yt_dlp.extractor.common.InfoExtractor

    def noting(tell):
        def noted(self, *arguments, **more):
            self._downloader.is_refused = True
            return tell(self, *arguments, **more)
        return noted

    for name in ('raise_no_formats', 'raise_geo_restricted', 'raise_login_required'):
        setattr(extractor, name, noting(getattr(extractor, name)))


def end_at_not_found(yt_dlp):
    """Prevents the retries with which extractors respond to a missing item, if `ends_at_not_found` is set."""

    class Retries(yt_dlp.utils.RetryManager):
        def __iter__(self):
            for retry in super().__iter__():
                yield retry
                if getattr(getattr(self.error, 'cause', None), 'status', None) in (404, 410):
                    self.attempt = self.retries + 1

    extractor = yt_dlp.extractor.common.InfoExtractor
    usual = extractor.RetryManager

    def retries(self, **more):
        if not getattr(self._downloader, 'ends_at_not_found', False):
            return usual(self, **more)
        return Retries(self.get_param('extractor_retries', 3), self._error_or_warning, **more)

    extractor.RetryManager = retries


def archive_class(yt_dlp, local_address, setup):
    is_file = lambda url: is_file_url(url, setup['platformUrl'], setup['fileHosts'])
    allowed_extractors = []

    class Archive(yt_dlp.YoutubeDL):
        """Checks the extractor's answer before yt-dlp acts on it."""

        asked_id = None
        #: The server's time, and when it first saw the video, in epoch seconds.
        now = 0
        first_seen = None
        is_download = False
        # An extractor has reported why there is nothing to play.
        is_refused = False
        ends_at_not_found = False
        on_choice = None
        on_streams = None
        rank_sound = None
        except_languages = ()
        #: Waits until the server allows the request; None: never waits.
        pause = None

        def __init__(self, *arguments, **more):
            self.left_out = []
            self.requests = 0
            self.is_fetching = False
            self.are_subtitles_refused = False
            super().__init__(*arguments, **more)

        def add_default_info_extractors(self):
            # Matches some 1,800 names with the options. The result is the same for each request, so it is cached.
            if allowed_extractors:
                for one in allowed_extractors:
                    self.add_info_extractor(one)
                return
            super().add_default_info_extractors()
            allowed_extractors.extend(self._ies.values())

        def urlopen(self, req):
            # Pauses before pages and answers of the platform, but not before files, which have their own pauses.
            self.requests += 1
            if self.pause and self.requests > 1 and not self.is_fetching:
                self.pause('request')
            return super().urlopen(req)

        def build_request_director(self, handlers, *more):
            return super().build_request_director([one for one in handlers if one.RH_KEY in HANDLERS], *more)

        def leave_out(self, language, reason):
            self.left_out.append(language)
            self.report_warning(f'Subtitles {language} are left out: {reason}')

        def process_video_result(self, info_dict, download=True):
            if self.asked_id is not None and info_dict.get('id') != self.asked_id:
                raise WrongAnswer('The platform sent a different video')
            for key in ('subtitles', 'automatic_captions'):
                found = info_dict.get(key) or {}
                info_dict[key] = {
                    language: [one for one in formats if SAFE_EXT.fullmatch(str(one.get('ext') or 'vtt'))]
                    for language, formats in found.items() if SAFE_LANGUAGE.fullmatch(str(language)) and language != 'live_chat'}
                info_dict[key] = {language: formats for language, formats in info_dict[key].items() if formats}
            if isinstance(info_dict.get('formats'), list):
                info_dict['formats'] = [
                    one for one in info_dict['formats']
                    if SAFE_EXT.fullmatch(str(one.get('ext') or 'mp4')) and SAFE_FORMAT.fullmatch(str(one.get('format_id') or '0')) and is_plain(one)]
                for one in info_dict['formats']:
                    one['is_original'] = (one.get('language_preference') or -1) >= ORIGINAL_PREFERENCE
                if self.rank_sound:
                    self.rank_sound(info_dict['formats'])
            if isinstance(info_dict.get('thumbnails'), list):
                info_dict['thumbnails'] = [one for one in info_dict['thumbnails'] if is_file(one.get('url'))]
            if not is_file(info_dict.get('thumbnail')):
                info_dict.pop('thumbnail', None)
            if self.is_download:
                self.refuse_unplayable(info_dict)
            return super().process_video_result(info_dict, download)

        def refuse_unplayable(self, info_dict):
            if not info_dict.get('formats') and not info_dict.get('url'):
                warnings = self.params['logger'].warnings
                raise NotPlayable(warnings[-1] if warnings else 'No video formats found', info_dict)
            if is_not_yet(info_dict, self.now, self.first_seen):
                raise NotPlayable('The stream is live, or just over and being processed', info_dict)
            if info_dict.get('title') is None:
                raise WrongAnswer('The platform sent an incomplete answer: the title is missing')
            self.params['ignore_no_formats_error'] = False  # from here on, a missing format is an error again

        def process_subtitles(self, video_id, by_people, by_machines):
            before = self.params.get('subtitleslangs')
            if before:
                machines = by_machines if self.params.get('writeautomaticsub') else None
                self.params['subtitleslangs'] = choose(before, by_people or (), machines or ())
            try:
                found = super().process_subtitles(video_id, by_people, by_machines)
            finally:
                self.params['subtitleslangs'] = before
            return {language: one for language, one in list(found.items())[:MAX_SUBTITLES] if language not in self.except_languages} if found else found

        def process_info(self, info_dict):
            if self.on_choice:
                self.on_choice(info_dict)
            if self.on_streams:
                self.on_streams(info_dict.get('requested_formats') or [info_dict])
            self.is_fetching = True
            try:
                return super().process_info(info_dict)
            finally:
                self.is_fetching = False

        def _write_subtitles(self, info_dict, *arguments):
            # A missing subtitle does not prevent the download: it becomes a warning.
            wanted = info_dict.get('requested_subtitles') or {}
            for language, one in list(wanted.items()):
                if one.get('data') is None and not (is_plain(one) and is_file(one.get('url'))):
                    del wanted[language]
                    self.leave_out(language, 'they lie on another host than those of the platform')
            before, self.params['ignoreerrors'] = self.params.get('ignoreerrors'), True
            try:
                return super()._write_subtitles(info_dict, *arguments)
            finally:
                self.params['ignoreerrors'] = before
                self.left_out += [language for language, one in wanted.items() if 'filepath' not in one]

        def dl(self, name, info, subtitle=False, test=False):
            if subtitle and self.are_subtitles_refused:
                raise yt_dlp.utils.DownloadError('The platform refuses subtitles now')
            if subtitle and self.pause:
                self.pause('subtitle')
            try:
                return super().dl(name, info, subtitle=subtitle, test=test)
            except yt_dlp.networking.exceptions.HTTPError as error:
                if subtitle and error.status == 429:
                    self.are_subtitles_refused = True
                raise
            except local_address as error:
                if subtitle:
                    raise yt_dlp.utils.DownloadError(str(error)) from error
                raise

        def _write_thumbnails(self, label, info_dict, *arguments):
            try:
                return super()._write_thumbnails(label, info_dict, *arguments)
            except local_address as error:
                self.report_warning(f'The thumbnail is left out: {error}')
                info_dict['thumbnails'] = []
                return []

    def is_plain(one):
        """Whether yt-dlp itself downloads this format, over HTTP."""
        return not one.get('url') or yt_dlp.utils.determine_protocol(one) in PROTOCOLS

    return Archive


def converters(yt_dlp, ydl, has_picture):
    """Converters that leave out subtitles and pictures that they cannot convert, so that the video does not fail.

    :param has_picture: converts the picture, too, which only embedding needs: the server converts it again
    """
    kinds = yt_dlp.postprocessor

    def is_ours(error):
        return isinstance(error, OSError) or 'No space left' in str(error)

    class Subtitles(kinds.FFmpegSubtitlesConvertorPP):
        def run(self, info):
            wanted, done = info.get('requested_subtitles') or {}, []
            for language, one in list(wanted.items()):
                alone = {**info, 'requested_subtitles': {language: one}}
                try:
                    files, _ = super().run(alone)
                    wanted[language] = alone['requested_subtitles'][language]
                    done += files
                except Exception as error:  # a converter may raise anything for an external text
                    if is_ours(error):
                        raise
                    del wanted[language]
                    ydl.leave_out(language, f'they cannot be converted ({clip(error, 200)})')
            return done, info

    class Thumbnails(kinds.FFmpegThumbnailsConvertorPP):
        def run(self, info):
            try:
                return super().run(info)
            except Exception as error:
                if is_ours(error):
                    raise
                ydl.report_warning(f'The thumbnail is left out: it cannot be converted ({clip(error, 200)})')
                info['thumbnails'] = []
                return [], info

    return [Subtitles(ydl, format='vtt'), *([Thumbnails(ydl, format='jpg')] if has_picture else [])]


def take_picture(info, name):
    """Gives the downloaded picture a name without its format, which the server finds by itself. False: there is none."""
    paths = [one['filepath'] for one in info.get('thumbnails') or [] if one.get('filepath') and os.path.isfile(one['filepath'])]
    if paths:
        os.replace(paths[-1], name)
    return bool(paths)


class Progress:
    """The progress of a download, in bytes over all streams."""

    def __init__(self, tell, fetched):
        """:param fetched: called once all streams have arrived; the rest is local work"""
        self.write = tell
        self.fetched = fetched
        self.expected = {}
        self.done = {}
        self.finished = []
        self.told_at = 0

    def expect(self, formats):
        self.expected = {str(one.get('format_id')): one.get('filesize') or one.get('filesize_approx') or 0 for one in formats}

    def hook(self, state):
        info = state.get('info_dict') or {}
        stream = str(info.get('format_id'))
        if stream not in self.expected:  # yt-dlp calls this for subtitles and thumbnails too
            return
        if state['status'] == 'finished':
            size = os.path.getsize(state['filename'])
            self.done[stream] = size
            is_whole_file = str(info.get('protocol')) in ('http', 'https')
            self.finished.append({'format': stream, 'size': size, 'announced': info.get('filesize') if is_whole_file else None})
            if {one['format'] for one in self.finished} == set(self.expected):
                self.fetched()
        elif state['status'] == 'downloading':
            self.done[stream] = state.get('downloaded_bytes') or 0
            self.expected[stream] = state.get('total_bytes') or self.expected[stream] or state.get('total_bytes_estimate') or 0
        self.tell(state)

    def tell(self, state):
        now = time.monotonic()
        if state['status'] != 'finished' and now - self.told_at < PROGRESS_SECONDS:
            return
        self.told_at = now
        downloaded = sum(self.done.values())
        total = sum(max(size, self.done.get(stream, 0)) for stream, size in self.expected.items())
        speed = state.get('speed')
        self.write({'downloaded': downloaded, 'total': total, 'speed': speed, 'eta': (total - downloaded) / speed if speed and total else None})


def file_options(video_id):
    # With `./`, ffmpeg does not take an id that starts with `-` for an option.
    name = f'./{video_id}.%(ext)s'
    return {'outtmpl': {'default': name, 'subtitle': name, 'thumbnail': name}, 'overwrites': None, 'updatetime': False}


def subtitle_options(request):
    languages = [word.strip() for word in (request.get('subtitleLanguages') or '').split(',') if word.strip()]
    if not languages:
        return {}
    return {
        'writesubtitles': True,
        'writeautomaticsub': request.get('subtitleSource') == 'auto',
        'subtitleslangs': languages,
        'subtitlesformat': 'vtt/best',
    }


def subtitles(info):
    found = []
    for language, chosen in (info.get('requested_subtitles') or {}).items():
        path = f'{info["id"]}.{language}.vtt'
        if os.path.isfile(path):
            source = 'user' if language in (info.get('subtitles') or {}) else 'auto'
            found.append({'lang': language, 'name': clip(chosen.get('name') or language, 200), 'source': source, 'url': clip(chosen.get('url') or '', 2000), 'file': path})
    return found

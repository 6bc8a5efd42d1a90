"""Selects the parts of yt-dlp's information that are passed on: chosen keys, truncated, so that lines are bounded."""

import calendar
import time
import urllib.parse

MAX_TEXT = 20_000
MAX_CHAPTERS = 5000
MAX_CHAPTER_TITLE = 500
DAY_SECONDS = 86_400


def clip(value, length=MAX_TEXT):
    return str(value)[:length]


def pick(source, *keys):
    """The values of these keys that are texts (truncated) or numbers."""
    picked = {}
    for key in keys:
        value = source.get(key)
        if isinstance(value, str):
            picked[key] = value[:MAX_TEXT]
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            picked[key] = value
    return picked


def texts(values, most):
    return [clip(value, 500) for value in (values or [])[:most] if isinstance(value, str)]


def time_of(info):
    """When a video began or was published, in epoch seconds, or None."""
    for key in ('release_timestamp', 'timestamp'):
        if isinstance(info.get(key), (int, float)):
            return info[key]
    try:
        return calendar.timegm(time.strptime(info.get('release_date') or info.get('upload_date') or '', '%Y%m%d'))
    except (TypeError, ValueError):
        return None


def has_files(info):
    """Whether it is also offered as files: a running stream has only fragments, a recording has files too."""
    media = [one for one in info.get('formats') or [] if one.get('vcodec') != 'none' or one.get('acodec') != 'none']
    return any((one.get('protocol') or urllib.parse.urlsplit(str(one.get('url'))).scheme) in ('http', 'https') for one in media)


def is_not_yet(info, now, first_seen=None):
    """Whether a video is upcoming, live, or ended and still being processed. The platform may never update such a
    status, so a day after its end a video counts as a recording.

    :param first_seen: when it was first seen, in epoch seconds, for a video without a time
    """
    status = info.get('live_status')
    if status not in ('is_upcoming', 'is_live', 'post_live'):
        return False
    if status != 'post_live' and not has_files(info) or status == 'is_live' and not info.get('duration'):
        return True
    began = time_of(info)
    ended = first_seen if began is None else began + (info.get('duration') or 0)
    return ended is None or now < ended + DAY_SECONDS


def is_listed_early(entry, now):
    """Whether an entry of a listing is upcoming or live. Ended streams are judged by the video's own metadata."""
    status, starts = entry.get('live_status'), entry.get('release_timestamp')
    return status == 'is_live' or status == 'is_upcoming' and not (isinstance(starts, (int, float)) and starts + DAY_SECONDS <= now)


def thumbnails(info):
    # yt-dlp sorts the best last, so the last ones are kept if there are too many.
    return [pick(one, 'url', 'id', 'width', 'height', 'preference') for one in (info.get('thumbnails') or [])[-60:] if isinstance(one, dict)]


def video_metadata(info, now, first_seen=None):
    return {
        **pick(info, 'id', 'title', 'description', 'channel_id', 'channel', 'uploader', 'upload_date', 'release_date', 'timestamp', 'release_timestamp',
               'duration', 'view_count', 'like_count', 'average_rating', 'live_status', 'media_type', 'availability', 'language', 'width', 'height', 'filesize_approx'),
        'tags': texts(info.get('tags'), 500),
        'categories': texts(info.get('categories'), 50),
        'chapters': [{**pick(one, 'start_time'), 'title': clip(one.get('title') or '', MAX_CHAPTER_TITLE)} for one in (info.get('chapters') or [])[:MAX_CHAPTERS] if isinstance(one, dict)],
        'thumbnails': thumbnails(info),
        'thumbnail': clip(info.get('thumbnail') or '', 2000),
        'subtitles': texts(list(info.get('subtitles') or {}), 300),
        'automaticCaptions': texts(list(info.get('automatic_captions') or {}), 300),
        'hasFormats': any(one.get('vcodec') != 'none' or one.get('acodec') != 'none' for one in info.get('formats') or []),
        'isNotYet': is_not_yet(info, now, first_seen),
    }


MAX_FORMATS = 400


def format_facts(one):
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(str(one.get('url') or '')).query)
    return {**pick(one, 'format_id', 'width', 'height', 'fps', 'dynamic_range', 'vcodec', 'acodec', 'language'),
            'isOriginal': bool(one.get('is_original')),
            'client': clip((query.get('c') or [''])[0], 40)}


def receipt(info, version):
    """The formats that were offered, and those that were downloaded. yt-dlp sorts the best last."""
    offered = [one for one in info.get('formats') or [] if (one.get('vcodec') != 'none' or one.get('acodec') != 'none') and not one.get('has_drm')]
    return {'downloader': clip(version, 40),
            'offered': [format_facts(one) for one in offered[-MAX_FORMATS:]],
            'got': [format_facts(one) for one in (info.get('requested_formats') or [info])[:4]]}


MAX_SHEETS = 60


def storyboards(info):
    """The URLs of the platform's own seek previews: formats with pictures only, many of them in each fragment."""
    offered = [one for one in info.get('formats') or [] if one.get('format_note') == 'storyboard'][:10]
    return [{**pick(one, 'width', 'height', 'columns', 'rows', 'fps'),
             'sheets': [clip(part.get('url') or '', 2000) for part in (one.get('fragments') or [])[:MAX_SHEETS + 1]]}
            for one in offered]


def flat_entries(listing):
    """The entries of a listing and of nested listings, without yt-dlp's processing, which compares each entry with all
    earlier ones."""
    for entry in listing.get('entries') or []:
        if not entry:
            continue
        if entry.get('entries') is None:
            yield entry
        else:
            yield from flat_entries(entry)


def entry_metadata(entry, now):
    best = (entry.get('thumbnails') or [{}])[-1]
    return {
        **pick(entry, 'id', 'title', 'url', 'duration', 'availability', 'uploader', 'channel', 'channel_id'),
        'isNotYet': is_listed_early(entry, now),
        'thumbnail': clip(best.get('url') or '', 2000) if isinstance(best, dict) else '',
    }


def comment_metadata(comment):
    flags = {key: bool(comment.get(key)) for key in ('is_favorited', 'author_is_uploader')}
    return {**pick(comment, 'id', 'parent', 'text', 'timestamp', 'like_count', 'author', 'author_id', 'author_thumbnail'), **flags}

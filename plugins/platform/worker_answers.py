"""What of yt-dlp's information is passed on: chosen keys, cut to a length, so that every line stays bounded."""

import urllib.parse

MAX_TEXT = 20_000
MAX_CHAPTERS = 500


def clip(value, length=MAX_TEXT):
    return str(value)[:length]


def pick(source, *keys):
    """Texts, cut to a length, and numbers; nothing else."""
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


def thumbnails(info):
    # yt-dlp puts the best last; that is also the one to keep where there are very many.
    return [pick(one, 'url', 'id', 'width', 'height', 'preference') for one in (info.get('thumbnails') or [])[-60:] if isinstance(one, dict)]


def video_metadata(info):
    return {
        **pick(info, 'id', 'title', 'description', 'channel_id', 'channel', 'uploader', 'upload_date', 'release_date', 'timestamp', 'release_timestamp',
               'duration', 'view_count', 'like_count', 'average_rating', 'live_status', 'media_type', 'availability', 'width', 'height'),
        'tags': texts(info.get('tags'), 500),
        'categories': texts(info.get('categories'), 50),
        'chapters': [pick(one, 'start_time', 'title') for one in (info.get('chapters') or [])[:MAX_CHAPTERS] if isinstance(one, dict)],
        'thumbnails': thumbnails(info),
        'thumbnail': clip(info.get('thumbnail') or '', 2000),
        'subtitles': texts(list(info.get('subtitles') or {}), 300),
        'automaticCaptions': texts(list(info.get('automatic_captions') or {}), 300),
        'hasFormats': any(one.get('vcodec') != 'none' or one.get('acodec') != 'none' for one in info.get('formats') or []),
    }


MAX_FORMATS = 400


def format_facts(one):
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(str(one.get('url') or '')).query)
    return {**pick(one, 'format_id', 'width', 'height', 'fps', 'dynamic_range', 'vcodec', 'acodec', 'language'),
            'isOriginal': bool(one.get('is_original')),
            'client': clip((query.get('c') or [''])[0], 40)}


def receipt(info, version):
    """What was offered, and what of it was taken. yt-dlp puts the best last."""
    offered = [one for one in info.get('formats') or [] if (one.get('vcodec') != 'none' or one.get('acodec') != 'none') and not one.get('has_drm')]
    return {'downloader': clip(version, 40),
            'offered': [format_facts(one) for one in offered[-MAX_FORMATS:]],
            'got': [format_facts(one) for one in (info.get('requested_formats') or [info])[:4]]}


MAX_SHEETS = 60


def storyboards(info):
    """Where the platform's own seek previews lie: formats of pictures alone, a sheet of many to each fragment."""
    offered = [one for one in info.get('formats') or [] if one.get('format_note') == 'storyboard'][:10]
    return [{**pick(one, 'width', 'height', 'columns', 'rows', 'fps'),
             'sheets': [clip(part.get('url') or '', 2000) for part in (one.get('fragments') or [])[:MAX_SHEETS + 1]]}
            for one in offered]


def flat_entries(listing):
    """The entries of a listing and of the listings in it, without yt-dlp's processing, which compares each with all before it."""
    for entry in listing.get('entries') or []:
        if not entry:
            continue
        if entry.get('entries') is None:
            yield entry
        else:
            yield from flat_entries(entry)


def entry_metadata(entry):
    best = (entry.get('thumbnails') or [{}])[-1]
    return {
        **pick(entry, 'id', 'title', 'url', 'duration', 'live_status', 'availability', 'uploader', 'channel', 'channel_id'),
        'thumbnail': clip(best.get('url') or '', 2000) if isinstance(best, dict) else '',
    }


def comment_metadata(comment):
    flags = {key: bool(comment.get(key)) for key in ('is_favorited', 'author_is_uploader')}
    return {**pick(comment, 'id', 'parent', 'text', 'timestamp', 'like_count', 'author', 'author_id', 'author_thumbnail'), **flags}

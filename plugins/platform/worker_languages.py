"""Finds the offered subtitles that match a requested language."""

import re

#: A language alone, or with a script or a region; any other word (`en.*`, `-en`, `all`) is a rule of yt-dlp.
TAG = re.compile(r'[A-Za-z]{2,3}(?:[-_](?:[A-Za-z]{4}|[A-Za-z]{2}|\d{3})){0,2}')
SCRIPT_OR_REGION = re.compile(r'[a-z]{4}|[A-Z]{2}|\d{3}')
#: Other codes of the same language, from platforms and older standards.
SAME_LANGUAGE = {'iw': 'he', 'nb': 'no', 'tl': 'fil', 'in': 'id', 'ji': 'yi', 'jw': 'jv', 'mo': 'ro', 'cmn': 'zh'}
#: Regions that imply the script in which Chinese is written.
CHINESE_SCRIPTS = {'cn': 'hans', 'sg': 'hans', 'my': 'hans', 'tw': 'hant', 'hk': 'hant', 'mo': 'hant'}


def parts(language):
    """A normalized tag, as a list: `iw_IL` and `he-IL` are the same, and so are `zh-CN` and `zh-Hans-CN`."""
    base, *more = language.lower().replace('_', '-').split('-')
    base = SAME_LANGUAGE.get(base, base)
    if base == 'zh' and more and more[0] in CHINESE_SCRIPTS:
        more = [CHINESE_SCRIPTS[more[0]], *more]
    return [base, *more]


def base_of(language):
    """The language itself, without script or region; empty if unknown."""
    return parts(language or '')[0]


def distance(wanted, offered):
    """The distance of an offered tag from a wanted one, or None if it is another language. The exact tag is nearest;
    then one with a script or a region; then one with another suffix of the platform, such as a track with a name."""
    ours, theirs = parts(wanted), parts(offered)
    if ours[0] == 'zh' and theirs == ours[:2]:  # a region is requested, and its script is offered
        return int(offered != wanted)
    if theirs[:len(ours)] != ours:
        return None
    if theirs == ours:
        return 0 if offered == wanted else 1
    rest = offered.replace('_', '-').split('-')[1:]
    if rest == ['orig']:  # automatic, in the spoken language
        return 2
    return 3 if all(SCRIPT_OR_REGION.fullmatch(part.lower() if len(part) == 4 else part) for part in rest) else 4


def choose(words, by_people, by_machines):
    """The words, with each language replaced by the nearest offered one: among manual subtitles, otherwise among
    automatic ones. Languages that are not offered, and words that are not plain languages, stay unchanged."""
    refused = {word[1:].lower() for word in words if word.startswith('-')}
    people, machines = ([one for one in offered if one.lower() not in refused] for offered in (by_people, by_machines))
    return [nearest(word, people) or nearest(word, machines) or word if TAG.fullmatch(word) else word for word in words]


def nearest(wanted, offered):
    far = {language: distance(wanted, language) for language in offered}
    near = [language for language in offered if far[language] is not None]
    return min(near, key=far.get, default=None)  # the first of equally near ones

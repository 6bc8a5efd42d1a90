"""Which of the subtitles that are offered a language means that somebody has asked for."""

import re

#: A language by itself, or with a script or a region; any other word (`en.*`, `-en`, `all`) is a rule of yt-dlp's.
TAG = re.compile(r'[A-Za-z]{2,3}(?:[-_](?:[A-Za-z]{4}|[A-Za-z]{2}|\d{3})){0,2}')
SCRIPT_OR_REGION = re.compile(r'[a-z]{4}|[A-Z]{2}|\d{3}')
#: Codes of the same language, as platforms and older standards write them.
SAME_LANGUAGE = {'iw': 'he', 'nb': 'no', 'tl': 'fil', 'in': 'id', 'ji': 'yi', 'jw': 'jv', 'mo': 'ro', 'cmn': 'zh'}
#: Regions that tell the script which Chinese is written in.
CHINESE_SCRIPTS = {'cn': 'hans', 'sg': 'hans', 'my': 'hans', 'tw': 'hant', 'hk': 'hant', 'mo': 'hant'}


def parts(language):
    """A tag in one form, as a list: `iw_IL` and `he-IL` are the same, and so are `zh-CN` and `zh-Hans-CN`."""
    base, *more = language.lower().replace('_', '-').split('-')
    base = SAME_LANGUAGE.get(base, base)
    if base == 'zh' and more and more[0] in CHINESE_SCRIPTS:
        more = [CHINESE_SCRIPTS[more[0]], *more]
    return [base, *more]


def base_of(language):
    """The language itself, without script or region; empty where none is told."""
    return parts(language or '')[0]


def distance(wanted, offered):
    """How far an offered tag is from a wanted one, or None where it is something else. The exact one is the nearest; then
    one with a script or a region; then what the platform has marked in another way, such as a track with a name."""
    ours, theirs = parts(wanted), parts(offered)
    if ours[0] == 'zh' and theirs == ours[:2]:  # a region is asked for, and its script is offered
        return int(offered != wanted)
    if theirs[:len(ours)] != ours:
        return None
    if theirs == ours:
        return 0 if offered == wanted else 1
    rest = offered.replace('_', '-').split('-')[1:]
    if rest == ['orig']:  # a machine's, in the language that is spoken
        return 2
    return 3 if all(SCRIPT_OR_REGION.fullmatch(part.lower() if len(part) == 4 else part) for part in rest) else 4


def choose(words, by_people, by_machines):
    """The words with each language replaced by the one of the offered that it means: of people's the nearest, else of the
    machines'. What is not offered, and what is no plain language, stays as it is."""
    refused = {word[1:].lower() for word in words if word.startswith('-')}
    people, machines = ([one for one in offered if one.lower() not in refused] for offered in (by_people, by_machines))
    return [nearest(word, people) or nearest(word, machines) or word if TAG.fullmatch(word) else word for word in words]


def nearest(wanted, offered):
    far = {language: distance(wanted, language) for language in offered}
    near = [language for language in offered if far[language] is not None]
    return min(near, key=far.get, default=None)  # the first of those that are as near

"""The platform's challenges: tests whether yt-dlp's solver scripts and a JavaScript runtime solve those of the stored
player, and limits the time of every runtime."""

import os
import subprocess
import time

from worker_answers import clip

RUNTIME_SECONDS = 60
PLAYER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'player.js')
PLAYER_URL = 'https://player.invalid/s/player/00000000/player.js'
# The stored player's answers to these inputs, calculated by hand.
N, N_ANSWER = 'aBcDeFgH12345', '21HgFeDcBa543-13'
SIGNATURE, SIGNATURE_ANSWER = '0123456789abcdef', '23456789abcde0'


def limit_runtimes(seconds):
    """Makes a runtime that does not answer in time an error of the solver; yt-dlp itself would wait for it forever."""
    try:
        from yt_dlp.extractor.youtube.jsc._builtin import deno, node, quickjs
        from yt_dlp.extractor.youtube.jsc.provider import JsChallengeProviderError
    except ImportError:
        return  # a version of yt-dlp that does not solve challenges yet

    class Popen(deno.Popen):
        def communicate_or_kill(self, *arguments, **more):
            try:
                return super().communicate_or_kill(*arguments, timeout=seconds, **more)
            except subprocess.TimeoutExpired as error:
                raise JsChallengeProviderError(f'no answer within {seconds} s', expected=True) from error

    for module in (deno, node, quickjs):
        module.Popen = Popen


def solve_stored_player(yt_dlp, ydl, log):
    """Solves the stored player's challenges. Sends no request. challenge.ts explains the states to people."""
    try:
        from yt_dlp.extractor.youtube.jsc import _director as director
        from yt_dlp.extractor.youtube.jsc import provider as challenge
        from yt_dlp.extractor.youtube.jsc._builtin.vendor import VERSION
    except ImportError:
        return {'state': 'too_old'}
    with open(PLAYER, encoding='utf-8') as file:
        player = file.read()

    class StoredPlayer(yt_dlp.extractor.common.InfoExtractor):
        IE_NAME = 'player'

        def _load_player(self, video_id, player_url, fatal=True):
            return player

    requests = [
        challenge.JsChallengeRequest(challenge.JsChallengeType.N, challenge.NChallengeInput(PLAYER_URL, [N])),
        challenge.JsChallengeRequest(challenge.JsChallengeType.SIG, challenge.SigChallengeInput(PLAYER_URL, [SIGNATURE])),
    ]
    scripts = yt_dlp.dependencies.yt_dlp_ejs
    found = {'solver': scripts.version if scripts else None, 'wanted': VERSION}
    director = director.initialize_jsc_director(StoredPlayer(ydl))
    runtimes = list(director._get_providers(requests))
    if not runtimes:
        return {**found, 'state': 'no_runtime'}
    first = None
    for runtime in runtimes:  # one by one, because yt-dlp tries the next one if one fails
        director.providers = {runtime.PROVIDER_KEY: runtime}
        said = len(log.warnings)
        begun = time.monotonic()
        answers = {request.type.value: list(response.output.results.values())[0] for request, response in director.bulk_solve(requests)}
        milliseconds = round((time.monotonic() - begun) * 1000)
        warnings = log.warnings[said:]
        outcome = {
            **found,
            'runtime': runtime.runtime_info.name,
            'version': clip(runtime.runtime_info.version, 60),
            'milliseconds': milliseconds,
            'state': state_of(answers, found['solver'], warnings),
            'message': clip('\n'.join(warnings), 1000),
        }
        if outcome['state'] == 'works':
            return outcome
        first = first or outcome
    return first


def state_of(answers, solver, warnings):
    if answers == {'n': N_ANSWER, 'sig': SIGNATURE_ANSWER}:
        return 'works'
    if len(answers) == 2:
        return 'wrong_answer'
    if solver is None:
        return 'no_solver'
    if any(' is not supported (source' in warning or 'Hash mismatch' in warning for warning in warnings):
        return 'solver_differs'
    has_failed = any(words in warning for words in ('Error running ', 'no answer within', 'Unexpected error') for warning in warnings)
    return 'runtime_failed' if has_failed else 'not_solved'

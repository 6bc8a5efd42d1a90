"""The network route, client and token for requests to the platform, and checks whether yt-dlp accepts such settings."""

import http.client
import ipaddress
import json
import socket
import urllib.error
import urllib.request

from worker_answers import clip
from worker_network import host_and_port

ANY_ADDRESS = {'4': '0.0.0.0', '6': '::'}
TOKEN_SECONDS = 20
MAX_TOKEN_ANSWER = 65_536


def route_options(route):
    """Options of yt-dlp for its own requests; unset ones are left to yt-dlp."""
    source = route.get('sourceAddress') or ANY_ADDRESS.get(route.get('ipVersion'))
    return {**({'proxy': route['proxy']} if route.get('proxy') else {}), **({'source_address': source} if source else {})}


def client_arguments(route):
    return {'player_client': route['clients']} if route.get('clients') else {}


def own_urls(route):
    """The URLs set by the operator, which may be anywhere."""
    return [route[name] for name in ('proxy', 'tokenProvider') if route.get(name)]


# ---- Proof-of-origin tokens ----------------------------------------------------------------------------------------


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def ask_for_token(address, wanted):
    """A token from the provider, requested without any proxy.

    :raises OSError, ValueError, HTTPException:
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)
    request = urllib.request.Request(f'{address.rstrip("/")}/get_pot', json.dumps(wanted).encode(), {'Content-Type': 'application/json'})
    with opener.open(request, timeout=TOKEN_SECONDS) as reply:
        answer = json.loads(reply.read(MAX_TOKEN_ANSWER))
    token = answer.get('poToken') if isinstance(answer, dict) else None
    if not isinstance(token, str) or not token:
        raise ValueError(clip(answer.get('error') if isinstance(answer, dict) else None, 200) if answer else 'an empty answer')
    return token


def offer_tokens(yt_dlp, address, told):
    """Makes yt-dlp request tokens from the provider at this address.

    :param told: called with the outcome of each request
    """
    from yt_dlp.extractor.youtube.pot import provider, utils

    class ArchivePTP(provider.PoTokenProvider):
        PROVIDER_NAME = 'archive'
        _SUPPORTED_CLIENTS = utils.WEBPO_CLIENTS
        _SUPPORTED_CONTEXTS = tuple(provider.PoTokenContext)
        _SUPPORTED_EXTERNAL_REQUEST_FEATURES = tuple(provider.ExternalRequestFeature)

        def is_available(self):
            return True

        def _real_request_pot(self, request):
            wanted = {
                'content_binding': utils.get_webpo_content_binding(request)[0],
                'proxy': request.request_proxy,
                'source_address': request.request_source_address,
                'disable_tls_verification': not request.request_verify_tls,
                'bypass_cache': request.bypass_cache,
                'innertube_context': request.innertube_context,
            }
            try:
                token = ask_for_token(address, wanted)
            except (OSError, ValueError, http.client.HTTPException) as error:
                reason = clip(getattr(error, 'reason', None) or error, 300)
                told({'failed': reason, 'isAway': isinstance(error, OSError) and not isinstance(error, urllib.error.HTTPError)})
                raise provider.PoTokenProviderError(f'The token provider has failed: {reason}', expected=True) from error
            told({})
            return provider.PoTokenResponse(po_token=token)

    provider.register_provider(ArchivePTP)
    provider.register_preference(ArchivePTP)(lambda *_: 100)


# ---- Checks of settings ---------------------------------------------------------------------------------------------


def judged(yt_dlp, ydl, wanted):
    """The reasons why yt-dlp does not accept values, by key. Sends no request."""
    judges = {'format': judge_format, 'formatSort': judge_format_sort, 'clients': judge_clients, 'proxy': judge_proxy,
              'sourceAddress': judge_source, 'ipVersion': judge_ip_version, 'tokenProvider': judge_token_provider}
    refused = {}
    for key, value in wanted.items():
        try:
            judges[key](yt_dlp, ydl, value)
        except Exception as error:  # yt-dlp may raise anything for an external value
            refused[key] = clip(str(error).strip().split('\n', 1)[0], 300) or type(error).__name__
    return refused


def judge_format(yt_dlp, ydl, text):
    if text.strip() == '-':
        raise ValueError('“-” makes yt-dlp ask at the terminal, where nobody can answer')
    ydl.build_format_selector(text)


def judge_format_sort(yt_dlp, ydl, text):
    ydl.params['format_sort'] = [word for word in text.split(',') if word]
    yt_dlp.utils.FormatSorter(ydl, ())


def judge_clients(yt_dlp, ydl, names):
    from yt_dlp.extractor.youtube._base import INNERTUBE_CLIENTS
    known = ['default', *(name for name in INNERTUBE_CLIENTS if not name.startswith('_'))]
    for name in names:
        if name not in known:
            raise ValueError(f'yt-dlp does not know the client “{name}”. It knows {", ".join(sorted(known))}')


def judge_proxy(yt_dlp, ydl, url):
    host_and_port(url)  # raises for an invalid port
    request = yt_dlp.networking.Request('https://platform.invalid', proxies={'all': url})
    refusals = []
    for handler in ydl._request_director.handlers.values():
        try:
            return handler.validate(request)
        except yt_dlp.networking.exceptions.UnsupportedRequest as error:
            refusals.append(str(error))
    raise ValueError(next((text for text in refusals if 'proxy' in text.lower()), 'yt-dlp cannot use this proxy'))


def judge_source(yt_dlp, ydl, address):
    family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    with socket.socket(family) as one:
        try:
            one.bind((address, 0))
        except OSError as error:
            raise ValueError(f'This machine has no address {address}') from error


def judge_ip_version(yt_dlp, ydl, version):
    try:
        judge_source(yt_dlp, ydl, ANY_ADDRESS[version])
    except (OSError, ValueError) as error:
        raise ValueError(f'This machine has no IPv{version}') from error


def judge_token_provider(yt_dlp, ydl, address):
    host_and_port(address)
    try:
        from yt_dlp.extractor.youtube.pot import provider  # noqa: F401
    except ImportError as error:
        raise ValueError('This yt-dlp is too old for tokens') from error

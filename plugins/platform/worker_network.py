"""Limits the connections of yt-dlp to public addresses and the configured platform, also after redirects.

It checks the address to which a socket connects, so that a name cannot resolve to one address for the check and to
another for the connection. It sees only Python's own connections: handlers that connect in a C library, and downloads
by other programs, are disabled.
"""

import ipaddress
import socket
import sys
import urllib.parse
import urllib.request

HANDLERS = ('Requests', 'Urllib', 'Websockets')
PROTOCOLS = ('http', 'https', 'm3u8', 'm3u8_native', 'http_dash_segments', 'http_dash_segments_generator', 'mhtml')
# IPv4 addresses within IPv6: translated by networks (RFC 6052), and the old compatible form (RFC 4291, 2.5.5.1).
EMBEDDING = (ipaddress.ip_network('64:ff9b::/96'), ipaddress.ip_network('::/96'))
# Transparent proxies resolve every name to an address in this range, and find the real one themselves.
STAND_INS = ipaddress.ip_network('198.18.0.0/15')


def is_public(text):
    try:
        address = ipaddress.ip_address(text.partition('%')[0])
    except ValueError:
        return False
    if address.version == 6:
        teredo = address.teredo
        inner = address.ipv4_mapped or address.sixtofour or (teredo and teredo[1])
        if not inner and int(address) > 1 and any(address in network for network in EMBEDDING):
            inner = ipaddress.ip_address(int(address) & 0xffffffff)
        if inner:
            return is_public(str(inner))
        if address.is_site_local:
            return False
    return (address.is_global and not address.is_multicast) or (address.version == 4 and address in STAND_INS)


def host_and_port(url):
    parts = urllib.parse.urlsplit(url if '://' in url else f'http://{url}')
    return parts.hostname, parts.port or {'https': 443, 'socks4': 1080, 'socks4a': 1080, 'socks5': 1080, 'socks5h': 1080}.get(parts.scheme, 80)


def addresses_of(target):
    """The host and port as given, and the addresses to which the host currently resolves."""
    found = {target}
    try:
        found.update(one[4][:2] for one in socket.getaddrinfo(*target, type=socket.SOCK_STREAM))
    except OSError:
        pass  # then nothing can connect to it either
    return found


def guard_connections(yt_dlp, own_urls):
    """Guards all connections until the process ends.

    :param own_urls: URLs set by the operator, which are exempt
    :returns: the exception that a refused connection raises
    """

    class LocalAddress(yt_dlp.networking.exceptions.RequestError):
        """Not a subclass of a connection error, because yt-dlp would retry those."""

    def is_exempt(target):
        # A proxy from the environment belongs to the operator, and decides itself which requests it forwards.
        proxies = [url for kind, url in urllib.request.getproxies().items() if kind != 'no']
        return any(target in addresses_of(host_and_port(url)) for url in (*own_urls, *proxies))

    def check(event, arguments):
        if event != 'socket.connect':
            return
        address = arguments[1]
        if not isinstance(address, tuple):
            raise LocalAddress('The platform refers to a socket of this machine')
        if not is_public(str(address[0])) and not is_exempt(address[:2]):
            raise LocalAddress(f'The platform refers to {address[0]}, which is not a public address')

    sys.addaudithook(check)
    return LocalAddress


def keep_to_own_connections(yt_dlp):
    """Disables downloads by ffmpeg, whose connections cannot be checked; it still merges and converts files."""

    def refuse(self, filename, info_dict):
        raise yt_dlp.utils.DownloadError('Streams of this kind are not downloaded, because their parts cannot be checked')

    yt_dlp.downloader.external.FFmpegFD.real_download = refuse


def is_file_url(url, platform_url, hosts):
    """Whether subtitles and pictures may be fetched from this URL: https on these hosts, or the configured platform."""
    try:
        parts = urllib.parse.urlsplit(str(url))
        own = urllib.parse.urlsplit(platform_url)
        if parts.username or parts.password:
            return False
        if (parts.scheme, *host_and_port(str(url))) == (own.scheme, *host_and_port(platform_url)):
            return True
        return parts.scheme == 'https' and parts.port is None and any(f'.{parts.hostname}'.endswith(f'.{host}') for host in hosts)
    except ValueError:
        return False

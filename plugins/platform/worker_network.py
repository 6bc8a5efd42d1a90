"""What yt-dlp may reach: public addresses, wherever a redirect or a name leads, and the configured platform; nothing else of the local network.

Looked at is the address that a socket connects to, so that no name can mean one thing when it is checked and another
when it is used. Only what Python itself connects is seen: handlers that leave this to a library of C, and downloads
by another program, are switched off.
"""

import ipaddress
import socket
import sys
import urllib.parse
import urllib.request

HANDLERS = ('Requests', 'Urllib', 'Websockets')
PROTOCOLS = ('http', 'https', 'm3u8', 'm3u8_native', 'http_dash_segments', 'http_dash_segments_generator', 'mhtml')
# Version 4 within version 6: what networks translate (RFC 6052), and the old compatible form (RFC 4291, 2.5.5.1).
EMBEDDING = (ipaddress.ip_network('64:ff9b::/96'), ipaddress.ip_network('::/96'))
# Transparent proxies answer every name with an address of this range and find out themselves where it leads.
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


def place_of(url):
    parts = urllib.parse.urlsplit(url if '://' in url else f'http://{url}')
    return parts.hostname, parts.port or {'https': 443, 'socks4': 1080, 'socks4a': 1080, 'socks5': 1080, 'socks5h': 1080}.get(parts.scheme, 80)


def addresses_of(place):
    """The place by its name, and as names lead now."""
    found = {place}
    try:
        found.update(one[4][:2] for one in socket.getaddrinfo(*place, type=socket.SOCK_STREAM))
    except OSError:
        pass  # then nobody can connect to it either
    return found


def guard_connections(yt_dlp, own_places):
    """From here on, for the life of this process. @param own_places  URLs that the operator has named. @returns the exception of those that are refused"""

    class LocalAddress(yt_dlp.networking.exceptions.RequestError):
        """No failure of the connection: it would be tried again."""

    def is_exempt(place):
        # A proxy of the environment is the operator's own, and looks itself where it lets requests go.
        proxies = [url for kind, url in urllib.request.getproxies().items() if kind != 'no']
        return any(place in addresses_of(place_of(url)) for url in (*own_places, *proxies))

    def look(event, arguments):
        if event != 'socket.connect':
            return
        address = arguments[1]
        if not isinstance(address, tuple):
            raise LocalAddress('The platform leads to a socket of this machine')
        if not is_public(str(address[0])) and not is_exempt(address[:2]):
            raise LocalAddress(f'The platform leads to {address[0]}, which is no public address')

    sys.addaudithook(look)
    return LocalAddress


def keep_to_own_connections(yt_dlp):
    """ffmpeg would fetch by itself what it is given to download; to merge and to convert it reads files alone."""

    def refuse(self, filename, info_dict):
        raise yt_dlp.utils.DownloadError('This kind of stream is not downloaded: its parts cannot be looked at')

    yt_dlp.downloader.external.FFmpegFD.real_download = refuse


def is_file_url(url, platform_url, hosts):
    """Whether subtitles and pictures may lie there: https on hosts of the platform, or the configured platform itself."""
    try:
        parts = urllib.parse.urlsplit(str(url))
        own = urllib.parse.urlsplit(platform_url)
        if parts.username or parts.password:
            return False
        if (parts.scheme, *place_of(str(url))) == (own.scheme, *place_of(platform_url)):
            return True
        return parts.scheme == 'https' and parts.port is None and any(f'.{parts.hostname}'.endswith(f'.{host}') for host in hosts)
    except ValueError:
        return False

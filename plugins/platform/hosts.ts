/** The platform's hosts for pictures and subtitles. */

const ART_HOSTS = ['ytimg.com', 'ggpht.com', 'googleusercontent.com']
/** Hosts from which yt-dlp may fetch subtitles and thumbnails. */
export const FILE_HOSTS = [...ART_HOSTS, 'youtube.com', 'googlevideo.com']

/** Whether pictures may be fetched from a URL: https on hosts of the platform, or its base URL. */
export function isArtUrl(text: string, base: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  if (url.username || url.password) return false
  return (
    url.origin === new URL(base).origin ||
    (url.protocol === 'https:' && url.port === '' && ART_HOSTS.some((host) => `.${url.hostname}`.endsWith(`.${host}`)))
  )
}

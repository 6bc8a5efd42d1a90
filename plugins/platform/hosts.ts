/** The hosts of the platform: where its pictures and subtitles may lie. */

const ART_HOSTS = ['ytimg.com', 'ggpht.com', 'googleusercontent.com']
/** What yt-dlp may fetch as subtitles and thumbnails. */
export const FILE_HOSTS = [...ART_HOSTS, 'youtube.com', 'googlevideo.com']

/** Whether art may be fetched from there: https on hosts the platform uses, or its own base URL. */
export function isArtUrl(text: string, base: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  if (url.username || url.password) return false
  return (
    url.origin === new URL(base).origin ||
    (url.protocol === 'https:' && url.port === '' && ART_HOSTS.some((host) => `.${url.hostname}`.endsWith(`.${host}`)))
  )
}

/** Every address of the page: the server answers each with the same document, the page's own router picks the view. */

/** As routes are written. A view that is not listed here works by clicks only, not by its address. */
export const ADDRESSES = [
  '/',
  '/login/',
  '/welcome/',
  '/share/',
  '/video/:videoId/',
  '/channels/',
  '/channel/:channelId/',
  '/playlists/',
  '/playlist/:playlistId/',
  '/downloads/',
  '/search/',
  '/statistics/',
  '/settings/',
  '/settings/:section/',
  '/plugin/:plugin/',
] as const

/**
 * The addresses of the page: the server answers each with the same document, and the page's own router chooses the
 * view.
 */

/** Patterns, as in routes. A view that is missing here can be reached by links, but not by its address. */
export const ADDRESSES = [
  '/',
  '/login/',
  '/welcome/',
  '/share/',
  '/link/',
  '/video/:videoId/',
  '/channels/',
  '/channel/:channelId/',
  '/playlists/',
  '/playlist/:playlistId/',
  '/downloads/',
  '/search/',
  '/said/',
  '/statistics/',
  '/settings/',
  '/settings/:section/',
  '/plugin/:plugin/',
] as const

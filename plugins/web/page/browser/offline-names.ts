/** Names of the caches that the service worker and the page share for offline use. */

/**
 * The prefix of all caches of an installation, for every account.
 * @param base  with both slashes
 */
export const prefixOf = (base: string): string => `archivolt ${base} `
/** The cache for the last Home. */
export const homeCache = (base: string, account: number): string => prefixOf(base) + account
/** The cache for saved videos. */
export const filmCache = (base: string, account: number): string => `${homeCache(base, account)} films`
export const isFilmCache = (name: string): boolean => name.endsWith(' films')

/**
 * Size of a piece, in bytes. A film is stored in pieces, so that an interrupted download can continue and playback can
 * start anywhere.
 */
export const PIECE_BYTES = 4 << 20
export const pieceAt = (film: string, number: number): string => `${film}?piece=${number}`

/** The record of a film that is saved offline. */
export interface OfflineFilm {
  /** The URL as in the API, such as `/media/UC1/abc.mp4`. */
  film: string
  type: string
  bytes: number
  /** ETag of the file. */
  tag: string
  /** URLs of subtitles and pictures, as in the API. */
  beside: string[]
  /** Changes when the server has a new version of the file. */
  stamp: string
  isWhole: boolean
  /** The film is removed once the account has watched it. */
  isForTrip?: boolean
}
/**
 * The address of the record `OfflineFilm` in the cache.
 * @param root  with the base
 */
export const filmAt = (root: string, id: string): string => `${root}device/${encodeURIComponent(id)}`
/** The video's id in such an address; undefined: a different kind of address. */
export const idAt = (root: string, address: string): string | undefined =>
  address.startsWith(`${root}device/`) ? decodeURIComponent(address.slice(`${root}device/`.length)) : undefined
/** The query that requests the saved film instead of the server's. */
export const HERE = '?device'

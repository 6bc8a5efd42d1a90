/** Where the service worker and the page store things for use without the server: names that both have to know. */

/** How the names of all caches of an installation begin, whoever's. @param base  with both slashes */
export const prefixOf = (base: string): string => `archivolt ${base} `
/** The last Home. */
export const homeCache = (base: string, account: number): string => prefixOf(base) + account
/** The chosen videos. */
export const filmCache = (base: string, account: number): string => `${homeCache(base, account)} films`
export const isFilmCache = (name: string): boolean => name.endsWith(' films')

/** A film lies in pieces, so that it is fetched on after an interruption, and read from its middle. */
export const PIECE_BYTES = 4 << 20
export const pieceAt = (film: string, number: number): string => `${film}?piece=${number}`

/** What is known of a film that is saved offline. */
export interface OfflineFilm {
  /** As the API names it, such as `/media/UC1/abc.mp4`. */
  film: string
  type: string
  bytes: number
  /** ETag of the file. */
  tag: string
  /** Subtitles and pictures, as the API names them. */
  beside: string[]
  /** Changes when the server has another file of it. */
  stamp: string
  isWhole: boolean
}
/** Of its `OfflineFilm`. @param root  with the base */
export const filmAt = (root: string, id: string): string => `${root}device/${encodeURIComponent(id)}`
/** The id in such an address; undefined: it is none. */
export const idAt = (root: string, address: string): string | undefined =>
  address.startsWith(`${root}device/`) ? decodeURIComponent(address.slice(`${root}device/`.length)) : undefined
/** What asks for the saved film, and not for the server's. */
export const HERE = '?device'

/** The base path of this installation, which a proxy may have added. */

const base = document.querySelector<HTMLMetaElement>('meta[name="archivolt-base"]')?.content ?? '/'

/**
 * `/api/ping/` → the path to request. Also for pictures and media, whose URLs in the API start at the server's root.
 */
export const under = (path: string): string => base + path.replace(/^\//, '')

/** The path below the base; undefined: the address is not on the page. */
export function ownPath(pathname: string): string | undefined {
  if (pathname === base.slice(0, -1)) return '/'
  return pathname.startsWith(base) ? pathname.slice(base.length - 1) : undefined
}

/** The URL of the 320-pixel picture, for boxes up to that width. */
export const small = (url: string): string => `${under(url)}?size=small`

/**
 * `srcset` and `sizes` of a picture, so that the browser chooses the size for its box. `auto` means the width of the
 * rendered box; browsers that do not support it use the next value, the width of a card. `loading` comes first, because
 * `auto` works only for lazy pictures.
 */
export const sharp = (url: string) =>
  ({ loading: 'lazy', ...inSizes(url, 'auto, (max-width: 600px) 100vw, 360px') }) as const

/** The same for a box of known width, given as `sizes`. */
export const inSizes = (url: string, sizes: string) => ({
  sizes,
  srcset: `${small(url)} 320w, ${under(url)}?size=medium 640w, ${under(url)}?size=large 960w`,
  src: small(url),
})

/** The value of one of our cookies that scripts may read. */
export function cookie(name: string): string | undefined {
  return document.cookie
    .split('; ')
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

export function setCookie(name: string, value: string): void {
  const age = value === '' ? 0 : 31_536_000
  document.cookie = `${name}=${value}; path=${base}; max-age=${age}; samesite=lax`
}

/** Where this installation lives: the base path that a proxy may have given it. */

const base = document.querySelector<HTMLMetaElement>('meta[name="archivolt-base"]')?.content ?? '/'

/** `/api/ping/` → the path to ask for. Also for pictures and media, whose URLs the API gives from its own root. */
export const under = (path: string): string => base + path.replace(/^\//, '')

/** The page's own path of an address in the browser; undefined: it is not ours. */
export function ownPath(pathname: string): string | undefined {
  if (pathname === base.slice(0, -1)) return '/'
  return pathname.startsWith(base) ? pathname.slice(base.length - 1) : undefined
}

/** The 320-pixel picture for boxes that are no larger. */
export const small = (url: string): string => `${under(url)}?size=small`

/**
 * A picture as sharp as the screen and its box. `auto` is the box as it is laid out; browsers that do not know that take
 * what follows, a card. The order counts: a picture that is not lazy yet has no box.
 */
export const sharp = (url: string) =>
  ({ loading: 'lazy', ...inSizes(url, 'auto, (max-width: 600px) 100vw, 360px') }) as const

/** The same for a box whose width is known, as `sizes` says it. */
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

/** Where the program's own files lie: what plugins import by name, and whether all runs from sources or bundled. */

/** Read from sources (tests, `make dev`) or from the bundle: there this file is a part of some `dist/*.js`. */
export const isSource = import.meta.url.endsWith('.ts')
/** What lies in the bundle begins with it. */
export const OWN_FOLDER = new URL(isSource ? '../' : './', import.meta.url)

/** All that a plugin may import of core, by the name it imports it by. */
export const IMPORTABLE = {
  archivolt: new URL(isSource ? './public.ts' : './public.js', import.meta.url),
  'archivolt/index': new URL(isSource ? './index/public.ts' : './public-index.js', import.meta.url),
} as const

/** Where the program's own files lie: what plugins import by name, and whether all runs from sources or bundled. */

/** Read from sources (tests, `make dev`) or from the bundle: there this file is a part of some `dist/*.js`. */
export const isSource = import.meta.url.endsWith('.ts')
/** What lies in the bundle begins with it. */
export const OWN_FOLDER = new URL(isSource ? '../' : './', import.meta.url)

const PUBLIC = new URL(isSource ? './public.ts' : './public.js', import.meta.url)
const PUBLIC_INDEX = new URL(isSource ? '../plugins/index-kit/public.ts' : './public-index.js', import.meta.url)

/**
 * All that a plugin may import of core, by the name it imports it by: that of the package for authors, and what the
 * built-in ones say.
 */
export const IMPORTABLE = {
  archivolt: PUBLIC,
  'archivolt/index': PUBLIC_INDEX,
  '@archivolt/plugin': PUBLIC,
  '@archivolt/plugin/index': PUBLIC_INDEX,
} as const

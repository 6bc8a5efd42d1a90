/** Locations of the program's own files: what plugins import by name, and whether it runs from sources or bundled. */
import { fileURLToPath } from 'node:url'

/** Whether it runs from sources (tests, `make dev`) or from the bundle, where this file is part of a `dist/*.js`. */
export const isSource = import.meta.url.endsWith('.ts')
/** The root folder of the sources or of the bundle. */
export const OWN_FOLDER = new URL(isSource ? '../' : './', import.meta.url)

/** The program, as Node starts it. */
export const PROGRAM = fileURLToPath(new URL(isSource ? 'config/cli/main.ts' : 'main.js', OWN_FOLDER))

const PUBLIC = new URL(isSource ? '../plugins/plugin-kit/public.ts' : './public.js', import.meta.url)
const PUBLIC_INDEX = new URL(isSource ? '../plugins/index-kit/public.ts' : './public-index.js', import.meta.url)

/** Import name → file, of what authors' plugins and built-in ones import. */
export const IMPORTABLE = {
  archivolt: PUBLIC,
  'archivolt/index': PUBLIC_INDEX,
  '@archivolt/plugin': PUBLIC,
  '@archivolt/plugin/index': PUBLIC_INDEX,
} as const

/** Starts a plugin's worker thread, from the bundle or from sources. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { IMPORTABLE, isSource, OWN_FOLDER } from './own-files.ts'

/**
 * Starts the worker of a plugin.
 * @param entry  `new URL('./worker.ts', import.meta.url)`: a built-in one is bundled with the program under this name
 */
export function startWorker(
  entry: URL,
  options: Pick<WorkerOptions, 'name' | 'workerData' | 'resourceLimits'> = {},
): Worker {
  if (isBundled(entry)) return new Worker(bundledCode(entry), options)
  return new Worker(bundledCode(entry), { ...options, eval: true })
}

/** Whether it lies in the program's bundle as a file. */
export const isBundled = (entry: URL): boolean => !isSource && isOwn(entry)

/** The path of that file; else the code itself. */
export const bundledCode = (entry: URL): string =>
  isBundled(entry) ? fileURLToPath(entry).replace(/\.ts$/, '.cjs') : bundled(entry)

const isOwn = (entry: URL): boolean => entry.href.startsWith(OWN_FOLDER.href)

const bundles = new Map<string, string>()

/** Once a process: that costs less than to teach each thread TypeScript. */
function bundled(entry: URL): string {
  const known = bundles.get(entry.href)
  if (known !== undefined) return known
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild')
  const place = JSON.stringify(entry.href)
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    // From elsewhere the program's packages are not found; ours may be native code, which cannot be bundled.
    packages: isOwn(entry) ? 'external' : 'bundle',
    alias: Object.fromEntries(Object.entries(IMPORTABLE).map(([name, url]) => [name, fileURLToPath(url)])),
    define: { 'import.meta.url': place },
    // What is evaluated has no place to find packages from: the entry's.
    banner: { js: `require = require('node:module').createRequire(${place})` },
    logLevel: 'silent',
  })
  const source = outputFiles[0]!.text
  bundles.set(entry.href, source)
  return source
}

/** Starts a plugin's worker thread, from the bundle or from sources. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { IMPORTABLE, isSource, OWN_FOLDER } from '../../core/own-files.ts'

// Threads that start from now on collect their young garbage in 1 MB: with the 4 MB that `config/archivolt` gives the
// main thread, searches are no faster, and the process takes 7 MB more.
setFlagsFromString('--max-semi-space-size=1')

/**
 * Starts the worker of a plugin.
 * @param entry  `new URL('./worker.ts', import.meta.url)`: a built-in worker is bundled with the program under this
 * name
 */
export function startWorker(
  entry: URL,
  options: Pick<WorkerOptions, 'name' | 'workerData' | 'resourceLimits'> = {},
): Worker {
  if (isBundled(entry)) return new Worker(bundledCode(entry), options)
  return new Worker(bundledCode(entry), { ...options, eval: true })
}

/** Whether the worker is a file in the program's bundle. */
export const isBundled = (entry: URL): boolean => !isSource && isOwn(entry)

/** The path of a bundled worker, or the bundled code itself. */
export const bundledCode = (entry: URL): string =>
  isBundled(entry) ? fileURLToPath(entry).replace(/\.ts$/, '.cjs') : bundled(entry)

const isOwn = (entry: URL): boolean => entry.href.startsWith(OWN_FOLDER.href)

const bundles = new Map<string, string>()

/** Bundled once per process: cheaper than registering a TypeScript loader in each thread. */
function bundled(entry: URL): string {
  const known = bundles.get(entry.href)
  if (known !== undefined) return known
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild')
  const url = JSON.stringify(entry.href)
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    // A worker outside the program cannot resolve its packages, so they are bundled; our own packages may be native and
    // cannot be bundled.
    packages: isOwn(entry) ? 'external' : 'bundle',
    alias: Object.fromEntries(Object.entries(IMPORTABLE).map(([name, url]) => [name, fileURLToPath(url)])),
    define: { 'import.meta.url': url },
    // Evaluated code has no path from which packages can be resolved: all are required, from the path of the entry.
    supported: { 'dynamic-import': false },
    banner: { js: `require = require('node:module').createRequire(${url})` },
    logLevel: 'silent',
  })
  const source = outputFiles[0]!.text
  bundles.set(entry.href, source)
  return source
}

/**
 * Bundles the test files and the server that they test once per run, because loading our code from its sources takes
 * each process seconds.
 */
import { readdirSync } from 'node:fs'
import { readFile, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin, transform } from 'esbuild'
import { bundleWorkers, copyUnbundled, serverBuild } from '../../config/build.ts'
import manifest from '../../package.json' with { type: 'json' }
import { ROOT } from './sources.ts'

/** Programs that tests start in their own processes (`child.ts`). */
const childPrograms = (): string[] =>
  readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-child.ts'))
    .map((name) => join('test', name))

/**
 * @param folder  below the root, so that packages are found; each file is written there under its own path, as `.js`
 */
export async function bundleTests(files: readonly string[], folder: string): Promise<void> {
  const server = await serverBuild(folder)
  await build({
    ...server,
    entryPoints: {
      ...server.entryPoints,
      ...Object.fromEntries([...files, ...childPrograms()].map((path) => [path.replace(/\.tsx?$/, ''), path])),
    },
    alias: { ...server.alias, 'archivolt/testing': './test/support/testing.ts' },
    external: [...server.external, ...Object.keys(manifest.devDependencies)],
    // Errors name lines of the sources.
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [places(folder)],
  })
  await bundleWorkers(folder)
  await copyUnbundled(folder)
  await symlink(join(ROOT, 'dist/plugins/web/static'), join(folder, 'plugins/web/static'))
}

/**
 * In a bundle, the code of many files shares one location. This plugin gives each file its own again: server files in
 * the bundle, as in `dist/`, and test files among the sources, where their data is.
 */
const places = (folder: string): Plugin => ({
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.(ts|mjs)$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8')
      if (!code.includes('import.meta.') || path.includes('/node_modules/')) return undefined
      const define = {
        'import.meta.url': JSON.stringify(pathToFileURL(placeOf(path, folder)).href),
        'import.meta.dirname': JSON.stringify(dirname(path)),
      }
      return {
        contents: (await transform(code, { loader: 'ts', define, sourcemap: 'inline', sourcefile: path })).code,
      }
    }),
})

function placeOf(path: string, folder: string): string {
  const own = relative(ROOT, path)
  const bundled = own.replace(/\.ts$/, '.js')
  if (/^(base|core)\//.test(own)) return join(folder, basename(bundled))
  if (own.startsWith('plugins/')) return join(folder, bundled)
  return path
}

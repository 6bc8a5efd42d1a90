/**
 * Bundles the page for browsers: an initial script and style, one with the code that views share, and one for each
 * view, all named by their content and compressed once.
 */
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildOptions, build, context, type Metafile, type Plugin, stop } from 'esbuild'
import { firstTexts, modulesOfHome, writeTexts } from './build-texts.ts'

const COMPRESSIBLE = /\.(js|css)$/
const COMPRESSED = /\.(br|gz)$/

/**
 * @param folder  contains `app.tsx`, `styles.css` and `more-styles.css`, and `static/`, which is copied unchanged
 * @param outdir  must not exist
 */
export async function bundlePage(folder: string, outdir: string): Promise<void> {
  const { options, ofHome } = await inFewFiles(optionsFor(folder, outdir))
  const { metafile } = await build(options)
  await finish(folder, outdir, metafile!, ofHome)
}

/**
 * esbuild creates a chunk for each set of modules that the same views import, which were 25 files for Home. Here each
 * view, and every other module that is loaded later, imports all modules that any two of them share, so that these
 * become one chunk: three files, which are smaller in total. Modules that Home never needs are in a second chunk, for
 * the other views.
 */
async function inFewFiles(options: BuildOptions): Promise<{ options: BuildOptions; ofHome: readonly string[] }> {
  const { metafile } = await build({ ...options, plugins: [], metafile: true, write: false })
  const outputs = Object.values(metafile.outputs)
  const ofHome = modulesOfHome(metafile)
  const inPage = (path: string) => join(options.absWorkingDir!, path)
  const parts = new Set(
    outputs.flatMap(({ entryPoint }) => (entryPoint !== undefined && isOwn(entryPoint) ? [inPage(entryPoint)] : [])),
  )
  const shared = outputs
    .filter(({ entryPoint }) => entryPoint === undefined)
    .flatMap(({ inputs }) => Object.keys(inputs).filter((path) => path in metafile.inputs && isOwn(path)))
  const isOfHome = new Set(ofHome.map(inPage))
  const plugin: Plugin = {
    name: 'shared',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^shared:/ }, ({ path }) => ({ path, namespace: 'shared' }))
      onLoad({ filter: /.*/, namespace: 'shared' }, ({ path: name }) => ({
        contents: shared
          .map(inPage)
          .filter((path) => isOfHome.has(path) === (name === 'shared:home'))
          .map((path) => `import ${JSON.stringify(path)}`)
          .join('\n'),
        resolveDir: options.absWorkingDir!,
      }))
      onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
        if (!parts.has(path)) return undefined
        const further = isOfHome.has(path) ? '' : "import 'shared:views';"
        return { contents: `import 'shared:home'; ${further} ${await readFile(path, 'utf8')}`, loader: 'tsx' }
      })
    },
  }
  const texts = firstTexts(options.absWorkingDir!, () => ofHome)
  return { options: { ...options, plugins: [...(options.plugins ?? []), texts, plugin] }, ofHome }
}

const isOwn = (path: string): boolean => /\.tsx?$/.test(path) && !path.includes('node_modules/')

const optionsFor = (folder: string, outdir: string): BuildOptions => ({
  absWorkingDir: folder,
  entryPoints: { app: 'app.tsx', style: 'styles.css', 'more-style': 'more-styles.css' },
  outdir: join(outdir, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox125', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
})

/** Writes the list of files, which the plugin `web` reads, last and atomically. */
async function finish(folder: string, outdir: string, { outputs }: Metafile, ofHome: readonly string[]): Promise<void> {
  await cp(join(folder, 'static'), outdir, { recursive: true })
  const languages = await writeTexts(folder, join(outdir, 'assets'), ofHome)
  const pluginPage = await bundlePluginPage(folder, outdir)
  await bundleServiceWorker(folder, outdir)
  const entry = (source: string) => Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source)!
  const [script, { imports }] = entry('app.tsx')
  const assets: Record<string, string[]> = {}
  for (const name of await readdir(join(outdir, 'assets')))
    if (!COMPRESSED.test(name)) assets[name] = await compress(join(outdir, 'assets', name))
  const described = {
    script: basename(script),
    style: basename(entry('styles.css')[0]),
    moreStyle: basename(entry('more-styles.css')[0]),
    preload: statically(imports).map((path) => basename(path)),
    views: Object.fromEntries(
      Object.entries(outputs).flatMap(([path, { entryPoint, imports: chunks }]) =>
        entryPoint?.startsWith('views/')
          ? [[basename(entryPoint, '.tsx'), [path, ...statically(chunks)].map((one) => basename(one))]]
          : [],
      ),
    ),
    assets,
    pluginPage,
    languages,
    icons: await readdir(join(outdir, 'icons')),
    mark: `data:image/svg+xml,${encodeURIComponent(await readFile(join(outdir, 'icons/mark.svg'), 'utf8'))}`,
  }
  const list = join(outdir, 'built.json')
  await writeFile(`${list}.${process.pid}`, JSON.stringify(described))
  await rename(`${list}.${process.pid}`, list)
}

/** The code in the frames of plugins' pages: one file that shares nothing with the surrounding page. */
async function bundlePluginPage(folder: string, outdir: string): Promise<string> {
  const entry = 'plugin-page/start.ts'
  const options = { ...optionsFor(folder, outdir), entryPoints: { 'plugin-page': entry }, splitting: false }
  const { metafile: seen } = await build({ ...options, write: false, metafile: true })
  const modules = modulesOfHome(seen, entry)
  const { metafile } = await build({ ...options, plugins: [firstTexts(folder, () => modules)] })
  return basename(Object.keys(metafile!.outputs)[0]!)
}

/** Its name never changes, because browsers use it to check for a newer one. */
async function bundleServiceWorker(folder: string, outdir: string): Promise<void> {
  await build({
    ...optionsFor(folder, outdir),
    entryPoints: { 'service-worker': 'browser/service-worker.ts' },
    outdir,
    entryNames: '[name]',
    splitting: false,
    format: 'iife',
    metafile: false,
  })
}

const statically = (imports: Metafile['outputs'][string]['imports']): string[] =>
  imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path)

async function compress(path: string): Promise<string[]> {
  if (!COMPRESSIBLE.test(path)) return []
  if (existsSync(`${path}.gz`)) return ['br', 'gz']
  const content = await readFile(path)
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
    }),
    promisify(gzip)(content, { level: 9 }),
  ])
  await writeFile(`${path}.br`, br)
  await writeFile(`${path}.gz`, gz)
  return ['br', 'gz']
}

/**
 * Adds a new page to dist/; the files of the old one stay for open documents.
 * @param isWatching  rebuild after each change, as long as the process runs
 */
export async function buildPage({ isWatching }: { isWatching: boolean }): Promise<void> {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const [folder, output] = [join(root, 'plugins/web/page'), join(root, 'dist/plugins/web/static')]
  const { options, ofHome } = await inFewFiles(optionsFor(folder, output))
  const plugin: Plugin = {
    name: 'finish',
    setup: ({ onEnd }) =>
      onEnd(
        async ({ metafile, errors }) =>
          void (errors.length === 0 && metafile && (await finish(folder, output, metafile, ofHome))),
      ),
  }
  const watched = await context({ ...options, plugins: [...(options.plugins ?? []), plugin] })
  if (isWatching) {
    // If this process ended in the middle of a build, esbuild would wait for its answer for ever.
    process.once('exit', () => void stop())
    return watched.watch()
  }
  await watched.rebuild()
  await watched.dispose()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage({ isWatching: false })

/** Installs a plugin into a folder with npm: a package, a folder or a tarball. */
import { cp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { PLUGIN_KEYWORD } from 'archivolt'
import { npm } from './npm.ts'

/** What npm accepts as the name of a package, with a version or a range. */
const NPM_NAME = /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*(@[\w.^~<>=*| +-]+)?$/
const TARBALL = /\.(tgz|tar\.gz)$/

/** The source of a plugin, as a spec for npm; a path is absolute. */
export interface Origin {
  from: string
  kind: 'npm' | 'folder' | 'tarball'
}

/** Decides like npm: a path contains a slash, ends like a tarball, or cannot be a name. @throws a sentence */
export async function originOf(from: string): Promise<Origin> {
  if (NPM_NAME.test(from) && !TARBALL.test(from)) return { from, kind: 'npm' }
  const path = resolve(from)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return { from: path, kind: 'folder' }
  if (found && TARBALL.test(from)) return { from: path, kind: 'tarball' }
  throw new Error(
    found
      ? `${from} is neither a folder nor a tarball (.tgz)`
      : `${from} is neither a file or folder nor the name of an npm package`,
  )
}

/** @param stage  a folder with a package.json, to which the plugin is added as a dependency */
export async function install(stage: string, { from, kind }: Origin): Promise<void> {
  let spec = from
  if (kind !== 'npm') {
    spec = join(stage, 'plugin.tgz')
    if (kind === 'tarball') await cp(from, spec)
    else await rename(join(stage, await packed(stage, from)), spec)
  }
  await npm(stage, ['install', kind === 'npm' ? spec : './plugin.tgz'])
  await rm(join(stage, '.npm'), { recursive: true, force: true })
}

/** Packs a plain folder as a tarball. @returns the name of the tarball in `stage` */
async function packed(stage: string, folder: string): Promise<string> {
  // Checked before it is copied: a mistyped folder may be large, or contain the data folder.
  const names = await readdir(folder)
  const entry = names.find((name) => name === 'plugin.ts' || name === 'plugin.js')
  const hasOwn = names.includes('package.json')
  if (!hasOwn && entry === undefined) throw new Error(`${folder} has no package.json, plugin.ts or plugin.js`)
  const source = join(stage, 'source')
  await cp(folder, source, {
    recursive: true,
    filter: (path) => !/^(node_modules|\.git|\.data)$/.test(basename(path)) || path === folder,
  })
  if (!hasOwn) {
    const name = `${PLUGIN_KEYWORD}-${basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')}`
    const made = { name, version: '0.0.0', type: 'module', keywords: [PLUGIN_KEYWORD], exports: `./${entry}` }
    await writeFile(join(source, 'package.json'), JSON.stringify(made))
  }
  const said = await npm(stage, ['pack', './source', '--json', '--pack-destination', '.'])
  const [{ filename }] = JSON.parse(said) as [{ filename: string }]
  await rm(source, { recursive: true, force: true })
  return basename(filename)
}

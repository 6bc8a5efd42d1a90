/** Finds external plugins, as folders or npm packages, and the entry file of each. */
/// <reference path="../semver.d.ts" />
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { BuildOptions, BuildResult } from 'esbuild'
import { satisfies } from 'semver'
import { isBlank } from '../../core/base/blank.ts'
import { API_PACKAGE, API_VERSION, PLUGIN_KEYWORD } from '../../core/plugin/api.ts'
import type { About } from '../../core/plugin/found.ts'
import { StartError } from '../../core/start-error.ts'

const MANIFESTS = ['plugin.ts', 'plugin.js']

interface PackageFile {
  name?: unknown
  version?: unknown
  keywords?: unknown
  exports?: unknown
  main?: unknown
  peerDependencies?: Record<string, unknown>
  description?: unknown
  author?: unknown
  homepage?: unknown
}

export interface PluginFolder {
  /** The name for AV_PLUGINS_OFF: that of the folder; of a scoped npm package, with the scope. */
  name: string
  folder: string
  /** The data in its `package.json`. */
  about: About
  /**
   * The entry file.
   * @throws StartError, or the bundler's error if the file that the package names cannot be found
   */
  entry(): string
}

/** Bundles in memory, with the options used for plugins. */
type Bundle = (options: BuildOptions) => BuildResult<{ metafile: true }>

/**
 * Returns the folder itself if it is a plugin, otherwise all plugins in it: folders, and packages in its
 * `node_modules`.
 * @throws StartError  if the folder cannot be read
 */
export async function pluginsIn(folder: string, bundle: Bundle): Promise<PluginFolder[]> {
  const own = await pluginAt(folder, basename(folder), bundle)
  if (own) return [own]
  const packages = join(folder, 'node_modules')
  const candidates = [
    ...(await foldersIn(folder)).filter((name) => name !== 'node_modules').map((name) => ({ name, at: folder })),
    ...(existsSync(packages) ? await packageNames(packages) : []).map((name) => ({ name, at: packages })),
  ]
  const found: PluginFolder[] = []
  for (const { name, at } of candidates.sort((one, other) =>
    join(one.at, one.name) < join(other.at, other.name) ? -1 : 1,
  )) {
    const plugin = await pluginAt(join(at, name), name, bundle, at === packages)
    if (plugin) found.push(plugin)
  }
  return found
}

export const noPluginIn = (folder: string): string =>
  `AV_PLUGINS_DIR: no plugin found in ${folder}: neither the folder nor a folder in it has a plugin.ts or plugin.js, and no package in its node_modules has the keyword ${PLUGIN_KEYWORD}; correct the setting`

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(
      `AV_PLUGINS_DIR: ${folder} cannot be read (${error.code}); correct the setting or the folder's permissions`,
      { cause: error },
    )
  })
  return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name)
}

/** The name of a scoped package contains its scope: `@tide/plugin`. */
async function packageNames(folder: string): Promise<string[]> {
  const names = (await foldersIn(folder)).filter((name) => !name.startsWith('.'))
  const scoped = names
    .filter((name) => name.startsWith('@'))
    .map(async (scope) => (await foldersIn(join(folder, scope))).map((name) => `${scope}/${name}`))
  return [...names.filter((name) => !name.startsWith('@')), ...(await Promise.all(scoped)).flat()]
}

/** @param isPackage  installed by npm: a plugin only if its keywords say so */
async function pluginAt(
  folder: string,
  name: string,
  bundle: Bundle,
  isPackage = false,
): Promise<PluginFolder | undefined> {
  const file = MANIFESTS.map((manifest) => join(folder, manifest)).find((path) => existsSync(path))
  const read = await readPackage(join(folder, 'package.json'))
  // Without a readable package.json, nothing marks an npm package as a plugin.
  if (read === 'broken' && isPackage) return undefined
  const packageFile = read === 'broken' ? undefined : read
  const isMarked = Array.isArray(packageFile?.keywords) && packageFile.keywords.includes(PLUGIN_KEYWORD)
  if (!isMarked && (isPackage || !file) && read !== 'broken') return undefined
  return {
    ...{ name, folder, about: aboutIn(packageFile ?? {}) },
    entry() {
      if (read === 'broken')
        throw new StartError(`plugin ${folder}: its package.json is not a JSON object; correct it`, { leaveOut: name })
      checkApi(name, packageFile)
      return (isMarked && declaredEntry(folder, packageFile, bundle)) || file || noEntry(name, folder)
    },
  }
}

const MOST_WORDS = 300

/** Only values that the page can show; a homepage must be an http(s) URL, because it becomes a link. */
function aboutIn({ version, description, author, homepage }: PackageFile): About {
  const isText = (value: unknown): value is string => typeof value === 'string' && !isBlank(value)
  const person: unknown = typeof author === 'object' && author !== null && 'name' in author ? author.name : author
  // npm writes a person as `Name <mail> (address)`.
  const writer = isText(person) ? person.split(/[<(]/)[0]!.trim() : ''
  return {
    ...(isText(version) && { version }),
    ...(isText(description) && { description: description.slice(0, MOST_WORDS) }),
    ...(writer !== '' && { author: writer.slice(0, MOST_WORDS) }),
    ...(isText(homepage) && /^https?:\/\//.test(homepage) && URL.canParse(homepage) && { homepage }),
  }
}

/** @returns undefined if the file is missing or cannot be read; `broken` if it contains no JSON object */
async function readPackage(path: string): Promise<PackageFile | 'broken' | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : 'broken'
  } catch {
    return 'broken'
  }
}

function checkApi(name: string, packageFile: PackageFile | undefined): void {
  const range = packageFile?.peerDependencies?.[API_PACKAGE]
  if (range === undefined || (typeof range === 'string' && satisfies(API_VERSION, range))) return
  throw new StartError(
    `plugin ${name} is made for version ${String(range)} of the plugin API (peerDependencies in its package.json), and this Archivolt has ${API_VERSION}: install a release of the plugin that is made for this version`,
    { leaveOut: name },
  )
}

/** The file behind `exports`, otherwise `main`, resolved by the bundler so that all npm rules apply. */
function declaredEntry(folder: string, { name, exports, main }: PackageFile, bundle: Bundle): string | undefined {
  const isMain = exports === undefined || exports === null
  // `npm init` names an index.js even if there is none.
  if (isMain && (typeof main !== 'string' || !existsSync(join(folder, main)))) return undefined
  const { metafile } = bundle({
    stdin: { contents: `export * from ${JSON.stringify(isMain ? './' : name)}`, resolveDir: folder },
    mainFields: ['main'],
    metafile: true,
  })
  const [first] = metafile.inputs['<stdin>']!.imports
  return first && resolve(first.path)
}

function noEntry(name: string, folder: string): never {
  throw new StartError(`plugin ${folder} has no entry file: name one in \`exports\` of its package.json`, {
    leaveOut: name,
  })
}

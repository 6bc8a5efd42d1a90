/** The plugins in `<data>/plugins`, which `archivolt plugin add` puts there: where each lies, and where it came from. */
import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { readJson } from '../../core/base/json-file.ts'
import type { AddedPlugin } from '../../core/plugin/command.ts'

/** The former version of a plugin, while the new one takes its place. */
export const OLD = '.old-'

/** The `package.json` that the command writes into the folder of a plugin; its only dependency is the plugin. */
const Added = Type.Object({
  archivolt: Type.Object({ from: Type.String() }),
  dependencies: Type.Record(Type.String(), Type.String()),
})

export const addedFolder = (dataDir: string): string => join(dataDir, 'plugins')

/** In the order of their names. Folders that begin with a dot are unfinished work. */
export async function addedPlugins(dataDir: string): Promise<AddedPlugin[]> {
  const base = addedFolder(dataDir)
  const entries = await readdir(base, { withFileTypes: true }).catch(() => [])
  const names = entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !/^(\.|node_modules$)/.test(entry.name))
    .map(({ name }) => name)
  return Promise.all(names.sort().map((name) => addedAt(join(base, name), name)))
}

export async function addedAt(root: string, name: string): Promise<AddedPlugin> {
  // The command has not written a file of another form.
  const record = await readJson(join(root, 'package.json'), Added)
  const [packageName] = Object.keys(record?.dependencies ?? {})
  if (!record || packageName === undefined) return { name, root, folder: root }
  return { name, root, folder: join(root, 'node_modules', packageName), from: record.archivolt.from, packageName }
}

/** Of an update that was interrupted between its two renames. */
export async function takeBackOld(base: string): Promise<void> {
  for (const name of await readdir(base).catch(() => []))
    if (name.startsWith(OLD) && !existsSync(join(base, name.slice(OLD.length))))
      await rename(join(base, name), join(base, name.slice(OLD.length)))
}

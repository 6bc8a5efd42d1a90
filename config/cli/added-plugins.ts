/** The plugins in `<data>/plugins`, where `archivolt plugin add` puts them: the folder and the source of each. */
import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { readJson } from '../../core/base/json-file.ts'
import type { AddedPlugin } from '../../core/plugin/command.ts'

/** The prefix of a plugin's former version while it is replaced. */
export const OLD = '.old-'

/** The `package.json` that the command writes into the folder of a plugin; its only dependency is the plugin. */
const Added = Type.Object({
  archivolt: Type.Object({ from: Type.String() }),
  dependencies: Type.Record(Type.String(), Type.String()),
})

export const addedFolder = (dataDir: string): string => join(dataDir, 'plugins')

/** Sorted by name. Folders that begin with a dot are unfinished work. */
export async function addedPlugins(dataDir: string): Promise<AddedPlugin[]> {
  const base = addedFolder(dataDir)
  const entries = await readdir(base, { withFileTypes: true }).catch(() => [])
  const names = entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !/^(\.|node_modules$)/.test(entry.name))
    .map(({ name }) => name)
  return Promise.all(names.sort().map((name) => addedAt(join(base, name), name)))
}

export async function addedAt(root: string, name: string): Promise<AddedPlugin> {
  // A file of another form was not written by the command.
  const record = await readJson(join(root, 'package.json'), Added)
  const [packageName] = Object.keys(record?.dependencies ?? {})
  if (!record || packageName === undefined) return { name, root, folder: root }
  return { name, root, folder: join(root, 'node_modules', packageName), from: record.archivolt.from, packageName }
}

/** Puts back the former version after an update that was interrupted between its two renames. */
export async function restoreFormer(base: string): Promise<void> {
  for (const name of await readdir(base).catch(() => []))
    if (name.startsWith(OLD) && !existsSync(join(base, name.slice(OLD.length))))
      await rename(join(base, name), join(base, name.slice(OLD.length)))
}

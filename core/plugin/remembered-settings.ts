/** Remembers which plugin declared a setting, so that settings of missing plugins do not stop the start. */
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Static, Type } from 'typebox'
import type { ConfigSources } from '../../config/load-settings.ts'
import { readJson } from '../base/json-file.ts'
import { writeWhole } from '../base/whole-file.ts'
import type { LoadedPlugins } from './load.ts'

/** Plugin → key of config.json → variable. */
const Remembered = Type.Record(Type.String(), Type.Record(Type.String(), Type.String()))
type Remembered = Static<typeof Remembered>

export async function openRememberedSettings(dataDir: string, { registry, isOutside, off }: LoadedPlugins) {
  const path = join(dataDir, 'plugins', 'settings.json')
  // A missing or damaged file counts as an empty one.
  const before = (await readJson(path, Remembered)) ?? {}
  const namesOf = (plugins: LoadedPlugins['registry']['plugins']): Remembered =>
    Object.fromEntries(
      plugins.map(({ name, settings = {} }) => [
        name,
        Object.fromEntries(Object.entries(settings).map(([key, { env }]) => [key, env])),
      ]),
    )
  const on = new Set(registry.plugins.map(({ name }) => name))
  const away = { ...before, ...namesOf(off.filter(({ isUnread }) => !isUnread).map(({ plugin }) => plugin)) }
  const owners = new Set<string>()
  for (const [plugin, settings] of Object.entries(away))
    if (!on.has(plugin)) for (const names of Object.entries(settings)) for (const name of names) owners.add(name)

  // Nobody knows which settings a plugin declares that cannot be read and was never started.
  const isAnyBroken = off.some(({ fault }) => fault !== undefined)
  return {
    /** Keys and variables of missing, switched-off or broken plugins. */
    owners: { has: (name: string) => isAnyBroken || owners.has(name) },
    /** The ones that are set. */
    left: ({ env, file }: ConfigSources): string[] =>
      [...Object.keys(env), ...Object.keys(file)].filter((name) => owners.has(name)),
    /** Stores them for the next start. */
    async remember(): Promise<void> {
      const now = JSON.stringify({
        ...before,
        ...namesOf(registry.plugins.filter((plugin) => isOutside(plugin) && plugin.settings)),
      })
      if (now === JSON.stringify(before)) return
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeWhole(path, now)
    },
  }
}

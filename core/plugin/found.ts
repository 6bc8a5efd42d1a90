/** A plugin as the program has found it, not checked yet; and how the program starts without one that is broken. */
import { basename } from 'node:path'
import { saidBy } from '../base/error.ts'
import { maskCredentials } from '../base/mask.ts'
import { StartError } from '../start-error.ts'
import type { Plugin } from './define.ts'

/** The keys of a manifest that a `package.json` has too. */
export type About = Pick<Plugin, 'version' | 'description' | 'author' | 'homepage'>

export interface FoundPlugin {
  plugin: Plugin
  origin: string
  /** What its `package.json` says of it, which is known even if the plugin is broken. */
  about?: About
  isOutside?: boolean
  /** Only its name and `about` are known: AV_PLUGINS_OFF names its folder, so none of its code was run, or it is broken. */
  isUnread?: boolean
  fault?: string
  isSwitchedOff?: boolean
  /** `archivolt plugin` has added it, and can remove it. */
  isAdded?: boolean
}

export const isLeftOut = (off: readonly string[], name: string, isOutside: boolean): boolean =>
  off.includes(name) || (isOutside && off.includes('all'))

/** One that is left out, and why, without paths of this machine. */
export const brokenOne = (name: string, origin: string, error: unknown, about: About = {}): FoundPlugin => ({
  ...{ plugin: { ...about, name }, origin, about, isOutside: true, isUnread: true },
  fault: maskCredentials(saidBy(error instanceof StartError ? error.reason : error)),
})

/** Leaves out external plugins that make `work` fail. @param isStrict  AV_PLUGINS_STRICT. @throws what `work` throws */
export async function withoutBroken<Result>(
  found: readonly FoundPlugin[],
  isStrict: boolean,
  work: (working: readonly FoundPlugin[]) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work(found)
  } catch (error) {
    const blamed = isStrict ? [] : blamedIn(found, error)
    if (blamed.length === 0) throw error
    const working = found.map((one) =>
      blamed.includes(one) ? { ...one, ...brokenOne(nameOf(one), one.origin, error, one.about) } : one,
    )
    return await withoutBroken(working, isStrict, work)
  }
}

/** A sentence names a plugin as AV_PLUGINS_OFF does: by the name of its folder, or by its own. */
function blamedIn(found: readonly FoundPlugin[], error: unknown): FoundPlugin[] {
  const name = error instanceof StartError ? error.leaveOut : undefined
  const outside = found.filter(({ isOutside, fault }) => isOutside && fault === undefined)
  const ofFolder = outside.filter(({ origin }) => basename(origin) === name)
  return ofFolder.length > 0 ? ofFolder : outside.filter(({ plugin }) => plugin.name === name)
}

const nameOf = ({ plugin, origin }: FoundPlugin): string =>
  typeof plugin.name === 'string' ? plugin.name : basename(origin)

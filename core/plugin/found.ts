/** A plugin as the program has found it. Not checked yet. */
import type { Plugin } from './define.ts'

/** A plugin and its origin, for messages. */
export interface FoundPlugin {
  plugin: Plugin
  origin: string
  isOutside?: boolean
  /** AV_PLUGINS_OFF names its folder: none of its code was run, so only the name is known. */
  isUnread?: boolean
}

export const isLeftOut = (off: readonly string[], name: string, isOutside: boolean): boolean =>
  off.includes(name) || (isOutside && off.includes('all'))

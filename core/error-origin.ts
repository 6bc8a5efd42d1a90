/** Finds the plugin from outside that an error comes from, by its stack. Built-in plugins are known by the call. */
import { pathToFileURL } from 'node:url'

const LONGEST_CHAIN = 5
/** Code location as stacks print it → plugin. One map per process, like the module cache. */
const locations = new Map<string, string>()

/** @param paths  the plugin's folder with a trailing slash, and its bundle */
export function rememberCode(plugin: string, paths: readonly string[]): void {
  for (const path of paths) for (const location of [path, pathToFileURL(path).href]) locations.set(location, plugin)
}

/** The plugin from outside whose code is nearest to where the error was created; undefined: none. */
export function pluginIn(thrown: unknown): string | undefined {
  let error = thrown
  for (let depth = 0; error instanceof Error && depth < LONGEST_CHAIN; depth++) {
    for (const line of (error.stack ?? '').split('\n')) {
      if (!line.startsWith('    at ')) continue
      for (const [location, plugin] of locations) if (line.includes(location)) return plugin
    }
    error = error.cause
  }
  return undefined
}

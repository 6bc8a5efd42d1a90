/** Finds the plugin from outside that an error comes from, by its stack. Built-in ones are told by who was asked. */
import { pathToFileURL } from 'node:url'

const LONGEST_CHAIN = 5
/** How a stack names a place → the plugin that lies there. One list a process, as there is one of its modules. */
const places = new Map<string, string>()

/** @param paths  its folder with the final slash, its bundle */
export function rememberCode(plugin: string, paths: readonly string[]): void {
  for (const path of paths) for (const place of [path, pathToFileURL(path).href]) places.set(place, plugin)
}

/** The plugin from outside whose code is nearest to where an error was made; undefined: none. */
export function pluginIn(thrown: unknown): string | undefined {
  let error = thrown
  for (let depth = 0; error instanceof Error && depth < LONGEST_CHAIN; depth++) {
    for (const line of (error.stack ?? '').split('\n')) {
      if (!line.startsWith('    at ')) continue
      for (const [place, plugin] of places) if (line.includes(place)) return plugin
    }
    error = error.cause
  }
  return undefined
}

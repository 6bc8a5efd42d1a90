/** Finds the external plugin that an error comes from, by its stack or else by the work in which it occurred. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { pathToFileURL } from 'node:url'
import { isSource, OWN_FOLDER } from './own-files.ts'

const LONGEST_CHAIN = 5
/** Code location as stacks print it → plugin. One map per process, like the module cache. */
const locations = new Map<string, string>()
/** The program's own code, with its packages, as stacks print it. */
const { href, pathname } = isSource ? OWN_FOLDER : new URL('../', OWN_FOLDER)
/** The external plugin whose code runs, or started what calls back now. Node tracks promises from its first use on. */
const running = new AsyncLocalStorage<string | undefined>()

/** @param paths  the plugin's folder with a trailing slash, and its bundle */
export function rememberCode(plugin: string, paths: readonly string[]): void {
  for (const path of paths) for (const location of [path, pathToFileURL(path).href]) locations.set(location, plugin)
}

/** @param plugin  the external plugin whose code runs; undefined: built-in code, which such a plugin may have called */
export const asPlugin = <Result>(plugin: string | undefined, work: () => Result): Result =>
  running.getStore() === plugin ? work() : running.run(plugin, work)

export const runningPlugin = (): string | undefined => running.getStore()

/** A callback that runs as the plugin that hands it over now. */
export function asCaller<Given extends unknown[], Result>(
  callback: (...given: Given) => Result,
): (...given: Given) => Result {
  const plugin = running.getStore()
  return plugin === undefined ? callback : (...given) => asPlugin(plugin, () => callback(...given))
}

/** The external plugin whose code is nearest to where the error was created; undefined: none. */
export function pluginIn(thrown: unknown): string | undefined {
  for (const line of framesOf(thrown))
    for (const [location, plugin] of locations) if (line.includes(location)) return plugin
  return undefined
}

/** The same for an error that nobody has caught, in the handler of the process for it. */
export const culpritOf = (thrown: unknown): string | undefined =>
  pluginIn(thrown) ?? (framesOf(thrown).some(isOwn) ? undefined : running.getStore())

const isOwn = (line: string): boolean => line.includes(href) || line.includes(pathname)

function framesOf(thrown: unknown): string[] {
  const frames: string[] = []
  let error = thrown
  for (let depth = 0; error instanceof Error && depth < LONGEST_CHAIN; depth++) {
    frames.push(...(error.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')))
    error = error.cause
  }
  return frames
}

/**
 * Checks that SQLite's native code works with this version of Node. When better-sqlite3 12 is built with the headers of
 * Node 24.19 or newer, the process crashes during garbage collection. Version 13 does not, but needs Node 22, and we
 * still run on 20.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

/** Only what was compiled with those headers calls it. */
const SIGN = 'RemoveEnvironmentCleanupHook'
const NAME = 'better_sqlite3.node'

/** The file that this process has loaded; undefined: none yet. */
export const loadedBinding = (): string | undefined =>
  Object.keys(createRequire(import.meta.url).cache).find((path) => path.endsWith(NAME))

/** What is wrong, and what to do; undefined: nothing is. */
export async function faultOfBinding(
  file = loadedBinding(),
  node = process.versions.node,
): Promise<string | undefined> {
  if (file === undefined || !node.startsWith('24.')) return undefined
  if (!(await readFile(file)).includes(SIGN)) return undefined
  return `${file} was compiled with the headers of Node 24.19 or newer, which make it end the process now and then: run it with Node 22 (npm rebuild better-sqlite3), or take a release`
}

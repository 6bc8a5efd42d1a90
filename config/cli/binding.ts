/**
 * Checks that SQLite's native code fits this Node before anything opens a database. better-sqlite3 13 brings one
 * binding for every Node with Node-API 10 (22.14 or newer) and crashes an older one, which needs version 12 and a
 * binding compiled for its own major version. package.json names both versions; config/tools.sh installs the right one.
 */
import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'

const require = createRequire(import.meta.url)
export const NODE_API = 10
/** The first major version of better-sqlite3 whose binding is made for Node-API. */
const FIRST_WITH_NODE_API = 13
/** Node's error for a module compiled for another Node version. */
const COMPILED_FOR = /using\s+NODE_MODULE_VERSION (\d+)/
const NODES: Readonly<Record<string, number>> = { 115: 20, 127: 22, 137: 24, 147: 26 }
const WAY_OUT =
  'run make run with the Node that starts Archivolt, or install a release. To keep this binding, start Archivolt with the Node for which it was installed'

/** @throws a sentence that says which Node the binding was made for, and how to get the right one */
export function refuseOtherBinding(
  version = (require('better-sqlite3/package.json') as { version: string }).version,
  nodeApi = Number(process.versions.napi),
  open: () => void = openOne,
): void {
  if (Number.parseInt(version, 10) >= FIRST_WITH_NODE_API && nodeApi < NODE_API)
    throw new Error(refusal(`is for Node 22.14 or newer (better-sqlite3 ${version})`))
  try {
    open()
  } catch (error) {
    throw new Error(refusal(whyOf(error)), { cause: error })
  }
}

function openOne(): void {
  const Sqlite = require('better-sqlite3') as typeof Database
  new Sqlite(':memory:').close()
}

const refusal = (why: string): string =>
  `SQLite's binding ${why}, but this is Node ${process.versions.node}: ${WAY_OUT}`

function whyOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  const modules = COMPILED_FOR.exec(said)?.[1]
  if (modules === undefined) return `does not load (${said.split('\n')[0]})`
  const major = NODES[modules]
  return `was compiled for ${major === undefined ? `another Node (NODE_MODULE_VERSION ${modules})` : `Node ${major}`}`
}

/**
 * `make dev`: runs the server from its sources and restarts it after each change in them, or in a plugin of
 * AV_PLUGINS_DIR. The page is rebuilt separately.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPage } from './build-page.ts'
import { readCore, readSources } from './load-settings.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGE = join(ROOT, 'plugins/web/page')
/** An editor, or a checkout, changes several files at once. */
const QUIET_MS = 100
const IGNORED = /^(\.|node_modules$|__pycache__$)|[~#]$|\.pyc/

function foldersBelow(folder: string): string[] {
  if (folder === PAGE || !existsSync(folder)) return []
  const inner = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !IGNORED.test(entry.name),
  )
  return [folder, ...inner.flatMap(({ name }) => foldersBelow(join(folder, name)))]
}

/** Each folder is watched by itself: that tells of files that an editor puts in the place of others, too. */
class Watch {
  readonly #roots: readonly string[]
  #watchers: FSWatcher[] = []
  #timer: NodeJS.Timeout | undefined
  #tell: () => void = () => undefined

  constructor(roots: readonly string[]) {
    this.#roots = roots
    this.#watchAll()
  }

  /** Resolves when something has changed and no further change follows immediately. */
  changed(): Promise<void> {
    return new Promise((resolve) => (this.#tell = resolve))
  }

  /** A change may have made folders. The new watchers are there before the old ones go, so nothing is missed. */
  #watchAll(): void {
    const before = this.#watchers
    this.#watchers = this.#roots.flatMap(foldersBelow).map((folder) =>
      watch(folder, (_, name) => {
        if (name === null || !IGNORED.test(name)) this.#note()
      }).on('error', () => this.#note()),
    )
    for (const watcher of before) watcher.close()
  }

  #note(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#watchAll()
      this.#tell()
    }, QUIET_MS)
  }
}

const { pluginsDir } = readCore(readSources())
const sources = new Watch([...['core', 'config', 'plugins'].map((name) => join(ROOT, name)), ...pluginsDir])
await buildPage({ isWatching: true })

let server = start()
/** After a stop, nothing is started any more. */
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isEnding = true
    server.child.kill(signal)
    void server.ended.then(() => process.exit())
  })
}
for (;;) {
  await sources.changed()
  server.child.kill('SIGTERM')
  await server.ended
  if (isEnding) break
  process.stdout.write('Something has changed: starting again\n')
  server = start()
}

/** A server that cannot start prints the reason and ends; the next change starts it again. */
function start() {
  const child = spawn(process.execPath, [...process.execArgv, join(ROOT, 'core/cli/main.ts')], {
    stdio: 'inherit',
    env: { AV_PLUGINS_STRICT: '1', ...readSources().env },
  })
  return { child, ended: once(child, 'exit') }
}

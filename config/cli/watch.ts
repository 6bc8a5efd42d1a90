/** Watches folders of sources, and restarts the server after each change in them. */
import { once } from 'node:events'
import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../../core/base/child.ts'

/** Waits for further changes, because an editor or a checkout changes several files at once. */
const QUIET_MS = 100
const IGNORED = /^(\.|node_modules$|__pycache__$)|[~#]$|\.pyc|\.log$/

function foldersBelow(folder: string, except: string | undefined): string[] {
  if (folder === except || !existsSync(folder)) return []
  const inner = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !IGNORED.test(entry.name),
  )
  return [folder, ...inner.flatMap(({ name }) => foldersBelow(join(folder, name), except))]
}

/**
 * Watches each folder separately, which also reports files that an editor replaces.
 * @returns a function whose promise resolves when something has changed and no further change follows immediately
 */
function openWatch(roots: readonly string[], except?: string): () => Promise<void> {
  let watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  let tell: () => void = () => undefined

  /**
   * A change may have created folders. The new watchers start before the old ones stop, so that no change is missed.
   */
  function watchAll(): void {
    const before = watchers
    watchers = roots
      .flatMap((root) => foldersBelow(root, except))
      .map((folder) =>
        watch(folder, (_, name) => {
          if (name === null || !IGNORED.test(name)) note()
        }).on('error', note),
      )
    for (const watcher of before) watcher.close()
  }

  function note(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      watchAll()
      tell()
    }, QUIET_MS)
  }

  watchAll()
  return () => new Promise((resolve) => (tell = resolve))
}

interface Watched {
  roots: readonly string[]
  /** A subfolder that is not watched. */
  except?: string
  /** The program, with Node's options. */
  args: readonly string[]
  env: Readonly<Record<string, string | undefined>>
}

/** Resolves once this process got a signal and the server has ended. */
export async function runWatched({ roots, except, args, env }: Watched): Promise<void> {
  const changed = openWatch(roots, except)
  let server = start()
  /** After a stop, no server is started. */
  let isEnding = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      isEnding = true
      server.child.kill(signal)
      void server.ended.then(() => process.exit())
    })
  }
  for (;;) {
    await changed()
    server.child.kill('SIGTERM')
    await server.ended
    if (isEnding) return
    process.stdout.write('Something has changed: starting again\n')
    server = start()
  }

  /** A server that cannot start prints the reason and ends; the next change starts it again. */
  function start() {
    const child = startChild(process.execPath, [...process.execArgv, ...args], {
      stdio: 'inherit',
      env: { AV_PLUGINS_STRICT: '1', ...env },
    })
    return { child, ended: once(child, 'exit') }
  }
}

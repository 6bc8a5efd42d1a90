/** Runs `archivolt plugin …` beside the server, which then stays as it is: only the next start loads what has changed. */
import { once } from 'node:events'
import type { Settings } from '../../config/schema.ts'
import { childEnvironment, startChild } from '../child.ts'
import { errors } from '../error.ts'
import { PROGRAM } from '../own-files.ts'
import { say, type Words } from '../say.ts'

const MOST_SAID = 2000

/** What a command does with plugins. */
export type PluginChange = ['add' | 'update' | 'remove', what: string]

/**
 * @returns what the command said
 * @throws unprocessable, with the sentence of the command; the signal's reason
 */
export async function changePlugins(
  { dataDir, pluginsDir, pluginsOff }: Pick<Settings, 'dataDir' | 'pluginsDir' | 'pluginsOff'>,
  change: PluginChange,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted()
  const child = startChild(process.execPath, [...process.execArgv, PROGRAM, 'plugin', ...change], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm and its own children end with it.
    detached: true,
    env: {
      ...childEnvironment({ isOnline: true, also: /^npm_config_/i }),
      AV_DATA_DIR: dataDir,
      AV_PLUGINS_DIR: pluginsDir.join(','),
      AV_PLUGINS_OFF: pluginsOff.join(','),
    },
  })
  const end = () => void (child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'))
  signal.addEventListener('abort', end, { once: true })
  let [said, failed] = ['', '']
  child.stdout!.on('data', (text: Buffer) => (said = `${said}${text}`.slice(-MOST_SAID)))
  child.stderr!.on('data', (text: Buffer) => (failed = `${failed}${text}`.slice(-MOST_SAID)))
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    signal.throwIfAborted()
    if (code !== 0) throw errors.unprocessable(reasonIn(failed))
    return said.trim()
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** The last line is the sentence that `archivolt` ends with. */
function reasonIn(failed: string): Words {
  const last = failed.trim().split('\n').at(-1)!
  return last.replace(/^Archivolt could not finish plugin\. /, '') || say`The command was ended`
}

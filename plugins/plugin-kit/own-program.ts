/** Runs a command of the program itself in a separate process, on another data folder, without our settings. */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { childEnvironment, startChild } from '../../core/base/child.ts'
import { giveWay } from '../../core/base/give-way.ts'
import { isSource, OWN_FOLDER, PROGRAM } from '../../core/own-files.ts'
import { killGroup } from './kill-group.ts'

const MEMORY_MB = 160
const MOST_TEXT = 1 << 20

interface Ended {
  code: number | null
  /** Standard output; `complaint` is standard error. */
  output: string
  complaint: string
}

interface Running {
  dataDir: string
  signal: AbortSignal
  /** Standard input. */
  input?: string
  /** It may contact other servers, with child processes, and has no memory limit. */
  isOnline?: boolean
  env?: Record<string, string>
}

/**
 * Runs with the lowest priority.
 * @param typed  the arguments after `archivolt`
 * @throws the reason of `signal`, which kills the process with its children
 */
export async function runProgram(
  typed: readonly string[],
  { dataDir, signal, input = '', isOnline = false, env }: Running,
): Promise<Ended> {
  signal.throwIfAborted()
  const heap = isOnline ? [] : [`--max-old-space-size=${MEMORY_MB}`, '--max-semi-space-size=1']
  // External plugins are needed to read the data that they have stored.
  const also = isOnline ? /^(AV_PLUGINS_(DIR|OFF)|npm_config_\w+)$/i : /^AV_PLUGINS_(DIR|OFF)$/
  const child = startChild(process.execPath, [...heap, ...program(), ...typed], {
    env: { ...childEnvironment({ isOnline, also }), ...env, AV_DATA_DIR: dataDir },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const end = () => killGroup(child)
  signal.addEventListener('abort', end, { once: true })
  giveWay(child, true)
  const texts = { output: '', complaint: '' }
  for (const [name, stream] of [
    ['output', child.stdout!],
    ['complaint', child.stderr!],
  ] as const)
    stream.on('data', (piece: Buffer) => {
      if (texts[name].length < MOST_TEXT) texts[name] += piece.toString()
    })
  child.stdin!.on('error', () => undefined) // it has ended, which `close` reports
  child.stdin!.end(input)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    signal.throwIfAborted()
    return { code, ...texts }
  } finally {
    signal.removeEventListener('abort', end)
  }
}

function program(): string[] {
  if (!isSource) return [PROGRAM]
  const loader = pathToFileURL(createRequire(OWN_FOLDER).resolve('tsx')).href
  return ['--import', loader, '--conditions=source', PROGRAM]
}

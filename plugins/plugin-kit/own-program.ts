/** Runs a command of the program itself in a separate process, on another data folder, with none of our settings. */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { childEnvironment, startChild } from '../../core/child.ts'
import { giveWay } from '../../core/give-way.ts'
import { isSource, OWN_FOLDER, PROGRAM } from '../../core/own-files.ts'

const MEMORY_MB = 160
const MOST_TEXT = 1 << 20

interface Ended {
  code: number | null
  /** What it printed, and what it complained about. */
  output: string
  complaint: string
}

/**
 * With the lowest priority.
 * @param typed  as after `archivolt`
 * @param input  what it reads as standard input
 * @throws the reason of `signal`, which kills it
 */
export async function runProgram(
  typed: readonly string[],
  { dataDir, input, signal }: { dataDir: string; input: string; signal: AbortSignal },
): Promise<Ended> {
  signal.throwIfAborted()
  const heap = [`--max-old-space-size=${MEMORY_MB}`, '--max-semi-space-size=1']
  const child = startChild(process.execPath, [...heap, ...program(), ...typed], {
    // Plugins from outside are needed to read what they store.
    env: { ...childEnvironment({ also: /^AV_PLUGINS_(DIR|OFF)$/ }), AV_DATA_DIR: dataDir },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  })
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
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    signal.throwIfAborted()
    throw error
  })) as [number | null]
  return { code, ...texts }
}

function program(): string[] {
  if (!isSource) return [PROGRAM]
  const loader = pathToFileURL(createRequire(OWN_FOLDER).resolve('tsx')).href
  return ['--import', loader, '--conditions=source', PROGRAM]
}

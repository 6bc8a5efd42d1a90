/** Start, signals, and what the program prints to the person who started it. */

import { type OpenedApp, openApp } from '../../core/app.ts'
import { culpritOf } from '../../core/error-origin.ts'
import { RUNS_END_WITHIN_MS } from '../../core/jobs/stop.ts'
import { readCore, readSources } from '../load-settings.ts'
import { refuseOtherBinding } from './binding.ts'
import { runCommand } from './commands.ts'
import { findPlugins } from './find-plugins.ts'
import { buildPages } from './pages.ts'
import { refuseOtherMachine } from './release.ts'
import { adviceForRoot } from './root-advice.ts'
import { sentenceOf, TypingMistake } from './typed.ts'

/** After the jobs, plugins, index and ledger are closed. */
const STOP_WITHIN_MS = RUNS_END_WITHIN_MS + 3_000
const UNCAUGHT = 'an uncaught error'
const UNAWAITED = 'an unhandled rejection'

/** Prints a sentence for people; AV_LOG_LEVEL=debug adds the stack. */
function refuse(error: unknown, command?: string): never {
  const head = `Archivolt could not ${command === undefined ? 'start' : `finish ${command}`}. `
  process.stderr.write(`${error instanceof TypingMistake ? '' : head}${sentenceOf(error)}\n`)
  process.exit(1)
}

/** Prints the address in one line, with the first account until somebody has signed in with its first password. */
function greet({ url, first, app }: OpenedApp): void {
  const { isNew, username, password, passwordFile } = first
  // A terminal is read by one person; other output may go to a stored log.
  const shown = password && process.stdout.isTTY ? `: ${password}` : ''
  const where = passwordFile ? `in ${passwordFile}${shown}` : isNew ? 'that in AV_PASSWORD' : undefined
  const hint = where === undefined ? '' : ` – sign in as ${username}, the password is ${where}`
  process.stdout.write(`Archivolt ${app.version} listens on ${url}${hint}\n`)
}

/** Names the plugin at fault: an external plugin can be switched off. */
function sayWhose(error: unknown, what: string): string {
  const plugin = culpritOf(error)
  const said = error instanceof Error ? error.message.split('\n')[0] : String(error)
  return plugin === undefined
    ? `${what}: ${said}`
    : `plugin ${plugin}: ${what}: ${said}; correct it, or start without it: AV_PLUGINS_OFF=${plugin}`
}

function stopOnSignals(opened: OpenedApp): void {
  const { log } = opened.app
  let isStopping = false
  const stop = async (exitCode: number): Promise<void> => {
    if (isStopping) return
    isStopping = true
    setTimeout(() => {
      log.error(
        `not everything was closed within ${STOP_WITHIN_MS / 1000} s; the next start finishes what was interrupted`,
      )
      process.exit(1)
    }, STOP_WITHIN_MS).unref()
    await opened.close()
    process.exit(exitCode)
  }
  process.on('SIGINT', () => void stop(0))
  process.on('SIGTERM', () => void stop(0))
  // Unawaited work failed. Its job or request reports its own error; the server keeps running.
  faults.late = (error) => {
    if (!opened.blame(error, true)) log.error({ err: error }, UNAWAITED)
  }
  faults.fatal = (error) => {
    if (opened.blame(error)) return
    log.fatal({ err: error }, `${UNCAUGHT}: the server stops`)
    process.stderr.write(`Archivolt stops. ${sayWhose(error, UNCAUGHT)}\n`)
    void stop(1)
  }
}

const typed = process.argv.slice(2)
/** The command that could not be finished. */
let command = typed[0] === 'start' ? undefined : typed[0]
/** Handlers of uncaught failures: they end a start or a command. */
const faults = {
  late: (error: unknown): void => refuse(sayWhose(error, UNAWAITED), command),
  fatal: (error: unknown): void => refuse(sayWhose(error, UNCAUGHT), command),
}
/** An error of a plugin does not end a start either. A plugin that is still loading is blamed a moment later. */
function forgive(blame: OpenedApp['blame']): void {
  faults.late = (error) => void (blame(error, true) || refuse(sayWhose(error, UNAWAITED)))
  faults.fatal = (error) => void (blame(error) || refuse(sayWhose(error, UNCAUGHT)))
}

function forgiveEarly(): (blame: OpenedApp['blame']) => void {
  const early: Array<[error: unknown, isLate: boolean]> = []
  forgive((error, isLate = false) => culpritOf(error) !== undefined && early.push([error, isLate]) > 0)
  return (blame) => {
    forgive(blame)
    for (const one of early.splice(0)) blame(...one)
  }
}

process.on('unhandledRejection', (error) => faults.late(error))
process.on('uncaughtException', (error) => faults.fatal(error))
try {
  await refuseOtherMachine()
  refuseOtherBinding()
  if ((await runCommand(typed, (name) => (command = name))) === 'start') {
    const sources = readSources()
    const advice = adviceForRoot(sources.dataDir)
    if (advice) process.stderr.write(`${advice}\n`)
    const onBlame = readCore(sources).pluginsStrict ? undefined : forgiveEarly()
    const opened = await openApp({ sources, findPlugins, buildPages, ...(onBlame && { onBlame }) })
    stopOnSignals(opened)
    greet(opened)
  }
} catch (error) {
  refuse(error, command)
}

/**
 * Sends messages with Apprise to all services other than plain webhooks: a Python program from PyPI, started for each
 * message.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errors, type Settings, say, startChild } from 'archivolt'
import type { App } from './app.ts'
import type { Carrier, OutgoingMessage } from './carrier.ts'

/**
 * Does the same as Apprise's console script, which contains the absolute path of Python and breaks when the folder is
 * moved.
 */
const PROGRAM = 'from apprise.cli import main; main()'
/** A little less than our own time limit, so that Apprise itself can report which service was too slow. */
const LIMIT_SECONDS = 25
const MOST_OUTPUT = 20_000
const LONGEST_REASON = 300
/**
 * Maximum length of a title: services cut titles at a few hundred characters, and the system refuses an argument of
 * more than 128 KB.
 */
const LONGEST_TITLE = 250
const TOLD_SECONDS = 3600
const NOT_INSTALLED =
  'Messages to such URLs are sent by Apprise, which is not installed: run `make`, or set AV_APPRISE to a Python venv that has it. json(s):// and http(s):// URLs work without it'

/** @param settings.apprise  a Python venv with Apprise; null: our own `tools/` */
export function openApprise(settings: Pick<Settings, 'apprise'>): Carrier {
  const python = join(settings.apprise ?? ownTools(), 'bin', 'python')
  return async (url, message, signal) => {
    const { code, output } = await run(python, url, message, signal)
    if (code === 0) return
    if (/^ModuleNotFoundError: No module named 'apprise/m.test(output)) throw errors.unavailable(NOT_INSTALLED)
    throw errors.unavailable(
      say`Apprise could not deliver it: ${{ reason: reasonIn(output, url) || 'it does not say why' }}`,
    )
  }
}

/**
 * Passes the URL in the environment, because every user of the machine can see the arguments of a process. Passes no
 * other variables, so that no user configuration or plugins are read.
 */
function run(
  python: string,
  url: string,
  { title, body, kind }: OutgoingMessage,
  signal: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  const options = [
    `--title=${argumentOf(title)}`,
    `--notification-type=${kind}`,
    '--input-format=text',
    '--storage-mode=memory',
    `--limit=${LIMIT_SECONDS}`,
    '--verbose',
  ]
  return new Promise((resolve, reject) => {
    const child = startChild(python, ['-I', '-c', PROGRAM, ...options], {
      env: { APPRISE_URLS: url, LANG: 'C.UTF-8', PYTHONIOENCODING: 'utf-8', PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    })
    let output = ''
    const collect = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-MOST_OUTPUT))
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.stdin.on('error', () => undefined) // it has ended before reading: its exit code has the reason
    child.once('error', (cause: NodeJS.ErrnoException) => {
      if (signal.aborted)
        reject(errors.unavailable(say`The message was not delivered: ${{ reason: (signal.reason as Error).message }}`))
      else
        reject(
          errors.unavailable(
            cause.code === 'ENOENT'
              ? NOT_INSTALLED
              : say`Apprise cannot be started (${{ reason: cause.code ?? cause.message }})`,
          ),
        )
    })
    child.once('close', (code) => resolve({ code, output }))
    child.stdin.end(body)
  })
}

/** A text as an argument: it ends at the first NUL, and the system limits its length. */
function argumentOf(text: string): string {
  const line = text.slice(0, LONGEST_TITLE + 1).replaceAll(/\p{Cc}+/gu, ' ')
  return line.length > LONGEST_TITLE ? `${[...line].slice(0, LONGEST_TITLE - 1).join('')}…` : line
}

/** Apprise's warnings and errors without URLs, which contain credentials. */
function reasonIn(output: string, url: string): string {
  const said = [...output.matchAll(/ - (?:WARNING|ERROR|CRITICAL) - (.*)/g)].map(([, text = '']) => text)
  return said
    .join('; ')
    .replaceAll(url, 'the URL')
    .replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/\S*/gi, 'the URL')
    .replace(/\bmailto:\S*/gi, 'the URL')
    .slice(0, LONGEST_REASON)
}

/** Reports a missing venv at the start, instead of with the first lost message. */
export async function tellLostApprise({ settings, log, jobs }: Pick<App, 'settings' | 'log' | 'jobs'>): Promise<void> {
  if (settings.apprise === null || existsSync(join(settings.apprise, 'bin', 'python'))) return
  const sentence = say`AV_APPRISE is not the path of a Python venv: messages are sent only to json(s):// and http(s):// URLs, until it is corrected or removed`
  log.error({ path: settings.apprise }, sentence)
  await jobs.notify({
    title: 'Messages cannot be sent',
    group: 'setting:application',
    level: 'error',
    messages: [sentence],
    shownForSeconds: TOLD_SECONDS,
  })
}

/** The folder of the project's own tools, relative to this file in the sources or in the bundle. */
function ownTools(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'tools', 'bin', 'python')) && dirname(folder) !== folder) folder = dirname(folder)
  return join(folder, 'tools')
}

declare module 'archivolt' {
  interface Settings {
    apprise: string | null
  }
}

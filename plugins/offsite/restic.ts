/** Runs restic: one command at a time, with the lowest priority, and passes on its messages. */
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { childEnvironment, errors, giveWay, killGroup, maskCredentials, say, startChild, withLimit } from 'archivolt'
import type { App } from './app.ts'

const LONGEST_LINE = 100_000
const LONGEST_VERSION_MS = 10_000
const MOST_SAID = 4000
/** Maximum time that a command may take to end after it was interrupted. */
const GRACE_MS = 20_000
const KIB_PER_MB = 1000 * (1000 / 1024)

/** A line of restic's JSON output. Not typed further, because another program could be installed under this name. */
export type Message = Record<string, unknown>

export interface Run {
  signal: AbortSignal
  onMessage?: (message: Message) => void
  /** Called with each line that is not a message. */
  onText?: (line: string) => void
  /** Exit codes other than 0 that are not failures. */
  also?: readonly number[]
}

/** The environment of restic: the variables that ssh, rclone and S3 need, but none of the server's secrets. */
function environmentOf(app: App): Record<string, string> {
  const { repository, password, access_key: key, secret_key: secret } = app.preferences.section('offsite')
  return {
    ...childEnvironment({ isOnline: true, also: /^(RCLONE_\w+|SSH_AUTH_SOCK|AWS_(DEFAULT_REGION|CA_BUNDLE))$/ }),
    RESTIC_REPOSITORY: repository,
    RESTIC_PASSWORD: password,
    RESTIC_CACHE_DIR: join(app.settings.cacheDir, 'restic'),
    // Without this variable, progress is reported only to terminals.
    RESTIC_PROGRESS_FPS: '1',
    ...(key !== '' && { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret }),
  }
}

/** The installed version; undefined: restic is not installed. */
export async function versionOf(app: App): Promise<string | undefined> {
  try {
    const lines = await withLimit(LONGEST_VERSION_MS, undefined, (signal) => runRestic(app, ['version'], { signal }))
    return /^restic (\S+)/.exec(lines)?.[1]
  } catch {
    return undefined
  }
}

/**
 * @returns the output except JSON
 * @throws unavailable: why it failed, and what to do; the signal's reason
 */
export async function runRestic(
  app: App,
  args: readonly string[],
  { signal, onMessage, onText, also = [] }: Run,
): Promise<string> {
  signal.throwIfAborted()
  const { upload } = app.preferences.section('offsite')
  const limits = upload > 0 ? ['--limit-upload', String(Math.ceil(upload * KIB_PER_MB))] : []
  const child = startChild(app.settings.restic, [...args, ...limits], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(app),
    // sftp and rclone are its children, and are killed with it.
    detached: true,
  })
  giveWay(child, true)
  let last: NodeJS.Timeout | undefined
  const stop = () => {
    killGroup(child, 'SIGINT')
    last = setTimeout(() => killGroup(child), GRACE_MS)
  }
  signal.addEventListener('abort', stop, { once: true })
  let [said, failed] = ['', '']
  /** Reads messages from both outputs: files that cannot be read are reported on the error output. */
  const hear = (input: Readable, keep: (text: string) => void) =>
    createInterface({ input }).on('line', (line) => {
      const message = line.length <= LONGEST_LINE ? messageIn(line) : undefined
      if (message) onMessage?.(message)
      else keep(`${line}\n`)
    })
  hear(child.stdout, (text) => {
    said = `${said}${text}`.slice(-MOST_SAID)
    onText?.(text)
  })
  hear(child.stderr, (text) => (failed = `${failed}${text}`.slice(-MOST_SAID)))
  try {
    const [code] = (await Promise.race([
      once(child, 'close'),
      once(child, 'error').then(([error]) => Promise.reject(error)),
    ])) as [number | null]
    signal.throwIfAborted()
    if (code !== 0 && !also.includes(code ?? -1)) throw faultOf(failed || said)
    return said
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') throw notInstalled()
    throw thrown
  } finally {
    clearTimeout(last)
    signal.removeEventListener('abort', stop)
  }
}

export const notInstalled = () =>
  errors.unavailable('restic is not installed: install it (on Debian: sudo apt-get install restic), then try again')

function messageIn(line: string): Message | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Message
  } catch {
    return undefined
  }
}

const NOT_THERE =
  'The second site was not found: connect its disk, or check its address. “Try it” under Settings → Safety creates a new one'
/** The cause of the error if the repository does not exist. */
export class NoRepository extends Error {}

function faultOf(said: string): Error {
  if (/Is there a repository at the following location|repository does not exist/.test(said))
    return errors.unavailable(NOT_THERE, { cause: new NoRepository() })
  if (/wrong password or no key found/.test(said))
    return errors.unavailable('Wrong password: enter the password of the repository')
  if (/repository is already locked/.test(said))
    return errors.unavailable('Another restic is using the repository: try again when it has finished')
  const lines = said.trim().split('\n')
  const reason = maskCredentials(lines.find((line) => /^Fatal:/.test(line))?.slice(7) ?? lines.at(-1) ?? '')
  return errors.unavailable(say`restic failed: ${{ reason: reason.slice(0, 500) }}`)
}

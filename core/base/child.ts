/** Starts child processes with a chosen environment, so that none inherits our passwords, keys or tokens. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'

const PASSED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TMP|TEMP|LD_LIBRARY_PATH|DYLD_\w+|XDG_\w+|MALLOC_\w+)$/
/** What a program needs to reach the network; a proxy's address may contain a password. */
const PASSED_ONLINE =
  /^((HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS)$/i

interface Passing {
  /** For programs that access the network themselves. */
  isOnline?: boolean
  /** Names of further variables to pass on. */
  also?: RegExp
}

export function childEnvironment({ isOnline = false, also }: Passing = {}): Record<string, string> {
  const isPassed = (name: string): boolean =>
    PASSED.test(name) || (isOnline && PASSED_ONLINE.test(name)) || also?.test(name) === true
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => isPassed(entry[0]) && entry[1] !== undefined,
    ),
  )
}

/** When memory runs out, Linux ends children before the server: their jobs are retried. Their children inherit it. */
const OOM_SCORE = '500'

function firstToGo<Started extends ChildProcess>(child: Started): Started {
  if (child.pid !== undefined) writeFile(`/proc/${child.pid}/oom_score_adj`, OOM_SCORE).catch(() => undefined)
  return child
}

/** `spawn`, with `childEnvironment()` unless `env` is given. */
export const startChild = ((program: string, args: readonly string[], options: object) =>
  firstToGo(spawn(program, args, { env: childEnvironment(), ...options }))) as typeof spawn

/** `execFile`, with `childEnvironment()` unless `env` is given. */
export const runChild = ((program: string, args: readonly string[], options: object, done: () => void) =>
  firstToGo(execFile(program, args, { env: childEnvironment(), ...options }, done))) as typeof execFile

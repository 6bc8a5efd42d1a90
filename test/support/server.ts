/** Starts the real program as users do, in its own process: for flows, kills and benches. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { lastFirst, type Scope } from './last-first.ts'
import { UNPACED } from './preferences.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
export const START = fileURLToPath(new URL('../../config/archivolt', import.meta.url))
const START_DEADLINE_MS = 120_000
export const USERNAME = 'keeper'
export const PASSWORD = 'a long enough password'

export interface Answer {
  status: number
  headers: Headers
  // Untyped, because the answer is what a test checks.
  body: any
  bytes: Buffer
}

export interface Server {
  baseUrl: string
  child: ChildProcess
  /** All its output so far. */
  output(): string
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /**
   * Ends it as `kill -9` or Ctrl-C would.
   * @returns the exit code, null after a signal
   */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  ended: Promise<number | null>
}

/**
 * Starts the built program on a free port and waits for the line with its address. It makes no pauses between requests
 * to the platform that it is given.
 * @param program  the program of another version
 * @param moment  `listening`: resolves as soon as it answers at all, which is before its index is ready
 * @throws its output, if it ends before
 */
export async function startServer(
  scope: Scope,
  dataDir: string,
  env: Record<string, string> = {},
  moment: 'ready' | 'listening' = 'ready',
  program = START,
): Promise<Server> {
  assert.ok(existsSync(MAIN), 'dist/main.js is not there: run `make build` first')
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AV_')))
  const child = spawn(program, {
    env: {
      ...inherited,
      AV_DATA_DIR: dataDir,
      AV_PORT: '0',
      AV_USERNAME: USERNAME,
      AV_PASSWORD: PASSWORD,
      AV_YTDLP_UPDATE: 'off',
      AV_PACKAGE_INDEX: 'http://127.0.0.1:1/simple/',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let written = ''
  const collect = (chunk: Buffer) => void (written += chunk.toString())
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  // `exit` may come before the last output.
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  lastFirst(scope).after(async () => void (await end('SIGKILL')))

  const baseUrl = await new Promise<string>((resolve, reject) => {
    const deadline = setTimeout(
      () => reject(new Error(`No address after ${START_DEADLINE_MS} ms:\n${written}`)),
      START_DEADLINE_MS,
    )
    const [stream, line] =
      moment === 'ready'
        ? [child.stdout, /listens on (http:\/\/127\.0\.0\.1:\d+)/]
        : [child.stderr, /"url":"(http:\/\/127\.0\.0\.1:\d+)/]
    const look = () => {
      const found = line.exec(written)?.[1]
      if (found) done(() => resolve(found))
    }
    const done = (settle: () => void) => {
      clearTimeout(deadline)
      stream.off('data', look)
      settle()
    }
    stream.on('data', look)
    ended.then((code) => done(() => reject(new Error(`It ended with ${code} before it listened:\n${written}`))))
  })

  let token: string | undefined
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(token && { Authorization: `Token ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(bytes.toString()) : undefined,
      bytes,
    }
  }
  const server: Server = {
    baseUrl,
    child,
    output: () => written,
    ended,
    end,
    async api(method, path, body, headers) {
      token ??= (
        await ask('POST', '/api/login/', {
          username: env.AV_USERNAME ?? USERNAME,
          password: env.AV_PASSWORD ?? PASSWORD,
        })
      ).body.token
      return ask(method, path, body, headers)
    },
  }
  // A server that is meant to crash may have ended already.
  if (env.AV_PLATFORM_URL && moment === 'ready')
    await server.api('POST', '/api/config/', UNPACED).catch(() => undefined)
  return server
}

/** Repeats a request until its answer is the wanted one; the error contains the last answer. */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value>,
  isIt: (value: Value) => boolean,
  deadlineMs = 180_000,
): Promise<Value> {
  const end = Date.now() + deadlineMs
  for (;;) {
    const value = await ask()
    if (isIt(value)) return value
    if (Date.now() > end)
      throw new Error(`Not in ${deadlineMs} ms: ${what}; last seen ${JSON.stringify(value)?.slice(0, 2000)}`)
    await delay(50)
  }
}

/**
 * Waits for the end of a task.
 * @returns its record
 */
export async function taskEnded(server: Server, taskId: string, deadlineMs?: number): Promise<Record<string, unknown>> {
  const { body } = await until(
    `task ${taskId} ended`,
    () => server.api('GET', `/api/task-id/${taskId}/`),
    ({ body }) => !['PENDING', 'RETRY'].includes(body.status),
    deadlineMs,
  )
  return body
}

/**
 * Waits until no task is pending or running.
 * @param open  without `RETRY`, tasks that wait for a time do not count
 */
export async function allQuiet(
  server: Server,
  deadlineMs?: number,
  open: readonly string[] = ['PENDING', 'RETRY'],
): Promise<void> {
  await until(
    'no task runs',
    () => server.api('GET', '/api/task-name/'),
    ({ body }) => body.every(({ status }: { status: string }) => !open.includes(status)),
    deadlineMs,
  )
}

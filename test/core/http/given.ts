/** A server on loopback with the routes of a test, a real ledger in its own folder, and a stopped clock. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Accounts, Credentials } from '../../../core/accounts/credentials.ts'
import { openSigning } from '../../../core/accounts/signing.ts'
import { type Http, type HttpParts, openHttp } from '../../../core/http/server.ts'
import type { Preferences } from '../../../core/ledger/preferences.ts'
import { type OpenedLedger, openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import type { Route, WholeApp } from '../../../core/plugin/define.ts'
import { openSecretKey } from '../../../core/secret-key.ts'
import { openTouched } from '../../../core/sources.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { cheapCredentials } from '../../support/password-cost.ts'

export interface TestAccounts {
  accounts: Accounts
  credentials: Credentials
  ledger: OpenedLedger
  clock: TestClock
  dataDir: string
  /** The logged lines. */
  logged: string[]
}

export async function testAccounts(t: TestContext): Promise<TestAccounts> {
  const dataDir = await mkdtemp(join(tmpdir(), 'archivolt-http-'))
  const clock = testClock()
  const logged: string[] = []
  const log = openLog(
    'debug',
    new Writable({ write: (line: Buffer, _encoding, next) => (logged.push(line.toString()), next()) }),
  )
  const ledger = await openLedger({ file: join(dataDir, 'ledger.db'), log, clock })
  t.after(async () => {
    await ledger.close()
    await rm(dataDir, { recursive: true })
  })
  const signing = openSigning(await openSecretKey(dataDir))
  const credentials = cheapCredentials.open({ ledger, clock, log, dataDir, signing })
  return { accounts: credentials.accounts, credentials, ledger, clock, dataDir, logged }
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed JSON, or undefined. */
  body: Record<string, unknown>
}

export interface Asking {
  method?: string
  /** `admin`, `user`, a token, or anonymous. */
  as?: 'admin' | 'user' | 'nobody'
  headers?: Record<string, string>
  /** Sent as JSON. */
  json?: unknown
  /** Sent unchanged. */
  content?: string | Buffer
}

export interface TestServer extends TestAccounts {
  http: Http
  url: string
  port: number
  tokens: { admin: string; user: string }
  ask(path: string, asking?: Asking): Promise<Answer>
  /** Sends these bytes, and returns everything that arrives until the server closes the connection. */
  raw(bytes: string | Buffer): Promise<string>
  preferencesChanged(): void
}

type Options = Partial<Omit<HttpParts, 'settings'>> & {
  settings?: Partial<HttpParts['settings']>
  appOf?: (given: TestAccounts) => Partial<WholeApp>
}

export async function testServer(t: TestContext, routes: Route[], options: Options = {}): Promise<TestServer> {
  const given = await testAccounts(t)
  await given.credentials.ensureFirst({ username: 'admin', password: 'admin-password' })
  const { id } = await given.accounts.create({ username: 'user', password: 'user-password', isStaff: false })
  const tokens = { admin: await given.accounts.token(1), user: await given.accounts.token(id) }
  const listeners: Array<() => void> = []
  const preferences = { watch: (listener: () => void) => void listeners.push(listener) } as Preferences
  const { settings, appOf, ...rest } = options
  const app = { clock: given.clock, accounts: given.accounts, ...appOf?.(given) } as WholeApp

  const http = openHttp({
    routes,
    app: () => app,
    log: openLog(
      'debug',
      new Writable({ write: (line: Buffer, _encoding, next) => (given.logged.push(line.toString()), next()) }),
    ),
    clock: given.clock,
    credentials: given.credentials,
    preferences,
    envelopes: [],
    hook: () => [],
    within: (_route, work) => work(),
    ownerOf: () => undefined,
    faultForms: () => [],
    replyHeaders: {},
    available: () => undefined,
    isReady: () => true,
    touched: openTouched(),
    ...rest,
    settings: {
      basePath: '/',
      trustedProxies: [],
      forwardedUser: null,
      sendFileHeader: null,
      corsOrigins: [],
      pageSize: 12,
      publicUrl: null,
      host: '127.0.0.1',
      port: 0,
      ...settings,
    },
  })
  const { address } = await http.listen()
  t.after(async () => {
    const closed = http.close()
    await given.clock.advance(60_000)
    await closed
  })
  const url = `http://127.0.0.1:${address.port}`

  return {
    ...given,
    http,
    url,
    port: address.port,
    tokens,
    preferencesChanged: () => listeners.forEach((listener) => listener()),

    async ask(path, { method = 'GET', as = 'admin', headers = {}, json, content } = {}) {
      const answer = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(as !== 'nobody' && { Authorization: `Token ${tokens[as]}` }),
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(content !== undefined && { body: content }),
      })
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') && text !== ''
      return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined }
    },

    raw: (bytes) =>
      new Promise((resolve, reject) => {
        let received = ''
        const socket = connect(address.port, '127.0.0.1', () => socket.write(bytes))
        socket.on('data', (chunk) => (received += chunk.toString()))
        socket.on('close', () => resolve(received))
        // The kernel ends a connection with unread data by a reset, here after the answer.
        socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
      }),
  }
}

/**
 * Current clients of the reference get answers with which they keep working: sends each of their requests, in order.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { TestApp } from 'archivolt/testing'
import { type Answer, ask } from './recordings/exchange.ts'
import { recordedServer, referenceBackup, restore } from './recordings/replay.ts'

interface ClientRequest {
  n: number
  client: string
  method: string
  path: string
  headers: Record<string, string>
  body: object | null
  accept_status: number[]
  must_have?: Record<string, string>
}

const FILE = new URL('../data/clients/requests.jsonl.gz', import.meta.url)
const REQUESTS = gunzipSync(readFileSync(FILE))
  .toString()
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as ClientRequest)
const PASSWORD = 'verysecret'
const LOGIN = '/api/user/login/'

/** Replaces values that differ in each run. */
class Credentials {
  readonly #texts = new Map([['{PASSWORD}', PASSWORD]])

  async begin(app: TestApp): Promise<void> {
    const { body } = await app.as('nobody').post('/api/login/', { username: 'admin', password: PASSWORD })
    this.#texts.set('{TOKEN}', body.token)
    const { headers } = await app.as('nobody').post('/login/', { username: 'admin', password: PASSWORD })
    this.learn(headers.getSetCookie())
  }

  learn(cookies: readonly string[]): void {
    for (const [name, key] of [
      ['sessionid', '{SESSION}'],
      ['csrftoken', '{CSRF}'],
    ] as const) {
      const value = new RegExp(`${name}=([^;]+)`).exec(cookies.join(';'))?.[1]
      if (value) this.#texts.set(key, value)
    }
  }

  fill(text: string): string {
    let filled = text
    for (const [key, value] of this.#texts) filled = filled.replaceAll(key, value)
    return filled
  }
}

async function send(app: TestApp, request: ClientRequest, credentials: Credentials): Promise<Answer> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, credentials.fill(value)]),
  )
  const answer = await ask(app.url, {
    method: request.method,
    path: credentials.fill(request.path),
    headers,
    ...(request.body && { body: credentials.fill(JSON.stringify(request.body)) }),
  })
  if (request.path === LOGIN) credentials.learn([answer.headers['set-cookie'] ?? []].flat())
  return answer
}

/** The type in the terms of `must_have`. */
function typeOf(value: unknown): string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['list']
  if (typeof value === 'number') return Number.isInteger(value) ? ['int', 'num'] : ['num']
  return [{ string: 'str', boolean: 'bool', object: 'dict' }[typeof value as string] ?? 'nothing']
}

function valueAt(body: any, path: string): unknown {
  return path === '' ? body : path.split('.').reduce((value, key) => value?.[key], body)
}

/** @returns undefined if its client can continue */
function wrongOf({ accept_status, must_have = {} }: ClientRequest, { status, body }: Answer): string | undefined {
  if (!accept_status.includes(status)) return `${status}, not ${accept_status.join(' or ')}`
  for (const [path, types] of Object.entries(must_have)) {
    const value = valueAt(body, path)
    if (!typeOf(value).some((type) => types.split('|').includes(type)))
      return `${path || 'the body'} is ${JSON.stringify(value)?.slice(0, 80)}, not ${types}`
  }
  return undefined
}

/** @returns the numbers of requests whose clients could not continue; `tell` gets each reason */
async function replay(app: TestApp, tell: (line: string) => void): Promise<number[]> {
  const credentials = new Credentials()
  await credentials.begin(app)
  const failed: number[] = []
  for (const request of REQUESTS) {
    const answer = await send(app, request, credentials)
    const wrong = wrongOf(request, answer)
    if (wrong === undefined) continue
    failed.push(request.n)
    tell(
      `${request.n} ${request.client}: ${request.method} ${request.path}: ${wrong} (${JSON.stringify(answer.body)?.slice(0, 160)})`,
    )
  }
  return failed
}

/**
 * In the form of the older version, clients of the newer one cannot use the answers to these, because the two exclude
 * each other (contract C).
 */
const OF_V05_ALONE = [15, 16, 18, 53, 54, 105, 106, 137, 174, 177, 181]

for (const [compat, unanswered] of [
  ['v0.5', []],
  ['v0.4', OF_V05_ALONE],
] as const) {
  test(`each request of current clients is answered as its client needs it, with AV_COMPAT=${compat}`, async (t) => {
    const app = await recordedServer(t, { settings: { compat } })
    await restore(app, await referenceBackup())

    const failed = await replay(app, (line) => t.diagnostic(line))

    assert.equal(REQUESTS.length, 203)
    assert.deepEqual(failed, unanswered)
  })
}

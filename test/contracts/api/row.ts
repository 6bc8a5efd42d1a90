/** A row of the API table, how its request is sent, and the checks that every answer must pass. */
import assert from 'node:assert/strict'
import type { TestApp } from 'archivolt/testing'
import Schema from 'typebox/schema'
import { inEnglish, type Said } from '../../../core/base/say.ts'
import { differences, Form, optional } from '../recordings/compare.ts'
import { type Answer, ask } from '../recordings/exchange.ts'

export interface Row {
  /** The section of the contract. */
  section: string
  method: string
  path: string
  /** Default: admin. */
  as?: 'admin' | 'user' | 'nobody'
  body?: unknown
  headers?: Record<string, string>
  status: number
  /** The whole answer; Forms replace values that differ in each run. */
  is?: unknown
  /** Some keys of the answer. */
  has?: Record<string, unknown>
  /** Checks texts of list items, or sends further requests. */
  look?: (body: any, answer: Answer) => void
  /** Headers of the answer. */
  sends?: Record<string, unknown>
  /** Prepares the archive for this row alone. */
  first?: (app: TestApp) => Promise<unknown>
}

type Options = Omit<Row, 'section' | 'method' | 'path' | 'status'>
export type Table = Row[]

/** `row('6.1', 'GET /api/ping/', 200, { as: 'user' })` */
export function row(section: string, request: string, status: number, options: Options = {}): Row {
  const at = request.indexOf(' ')
  return { section, method: request.slice(0, at), path: request.slice(at + 1), status, ...options }
}

/** The row's name in test titles. */
export const titleOf = ({ section, method, path, as = 'admin', body, status }: Row): string =>
  `${section}: ${method} ${path} as ${as}${body === undefined ? '' : ` ${(typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 120)}`} is ${status}`

const CODES: Record<number, string[]> = {
  400: ['bad_request'],
  401: ['not_authenticated', 'invalid_token'],
  403: ['permission_denied', 'csrf_failed'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  409: ['conflict'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  416: ['invalid_range'],
  422: ['unprocessable'],
  429: ['throttled'],
  503: ['unavailable'],
}

export async function askRow(row: Row, app: TestApp): Promise<Answer> {
  await row.first?.(app)
  const { method, path, as = 'admin', body, headers } = row
  const token = as === 'nobody' ? undefined : await tokenOf(app, as)
  const isText = typeof body === 'string' || body instanceof Uint8Array
  const sent = {
    ...(token && { authorization: `Token ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  }
  return ask(app.url, {
    method,
    path,
    headers: sent,
    ...(body !== undefined && { body: isText ? Buffer.from(body) : JSON.stringify(body) }),
  })
}

async function tokenOf({ app: { accounts } }: TestApp, who: 'admin' | 'user'): Promise<string> {
  return accounts.token(accounts.list().find(({ is_staff }) => is_staff === (who === 'admin'))!.id)
}

/** The schema of each answer in `/api/schema/`. */
export async function describedAnswers(
  app: TestApp,
): Promise<
  (method: string, path: string, status: number) => { Errors(value: unknown): [boolean, unknown[]] } | undefined
> {
  const { paths, components } = (await app.as('admin').get('/api/schema/')).body
  const places = Object.entries(paths as Record<string, any>).map(([path, methods]) => ({
    pattern: new RegExp(
      `^${path
        .replaceAll('.', '\\.')
        .replace(/\{\w+\}/g, '[^/]+')
        .replace(/\/$/, '/?')}$`,
    ),
    variables: path.split('{').length,
    methods,
  }))
  const inlined = (value: any): any => {
    if (Array.isArray(value)) return value.map(inlined)
    if (typeof value !== 'object' || value === null) return value
    if (typeof value.$ref === 'string') return inlined(components.schemas[value.$ref.split('/').at(-1)])
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inlined(inner)]))
  }
  return (method, path, status) => {
    const plain = path.split('?')[0]!
    const place = places.filter(({ pattern }) => pattern.test(plain)).sort((a, b) => a.variables - b.variables)[0]
    const operation = place?.methods[method === 'HEAD' ? 'get' : method.toLowerCase()]
    const response = operation?.responses[status]
    assert.ok(!operation || response, `${method} ${path}: ${status} is not described`)
    const schema = response?.content?.['application/json']?.schema
    return schema && Schema.Compile(inlined(schema))
  }
}

export function check(row: Row, answer: Answer, described: Awaited<ReturnType<typeof describedAnswers>>): void {
  const { status, body, headers } = answer
  assert.equal(status, row.status, `${JSON.stringify(body)?.slice(0, 500)}`)
  if (status >= 400) checkError(row, answer)
  else if (typeof body === 'object' && body !== null && !Array.isArray(body))
    for (const key of ['error', 'errors', 'detail']) assert.ok(!(key in body), `a success has no ${key}`)
  if (row.path.startsWith('/api/') && headers['content-type']?.includes('json')) {
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
  }
  const known = [404, 405].includes(status) ? undefined : described(row.method, row.path, status)
  if (known && row.method !== 'HEAD') {
    const [, errors] = known.Errors(body)
    assert.deepEqual(
      errors.slice(0, 3),
      [],
      `the answer has the described form: ${JSON.stringify(body)?.slice(0, 500)}`,
    )
  }
  if ('is' in row) assert.deepEqual(differences(row.is, body), [])
  if (row.has)
    assert.deepEqual(
      differences(row.has, Object.fromEntries(Object.entries(body).filter(([key]) => key in row.has!))),
      [],
    )
  for (const [name, expected] of Object.entries(row.sends ?? {}))
    assert.deepEqual(differences(expected, headers[name]), [], `header ${name}`)
  row.look?.(body, answer)
}

const texts = new Form(
  'texts by place',
  (value) =>
    typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string'),
)
/** The templates of the sentences in an answer. */
export const sentences = new Form(
  'words and values by sentence',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value as Said).every(([sentence, words]) => inEnglish(words) === sentence),
)
const EXTRAS = new Set([
  'data',
  'paginate',
  'video',
  'channel',
  'state',
  'non_field_errors',
  'cookie_import',
  'cookie_validated',
  'channel_subscribed',
])

/** Contract 2.1, and the requirements of the status. */
function checkError({ status, has, method }: Row, { body, headers }: Answer): void {
  if (method === 'HEAD') return
  const { detail } = body
  assert.equal(typeof detail, 'string')
  const own = Object.fromEntries(Object.entries(body).filter(([key]) => !EXTRAS.has(key)))
  assert.deepEqual(
    differences(
      {
        detail,
        message: detail,
        error: detail,
        code: new Form(`one of ${CODES[status]}`, (code) => CODES[status]!.includes(code as string)),
        fields: optional(texts),
        said: optional(sentences),
      },
      own,
    ),
    [],
  )
  for (const key of Object.keys(body))
    if (EXTRAS.has(key)) assert.ok(has && key in has, `${key} is not expected: ${JSON.stringify(body)}`)
  if (status === 401) assert.equal(headers['www-authenticate'], 'Token')
  if (status === 405) assert.match(String(headers['allow']), /OPTIONS/)
  if (status === 429 || status === 503) assert.match(String(headers['retry-after']), /^\d+$/)
  assert.doesNotMatch(detail, /\/(tmp|root|home|work)\/|at .*\.ts:/, 'no path of the server, no stack')
}

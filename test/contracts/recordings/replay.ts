/** Plays recorded exchanges against our server, in order, and reports differences that no row of the table explains. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Settings } from 'archivolt'
import { type TestApp, testApp, testClock } from 'archivolt/testing'
import { ZipFile } from 'yazl'
import { NO_PLATFORM } from '../../platform/start.ts'
import { UNPACED } from '../../support/preferences.ts'
import { aNumber, anInstant, aText, differences, Form, optional } from './compare.ts'
import { type Answer, ask, type Exchange, Names, readText } from './exchange.ts'
import { DIFFERENCES, type Difference, ERROR_CODES, type Expected } from './table.ts'

const BACKUP = 'ta_backup-20261120-auto.zip'
/** The recording took place on the current day of its data, from 08:43 to 08:48. */
const [RECORDED_FROM, RECORDED_UNTIL] = [1795250600, 1795250900]
const aTimeOfNow = new Form('time of now', (value) => value === NOW / 1000)
const NOW = Date.parse('2026-11-21T08:45:00Z')
const OUTGOING = [
  ['download_pending', 'json://one.example/a'],
  ['download_pending', 'json://two.example/b'],
  ['check_reindex', 'json://three.example/c'],
] as const
/** Additional keys of an error (contract 2.1). */
const ERROR_EXTRAS = new Set(['data', 'paginate', 'video', 'channel', 'channel_id', 'state', 'non_field_errors'])
const aRecordOfSentences = new Form(
  'words and values by sentence',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every(({ key, params }) => typeof key === 'string' && typeof params === 'object'),
)
const aRecordOfTexts = new Form(
  'texts by place',
  (value) =>
    typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string'),
)

interface Scope {
  after(cleanUp: () => Promise<void>): void
}

/**
 * A server in the state of the recorded reference: its day, users, page size and prefix; the platform is unreachable.
 */
export async function recordedServer(
  scope: Scope,
  { isEmpty = false, settings = {} }: { isEmpty?: boolean; settings?: Partial<Settings> } = {},
): Promise<TestApp> {
  process.env['TZ'] = 'UTC' // where it was recorded: days and date texts follow it
  const dataDir = await mkdtemp(join(tmpdir(), 'av-recordings-'))
  const clock = testClock(NOW)
  const app = await testApp(scope, {
    dataDir,
    clock,
    settings: { prefix: 'ta', username: 'admin', password: 'verysecret', ...NO_PLATFORM, ...settings },
  })
  scope.after(() => rm(dataDir, { recursive: true, force: true }))
  // As configured in the reference; and this clock does not advance while a request waits for its turn at the platform.
  await app.app.preferences.change({ downloads: { sleep_interval: 3 }, platform: UNPACED.platform })
  const set = async (path: string, body: object) =>
    assert.equal((await app.as('admin').post(path, body)).status, 200, path)
  // As recorded; a new password may not be this short.
  await app.app.accounts.create({ username: 'reader', password: 'readerpass', isStaff: false })
  if (!isEmpty) for (const [task_name, url] of OUTGOING) await set('/api/schedule/notification/', { task_name, url })
  await forgetJobs(app)
  return app
}

/** No task had run on the recorded server. */
async function forgetJobs({ app, settled }: TestApp): Promise<void> {
  await settled()
  await app.ledger.write(() => {
    for (const table of ['jobs', 'notifications']) app.ledger.sql(`DELETE FROM ${table}`).run()
  })
}

/** Imports as a user does: uploads a backup of the reference and restores it. */
export async function restore(app: TestApp, zip: Buffer): Promise<string> {
  const admin = app.as('admin')
  const taken = await admin.put(`/api/backup/${BACKUP}/`, zip, { 'content-type': 'application/zip' })
  assert.equal(taken.status, 200, taken.text)
  const { status, body } = await admin.post(`/api/backup/${BACKUP}/`)
  assert.equal(status, 200)
  await app.settled()
  const task = (await admin.get(`/api/task-id/${body.task_id}/`)).body
  assert.equal(task.status, 'SUCCESS', task.result)
  assert.equal((await admin.delete(`/api/backup/${BACKUP}/`)).status, 200)
  await forgetJobs(app)
  return task.result
}

export const referenceBackup = (): Promise<Buffer> =>
  readFile(new URL('../../data/recordings/ta_backup-small-auto.zip', import.meta.url))

/** The archive at the start of the recording, as a backup: the reference's own backup was made later. */
export async function archiveAsBackup(): Promise<Buffer> {
  const files = new Map<string, string[]>()
  for (const line of readText('archive.ndjson.gz').split('\n').filter(Boolean)) {
    const { index, id, doc } = JSON.parse(line) as { index: string; id: string; doc: object }
    const name = `es_${index}-20261121-0.json`
    files.set(name, [
      ...(files.get(name) ?? []),
      JSON.stringify({ index: { _index: `ta_${index}`, _id: id } }),
      JSON.stringify(doc),
    ])
  }
  const zip = new ZipFile()
  for (const [name, lines] of files) zip.addBuffer(Buffer.from(`${lines.join('\n')}\n`), name)
  zip.end()
  return buffer(zip.outputStream)
}

export class Replay {
  readonly #app: TestApp
  readonly #names = new Names()
  readonly #exchanges: readonly Exchange[]
  /** Rows that have explained a difference. */
  readonly used = new Set<Difference>()

  constructor(app: TestApp, exchanges: readonly Exchange[]) {
    this.#app = app
    this.#exchanges = exchanges
  }

  async begin(): Promise<void> {
    for (const [placeholder, username, password] of [
      ['<ADMIN_TOKEN>', 'admin', 'verysecret'],
      ['<READER_TOKEN>', 'reader', 'readerpass'],
    ] as const) {
      const { body } = await this.#app.as('nobody').post('/api/login/', { username, password })
      this.#names.learn(placeholder, body.token)
    }
  }

  /** Signs in as the browser did, in place of the recorded cookies. */
  async signIn(exchange: Exchange): Promise<void> {
    const [, session, csrf] = /sessionid=(\w+); csrftoken=(\w+)/.exec(exchange.req_headers['Cookie']!)!
    const { headers } = await this.#app
      .as('nobody')
      .post('/login/', { username: 'admin', password: 'verysecret', remember_me: 'off' })
    const cookies = headers.getSetCookie().join(';')
    this.#names.learn(session!, /sessionid=([^;]+)/.exec(cookies)![1]!)
    this.#names.learn(csrf!, /csrftoken=([^;]+)/.exec(cookies)![1]!)
  }

  /** @returns the unexplained differences, one line each */
  async play(exchange: Exchange): Promise<string[]> {
    const { method, path, req_headers: given, req_body: recordedBody } = exchange
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, this.#names.translate(value)]),
    )
    const body =
      recordedBody === null ? undefined : typeof recordedBody === 'string' ? recordedBody : JSON.stringify(recordedBody)
    const answer = await ask(this.#app.url, {
      method,
      path: this.#names.translate(path),
      headers,
      ...(body !== undefined && { body: this.#names.translate(body) }),
    })
    this.#names.learnFrom(exchange.body, answer.body)
    const rows = DIFFERENCES.filter(({ where }) =>
      typeof where === 'function' ? where(exchange) : where.includes(exchange.n),
    )
    const unexplained = this.#compare(exchange, rows, answer)
    for (const { undo } of rows) if (undo) await this.#undo(undo(answer.body))
    return unexplained
  }

  async #undo({ method, path, body }: { method: string; path: string; body?: object }): Promise<void> {
    const headers = { authorization: this.#names.translate('Token <ADMIN_TOKEN>'), 'content-type': 'application/json' }
    const { status } = await ask(this.#app.url, { method, path, headers, ...(body && { body: JSON.stringify(body) }) })
    assert.equal(status, 200, `${method} ${path}`)
  }

  #recorded = (n: number): any => JSON.parse(JSON.stringify(this.#exchanges.find((exchange) => exchange.n === n)!.body))

  #compare(exchange: Exchange, rows: Difference[], answer: Answer): string[] {
    const expected: Expected = { status: exchange.status, extra: {}, body: this.#recorded(exchange.n) }
    for (const row of rows) {
      const before = JSON.stringify(expected)
      row.change(expected, exchange, this.#recorded)
      if (JSON.stringify(expected) !== before) this.used.add(row)
    }
    if (answer.status !== expected.status)
      return [`status ${answer.status}, not ${expected.status} ${JSON.stringify(answer.body)?.slice(0, 200)}`]
    if (expected.status >= 400)
      return differences(
        {
          ...(exchange.status >= 400 && errorExtras(expected.body)),
          ...errorShape(expected.status, answer),
          ...expected.extra,
        },
        answer.body,
      )
    if (/^\(\d+ bytes\)$/.test(expected.body)) return []
    if (exchange.patched) return differences(keysOf(expected.body), keysOf(answer.body))
    return differences(byForm(expected.body, this.#names), answer.body)
  }
}

/** The common error shape (contract 2.1 and 2.3); texts are our own, `fields` and `said` contain more. */
function errorShape(status: number, { body }: Answer): Record<string, unknown> {
  return {
    detail: aText,
    message: body?.detail,
    error: body?.detail,
    code: ERROR_CODES[status],
    fields: optional(aRecordOfTexts),
    said: optional(aRecordOfSentences),
  }
}

const errorExtras = (body: unknown) =>
  typeof body === 'object' && body !== null
    ? Object.fromEntries(Object.entries(body).filter(([key]) => ERROR_EXTRAS.has(key)))
    : {}

/** What an answer of a replaced part still shows. */
const keysOf = (body: any): unknown =>
  [body, body?.results].map((object) =>
    Array.isArray(object)
      ? 'list'
      : Object.keys(object ?? {})
          .filter((key) => key !== 'index_version')
          .toSorted(),
  )

/** Replaces values that differ in each run by their form, at any depth. */
function byForm(recorded: unknown, names: Names): unknown {
  if (recorded instanceof Form || recorded === null) return recorded
  if (typeof recorded === 'string') return anInstant.fits(recorded) ? anInstant : names.translate(recorded)
  if (typeof recorded === 'number')
    return recorded >= RECORDED_FROM && recorded <= RECORDED_UNTIL ? aTimeOfNow : recorded
  if (Array.isArray(recorded)) return recorded.map((item) => byForm(item, names))
  if (typeof recorded !== 'object') return recorded
  return Object.fromEntries(
    Object.entries(recorded).map(([key, value]) => [key, key === '_score' ? aNumber : byForm(value, names)]),
  )
}

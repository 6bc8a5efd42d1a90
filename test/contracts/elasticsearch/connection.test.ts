/**
 * The connection to Elasticsearch: each problem has its sentence, is reported once, and ends by itself; with a real
 * node behind a proxy that breaks the connection.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../../core/base/clock.ts'
import { isAppError } from '../../../core/base/error.ts'
import { waitAtBarrier } from '../../../core/index/write-barrier.ts'
import { openLog } from '../../../core/log.ts'
import { StartError } from '../../../core/start-error.ts'
import {
  connectElastic,
  type ElasticConnection,
  type ElasticOptions,
} from '../../../plugins/elasticsearch/connection.ts'
import { ElasticError } from '../../../plugins/elasticsearch/fault.ts'
import { testElasticsearch, withoutElasticsearch } from '../../support/elasticsearch.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'
import { type Break, FULL_DISK, NO_SHARDS, type Proxy, startProxy, TOO_BUSY } from '../../support/proxy.ts'

const skip = withoutElasticsearch()
const SECRET = 'a secret that nobody may read'

interface World {
  connection: ElasticConnection
  proxy: Proxy
  url: string
  index: string
  lines: Array<{ level: string; msg: string }>
}

async function openWorld(scope: Scope, options: Partial<ElasticOptions> = {}): Promise<World> {
  const { url, prefix } = await testElasticsearch(scope)
  const proxy = await startProxy(scope, url)
  // The clock's timers let a process end that has nothing else to do.
  const awake = setInterval(() => undefined, 1000)
  lastFirst(scope).after(() => clearInterval(awake))
  const lines: World['lines'] = []
  const log = openLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })
  const connection = connectElastic({ url: proxy.url, names: `${prefix}_*`, log, clock: systemClock, ...options })
  lastFirst(scope).after(() => connection.close())
  const index = `${prefix}_things`
  await connection.client.indices.create({ index })
  return { connection, proxy, url, index, lines }
}

const put = ({ connection, index }: World, id = '1') =>
  connection.run((client) => client.index({ index, id, document: { n: 1 } }))

/** The error as an HTTP client would see it. */
async function refused(work: Promise<unknown>): Promise<{ message: string; retryAfterSeconds: number }> {
  const error: unknown = await work.then(
    () => assert.fail('it worked'),
    (thrown: unknown) => thrown,
  )
  assert.ok(isAppError(error, 'unavailable'), String(error))
  assert.ok(!JSON.stringify([error.message, error.cause, String(error.cause)]).includes(SECRET))
  return { message: error.message, retryAfterSeconds: error.details.retryAfterSeconds! }
}

/** Runs it in a job, which waits instead. */
const asJob = <Result>(work: () => Promise<Result>, signal = new AbortController().signal) =>
  waitAtBarrier(signal, work)
const said = ({ lines }: World, level: string) => lines.filter((line) => line.level === level).map(({ msg }) => msg)

test('each kind of outage is reported to requests at once, and ends when the server is back', { skip }, async (t) => {
  const rows: Array<[string, Break]> = [
    ['cut', { what: 'cut' }],
    ['cut in the answer', { what: { cutAfterBytes: 20 } }],
    ['a proxy without a server', { what: { status: 502 } }],
    ['a proxy that waits too long', { what: { status: 504 } }],
  ]
  for (const [name, fault] of rows) {
    await t.test(name, async (t) => {
      const world = await openWorld(t)
      world.proxy.break(fault)

      const { message, retryAfterSeconds } = await refused(put(world))
      assert.match(message, /^Elasticsearch does not respond/)
      assert.ok(retryAfterSeconds > 0)
      assert.ok(world.connection.isAway)
      const asked = world.proxy.asked.length
      for (let time = 0; time < 20; time++) await refused(put(world))
      assert.ok(world.proxy.asked.length - asked <= 2, 'a server known to be away is not asked by each request')

      const waiting = asJob(() => put(world))
      world.proxy.mend()
      assert.equal((await waiting)._id, '1')
      assert.equal(world.connection.isAway, false)
      // The exact cause may be found later, and is then reported as well.
      const begun = said(world, 'error').filter((line) => line.includes('requests are answered 503'))
      assert.equal(begun.length, 1, 'once')
      assert.match(said(world, 'info').join(), /^Elasticsearch responds again[^,]*$/)
    })
  }
})

test('with a server that refuses connections, jobs wait instead of failing, and a job that is ended stops waiting', {
  skip,
}, async (t) => {
  const world = await openWorld(t)
  await world.proxy.refuse()
  await refused(put(world))
  await assert.rejects(
    asJob(() => put(world), AbortSignal.timeout(50)),
    { name: 'TimeoutError' },
  )
  const heard: unknown[] = []
  const waiting = waitAtBarrier(
    new AbortController().signal,
    () => put(world),
    (reason) => heard.push(reason),
  )

  await world.proxy.accept()

  assert.equal((await waiting)._id, '1')
  assert.ok(isAppError(heard[0], 'unavailable'), 'who waits for the job may go')
  assert.equal(said(world, 'error').length, 1)
})

test('one broken connection is no outage: the request is repeated', { skip }, async (t) => {
  const world = await openWorld(t)
  world.proxy.break({ what: 'cut', times: 1 })
  assert.equal((await put(world))._id, '1')
  assert.deepEqual(said(world, 'error'), [])
})

test('what the server cannot accept now is unavailable, each kind with its sentence', { skip }, async (t) => {
  const world = await openWorld(t)
  for (const [what, expected] of [
    [FULL_DISK, /^Elasticsearch accepts no writes because its disk is too full/],
    [NO_SHARDS, /parts of the data are unavailable/],
    [TOO_BUSY, /overloaded/],
    [{ status: 401, body: {} }, /AV_ELASTICSEARCH_USERNAME and AV_ELASTICSEARCH_PASSWORD, or AV_ELASTICSEARCH_API_KEY/],
    [{ status: 403, body: {} }, /give it all rights .* for snapshots also .*cluster:admin\/repository/],
  ] as const) {
    world.proxy.break({ on: /^PUT /, what, times: 1 })
    assert.match((await refused(put(world))).message, expected)
    assert.equal((await put(world))._id, '1')
  }
  world.proxy.break({ on: /^PUT /, what: TOO_BUSY, times: 3 })
  assert.equal((await asJob(() => put(world)))._id, '1', 'a job tries again')
})

test('indexes that a full disk has made read-only: reads work, writes are refused, jobs write when there is space', {
  skip,
}, async (t) => {
  const world = await openWorld(t)
  const { connection, index } = world
  await put(world)
  const block = (value: boolean | null) =>
    connection.client.indices.putSettings({
      index,
      settings: { 'index.blocks.read_only_allow_delete': value } as never,
    })
  await block(true)

  assert.match((await refused(put(world, '2'))).message, /disk is too full/)
  assert.match((await refused(put(world, '2'))).message, /disk is too full/)
  assert.equal((await connection.run((client) => client.get({ index, id: '1' }))).found, true)
  assert.equal(connection.isAway, false)
  const waiting = asJob(() => put(world, '2'))
  await block(null)

  assert.equal((await waiting)._id, '2')
  assert.equal(said(world, 'error').length, 1)
})

test('missing shards are reported as such', { skip }, async (t) => {
  const world = await openWorld(t)
  const { connection, index } = world
  const lost = `${index}_lost`
  // No node has this attribute, so its shards are never allocated.
  await connection.client.indices.create({
    index: lost,
    wait_for_active_shards: 0,
    settings: { 'index.routing.allocation.require.rack': 'nowhere' } as never,
  })

  assert.match(
    (await refused(connection.run((client) => client.search({ index: lost })))).message,
    /parts of the data are unavailable/,
  )

  await connection.client.indices.putSettings({
    index: lost,
    settings: { 'index.routing.allocation.require.rack': null } as never,
  })
  assert.equal(
    (await asJob(() => connection.run((client) => client.search({ index: lost, allow_partial_search_results: false }))))
      .timed_out,
    false,
  )
})

test('a request that the server rejects is no outage, and its content is not logged', {
  skip,
}, async (t) => {
  const world = await openWorld(t)
  const { connection, index } = world
  const error: unknown = await connection
    .run((client) => client.search({ index, query: { term: { [SECRET]: { oops: SECRET } } } as never }))
    .catch((thrown: unknown) => thrown)
  assert.ok(error instanceof ElasticError)
  assert.equal(error.statusCode, 400)
  await assert.rejects(
    connection.run(() => Promise.reject(new TypeError('ours'))),
    TypeError,
  )
  assert.deepEqual(said(world, 'error'), [])
})

test('accounts: name and password, an API key, and the messages for refused ones', { skip }, async (t) => {
  const { connection: any, url, index } = await openWorld(t)
  const username = `${index}-user`
  await any.client.security.putUser({ username, password: SECRET, roles: ['superuser'] })
  t.after(() => void fetch(`${url}/_security/user/${username}`, { method: 'DELETE' }))
  const me = { username, password: SECRET }
  const { encoded } = (await (
    await fetch(`${url}/_security/api_key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`${username}:${SECRET}`)}` },
      body: '{"name":"test"}',
    })
  ).json()) as { encoded: string }
  const lines: string[] = []
  const as = (options: Partial<ElasticOptions>) => {
    const connection = connectElastic({
      url,
      names: `${index}*`,
      log: openLog('trace', { write: (line) => void lines.push(line) }),
      clock: systemClock,
      ...options,
    })
    lastFirst(t).after(() => connection.close())
    return connection
  }
  const whoIs = async (connection: ElasticConnection) =>
    (await connection.run((client) => client.security.authenticate())).username

  assert.equal(await whoIs(as(me)), username)
  assert.equal(await whoIs(as({ apiKey: encoded })), username)
  const written = as({ url: url.replace('//', `//${username}:${encodeURIComponent(SECRET)}@`) })
  assert.equal(await whoIs(written), username)
  assert.equal(written.address, url)
  const { message } = await refused(whoIs(as({ username, password: `${SECRET}, not` })))
  assert.match(message, /AV_ELASTICSEARCH_PASSWORD/)
  assert.ok(!lines.join().includes(SECRET))
})

test('with TLS the certificate must be signed by a known authority', { skip }, async (t) => {
  const { url } = await testElasticsearch(t)
  const folder = await temporaryFolder(t)
  const [store, ca] = [join(folder, 'store.p12'), join(folder, 'ca.pem')]
  const keytool = (...args: string[]) =>
    execFileSync(
      'keytool',
      [...args, '-keystore', store, '-storepass', 'changeit', '-storetype', 'PKCS12', '-alias', 'it'],
      { stdio: 'pipe' },
    )
  keytool(
    '-genkeypair',
    '-keyalg',
    'EC',
    '-dname',
    'CN=127.0.0.1',
    '-ext',
    'san=ip:127.0.0.1',
    '-ext',
    'bc:c=ca:true',
    '-validity',
    '2',
  )
  await writeFile(ca, keytool('-exportcert', '-rfc'))
  const proxy = await startProxy(t, url, { pfx: await readFile(store), passphrase: 'changeit' })
  const connect = (file?: string) => {
    const connection = connectElastic({
      url: proxy.url,
      ca: file,
      names: 'none_*',
      log: openLog('silent'),
      clock: systemClock,
    })
    lastFirst(t).after(() => connection.close())
    return connection
  }

  assert.match((await connect(ca).begin()).version, /^8\./)
  await assert.rejects(
    connect().begin(),
    (error: Error) => error instanceof StartError && /AV_ELASTICSEARCH_CA/.test(error.message),
  )
  assert.throws(() => connect(join(folder, 'none.pem')), /AV_ELASTICSEARCH_CA: .*none.pem cannot be read \(ENOENT\)/)
  assert.throws(() => connect(store), /contains no certificate in PEM format/)
})

test('only Elasticsearch 8 is supported; anything else ends the start with a sentence', async (t) => {
  for (const [headers, version, expected] of [
    [{}, '2.11.0', /The server at AV_ELASTICSEARCH_URL is not Elasticsearch/],
    [
      { 'x-elastic-product': 'Elasticsearch' },
      '7.17.0',
      /^Elasticsearch 7\.17\.0 is not supported: Archivolt can store documents only in Elasticsearch 8/,
    ],
    [{ 'x-elastic-product': 'Elasticsearch' }, '9.1.0', /^Elasticsearch 9\.1\.0 is not supported/],
  ] as const) {
    const server = createServer((_request, reply) =>
      reply
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ version: { number: version } })),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => void server.close())
    const connection = connectElastic({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      log: openLog('silent'),
      clock: systemClock,
    })
    t.after(() => connection.close())
    await assert.rejects(
      connection.begin(),
      (error: Error) => error instanceof StartError && expected.test(error.message),
    )
  }
})

test('the start waits for a server that does not answer yet, and says so', { skip }, async (t) => {
  const world = await openWorld(t)
  await world.proxy.refuse()
  const begun = world.connection.begin()
  await assert.rejects(world.connection.begin(AbortSignal.timeout(30)), { name: 'TimeoutError' })
  await world.proxy.accept()
  assert.match((await begun).version, /^8\./)
  assert.equal(
    said(world, 'warn').filter((line) => line.startsWith('Waiting for Elasticsearch')).length,
    2,
    'once for each that waits',
  )
})

test('of several nodes the available ones are used, whichever is missing', { skip }, async (t) => {
  const { url } = await testElasticsearch(t)
  const [one, other] = [await startProxy(t, url), await startProxy(t, url)]
  const world = await openWorld(t, { url: `${one.url},${other.url}` })
  for (const gone of [one, other]) {
    gone.break({ what: 'cut' })
    for (let time = 0; time < 6; time++) await put(world)
    gone.mend()
  }
  assert.deepEqual(said(world, 'error'), [])

  one.break({ what: 'cut' })
  other.break({ what: 'cut' })
  const waiting = asJob(() => put(world))
  await refused(put(world))
  other.mend()
  await waiting
  assert.equal(said(world, 'error').length, 1)
})

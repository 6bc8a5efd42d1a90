/** Settings: the environment overrides the file, which overrides the defaults; and errors about wrong values. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { type Definitions, readCore, readSettings, readSources } from '../../config/load-settings.ts'
import { openLimits } from '../../core/http/origin.ts'
import elasticsearch from '../../plugins/elasticsearch/plugin.ts'
import metrics from '../../plugins/metrics/plugin.ts'
import platform from '../../plugins/platform/plugin.ts'
import { temporaryFolder } from '../support/folder.ts'

async function aDataFolder(t: TestContext, config?: unknown): Promise<string> {
  const folder = await temporaryFolder(t)
  if (config !== undefined)
    await writeFile(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config))
  return folder
}

const all = (env: Record<string, string>, plugins: Definitions = {}): Record<string, unknown> => ({
  ...readSettings(readSources(env), plugins),
})

test('without any configuration every setting has a value', async (t) => {
  const settings = all({ AV_DATA_DIR: await aDataFolder(t) })

  assert.deepEqual([settings.host, settings.port, settings.basePath, settings.debug], ['127.0.0.1', 8000, '/', false])
  assert.deepEqual([settings.password, settings.pluginsDir], [null, []])
})

test('the data folder defaults to ./data, and is always absolute', () => {
  assert.equal(readCore(readSources({})).dataDir, resolve('data'))
  assert.equal(readCore(readSources({ AV_DATA_DIR: 'elsewhere' })).dataDir, resolve('elsewhere'))
})

test('the environment overrides the file, and the file the defaults', async (t) => {
  const folder = await aDataFolder(t, { port: 1111, pageSize: 30 })

  const settings = all({ AV_DATA_DIR: folder, AV_PORT: '2222' })

  assert.deepEqual([settings.port, settings.pageSize, settings.prefix], [2222, 30, 'av'])
})

test('a file may begin with the mark that Windows writes', async (t) => {
  const folder = await aDataFolder(t, '\uFEFF{ "pageSize": 24 }')

  assert.equal(all({ AV_DATA_DIR: folder })['pageSize'], 24)
})

test('texts of the environment are converted to the type in the schema', async (t) => {
  const folder = await aDataFolder(t)

  const settings = all({
    AV_DATA_DIR: folder,
    AV_TRUSTED_PROXIES: '10.0.0.1, 10.1.0.0/16,',
    AV_PLUGINS_DIR: 'one',
    AV_DEBUG: 'yes',
    AV_PORT: '',
    AV_PASSWORD: '',
    AV_USERNAME: '12',
  })

  assert.deepEqual(settings.trustedProxies, ['10.0.0.1', '10.1.0.0/16'])
  assert.deepEqual(settings.pluginsDir, [resolve('one')])
  assert.deepEqual([settings.debug, settings.port, settings.password, settings.username], [true, 8000, null, '12'])
})

test('a default may depend on other settings, and an empty text may be a value', async (t) => {
  const folder = await aDataFolder(t)
  const declared: Definitions = {
    mapDir: {
      env: 'AV_MAP_DIR',
      schema: Type.String({ minLength: 1 }),
      default: ({ dataDir }: { dataDir: string }) => join(dataDir, 'maps'),
      isPath: true,
      meaning: 'maps',
    },
    suffix: { env: 'AV_SUFFIX', schema: Type.String(), default: 'x', meaning: 'suffix' },
    field: {
      env: 'AV_FIELD',
      schema: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
      default: 'x',
      meaning: 'field',
    },
  }

  const settings = all({ AV_DATA_DIR: folder, AV_SUFFIX: '', AV_FIELD: '' }, declared)

  assert.deepEqual([settings.mapDir, settings.suffix, settings.field], [join(folder, 'maps'), '', null])
})

test('the settings are immutable', async (t) => {
  const settings = readSettings(readSources({ AV_DATA_DIR: await aDataFolder(t) }), {})

  assert.throws(() => Object.assign(settings, { port: 1 }), TypeError)
})

test('variables of other programs, and those of the test runner, are ignored', async (t) => {
  assert.equal(
    all({ AV_DATA_DIR: await aDataFolder(t), PATH: '/bin', AV_TEST_REQUIRE: 'chromium', TZ: 'Europe/Vienna' }).port,
    8000,
  )
})

const REFUSALS: Array<{ why: string; env?: Record<string, string>; file?: unknown; says: RegExp }> = [
  {
    why: 'an unknown variable',
    env: { AV_POTR: '1' },
    says: /^AV_POTR: there is no such setting \(did you mean AV_PORT\?\)/,
  },
  { why: 'an unknown key of the file', file: { colour: 1 }, says: /config\.json: there is no setting colour;/ },
  {
    why: 'a word where a port belongs',
    env: { AV_PORT: 'abc' },
    says: /^AV_PORT is "abc", but must be a port, 0 to 65535/,
  },
  { why: 'a port that cannot be', env: { AV_PORT: '70000' }, says: /^AV_PORT is 70000, but must be a port/ },
  {
    why: 'a number as text in the file',
    file: { port: '8000' },
    says: /config\.json: port is "8000", but must be a port/,
  },
  {
    why: 'a base path without its slashes',
    env: { AV_BASE_PATH: 'archive' },
    says: /must be a path that starts and ends with a slash/,
  },
  {
    why: 'a prefix that names of backups cannot have',
    env: { AV_PREFIX: 'my-archive' },
    says: /^AV_PREFIX is "my-archive", but must be up to 16 of a-z and 0-9/,
  },
  {
    why: 'a switch that is neither on nor off',
    env: { AV_DEBUG: 'maybe' },
    says: /^AV_DEBUG is "maybe", but must be true or false/,
  },
  { why: 'a level that is none', env: { AV_LOG_LEVEL: 'loud' }, says: /must be one of fatal, error, warn/ },
  {
    why: "a plugin's URL that is none",
    env: { AV_ELASTICSEARCH_URL: 'localhost:9200' },
    says: /must be a URL that starts with http/,
  },
  {
    why: 'a password in a URL that is not encoded',
    env: { AV_ELASTICSEARCH_URL: 'http://elastic:50%off@node:9200' },
    says: /^AV_ELASTICSEARCH_URL has a value that cannot be used, but must be .*% in a password is written %25/,
  },
  { why: 'a node without an address', env: { AV_ELASTICSEARCH_URL: 'http://[' }, says: /^AV_ELASTICSEARCH_URL has a/ },
  { why: 'a public URL without a host', env: { AV_PUBLIC_URL: 'https://[::1/' }, says: /^AV_PUBLIC_URL is "https:/ },
  {
    why: "a plugin's URL with a port that is none",
    env: { AV_PLATFORM_URL: 'http://[::1]:70000' },
    says: /^AV_PLATFORM_URL is/,
  },
  {
    why: 'metrics at a port that is none',
    env: { AV_METRICS_LISTEN: '127.0.0.1:70000' },
    says: /^AV_METRICS_LISTEN is/,
  },
  { why: 'an origin with a path', env: { AV_CORS_ORIGINS: 'https://a.example/x' }, says: /must be a list of origins/ },
  {
    why: 'a file that is no JSON',
    file: '{ "password": "hunter2" ',
    says: /config\.json is not JSON; correct it or remove it$/,
  },
  { why: 'a file that holds a list', file: [], says: /must contain a JSON object/ },
  { why: 'the data folder in its own file', file: { dataDir: '/x' }, says: /use AV_DATA_DIR/ },
  {
    why: 'a time zone that Node would take for UTC',
    env: { TZ: 'Europe/Atlantis' },
    says: /^TZ is "Europe\/Atlantis"/,
  },
]

const DECLARED = { ...elasticsearch.settings, ...metrics.settings, ...platform.settings }

for (const { why, env, file, says } of REFUSALS) {
  test(`${why} stops the start and is named`, async (t) => {
    const folder = await aDataFolder(t, file)

    assert.throws(() => all({ AV_DATA_DIR: folder, ...env }, DECLARED), {
      name: 'StartError',
      message: says,
    })
  })
}

test('a secret is not repeated, even if it is malformed', async (t) => {
  const folder = await aDataFolder(t, { password: { text: 'hunter2' } })

  assert.throws(
    () => all({ AV_DATA_DIR: folder }),
    (error: Error) => error.message.includes('password') && !error.message.includes('hunter2'),
  )
})

test('an invalid network or address stops the start, and its setting is named', () => {
  for (const range of ['10.0.0.0/99', '999.1.1.1'])
    assert.throws(() => openLimits([range]), { name: 'StartError', message: /^AV_TRUSTED_PROXIES must be .*invalid/ })
})

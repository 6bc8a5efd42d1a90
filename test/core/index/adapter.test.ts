/**
 * Index adapters are plugins: which one is chosen, that a new one needs no change of core, and how documents move to
 * it.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Settings } from '../../../config/schema.ts'
import { openLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugin/define.ts'
import { registerPlugins } from '../../../core/plugin/load.ts'
import memory from '../../data/plugins/memory/plugin.ts'
import { bundledChild } from '../../support/child.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'

const onMemory = (t: TestContext, settings: Partial<Settings> = {}) =>
  testApp(t, { outside: [memory], settings: { memoryIndex: true, ...settings } })

test('an external plugin stores the documents of all others, chosen by its own setting', async (t) => {
  const app = await onMemory(t)
  await app.given(aChannel(), aVideo({ id: 'v1', title: 'The tide turns' }))

  const { body } = await app.as('user').get('/api/search/?query=tides')

  assert.equal(app.app.index.kind, 'memory')
  assert.deepEqual(
    body.results.video_results.map((video: { youtube_id: string }) => video.youtube_id),
    ['v1'],
  )
  assert.equal(existsSync(join(app.dataDir, 'index.sqlite')), false)
  assert.match(await readFile(join(app.dataDir, 'index-in-use.json'), 'utf8'), /"kind":"memory"/)
})

test('without its setting the embedded index is used, and the next start says that the documents are elsewhere', async (t) => {
  const lines: string[] = []
  const log = openLog('info', { write: (line) => void lines.push(line) })
  const dataDir = await temporaryFolder(t)
  await (await testApp(t, { outside: [memory], settings: { memoryIndex: true }, dataDir })).close()

  const app = await testApp(t, { outside: [memory], dataDir, log })

  assert.equal(app.app.index.kind, 'sqlite')
  assert.ok(
    lines.some((line) =>
      /stored in memory; this start stores them in the embedded index.*index-move embedded/.test(line),
    ),
    lines.join(''),
  )
  await app.close()
})

test('two settings that each choose an index stop the start', async (t) => {
  await assert.rejects(
    onMemory(t, { elasticsearchUrl: 'http://127.0.0.1:9' }),
    /AV_ELASTICSEARCH_URL and AV_MEMORY_INDEX each choose a different index: set only one of them/,
  )
})

test('without any index the start ends and names the remedies', async (t) => {
  await assert.rejects(
    testApp(t, { settings: { pluginsOff: ['sqlite'] } }),
    /No plugin stores the documents: remove sqlite from AV_PLUGINS_OFF, or set AV_ELASTICSEARCH_URL/,
  )
  await assert.rejects(
    testApp(t, { settings: { pluginsOff: ['sqlite', 'elasticsearch'] } }),
    /No plugin stores the documents: remove elasticsearch from AV_PLUGINS_OFF, or remove sqlite from AV_PLUGINS_OFF/,
  )
})

test('a disabled index does not conflict with another', async (t) => {
  const app = await onMemory(t, { pluginsOff: ['sqlite', 'elasticsearch'] })

  assert.deepEqual(
    app.app.plugins
      .list()
      .filter(({ name }) => ['sqlite', 'elasticsearch', 'memory'].includes(name))
      .map(({ name, isOn }) => [name, isOn]),
    [
      ['memory', true],
      ['elasticsearch', false],
      ['sqlite', false],
    ],
  )
})

test('an invalid adapter is refused by name', () => {
  const open = async () => Promise.reject(new Error('not opened'))
  const register = (...indexAdapters: object[]) =>
    registerPlugins(
      indexAdapters.map((indexAdapter, at) => ({
        plugin: definePlugin({ name: `p${at}`, indexAdapter: indexAdapter as never }),
        origin: 'here',
      })),
    )

  assert.throws(() => register({ title: '', open }), /plugin p0 .*indexAdapter\.title must not be empty/)
  assert.throws(() => register({ title: 'x' }), /plugin p0 .*indexAdapter\.open is required/)
  assert.throws(() => register({ title: 'x', chosenBy: 'elsewhere', open }), /chosen by elsewhere, which is not one of/)
  assert.throws(
    () => register({ title: 'x', open }, { title: 'y', open }),
    /the default index has two owners: plugin p0 and plugin p1/,
  )
})

test('the client of Elasticsearch is loaded only if Elasticsearch is the index', async () => {
  // Other tests in this process may have loaded it.
  const child = await bundledChild(new URL('./loading-child.ts', import.meta.url))

  const { stdout } = await promisify(execFile)(process.execPath, [child])

  assert.deepEqual(JSON.parse(stdout), [false, true])
})

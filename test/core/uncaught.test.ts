/**
 * Uncaught errors of external plugins in the whole program: after three the plugin is stopped.
 * test/config/mistakes.test.ts covers the kinds of errors.
 */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { type Server, startServer } from '../support/server.ts'

/** Each route `/api/<name>/<how>/` fails in a different way, after its reply. */
const aPlugin = (name: string): string => `
  import { createWriteStream } from 'node:fs'
  import { definePlugin, defineRoute, Type } from 'archivolt'
  const open = (how, fail) => defineRoute({ method: 'GET', path: '/api/${name}/' + how + '/', access: 'open', summary: 'x',
    reply: Type.Object({}), handle: () => (fail(), {}) })
  export default definePlugin({
    name: '${name}', api: 1,
    routes: [
      open('timer', () => setTimeout(() => { throw new Error('no water') })),
      open('stream', () => createWriteStream('/no/such/folder/file')),
      open('rejection', () => void Promise.reject(new Error('later'))),
    ],
  })`

async function startWith(t: TestContext, plugins: Record<string, string>): Promise<Server> {
  const folder = await temporaryFolder(t)
  for (const [name, code] of Object.entries(plugins)) {
    await mkdir(join(folder, 'plugins', name), { recursive: true })
    await writeFile(join(folder, 'plugins', name, 'plugin.js'), code)
  }
  return startServer(t, join(folder, 'data'), { AV_PLUGINS_DIR: join(folder, 'plugins') })
}

const plugin = async ({ api }: Server, name: string) =>
  (await api('GET', '/api/plugin/')).body.find((one: { name: string }) => one.name === name)

/** The error occurs after the reply: polls until its effect is visible. */
async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
  }
}

test('the third error within ten minutes stops a plugin until somebody starts it again; events wait, others are served', async (t) => {
  const server = await startWith(t, { tide: aPlugin('tide'), moon: aPlugin('moon') })
  const ask = (path: string) => server.api('GET', path)
  const fail = async (times: number) => {
    for (let time = 0; time < times; time++) await ask('/api/tide/timer/')
  }

  await fail(2)
  await until(async () => (await plugin(server, 'tide')).last_failure)
  assert.equal((await plugin(server, 'tide')).enabled, true)
  await fail(1)
  const stopped = await until(async () => {
    const tide = await plugin(server, 'tide')
    return tide.stopped && tide
  })

  assert.equal(stopped.enabled, false)
  const refused = await ask('/api/tide/timer/')
  assert.deepEqual(
    [refused.status, refused.body.message],
    [503, 'The plugin tide was stopped after repeated errors. An admin can start it again under Settings → Plugins'],
  )
  const told = (await ask('/api/notification/')).body.find(({ title }: { title: string }) => title === 'Plugin tide')
  assert.deepEqual(
    [told.level, told.messages],
    [
      'error',
      ['It was stopped after repeated errors. Start it again under Settings → Plugins; the log says what failed'],
    ],
  )
  await server.api('GET', '/api/moon/stream/')
  assert.equal((await until(async () => (await plugin(server, 'moon')).last_failure)) !== undefined, true)

  const started = await server.api('POST', '/api/plugin/tide/start/')
  assert.deepEqual([started.status, started.body.enabled, started.body.stopped], [200, true, undefined])
  assert.equal((await server.api('POST', '/api/plugin/tide/start/')).status, 409)
  assert.equal((await ask('/api/tide/rejection/')).status, 200)
})

/** Errors of plugins from outside that nobody catches, in the whole program: the archive goes on. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { type Server, startServer } from '../support/server.ts'

const KILLERS: ReadonlyArray<readonly [name: string, code: string, says: RegExp]> = [
  ['timer', `setTimeout(() => { throw new Error('no water') })`, /^no water$/],
  ['clock', `app.clock.after(1, () => { throw new Error('no water') })`, /^no water$/],
  ['child', `spawn('/no/such/program')`, /^spawn (ENOENT|\S+ ENOENT)$/],
  ['stream', `createWriteStream('/no/such/folder/file')`, /^ENOENT: no such file or directory/],
  ['value', `setTimeout(() => { throw 'a text' })`, /^a text$/],
  ['rejection', `void Promise.reject(new Error('later'))`, /^later$/],
]

/** The route `/api/<plugin>/<killer>/` meets with it at once; the task, the event and the hook do when they are reached by it. */
const aPlugin = (name: string): string => `
  import { spawn } from 'node:child_process'
  import { createWriteStream } from 'node:fs'
  import { definePlugin, defineRoute, defineTask, Type } from 'archivolt'
  const killers = (app) => ({ ${KILLERS.map(([killer, code]) => `${killer}: () => { ${code} }`).join(', ')} })
  const open = (path, handle) => defineRoute({ method: 'GET', path, access: 'open', summary: 'x', reply: Type.Object({}),
    params: Type.Object({ killer: Type.String() }), handle })
  export default definePlugin({
    name: '${name}', api: 1,
    hooks: ['${name}.ask'], events: ['${name}.said'],
    implements: { '${name}.ask': (app) => async (killer) => killers(app)[killer]() },
    on: { '${name}.said': (app) => async ({ killer }) => killers(app)[killer]() },
    tasks: [defineTask({ name: '${name}.go', title: 'x', lane: 'light', payload: Type.Object({ killer: Type.String() }),
      run: async ({ payload }, app) => killers(app)[payload.killer]() })],
    routes: [
      open('/api/${name}/route/:killer/', ({ params }, app) => (killers(app)[params.killer](), {})),
      open('/api/${name}/task/:killer/', async ({ params }, app) => (await app.jobs.start('${name}.go', params), {})),
      open('/api/${name}/event/:killer/', async ({ params }, app) => (await app.emit('${name}.said', params), {})),
      open('/api/${name}/hook/:killer/', async ({ params }, app) => (await app.hook('${name}.ask')[0](params.killer), {})),
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

/** The error comes after the reply: what came of it is asked for until it is there. */
async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
  }
}

test('whatever a plugin does not catch becomes its last failure, and everything else goes on', async (t) => {
  const names = KILLERS.flatMap(([killer]) => ['route', 'task', 'event', 'hook'].map((place) => [killer, place]))
  const plugins = Object.fromEntries(
    names.map(([killer, place]) => [`${killer}${place}`, aPlugin(`${killer}${place}`)]),
  )
  const server = await startWith(t, plugins)

  for (const [killer, code, says] of KILLERS) {
    for (const place of ['route', 'task', 'event', 'hook']) {
      const name = `${killer}${place}`
      assert.equal((await server.api('GET', `/api/${name}/${place}/${killer}/`)).status, 200)
      const failure = await until(async () => (await plugin(server, name)).last_failure)
      assert.match(failure.message, says, `${code} in a ${place}`)
    }
  }
  assert.equal(server.child.exitCode, null)
})

test('the third error within ten minutes stops a plugin until somebody starts it again; events wait, others go on', async (t) => {
  const server = await startWith(t, { tide: aPlugin('tide'), moon: aPlugin('moon') })
  const ask = (path: string) => server.api('GET', path)
  const fail = async (times: number) => {
    for (let time = 0; time < times; time++) await ask('/api/tide/route/timer/')
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
  const refused = await ask('/api/tide/route/timer/')
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
  await server.api('GET', '/api/moon/route/stream/')
  assert.equal((await until(async () => (await plugin(server, 'moon')).last_failure)) !== undefined, true)

  const started = await server.api('POST', '/api/plugin/tide/start/')
  assert.deepEqual([started.status, started.body.enabled, started.body.stopped], [200, true, undefined])
  assert.equal((await server.api('POST', '/api/plugin/tide/start/')).status, 409)
  assert.equal((await ask('/api/tide/route/rejection/')).status, 200)
})

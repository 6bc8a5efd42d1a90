/**
 * Mistakes of plugin authors (`test/support/mistakes.ts`): each is reported with the plugin's name, and the archive
 * survives it. api.test.ts covers those that the compiler reports.
 */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findBuiltIn, findOutside } from '../../config/cli/find-plugins.ts'
import { buildPages } from '../../config/cli/pages.ts'
import { registerPlugins } from '../../core/plugin/load.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type Code, HEAD, told } from '../support/mistakes.ts'
import { startServer } from '../support/server.ts'
import { testApp } from '../support/testing.ts'

async function written(t: TestContext, code: Code): Promise<string> {
  const folder = join(await temporaryFolder(t), 'tide')
  for (const [name, text] of Object.entries(typeof code === 'string' ? { 'plugin.js': code } : code)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

/** The sentence alone names the plugin, the mistake and the remedy. */
const complete = (says: RegExp) => (error: Error) => {
  assert.equal(error.name, 'StartError')
  assert.match(error.message, says)
  assert.match(error.message, /tide/)
  assert.match(error.message, /; correct or remove it, or start without it: AV_PLUGINS_OFF=\S+$/)
  return true
}

for (const [what, , code, says] of told('load')) {
  test(`a plugin is refused while it is loaded: ${what}`, async (t) => {
    const folder = await written(t, code)
    const load = async () => {
      const found = await findOutside([folder], join(folder, '../cache'))
      const { registry } = registerPlugins([...(await findBuiltIn()), ...found])
      buildPages(registry.plugins)
    }

    await assert.rejects(load, complete(says))
  })
}

for (const [what, , code, says] of told('start')) {
  test(`a plugin is refused when the server starts: ${what}`, async (t) => {
    const [found] = await findOutside([await written(t, code)], await temporaryFolder(t))

    await assert.rejects(testApp(t, { outside: [found!.plugin] }), complete(says))
  })
}

const PLACES = ['route', 'task', 'event', 'hook'] as const

/** The route `/api/<name>/<place>/` makes the mistake in a route, a task, a listener or a hook. */
const running = (name: string, mistake: string): string => `${HEAD}
  const fail = (app) => { ${mistake} }
  const open = (place, handle) => aRoute('/api/${name}/' + place + '/', { access: 'open', handle })
  export default definePlugin({
    name: '${name}', api: 1, hooks: ['${name}.ask'], events: ['${name}.said'],
    implements: { '${name}.ask': (app) => async () => fail(app) },
    on: { '${name}.said': (app) => async () => fail(app) },
    tasks: [aTask('${name}.go', { run: async (_job, app) => fail(app) })],
    routes: [
      open('route', (_input, app) => (fail(app), {})),
      open('task', async (_input, app) => (await app.jobs.start('${name}.go', {}), {})),
      open('event', async (_input, app) => (await app.emit('${name}.said', {}), {})),
      open('hook', async (_input, app) => (await app.hook('${name}.ask')[0](), {})),
    ],
  })`

test('an error that a plugin does not catch becomes its last failure, wherever it occurs, and the archive keeps running', async (t) => {
  const folder = await temporaryFolder(t)
  const rows = told('run').flatMap(([what, , code, says], at) =>
    PLACES.map((place) => ({ what, code: code as string, says, place, name: `m${at}${place}` })),
  )
  for (const { name, code } of rows) {
    await mkdir(join(folder, 'plugins', name), { recursive: true })
    await writeFile(join(folder, 'plugins', name, 'plugin.js'), running(name, code))
  }
  const server = await startServer(t, join(folder, 'data'), { AV_PLUGINS_DIR: join(folder, 'plugins') })
  const failureOf = async (name: string): Promise<{ message: string } | undefined> =>
    (await server.api('GET', '/api/plugin/')).body.find((one: { name: string }) => one.name === name).last_failure

  for (const { name, what, place, says } of rows) {
    assert.equal((await server.api('GET', `/api/${name}/${place}/`)).status, 200)
    // The error occurs after the reply.
    let failure = await failureOf(name)
    while (failure === undefined) failure = await failureOf(name)
    assert.match(failure.message, says, `${what}, in a ${place}`)
  }
  assert.equal(server.child.exitCode, null)
})

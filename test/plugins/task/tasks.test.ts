/** Tasks by name and id (contract 5.10, 6.11, 8). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { definePlugin, defineTask, Type } from 'archivolt'
import { type TestApp, testApp } from 'archivolt/testing'
import task from '../../../plugins/task/plugin.ts'

/**
 * One task that may be started and runs until it is stopped, one that ends at once, one with a name as external plugins
 * use, and an internal one.
 */
async function anApp(t: TestContext): Promise<TestApp> {
  const patient = defineTask({
    name: 'dig',
    title: 'Dig',
    group: 'setting:dig',
    payload: Type.Object({ url: Type.Optional(Type.String()), list: Type.Optional(Type.Array(Type.String())) }),
    lane: 'light',
    apiStart: true,
    apiStop: true,
    async run({ isStopping, signal, log }, app) {
      log.info('digging')
      while (!isStopping()) await app.clock.sleep(1000, signal)
      return 'dug'
    },
  })
  const quick = defineTask({
    name: 'blink',
    title: 'Blink',
    group: 'setting:blink',
    payload: Type.Object({}),
    lane: 'light',
    apiStart: false,
    run: async () => 'blinked',
  })
  const outside = defineTask({
    name: 'tide.count',
    title: 'Count',
    payload: Type.Object({}),
    lane: 'light',
    apiStart: true,
    run: async () => 'counted',
  })
  const inner = defineTask({
    name: 'inner.work',
    title: 'Inner',
    payload: Type.Object({}),
    lane: 'light',
    internal: true,
    run: async () => null,
  })
  return testApp(t, { plugins: [task, definePlugin({ name: 'testing', tasks: [patient, quick, outside, inner] })] })
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/

test('the list of tasks says what each does and accepts, without internal ones', async (t) => {
  const app = await anApp(t)

  const { status, body } = await app.as('admin').get('/api/task/')

  assert.equal(status, 200)
  const dig = body.find(({ name }: { name: string }) => name === 'dig')
  assert.deepEqual(dig, {
    ...{ name: 'dig', title: 'Dig', description: '', group: 'setting:dig', api_start: true, api_stop: true },
    ...{ outgoing: false, schedule: null },
  })
  assert.ok(body.every(({ name }: { name: string }) => !app.app.registry.tasks.get(name)?.internal))
  assert.equal((await app.as('user').get('/api/task/')).status, 403)
})

test('a task is started, runs as PENDING with a start date, is stopped and ends with SUCCESS', async (t) => {
  const app = await anApp(t)
  const admin = app.as('admin')

  const started = await admin.post('/api/task-name/dig/')
  const id = started.body.task_id
  assert.match(id, UUID)
  const flat = { task_id: id, status: 'PENDING', task_name: 'dig' }
  assert.deepEqual(started.body, { ...flat, message: flat })

  await app.clock.advance(1)
  const running = (await admin.get(`/api/task-id/${id}/`)).body
  assert.match(running.date_start, ISO)
  assert.deepEqual(
    { ...running, date_start: '' },
    {
      task_id: id,
      name: 'dig',
      status: 'PENDING',
      result: null,
      traceback: null,
      date_done: null,
      date_start: '',
      command: false,
      args: [],
      kwargs: {},
      retries: 0,
    },
  )

  assert.deepEqual((await admin.post(`/api/task-id/${id}/`, { command: 'stop' })).body, { message: 'command sent' })
  assert.equal((await admin.get(`/api/task-id/${id}/`)).body.command, 'STOP')
  await app.clock.advance(2000)
  await app.settled()

  const ended = (await admin.get(`/api/task-id/${id}/`)).body
  assert.deepEqual([ended.status, ended.result, ended.command], ['SUCCESS', 'dug', 'STOP'])
  assert.match(ended.date_done, ISO)
  assert.deepEqual((await admin.get('/api/task-name/dig/')).body, [ended])
  assert.deepEqual((await admin.get('/api/task-name/')).body, [ended])
})

test('a killed task is REVOKED', async (t) => {
  const app = await anApp(t)
  const { task_id: id } = (await app.as('admin').post('/api/task-name/dig/')).body
  await app.clock.advance(1)
  await app.as('admin').post(`/api/task-id/${id}/`, { command: 'kill' })
  await app.settled()
  assert.equal((await app.as('admin').get(`/api/task-id/${id}/`)).body.status, 'REVOKED')
})

test('commands are checked in this order: command, id, task, state', async (t) => {
  const app = await anApp(t)
  const admin = app.as('admin')
  const { id: quick } = await app.app.jobs.start('blink')
  const { id: dug } = await app.app.jobs.start('dig')
  await app.clock.advance(1)
  await app.app.jobs.command(dug, 'KILL')
  await app.settled()
  const rows: Array<[string, unknown, number]> = [
    ['nope', { command: 'jump' }, 400],
    ['nope', {}, 400],
    [dug, { command: 'STOP' }, 400],
    ['nope', { command: 'stop' }, 404],
    [quick, { command: 'stop' }, 400],
    [quick, { command: 'kill' }, 400],
    [dug, { command: 'stop' }, 409],
    [dug, { command: 'kill' }, 409],
  ]
  for (const [id, body, status] of rows)
    assert.equal((await admin.post(`/api/task-id/${id}/`, body as object)).status, status, JSON.stringify([id, body]))
})

test('unknown tasks, internal tasks and tasks that others start are refused', async (t) => {
  const app = await anApp(t)
  const admin = app.as('admin')
  const rows: Array<['get' | 'post', string, number]> = [
    ['get', '/api/task-name/nope/', 404],
    ['post', '/api/task-name/nope/', 404],
    ['get', '/api/task-name/inner.work/', 404],
    ['post', '/api/task-name/blink/', 400],
    ['get', '/api/task-id/nope/', 404],
    ['get', '/api/task-id/nope/log/', 404],
    ['get', '/api/task-name/blink/', 200],
  ]
  for (const [method, path, status] of rows)
    assert.equal((await admin[method](path)).status, status, `${method} ${path}`)
  for (const path of [
    '/api/task-name/',
    '/api/task-name/blink/',
    '/api/task-id/nope/',
    '/api/schedule/',
    '/api/schedule/notification/',
  ]) {
    assert.equal((await app.as('user').get(path)).status, 403, path)
  }
})

test('a task with a dot in its name is started and listed by it', async (t) => {
  const app = await anApp(t)
  assert.equal((await app.as('admin').post('/api/task-name/tide.count/')).status, 200)
  await app.settled()
  assert.deepEqual(
    (await app.as('admin').get('/api/task-name/tide.count/')).body.map(({ result }: { result: string }) => result),
    ['counted'],
  )
})

test('without runs the list is empty, and internal runs are visible by id only', async (t) => {
  const app = await anApp(t)
  assert.deepEqual((await app.as('admin').get('/api/task-name/')).body, [])
  const { id } = await app.app.jobs.start('inner.work')
  await app.settled()
  assert.deepEqual((await app.as('admin').get('/api/task-name/')).body, [])
  assert.deepEqual((await app.as('admin').get(`/api/task-id/${id}/`)).body.name, '')
})

test('arguments are shown without the credentials in their URLs', async (t) => {
  const app = await anApp(t)
  const payload = {
    url: 'json://me:secret@host.example/a',
    list: ['https://host.example/?a=1&token=secret&b=2', 'plain'],
  }
  const { id } = await app.app.jobs.start('dig', payload)
  assert.deepEqual((await app.as('admin').get(`/api/task-id/${id}/`)).body.kwargs, {
    url: 'json://***@host.example/a',
    list: ['https://host.example/?a=1&token=***&b=2', 'plain'],
  })
})

test('the log of a run can be read', async (t) => {
  const app = await anApp(t)
  const { id } = await app.app.jobs.start('dig')
  await app.clock.advance(1)
  const { body } = await app.as('admin').get(`/api/task-id/${id}/log/`)
  assert.ok(
    body.some(({ message, level, time }: any) => message === 'digging' && level === 'info' && typeof time === 'string'),
    JSON.stringify(body),
  )
})

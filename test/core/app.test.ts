/** The parts together: what plugins get, when the server answers, and in which order everything is closed. */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { defineIndex } from '../../core/index/mapping.ts'
import { openLog } from '../../core/log.ts'
import { type App, definePlugin, defineTask } from '../../core/plugin/define.ts'
import { Type } from '../../plugins/plugin-kit/public.ts'
import { testApp } from '../support/testing.ts'
import { aRoute, loose } from './loose.ts'

test('a plugin sees the services of earlier plugins, and has its own log', async (t) => {
  const seen: unknown[] = []
  const first = definePlugin({ name: 'first', services: () => ({ lamp: { isLit: true } }) as never })
  const second = definePlugin({
    name: 'second',
    needs: ['first'],
    services: (app) => (seen.push(loose(app)['lamp'].isLit), {}),
    setup: (app) => void seen.push(app.log.bindings()),
  })

  await testApp(t, { plugins: [second, first] })

  assert.deepEqual(seen, [true, { plugin: 'second' }])
})

test('handlers, hooks and listeners get the app of their plugin', async (t) => {
  const heard: unknown[] = []
  const asks = definePlugin({
    name: 'asks',
    hooks: ['asks.word' as never],
    events: ['word.said' as never],
    routes: [
      aRoute('/api/words/', (app) =>
        loose(app)
          ['hook']('asks.word')
          .map((word: () => string) => word()),
      ),
    ],
  })
  const implementations = (name: string) =>
    definePlugin({
      name,
      needs: ['asks'],
      implements: { 'asks.word': (app: App) => () => app.log.bindings()['plugin'] } as never,
      on: { 'word.said': () => (event: unknown) => void heard.push([name, event]) } as never,
    })
  const app = await testApp(t, { plugins: [implementations('b'), asks, implementations('a')] })

  const reply = await app.as('nobody').get('/api/words/')
  await loose(app.app)['emit']('word.said', { word: 'x' })

  assert.deepEqual(reply.body, ['a', 'b'])
  assert.deepEqual(heard, [
    ['a', { word: 'x' }],
    ['b', { word: 'x' }],
  ])
})

test('two plugins with the same service stop the start', async (t) => {
  const lamp = (name: string) => definePlugin({ name, services: () => ({ lamp: {} }) as never })

  await assert.rejects(
    testApp(t, { plugins: [lamp('a'), lamp('b')] }),
    /plugin b: its service lamp has a name that is already in use/,
  )
  await assert.rejects(
    testApp(t, { plugins: [definePlugin({ name: 'a', services: () => ({ jobs: {} }) as never })] }),
    /its service jobs/,
  )
})

test('while a plugin sets itself up, the server answers only health checks', async (t) => {
  let url = ''
  const log = openLog('info', { write: (line) => void (url ||= (JSON.parse(line) as { url?: string }).url ?? '') })
  const answers: number[] = []
  const ask = async () => {
    for (const path of ['health', 'api/words/', 'nowhere/']) answers.push((await fetch(url + path)).status)
  }
  const slow = definePlugin({ name: 'slow', routes: [aRoute('/api/words/', () => ({}))], setup: ask })

  await testApp(t, { plugins: [slow], log })
  await ask()

  assert.deepEqual(answers, [200, 503, 404, 200, 200, 404])
})

test('everything is closed in reverse order, a failed close does not stop the others, and the next start finds the documents', async (t) => {
  const closed: string[] = []
  const note = defineIndex({
    name: 'a',
    doc: Type.Object({ text: Type.String() }),
    fields: { text: { type: 'text', search: 1 } },
  })
  const a = definePlugin({ name: 'a', indexes: [note], close: () => void closed.push('a') })
  const b = definePlugin({
    name: 'b',
    needs: ['a'],
    close() {
      closed.push('b')
      throw new Error('stuck')
    },
  })
  const app = await testApp(t, { plugins: [b, a] })
  await app.given({ index: 'a', id: 'n1', doc: { text: 'x' } })

  await app.restart()

  assert.deepEqual(closed, ['b', 'a'])
  assert.deepEqual(await app.ids('a'), ['n1'])
})

test('a job that runs while the server closes is requeued, and ends after the next start', async (t) => {
  let runs = 0
  const begun = new EventEmitter()
  const wait = defineTask({
    name: 'wait',
    title: 'Wait',
    payload: Type.Object({}),
    lane: 'light',
    resumable: true,
    async run({ signal }) {
      begun.emit('run')
      if (++runs === 1)
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      return 'done'
    },
  })
  const app = await testApp(t, { plugins: [definePlugin({ name: 'a', tasks: [wait] })] })
  const hasBegun = once(begun, 'run')
  const { id } = await app.app.jobs.start(wait)
  await hasBegun

  await app.restart()
  await app.settled()

  assert.equal(app.app.jobs.get(id)?.result, 'done')
})

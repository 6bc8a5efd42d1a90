/** Attributes errors whose stack names no plugin to the external plugin in whose work they occurred. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { test } from 'node:test'
import { asCaller, asPlugin, culpritOf } from '../../core/error-origin.ts'
import { OWN_FOLDER } from '../../core/own-files.ts'
import { definePlugin, defineTask } from '../../core/plugin/define.ts'
import { Type } from '../../plugins/plugin-kit/public.ts'
import { testApp } from '../support/testing.ts'
import { aRoute, loose } from './loose.ts'

test('code of a plugin is recognized in timers, streams and callbacks, too', async () => {
  const { timer, stream, handed } = asPlugin('tide', () => ({
    timer: new Promise((resolve) => setTimeout(() => resolve(culpritOf(5)), 1)),
    stream: once(createReadStream('/no/such/file'), 'error').catch(() => culpritOf(5)),
    handed: asCaller(() => culpritOf(5)),
  }))

  assert.deepEqual([await timer, handed(), culpritOf(5)], ['tide', 'tide', undefined])
  await stream
  assert.equal(
    asPlugin('tide', () => asPlugin(undefined, () => culpritOf(5))),
    undefined,
  )
})

test('an error that was created in built-in code is ours, even if an external plugin called it', () => {
  const madeIn = (place: string) => Object.assign(new Error('x'), { stack: `Error: x\n    at fire (${place}:1:1)` })
  asPlugin('tide', () => {
    assert.equal(culpritOf(madeIn(new URL('core/events.js', OWN_FOLDER).href)), undefined)
    assert.equal(culpritOf(madeIn('node:internal/timers')), 'tide')
  })
})

test('every call into an external plugin is attributed to it; a built-in task that it starts is not', async (t) => {
  const blamed: Record<string, string | undefined> = {}
  const note = (place: string) => void (blamed[place] = culpritOf(5))
  const ours = defineTask({
    ...{ name: 'ours', title: 'x', payload: Type.Object({}), lane: 'light' },
    run: async ({ step }) => step('one', () => note('task of ours')),
  })
  const tell = defineTask({
    ...{ name: 'own.tell', title: 'x', payload: Type.Object({}), lane: 'light' },
    run: async (_job, app) => loose(app)['emit']('own.done', {}),
  })
  const own = definePlugin({
    name: 'own',
    tasks: [ours, tell],
    events: ['own.done'] as never[],
    on: { 'own.done': () => () => note('listener of ours') } as never,
  })
  const task = defineTask({
    ...{ name: 'tide.go', title: 'x', payload: Type.Object({}), lane: 'light' },
    schedule: { auto: '0 * *', initially: 'auto', isNeeded: () => (note('schedule'), true) },
    run: async () => note('task'),
  })
  const tide = definePlugin({
    name: 'tide',
    needs: ['own'],
    hooks: ['tide.ask'] as never[],
    implements: { 'tide.ask': () => () => note('hook') } as never,
    on: { 'own.done': () => () => note('event'), 'job.step': () => () => note('event in place') } as never,
    envelope: () => (note('envelope'), {}),
    tasks: [task],
    services: () => (note('services'), {}) as never,
    setup(app) {
      note('setup')
      app.preferences.watch(() => note('watch of preferences'))
      app.jobs.onEnded(() => note('end of a job'))
    },
    close: () => note('close'),
    routes: [
      aRoute(
        '/api/tide/',
        async (app) => {
          note('route')
          loose(app)['hook']('tide.ask')[0]()
          await app.jobs.start('ours')
          await app.jobs.start('own.tell')
          return {}
        },
        { envelope: 'item' },
      ),
    ],
  })
  const app = await testApp(t, { plugins: [own], outside: [tide] })

  assert.equal((await app.as('nobody').get('/api/tide/')).status, 200)
  await app.app.preferences.change({})
  await app.clock.advance(3_600_000)
  await app.settled()
  await app.close()

  const { 'task of ours': task1, 'listener of ours': listener, ...places } = blamed
  assert.deepEqual([task1, listener], [undefined, undefined])
  assert.equal(Object.keys(blamed).length, 14)
  assert.deepEqual([...new Set(Object.values(places))], ['tide'], JSON.stringify(places))
})

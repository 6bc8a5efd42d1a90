/** A server that blocks its event loop logs what it was busy with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from '../../../core/log.ts'
import { definePlugin, defineRoute, defineTask, Type } from '../../../plugins/plugin-kit/public.ts'
import { testApp } from '../../support/testing.ts'
import '../../support/slow.ts'

const busy = (): void => {
  for (const end = performance.now() + 1800; performance.now() < end; );
}

test('a route and a task that block everything are named with their plugin; waiting ones are not', async (t) => {
  let heard: (line: Record<string, any>) => void = () => undefined
  const write = (line: string) => void (/the event loop was blocked/.test(line) && heard(JSON.parse(line)))
  const route = (path: string, handle: () => object | Promise<object>) =>
    defineRoute({ method: 'GET', path, access: 'open', summary: 'x', reply: Type.Object({}), handle })
  const hold = defineTask({
    ...{ name: 'tide.hold', title: 'x', payload: Type.Object({}), lane: 'light' },
    run: async ({ step }) => void (await step('one', busy)),
  })
  const tide = definePlugin({
    name: 'tide',
    routes: [route('/api/tide/', async () => (await null, busy(), {})), route('/api/quick/', () => ({}))],
    tasks: [hold],
  })
  const app = await testApp(t, { outside: [tide], log: openLog('info', { write }) })
  const next = () => new Promise<Record<string, any>>((resolve) => (heard = resolve))
  const client = app.as('nobody')
  await client.get('/api/quick/')
  await app.settled()

  const first = next()
  await client.get('/api/tide/')
  const { plugin, level, seconds, atWork } = await first
  const second = next()
  await app.app.jobs.start('tide.hold')
  const { atWork: tasks } = await second

  assert.deepEqual([plugin, level, atWork], ['plugin', 'warn', ['GET /api/tide/ (tide)']])
  assert.ok(seconds >= 1, `${seconds} s`)
  assert.deepEqual(tasks, ['tide.hold (tide)'])
})

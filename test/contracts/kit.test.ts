/** The testing kit for authors never hangs without a message. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type App, definePlugin, defineTask, Type } from '../../plugins/plugin-kit/public.ts'
import { testApp } from '../support/plugin-testing.ts'

test('if a job or a listener waits for the stopped clock, `settled` fails with its name; after the clock advances, it resolves', async (t) => {
  const sleepy = defineTask({
    ...{ name: 'tide.sleep', title: 'Sleep', payload: Type.Object({}), lane: 'light' },
    run: async (_job, app: App) => app.clock.sleep(5000),
  })
  const tide = definePlugin({
    ...{ name: 'tide', api: 1, tasks: [sleepy], events: ['tide.turned'] as never[] },
    on: { 'tide.turned': (app: App) => () => app.clock.sleep(7000) } as never,
  })
  const archive = await testApp(t, { plugins: [tide] })
  await archive.settled()

  await archive.app.jobs.start('tide.sleep')
  await assert.rejects(archive.settled(), {
    message:
      'The task tide.sleep has not ended: it waits for the clock, which stands still. Move it: await archive.clock.advance(5000)',
  })
  await archive.clock.advance(5000)
  await archive.settled()

  await archive.app.emit('tide.turned' as never, {} as never)
  await assert.rejects(archive.settled(), { message: /^The task tide\.hear has not ended: .*advance\(7000\)$/ })
  await archive.clock.advance(7000)
  await archive.settled()
})

/** A plugin sees its own services and those of plugins that it needs; the compiler refuses all others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AppOf, definePlugin, defineRoute, defineTask, Type } from 'archivolt'

type App = AppOf<'video'>

const route = defineRoute({
  method: 'GET',
  path: '/errand/',
  access: 'open',
  summary: 'Needs the plugin video',
  reply: Type.Object({}),
  handle: (_input, { videos }: App) => ({ isThere: videos !== undefined }),
})
const task = defineTask({
  name: 'errand',
  title: 'Needs the plugin video',
  payload: Type.Object({}),
  lane: 'light',
  run: async (_job, { videos }: App) => videos.remove('id'),
})

test('a plugin declares what it uses of others: the marked lines do not compile without the mark', () => {
  definePlugin({ name: 'errand', needs: ['video'], routes: [route], tasks: [task] })
  definePlugin({ name: 'errand', needs: ['video', 'media'], setup: (app) => void [app.videos, app.media] })
  // @ts-expect-error  a route uses a service of a plugin that is not needed
  definePlugin({ name: 'errand', needs: ['media'], routes: [route] })
  // @ts-expect-error  so does a task
  definePlugin({ name: 'errand', tasks: [task] })
  // @ts-expect-error  setup sees no service that is not needed
  definePlugin({ name: 'errand', setup: (app) => void app.videos.remove('id') })
  // @ts-expect-error  what a needed plugin needs itself, is not handed on
  definePlugin({ name: 'errand', needs: ['video'], setup: (app) => void app.platform.targetsIn('id') })
  // @ts-expect-error  a handler that does not say what it needs, sees core's own
  defineRoute({ ...route, handle: async (_input, app) => ({ gone: await app.videos.remove('id') }) })
  // @ts-expect-error  a plugin offers what it has declared
  definePlugin({ name: 'video', services: () => ({}) })

  assert.ok(definePlugin({ name: 'errand', services: () => ({}) }))
})

/** An external plugin that fails in every hook: the archive continues without it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin, type Plugin, Type } from '../../../plugins/plugin-kit/public.ts'
import { NO_PROGRAMS } from '../../support/refused.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'

const fails = (): never => {
  throw new Error('dry')
}
const broken: Plugin = definePlugin({
  name: 'tide',
  needs: ['video', 'channel', 'media', 'platform', 'download'],
  implements: {
    'video.tail': () => fails,
    'video.keys': () => fails,
    'video.filter': () => ({ query: { ebb: Type.Optional(Type.Boolean()) }, apply: fails }),
    'video.remove': () => fails,
    'channel.remove': () => fails,
    'media.known': () => fails,
    'media.staged': () => fails,
    'platform.known': () => fails,
    'platform.waiting': () => fails,
    'platform.space': () => fails,
    'download.after': () => fails,
  },
})

test('an external plugin that fails in every hook hides no video, prevents no removal, and deletes no file', async (t) => {
  const app = await testApp(t, { outside: [broken], settings: NO_PROGRAMS })
  await app.given(
    aChannel({ id: 'UCaaaaaaaaaaaaaaaaaaaaaa' }),
    ...['v1', 'v2', 'v3'].map((id) => aVideo({ id, channelId: 'UCaaaaaaaaaaaaaaaaaaaaaa' })),
  )
  const admin = app.as('admin')

  assert.equal((await admin.get('/api/video/')).body.data.length, 3)
  assert.equal((await admin.get('/api/video/v1/')).status, 200)
  const filtered = await admin.get('/api/video/?ebb=true')
  assert.deepEqual(
    [filtered.status, filtered.body.message],
    [503, 'The plugin tide could not answer because of an error; the log says why. Fix the plugin, or switch it off'],
  )
  assert.equal((await admin.get('/cache/videos/v/v9.jpg')).status, 200)
  assert.equal((await admin.get('/api/platform/')).status, 200)
  assert.deepEqual((await admin.get('/api/resolve/?q=dQw4w9WgXcQ')).body, [
    { type: 'video', id: 'dQw4w9WgXcQ', known: false },
  ])
  assert.equal((await admin.delete('/api/video/v1/')).status, 200)
  assert.deepEqual(await app.ids('video'), ['v2', 'v3'])
  assert.equal((await admin.delete('/api/channel/UCaaaaaaaaaaaaaaaaaaaaaa/')).status, 200)
  assert.deepEqual(await app.ids('video'), [])
  assert.equal(app.app.plugins.list().find(({ name }) => name === 'tide')?.lastFailure?.message, 'dry')
})

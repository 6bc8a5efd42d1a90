/** Without the plugin playable films play unchanged, and its files wait for its return. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aVideo, testApp } from 'archivolt/testing'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { givenCopyAndPreviews } from '../../support/playable.ts'

const WITHOUT = { pluginsOff: ['playable'] }

test('without it videos are shown and removed, and nothing that it makes is requested', async (t) => {
  const app = await testApp(t, { settings: WITHOUT })
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))

  const { status, body } = await app.as('admin').get('/api/video/v1/')

  assert.deepEqual([status, body.data.copy_url], [200, undefined])
  for (const path of ['/api/video/v1/copy/', '/api/video/v1/preview/'])
    assert.equal((await app.as('admin').post(path)).status, 404)
  assert.equal((await app.as('admin').get('/api/config/')).body.playback, undefined)
  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
})

test('copies, seek previews and their preferences are available again once it is back', async (t) => {
  const scope = lastFirst(t)
  const dataDir = await temporaryFolder(scope)
  const first = await testApp(scope, { dataDir })
  await first.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  await first.as('admin').post('/api/config/', { playback: { copy_room: 7 } })
  await givenCopyAndPreviews(first, 'v1')
  await first.close()
  await (await testApp(scope, { dataDir, settings: WITHOUT })).close()

  const again = await testApp(scope, { dataDir })

  assert.equal((await again.as('admin').get('/api/video/v1/copy/')).body.state, 'there')
  assert.equal((await again.as('admin').get('/api/video/v1/preview/')).body.state, 'there')
  assert.equal((await again.as('admin').get('/api/config/')).body.playback.copy_room, 7)
  assert.ok(existsSync(join(dataDir, 'cache', 'playable', 'v1.mp4')))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aVideo, testApp } from '@archivolt/plugin/testing'
import latest from './plugin.ts'

test('the latest videos and kept ones stay; the others are not downloaded again, and can be restored', async (t) => {
  const archive = await testApp(t, { plugins: [latest] })
  const admin = archive.as('admin')
  for (const day of [1, 2, 3, 4])
    await archive.download(aVideo({ id: `v${day}`, channelId: 'UC1', published: `2025-01-0${day}` }))
  await archive.download(aVideo({ id: 'w1', channelId: 'UC2', published: '2020-01-01' }))
  await admin.post('/api/channel/', { data: [{ channel_id: 'UC1', channel_subscribed: true }] })
  await admin.post('/api/video/v1/', { keep: true })
  const ids = async () => (await admin.get('/api/video/')).body.data.map((video: { platform_id: string }) => video.platform_id).sort()
  const run = async (task: string) => {
    await admin.post(`/api/task-name/${task}/`)
    await archive.settled()
    return archive.app.jobs.list({ task })[0]?.result
  }

  assert.equal(await run('latest.sweep'), '0 removed, 0 stay')
  await admin.post('/api/config/', { latest: { keep: 5 } })
  await admin.post('/api/channel/UC1/preference/', { latest: { keep: 2 } })
  assert.deepEqual((await admin.get('/api/latest/')).body, { count: 2 })
  await archive.clock.advance(20 * 3600_000)
  await archive.settled()
  assert.deepEqual(await ids(), ['v1', 'v3', 'v4', 'w1'])
  await run('update_subscribed')
  await run('download_pending')
  assert.deepEqual(await ids(), ['v1', 'v3', 'v4', 'w1'])

  const [entry] = (await admin.get('/api/bin/')).body.data
  assert.equal(entry.note, 'Older than the latest')
  await admin.post('/api/bin/restore/', { entries: [entry.id] })
  assert.deepEqual(await ids(), ['v1', 'v2', 'v3', 'v4', 'w1'])
})

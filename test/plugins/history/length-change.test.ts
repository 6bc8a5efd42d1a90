/** A video that was shortened on the platform after it was archived. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { testApp } from '../../support/testing.ts'

const ID = VIDEO.breakwater

test('a cut is reported, segments that do not fit are not used, and the longer film stays', async (t) => {
  const { platform: loopback, settings, segmentsUrl } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { ...settings, segmentsUrl } })
  const admin = app.as('admin')
  await admin.post('/api/config/', { downloads: { sleep_interval: 0, integrate_sponsorblock: true } })
  await admin.post('/api/download/?autostart=true', { data: [{ youtube_id: ID, status: 'pending' }] })
  await app.settled()
  const path = app.app.media.pathOf(CHANNEL.harbour, ID)
  const film = await readFile(path)
  assert.equal((await app.doc('video', ID)).player.duration, 12)
  loopback.catalogue.put('videos', ID, { clip: 'wide-3s' })
  loopback.skipSegments.add(ID, [
    { segment: [8, 9], category: 'sponsor', UUID: 'before', videoDuration: 12.1 },
    { segment: [1, 2], category: 'sponsor', UUID: 'after', videoDuration: 3 },
    { segment: [2, 3], category: 'intro', UUID: 'unknown' },
  ])

  const { body } = await admin.post('/api/refresh/', { video: [ID] })
  await app.app.jobs.ended(body.task_id)
  await admin.post('/api/download/?autostart=true&force=true', { data: [{ youtube_id: ID, status: 'pending' }] })
  await app.settled()

  const doc = await app.doc('video', ID)
  assert.deepEqual([doc.cut, doc.player.duration], [{ duration: 3, date: Math.floor(app.clock.now() / 1000) }, 12])
  assert.deepEqual(
    doc.sponsorblock.segments.map(({ UUID }: { UUID: string }) => UUID),
    ['before'],
  )
  assert.deepEqual(await readFile(path), film)
  assert.deepEqual((await admin.get('/api/download/')).body.data, [])

  loopback.catalogue.put('videos', ID, { clip: 'wide-12s' })
  const again = await admin.post('/api/refresh/', { video: [ID] })
  await app.app.jobs.ended(again.body.task_id)
  assert.equal((await app.doc('video', ID)).cut, undefined)
})

test('a video that was downloaded again in its new length no longer differs from the platform', async (t) => {
  const { platform: loopback, settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  const admin = app.as('admin')
  await admin.post('/api/config/', { downloads: { sleep_interval: 0 } })
  const download = async () => {
    await admin.post('/api/download/?autostart=true&force=true', { data: [{ youtube_id: ID, status: 'pending' }] })
    await app.settled()
    const { cut, player } = await app.doc('video', ID)
    return [cut, player.duration]
  }
  loopback.catalogue.put('videos', ID, { clip: 'wide-3s' })
  assert.deepEqual(await download(), [undefined, 3])

  loopback.catalogue.put('videos', ID, { clip: 'wide-12s' })

  assert.deepEqual(await download(), [undefined, 12])
})

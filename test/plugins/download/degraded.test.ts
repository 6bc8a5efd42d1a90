/** Whether a download has lower quality than was available, judged on arrival, with the real yt-dlp. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aReceipt, aVideo, testApp } from 'archivolt/testing'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'

const [fog, nets] = [VIDEO.fog, VIDEO.nets] as [string, string]
const TOKEN = 'abc: tv client https formats require a GVS PO Token which was not provided. They will be skipped'

async function openDownloadApp(t: Parameters<typeof testApp>[0]) {
  const { platform, settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings: settings as never })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  const download = async (...ids: string[]) => {
    await app.as('admin').post('/api/download/?autostart=true', { data: ids.map((id) => ({ platform_id: id })) })
    await app.settled()
  }
  return { app, platform, download }
}

test('every download has its receipt, and one with the offered quality is not degraded', async (t) => {
  const { app, download } = await openDownloadApp(t)

  await download(fog)

  const { receipt, degraded } = (await app.as('user').get(`/api/video/${fog}/`)).body.data
  assert.deepEqual(
    [receipt.quality, receipt.offered.height, receipt.got.height, receipt.allowed_height, receipt.warnings],
    ['best', 720, 720, 720, []],
  )
  assert.equal(receipt.date, Math.floor(app.clock.now() / 1000))
  assert.equal(degraded, undefined)
})

test('a download made while formats were withheld is degraded, and says when it is repeated', async (t) => {
  const { app, platform, download } = await openDownloadApp(t)
  platform.faults.set(fog, { name: 'formats_withheld', only: ['18'], warning: TOKEN })

  await download(fog, nets)

  const { receipt, degraded } = (await app.as('user').get(`/api/video/${fog}/`)).body.data
  const now = Math.floor(app.clock.now() / 1000)
  assert.equal(receipt.quality, 'degraded')
  assert.deepEqual(degraded, {
    reasons: ['token'],
    since: now,
    tries: 0,
    next_try: now + 7 * 86_400,
    tried_with: receipt.downloader,
  })
  const listed = async (query: string) =>
    (await app.as('user').get(`/api/video/?${query}`)).body.data.map((one: { platform_id: string }) => one.platform_id)
  assert.deepEqual(await listed('quality=degraded'), [fog])
  assert.deepEqual(await listed('quality=best'), [nets])
  assert.deepEqual([await listed('degraded=token'), await listed('degraded=language')], [[fog], []])
})

test('a quality far below the channel’s usual one is degraded, without any warning', async (t) => {
  const { app, platform, download } = await openDownloadApp(t)
  const others = ['a', 'b', 'c', 'd', 'e']
  const given = (published: string) =>
    app.given(
      ...others.map((id) =>
        aVideo({ id, channelId: CHANNEL.harbour, published, receipt: aReceipt('best', { offered: 720 }) }),
      ),
    )
  platform.faults.set('global', { name: 'formats_withheld', only: ['18'] })

  await given('2001-01-01')
  await download(fog)
  const long = (await app.doc('video', fog)).degraded
  await given((await app.doc('video', fog)).published)
  await download(nets)

  assert.equal(long, undefined, 'what a channel had long ago says nothing')
  assert.deepEqual((await app.doc('video', nets)).degraded.reasons, ['below_channel'])
})

/** Estimated dislikes on the page: with a link to the service that estimates them; and no switch without effect. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

test('an estimate beside the likes names its service, and so does the setting', {
  skip: noBrowser,
}, async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1', stats: { like_count: 50, dislike_count: 23 } }), aVideo({ id: 'v2' }))
  const { page, go, check, shot } = await openPage(t, app.url, { as: { username: 'admin', password: PASSWORD } })
  const link = page.getByRole('link', { name: 'Return YouTube Dislike' })

  await go('/video/v1/')
  await page.getByText('about 23 dislikes, estimated by').waitFor()
  assert.equal(await link.getAttribute('href'), 'https://returnyoutubedislike.com/')
  await shot('video-dislikes')
  await go('/video/v2/')
  await page.getByRole('heading', { level: 1, name: 'Video v2' }).waitFor()
  assert.equal(await link.count(), 0)

  await go('/settings/playback/')
  await page.getByRole('switch', { name: 'Estimate dislikes' }).check()
  await link.waitFor()
  assert.equal(await page.getByText(/\bcast\b/).count(), 0)
  await check([/404/])
  await shot('settings-playback')
})

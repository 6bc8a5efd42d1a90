/** Under a video: the quality of its file compared with the available quality, in words. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aDegraded, aReceipt, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }

describe('the receipt of a video', { skip: noBrowser }, () => {
  test('is shown under the video, unless the best quality was downloaded', async (t) => {
    const app = await testApp(t)
    const worse = { offered: 1080, got: 360 }
    await app.given(
      aChannel({ id: 'UC1' }),
      aVideo({ id: 'best', receipt: aReceipt() }),
      aVideo({ id: 'limited', receipt: aReceipt('limited', { offered: 2160, got: 1080 }) }),
      aVideo({
        id: 'again',
        receipt: aReceipt('degraded', worse),
        degraded: aDegraded({ reasons: ['token', 'language'] }),
      }),
      aVideo({
        id: 'stays',
        receipt: aReceipt('degraded', worse),
        degraded: { ...aDegraded({ tries: 3 }), next_try: undefined } as never,
      }),
      aVideo({ id: 'imported' }),
    )
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const line = page.locator('.receipt')
    const says = (text: string) => line.filter({ hasText: text }).waitFor()

    await go('/video/limited/')
    await says('1080p of 2160p available, limited by your settings.')
    await go('/video/again/')
    await says('360p of 1080p available: YouTube sent us less that day.')
    await says('YouTube asked for proof that we’re not a bot. The audio is dubbed. We’ll try again after')
    await shot('video-degraded')
    await check([/404/])
    await page.getByText('File and streams').click()
    await page.getByText('yt-dlp 2026.10.26').waitFor()
    await go('/video/stays/')
    await says('We tried 3 more times; this is the best we could get.')
    await go('/statistics/')
    await page.getByText('Lower quality than usual').waitFor()
    await page.getByRole('link', { name: 'Show them' }).click()
    await page.getByRole('link', { name: 'Video again' }).first().waitFor()
    assert.equal(await page.getByText('Video limited').count(), 0)
    await check([/404/])
    for (const id of ['best', 'imported']) {
      await go(`/video/${id}/`)
      await page.getByRole('heading', { level: 1, name: `Video ${id}` }).waitFor()
      assert.equal(await line.count(), 0)
    }
  })
})

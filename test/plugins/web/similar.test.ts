/** Beside a video there are similar ones; if there are none, the newest of its channel. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }

describe('beside a video', { skip: noBrowser }, () => {
  test('without similar ones: the newest of its channel, except itself', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour <b>' }),
      aVideo({ id: 'v1', channelId: 'UC1', title: 'Lighthouse', published: '2026-01-01' }),
      aVideo({ id: 'v2', channelId: 'UC1', title: 'Herring', published: '2026-01-02' }),
      aVideo({ id: 'v3', channelId: 'UC1', title: 'Breakwater', published: '2026-01-03' }),
      aVideo({ id: 'v4', channelId: 'UC2', title: 'Loaves', published: '2026-01-04' }),
    )
    await makeFilm(app.app.media.pathOf('UC1', 'v1'))
    assert.deepEqual((await app.as('admin').get('/api/video/v1/similar/')).body.data, [])
    const { page, go, check, shot } = await openPage(t, app.url, { as })

    await go('/video/v1/')
    const section = page.locator('section', { has: page.getByRole('heading', { name: 'More from Harbour <b>' }) })
    await section.waitFor()
    await shot('video-more')
    assert.deepEqual(await section.locator('.similar-title').allInnerTexts(), ['Breakwater', 'Herring'])
    await check()
  })

  test('with similar ones: these', async (t) => {
    const app = await testApp(t)
    await app.given(
      aVideo({ id: 'v1', channelId: 'UC1', title: 'Lighthouse keepers at night' }),
      aVideo({ id: 'v2', channelId: 'UC2', title: 'Lighthouse keepers by day' }),
      aVideo({ id: 'v3', channelId: 'UC1', title: 'Herring' }),
    )
    const { page, go } = await openPage(t, app.url, { as })

    await go('/video/v1/')
    await page.getByRole('heading', { name: 'Similar videos' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: /^More from/ }).count(), 0)
  })
})

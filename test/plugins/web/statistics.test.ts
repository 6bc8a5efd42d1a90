/** Statistics: figures, plots with their tables, bars that link to channels; empty and failed states. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdBack, measureShifts, noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const DAY = 86_400

async function filled(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  const now = Math.floor(app.clock.now() / 1000)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Large <b>channel</b>' }),
    aChannel({ id: 'UC2', channel_name: 'Small channel' }),
    aVideo({ id: 'v1', media_size: 3_000_000_000, date_downloaded: now - 90 * DAY }),
    aVideo({ id: 'v2', media_size: 1_000_000_000, date_downloaded: now - 2 * DAY }),
    aVideo({ id: 'v3', channelId: 'UC2', media_size: 1_000_000_000, date_downloaded: now - DAY, vid_type: 'shorts' }),
  )
  await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: true })
  return app
}

describe('statistics', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop'] as const) {
    test(`plots show growth, types, watched videos and channels, and each has a table (${size})`, async (t) => {
      const app = await filled(t)
      const { page, go, check, shot } = await openPage(t, app.url, {
        size,
        as: ADMIN,
        colorScheme: size === 'phone' ? 'dark' : 'light',
      })
      await go('/statistics/')

      await page
        .getByRole('img', { name: /^Size: 5 GB/ })
        .locator('canvas')
        .waitFor()
      await page.getByRole('img', { name: 'Downloads of the last week: 2 videos, 2 GB' }).waitFor()
      await page.locator('.share', { hasText: 'Watched' }).getByText('33%').waitFor()
      await check()
      await shot('statistics')
      await page.getByLabel('Size as a table').click()
      const rows = await page.getByRole('region', { name: 'Size' }).getByRole('row').allInnerTexts()
      assert.match(rows[1]!.replace(/\s+/g, ' '), /2 GB 5 GB$/)
      await check()
      await page.getByRole('button', { name: 'Day', exact: true }).click()
      await page.getByRole('img', { name: /^Videos: 3 since/ }).waitFor()

      assert.deepEqual(
        (
          await page
            .locator('section', { has: page.getByLabel('Sort by') })
            .locator('.bars a')
            .allInnerTexts()
        ).map((text) => text.replace(/\s+/g, ' ').trim()),
        ['Large <b>channel</b> 4 GB', 'Small channel 1 GB'],
      )
      await page.getByLabel('Sort by').selectOption('By videos')
      await page.getByRole('link', { name: 'Small channel 1', exact: true }).click()
      assert.equal(new URL(page.url()).pathname, '/channel/UC2/')
    })
  }

  for (const size of ['phone', 'desktop'] as const)
    test(`nothing moves when numbers and storage arrive late (${size})`, async (t) => {
      const app = await filled(t)
      const channels = Array.from({ length: 12 }, (_, at) => `UCmore${at}`)
      await app.given(
        ...channels.map((id) => aChannel({ id })),
        ...channels.map((channelId) => aVideo({ id: `of${channelId}`, channelId })),
      )
      const { page, go } = await openPage(t, app.url, { size, as: ADMIN })
      const moved = await measureShifts(page)
      const { release } = await holdBack(page, /\/api\/(storage|stats\/video)\/$/)
      await go('/statistics/')
      await page.getByRole('heading', { name: 'Growth' }).waitFor()
      await moved()

      release()
      await page.locator('.numbers').waitFor()
      await page.locator('.panel .bars').waitFor()

      const sum = await moved()
      assert.ok(sum < 0.02, `${sum}`)
    })

  test('an empty archive explains what will be here', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/statistics/')
    await page.getByText('Nothing to count yet').waitFor()
    await check()
    await shot('statistics-empty')
  })

  test('a part that cannot be loaded reports it in its place, and is requested again', async (t) => {
    const app = await filled(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await page.route('**/api/stats/growth/**', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '7' }, json: {} }),
    )
    await go('/statistics/')
    await page.getByRole('alert').getByText('Try again in 7 seconds').waitFor()
    await page.getByRole('img', { name: /^Downloads/ }).waitFor()
    await check([/429/])
    await shot('statistics-failed')

    await page.unroute('**/api/stats/growth/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('img', { name: /^Size: 5 GB/ }).waitFor()
  })
})

/** The lights of the downloader's parts: green as they are here, red with the way out in words. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeAnswer, noBrowser, openPage } from '../../support/browser.ts'
import { PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const HOUR = 3600
const DAY = 24 * HOUR

describe('health of the downloader', { skip: noBrowser }, () => {
  test('every part has a light, as the server sees it, and yt-dlp a button to update it', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/health/')

    const lights = page.getByRole('listitem').filter({ has: page.locator('strong') })

    await lights
      .filter({ hasText: /^JavaScript runtime is fine.*solves YouTube’s challenges, the last one in \d+ ms/ })
      .waitFor()
    await lights.filter({ hasText: /^Challenge scripts \(ejs\) is fine/ }).waitFor()
    await lights.filter({ hasText: /^yt-dlp/ }).waitFor()
    await lights.filter({ hasText: /^Cookie for information/ }).waitFor()
    await check()
    await shot('settings-health')
    await page.getByRole('button', { name: 'Update now' }).click()
    await lights.filter({ hasText: /failed: the package index (cannot be reached|has none)/ }).waitFor()
  })

  test('a red light says what to do', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN, size: 'phone' })
    const now = Math.floor(Date.now() / 1000)
    const red = [
      {
        part: 'runtime',
        is: { state: 'failed', name: 'deno', version: '2.9.8', message: 'Illegal instruction' },
        says: /deno 2\.9\.8 cannot solve.*Install it again\. It says: Illegal instruction/,
      },
      { part: 'runtime', is: { state: 'missing' }, says: /Install Deno, Node 22 or QuickJS/ },
      { part: 'runtime', is: { state: 'wrong_answer' }, says: /wrongly, so downloads are refused/ },
      { part: 'solver', is: { state: 'missing' }, says: /yt-dlp-ejs is missing/ },
      { part: 'solver', is: { state: 'differs', version: '0.7.0', wanted: '0.8.0' }, says: /0\.7\.0 .* needs 0\.8\.0/ },
      { part: 'solver', is: { state: 'lost' }, says: /no longer understands/ },
      {
        part: 'downloader',
        is: { state: 'old', version: '2026.1.2', age_days: 120 },
        says: /120 days old\. YouTube has changed/,
      },
      {
        part: 'downloader',
        is: { state: 'refused', tried: '2027.3.8', message: 'it does not work here' },
        says: /Version 2027\.3\.8 was tried and not taken: it does not work here\./,
      },
      {
        part: 'downloader',
        is: { state: 'failed', message: 'the package index cannot be reached' },
        says: /failed: the package index cannot be reached\./,
      },
      {
        part: 'cookie',
        is: { state: 'invalid', ended: now - 2 * HOUR, lived: [3 * DAY, 12 * DAY] },
        says: /It stopped working 2 hours ago\. .*private window.*The last ones lived 3 days, 12 days\./,
      },
    ] as const
    let shown: (typeof red)[number] = red[0]
    await changeAnswer(page, '**/api/platform/', (answer) => ({
      ...answer,
      health: { ...answer.health, [shown.part]: { ...answer.health[shown.part], ...shown.is } },
    }))

    for (shown of red) {
      await go('/settings/look/')
      await go('/settings/health/')
      await page.getByRole('listitem').filter({ hasText: 'needs you' }).filter({ hasText: shown.says }).waitFor()
    }

    await check()
    await shot('settings-health-red')
    await page.getByRole('link', { name: 'Cookie settings' }).click()
    await page.getByLabel('Contents of cookies.txt').waitFor()
    assert.ok(page.url().endsWith('/settings/cookie/'))
  })

  test('what only solves challenges stops no download, and is told beside what waits', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await changeAnswer(page, '**/api/platform/', (answer) => ({ ...answer, missing: ['yt-dlp-ejs'] }))
    await go('/downloads/')

    await page.getByText('Videos may arrive in low quality: a helper of yt-dlp is missing.').waitFor()
    assert.equal(await page.getByText('Nothing can be downloaded without').count(), 0)
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByText('The downloader', { exact: true }).waitFor()
  })
})

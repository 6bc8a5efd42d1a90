/** The lights of the downloader's parts: green normally, red with the remedy in words. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, test } from 'node:test'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { changeAnswer, noBrowser, openPage } from '../../support/browser.ts'
import { listening } from '../../support/listening.ts'
import { PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const HOUR = 3600
const DAY = 24 * HOUR

describe('health of the downloader', { skip: noBrowser }, () => {
  test("every part has a light with the server's state, and yt-dlp a button to update it", async (t) => {
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

  test('the token provider and the hourly limit are green, and red once the provider is missing and the limit is used up', async (t) => {
    const { settings } = await startTestPlatform(t)
    const app = await testApp(t, { settings: settings as never })
    const provider = createServer((_request, reply) => reply.end('{}'))
    const at = await listening(t, provider)
    const set = { token_provider: `http://${at}`, videos_per_hour: 10 }
    assert.equal((await app.as('admin').post('/api/config/', { platform: set })).status, 200)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    const light = (words: RegExp) => page.getByRole('listitem').filter({ hasText: words })
    await go('/settings/health/')
    await light(/^Token provider is fine.*is reachable\. Nothing has needed a token so far/).waitFor()
    await light(/^Videos per hour is fine.*0 of 10 in the last hour/).waitFor()
    await check()

    provider.closeAllConnections()
    provider.close()
    await app.clock.advance(10_000)
    for (let asked = 0; asked < 10; asked++) await app.app.platform.video(VIDEO.fog, { asker: 'test' })
    await go('/settings/appearance/')
    await go('/settings/health/')

    await light(/^Token provider needs attention.*provides no tokens.*Restart it.*ECONNREFUSED/).waitFor()
    await light(/^Videos per hour needs attention.*10 of 10 in the last hour, so the next ones wait/).waitFor()
    await check()
    await shot('settings-health-budget')
    await light(/^Token provider/)
      .getByRole('link', { name: 'Download settings' })
      .click()
    await page.getByRole('heading', { name: 'Downloads' }).first().waitFor()
    assert.ok(page.url().endsWith('/settings/downloads/'))
  })

  test('a red light names the remedy', async (t) => {
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
        is: { state: 'refused', tried: '2027.3.8', message: 'it does not run on this machine' },
        says: /Version 2027\.3\.8 was tested and rejected: it does not run on this machine\./,
      },
      {
        part: 'downloader',
        is: { state: 'failed', message: 'the package index cannot be reached' },
        says: /failed: the package index cannot be reached\./,
      },
      {
        part: 'token_provider',
        is: { state: 'failed', address: 'http://provider:4416', message: 'HTTP Error 500: no attestation' },
        says: /provider:4416 provides no tokens.*Restart it, or correct its address\. It says: HTTP Error 500/,
      },
      {
        part: 'budget',
        is: { address: { used: 7, limit: 150, per_hour: 300, learned: true } },
        says: /YouTube blocked us, so the limit is 150 an hour for now; 7 in the last hour\. .*Longer pauses/,
      },
      {
        part: 'budget',
        is: { cookie: { used: 300, limit: 300, per_hour: 300, learned: false } },
        says: /With the cookie: 300 of 300 in the last hour, so the next ones wait/,
      },
      {
        part: 'cookie',
        is: { state: 'invalid', ended: now - 2 * HOUR, lived: [3 * DAY, 12 * DAY] },
        says: /The cookie stopped working 2 hours ago\. .*private window.*Earlier cookies lasted 3 days, 12 days\./,
      },
    ] as const
    let shown: (typeof red)[number] = red[0]
    await changeAnswer(page, '**/api/platform/', (answer) => ({
      ...answer,
      health: { ...answer.health, [shown.part]: { ...answer.health[shown.part], ...shown.is } },
    }))

    for (shown of red) {
      await go('/settings/appearance/')
      await go('/settings/health/')
      await page.getByRole('listitem').filter({ hasText: 'needs attention' }).filter({ hasText: shown.says }).waitFor()
    }

    await check()
    await shot('settings-health-red')
    await page.getByRole('link', { name: 'Cookie settings' }).click()
    await page.getByLabel('Contents of cookies.txt').waitFor()
    assert.ok(page.url().endsWith('/settings/cookie/'))
  })

  test('a missing program that only solves challenges does not stop downloads, and is reported with the waiting items', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await changeAnswer(page, '**/api/platform/', (answer) => ({ ...answer, missing: ['yt-dlp-ejs'] }))
    await go('/downloads/')

    await page.getByText('Videos may arrive in low quality: a component that yt-dlp needs is missing.').waitFor()
    assert.equal(await page.getByText('Nothing can be downloaded without').count(), 0)
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByText('The downloader', { exact: true }).waitFor()
  })
})

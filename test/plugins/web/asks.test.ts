/** A child asks for a video in the search, a parent allows it, and the child watches it; hostile titles stay text. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { noBrowser, openPage, PATIENCE } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const MIA = { username: 'mia', password: PASSWORD }
const BREAKWATER = 'Rebuilding the breakwater, stone by stone'
const TITLE = 'Bear <img src=x onerror=alert(1)>'

async function household(t: TestContext) {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Bear stories' }),
    aChannel({ id: 'UC2', channel_name: 'Late news' }),
    aVideo({ id: 'bear1', channelId: 'UC1', title: 'The bear wakes up' }),
    aVideo({ id: 'news1', channelId: 'UC2', title: TITLE }),
    aVideo({ id: 'news2', channelId: 'UC2', title: 'Bear market' }),
  )
  await app.as('admin').post('/api/user/', { ...MIA, view: { channel: ['UC1'] } })
  return app
}

describe('asks on the page', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const)
    test(`a child asks in the search, a parent allows the video, and the child opens it (${size})`, async (t) => {
      const app = await household(t)
      const parent = await openPage(t, app.url, { size, colorScheme, as: ADMIN })
      const child = await openPage(t, app.url, { size, colorScheme, as: MIA })
      await child.go('/search/?q=bear')
      await child.page.getByText('The bear wakes up').first().waitFor()
      assert.equal(await child.page.getByRole('heading', { name: 'You can ask for these' }).count(), 0)

      await parent.go('/settings/users/')
      await parent.page.getByRole('switch', { name: 'Children may ask for videos' }).check()
      await parent.page.getByText('Saved').first().waitFor()
      await child.go('/search/?q=bear')
      await child.page.getByRole('heading', { name: 'You can ask for these' }).waitFor()
      await child.check()
      await child.shot('asks-offered')
      for (const title of [TITLE, 'Bear market']) {
        await child.page.getByRole('button', { name: `Ask: ${title}` }).click()
        await child.page.getByRole('status').getByText('Asked').first().waitFor()
      }
      await child.page
        .getByRole('button', { name: /^Ask: / })
        .first()
        .waitFor({ state: 'detached' })

      await parent.go('/')
      await parent.page.getByRole('button', { name: /^Activity: Something needs you/ }).click()
      const message = `mia asks for “${TITLE}”`
      await parent.page.getByText(message).last().waitFor()
      await parent.check()
      await parent.shot('asks-message')
      await parent.page.getByRole('button', { name: `Allow video: ${message}` }).click()
      await parent.page.getByText(`admin has allowed mia “${TITLE}”`).last().waitFor()
      assert.equal(await parent.page.getByText(message).count(), 0, 'one message, until it is answered')
      await child.go('/')
      await child.page.getByText(`You may watch “${TITLE}” now.`).waitFor()
      await child.check()
      await child.shot('asks-answered')
      await child.page.getByRole('button', { name: 'OK' }).click()
      await child.page.getByText(`You may watch “${TITLE}” now.`).waitFor({ state: 'detached' })

      await parent.go('/settings/users/')
      await parent.page.getByText('mia · Late news ·').first().waitFor()
      await parent.check()
      await parent.shot('asks-waiting')
      await parent.page.getByRole('button', { name: 'No: Bear market' }).click()
      await parent.page.getByText('mia can see that you said no').waitFor()
      await parent.page.getByRole('heading', { name: 'Requests from children' }).waitFor({ state: 'detached' })

      await child.go('/search/')
      await child.page.getByRole('heading', { name: 'What you asked for' }).waitFor()
      await child.page.getByText('Not allowed', { exact: true }).waitFor()
      await child.check()
      await child.shot('asks-own')
      await child.page.getByText('“Bear market” was not allowed.').waitFor()
      await child.page.getByRole('link', { name: TITLE }).click()
      await child.page.getByRole('heading', { level: 1, name: TITLE }).waitFor()
    })

  test('a pasted link is asked for, allowed in the notification, downloaded, and played', PATIENCE, async (t) => {
    const { settings } = await startTestPlatform(t)
    const app = await testApp(t, { settings })
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'bear1', channelId: 'UC1' }))
    await app.as('admin').post('/api/user/', { ...MIA, view: { not_channel: ['UC1'] } })
    await app.as('admin').post('/api/config/', { asks: { in_search: true } })
    const child = await openPage(t, app.url, { size: 'phone', colorScheme: 'dark', as: MIA })
    const parent = await openPage(t, app.url, { as: ADMIN })
    await parent.go('/')
    await child.go(`/search/?q=${encodeURIComponent(`https://www.youtube.com/watch?v=${VIDEO.breakwater}`)}`)
    await child.page.getByRole('button', { name: `Ask: ${BREAKWATER}` }).click(PATIENCE)
    await child.page.getByRole('status').getByText('Asked').first().waitFor()
    await child.check()
    await child.shot('asks-link')
    await parent.page.getByRole('button', { name: /^Activity: / }).click()
    await parent.page.getByRole('button', { name: /^Allow video: mia asks for/ }).click()
    await child.go('/')
    await child.page.getByText(new RegExp(`You may watch “${BREAKWATER}”`)).waitFor()
    await app.settled()
    await child.go('/')
    await child.page.getByRole('link', { name: 'Watch', exact: true }).click()
    await child.page.getByRole('heading', { level: 1, name: BREAKWATER }).waitFor()
    await child.page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.5)
    await child.shot('asks-played')
  })
  test('a child sees that an allowed video could not be downloaded, and asks again', PATIENCE, async (t) => {
    const { settings, platform } = await startTestPlatform(t)
    const app = await testApp(t, { settings })
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'bear1', channelId: 'UC1' }))
    const [admin, mia] = [app.as('admin'), app.as('mia')]
    await admin.post('/api/user/', { ...MIA, view: { channel: ['UC1'] } })
    await admin.post('/api/config/', { asks: { in_search: true } })
    await mia.post('/api/ask/', { video_id: VIDEO.breakwater })
    platform.faults.set(VIDEO.breakwater, 'removed')
    await admin.post('/api/ask/1/', { answer: 'video' })
    await app.settled()
    const child = await openPage(t, app.url, { size: 'phone', colorScheme: 'light', as: MIA })

    await child.go('/search/')
    await child.page.getByText(`“${BREAKWATER}” is allowed but could not be downloaded`).waitFor()
    await child.page.getByText('Download failed', { exact: true }).waitFor()
    await child.check()
    await child.page.getByRole('button', { name: `Ask: ${BREAKWATER}` }).click()
    await child.page.getByText('Asked', { exact: true }).waitFor()

    assert.equal((await admin.get('/api/ask/')).body[0].video_id, VIDEO.breakwater)
  })
})

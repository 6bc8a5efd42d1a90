/** Videos of a platform that a plugin adds have that platform's name on the page, and links to it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { findOutside } from '../../../config/cli/find-plugins.ts'
import { noBrowser, openPage } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/sources.ts'
import { aChannel, aQueued, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const SITE = 'https://harbour.example/'
const QUAY = 'harbour-channel-quay'
/** There are no films and pictures here, and players report that. */
const NO_FILES = [/\/(media|cache)\//]

async function harbourApp(t: TestContext) {
  const [found] = await findOutside([join(ROOT, 'test/data/plugins/harbour')], await temporaryFolder(t))
  const app = await testApp(t, { outside: [found!.plugin] })
  await app.given(
    aChannel({ id: QUAY, channel_name: 'The quay' }),
    aVideo({ id: 'harbour-quay-fog1', channelId: QUAY, title: 'Fog', active: false }),
    aQueued({ id: 'harbour-quay-nets', title: 'Nets' }),
  )
  return app
}

describe('a further platform', { skip: noBrowser }, () => {
  test('videos, channels and waiting items link to their page on the platform', async (t) => {
    const app = await harbourApp(t)
    await app.as('admin').post('/api/config/', { harbour: { site: SITE } })
    const { page, go, check } = await openPage(t, app.url, { as })
    await page.context().route(`${SITE}**`, (route) => route.fulfill({ body: 'the original' }))
    const opened = async (act: () => Promise<void>): Promise<string> => {
      const other = page.context().waitForEvent('page')
      await act()
      return (await other).url()
    }
    const choose = (menu: string | RegExp, item: string) => async () => {
      await page.getByRole('button', { name: menu }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }

    await go('/video/harbour-quay-fog1/')
    await page.getByText('No longer on Harbour').waitFor()
    assert.equal(await opened(choose('Share', 'Open on Harbour')), `${SITE}quay/fog1.mp4`)
    await page.getByRole('button', { name: 'More for Fog' }).click()
    await page.getByRole('menuitem', { name: 'Update from Harbour' }).waitFor()
    await check(NO_FILES)
    await go(`/channel/${QUAY}/`)
    assert.equal(await opened(choose('More for The quay', 'Open on Harbour')), `${SITE}quay/`)
    await go('/downloads/')
    const nets = page.getByRole('link', { name: 'Nets' })
    assert.equal(await nets.getAttribute('title'), 'Open on Harbour')
    assert.equal(await opened(() => nets.click()), `${SITE}quay/nets.mp4`)
    await check(NO_FILES)
  })

  test('without a known page there is no link, and no other platform is named', async (t) => {
    const app = await harbourApp(t)
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/video/harbour-quay-fog1/')
    await page.getByText('No longer on its platform').waitFor()
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('menuitem', { name: 'Download the file' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: /^Open on/ }).count(), 0)
    await check(NO_FILES)
    await go('/downloads/')
    await page.getByText('Nets').first().waitFor()
    assert.equal(await page.getByRole('link', { name: 'Nets' }).count(), 0)
  })
})

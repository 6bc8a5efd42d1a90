/** The page shows nothing that needs a plugin which is switched off. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { PASSWORD, testApp } from '../../support/testing.ts'

const SECTIONS = ['import', 'webhooks', 'safety', 'downloads']

describe('plugins that are switched off', { skip: noBrowser }, () => {
  for (const [pluginsOff, shown] of [
    [[], SECTIONS],
    [
      ['adoption', 'playable', 'webhooks'],
      ['safety', 'downloads'],
    ],
  ] as const)
    test(`without ${pluginsOff.join(', ') || 'none'} the settings have ${shown.join(', ')}`, async (t) => {
      const app = await testApp(t, { settings: { pluginsOff: [...pluginsOff] } })
      const { page, go, check } = await openPage(t, app.url, { as: { username: 'admin', password: PASSWORD } })

      await go('/settings/playback/')
      await page.getByRole('heading', { level: 1 }).waitFor()

      const links = await page
        .locator('.settings-nav a')
        .evaluateAll((all) => all.map((one) => one.getAttribute('href')))
      assert.deepEqual(
        SECTIONS.filter((key) => links.includes(`/settings/${key}/`)),
        shown,
      )
      await check()
    })
})

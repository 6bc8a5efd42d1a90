/**
 * Podcasts as people use them: the address from a channel's page and by its QR code, the list of all, and ending one.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { readQrCode } from './qr-code.ts'

const USER = { username: 'user', password: PASSWORD }

describe('podcasts', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const)
    test(`a channel and a playlist become podcasts, and one is ended (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Old Mill' }),
        aVideo({ id: 'v1', title: 'Grain' }),
        aPlaylist({ id: 'PL1', playlist_name: 'Loaf', entries: [{ platform_id: 'v1', downloaded: true }] }),
      )
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: USER })
      const open = async (path: string, name: string) => {
        await go(path)
        await page
          .getByRole('button', { name: `More for ${name}` })
          .first()
          .click()
        await page.getByRole('menuitem', { name: 'Listen as a podcast' }).click()
        return page.getByRole('dialog', { name: 'Listen as a podcast' })
      }

      const dialog = await open('/channel/UC1/', 'Old Mill')
      const address = await dialog.locator('output').innerText()
      const code = dialog.getByRole('img', { name: 'QR code of the podcast’s address' })
      await code.waitFor()
      await check()
      await shot('podcast')

      assert.equal(await readQrCode(page, await code.screenshot()), address)
      assert.match(await (await fetch(address)).text(), /<title>Grain<\/title>/)

      await page.keyboard.press('Escape')
      await (await open('/playlist/PL1/', 'Loaf')).locator('output').waitFor()
      await page.keyboard.press('Escape')
      await go('/search/?q=grain')
      await page.getByRole('button', { name: 'Listen as a podcast' }).click()
      const searched = await page.getByRole('dialog').locator('output').innerText()
      assert.match(await (await fetch(searched)).text(), /<title>Grain<\/title>/)
      await page.keyboard.press('Escape')
      await go('/search/?q=video:grain channel:Old')
      await page.getByRole('button', { name: 'Saved views' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Listen as a podcast' }).count(), 0)
      await go('/settings/account/')
      const row = page.getByRole('listitem').filter({ hasText: 'Old Mill' })
      await page.getByRole('listitem').filter({ hasText: 'Loaf' }).waitFor()
      await check()
      await row.getByRole('button', { name: 'End podcast' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End podcast' }).click()
      await row.waitFor({ state: 'detached' })
      assert.equal((await fetch(address)).status, 404)
    })
})

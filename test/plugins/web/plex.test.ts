/** The address of the metadata provider for Plex, as people create, copy and revoke it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }

describe('metadata for Plex', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'dark'],
    ['phone', 'light'],
  ] as const)
    test(`the address is created, replies, and is revoked (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(aChannel({ id: 'UC1', channel_name: 'Old Mill' }))
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: ADMIN })
      await go('/settings/faces/')

      await page.getByRole('button', { name: 'Create address' }).click()
      const address = await page.locator('output', { hasText: '/plex/' }).innerText()
      await check()
      await shot('plex')

      assert.equal((await fetch(`${address}/library/metadata/show-UC1`)).status, 200)
      await page.getByRole('button', { name: 'Copy address' }).waitFor()
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: 'Create address' }).waitFor()
      assert.equal((await fetch(address)).status, 404)
    })
})

/**
 * The sessions of an account: a warning about a new device, ending one session, the password once more, and what is
 * required of admins.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0.0.0 Safari/537.36'

describe('sessions', { skip: noBrowser }, () => {
  test('a new device causes a warning, and its session is ended', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as })
    await app.as('nobody').post('/login/', as, { 'user-agent': CHROME })

    await go('/settings/account/')

    const group = page.locator('.settings-group', { hasText: 'Where you’re signed in' })
    await group.getByText(/New sign-in: Chrome on Windows, 127\.0\.0\.1/).waitFor()
    await group.getByRole('button', { name: 'That was me' }).click()
    await group.getByText(/New sign-in/).waitFor({ state: 'detached' })
    await group.getByRole('button', { name: 'End the session of Chrome on Windows' }).click()
    await page.getByText('Chrome on Windows is signed out').waitFor()
    assert.equal(app.app.accounts.sessions(1).length, 1)
    await check()
  })

  test('the password is required again before a token is created', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/settings/account/')
    await app.clock.advance(15 * 60_000)

    await page.getByRole('button', { name: 'Show token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm that it’s you' })
    await dialog.getByLabel('Current password').fill('wrong')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByText('This is not your password').waitFor()
    await dialog.getByLabel('Current password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Continue' }).click()

    await page.getByText(await app.app.accounts.token(1)).waitFor()
    await check([/40[03]/])
  })

  test('an admin who needs an authenticator app is led to its setup', async (t) => {
    const app = await testApp(t)
    await app.app.preferences.change({ accounts: { admins_need_second_factor: true } })
    const { page, go } = await openPage(t, app.url, { as })
    await go('/')

    await page.getByText(/This server asks admins for an authenticator app/).waitFor()

    assert.equal(new URL(page.url()).pathname, '/settings/account/')
  })
})

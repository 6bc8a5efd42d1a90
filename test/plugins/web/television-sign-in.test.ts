/**
 * A television is signed in from a phone: by the QR code, or by typing the code; refused, expired; with hostile names.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { readQrCode } from './qr-code.ts'

const TELEVISION =
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/4.0 Chrome/85.0 TV Safari/537.36'
const as = { username: 'admin', password: PASSWORD }
/** Errors before anybody has signed in. */
const NOT_SIGNED_IN = [/401/]

async function household(t: TestContext) {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'Fog', channelId: 'UC1' }))
  await app.as('admin').post('/api/user/', { username: 'mia', password: PASSWORD, view: { channel: ['UC1'] } })
  const television = await openPage(t, app.url, {
    options: { viewport: { width: 1920, height: 1080 }, userAgent: TELEVISION },
  })
  return { app, television }
}

const codeOn = (page: Page) => page.getByText(/^[A-Z]{3}-[A-Z]{3}$/)

describe('a television without a keyboard', { skip: noBrowser }, () => {
  test('shows a code at once; a phone scans it, chooses a child, and the television is signed in', async (t) => {
    const { app, television } = await household(t)
    await television.go('/')
    const picture = television.page.getByRole('img', { name: 'QR code that opens this sign-in on a phone' })
    await picture.waitFor()
    await television.check(NOT_SIGNED_IN)
    await television.shot('television-sign-in')
    const code = await codeOn(television.page).innerText()
    const scanned = await readQrCode(television.page, await picture.screenshot())
    assert.equal(scanned, `${app.url}link/?code=${code}`)

    const phone = await openPage(t, app.url, { as, size: 'phone', colorScheme: 'dark' })
    await phone.go(scanned!.slice(app.url.length - 1))
    await phone.page.getByRole('heading', { name: 'Samsung Internet on Tizen wants to sign in.' }).waitFor()
    await phone.page.getByText(/Requested .* from 127\.0\.0\.1/).waitFor()
    await codeOn(phone.page).getByText(code).waitFor()
    await phone.page.getByRole('radio', { name: 'mia' }).check()
    await phone.check()
    await phone.shot('link-approve')
    await phone.page.getByRole('button', { name: 'Sign in as mia' }).click()
    await phone.page.getByText('Done: the screen is signed in as mia.').waitFor()
    await phone.page.getByRole('heading', { level: 1 }).and(phone.page.locator(':focus')).waitFor()

    await television.page.getByRole('button', { name: 'Account: mia' }).waitFor()
    await television.page.getByRole('link', { name: 'Fog', exact: true }).first().waitFor()
    await television.check(NOT_SIGNED_IN)
  })

  test('a code is typed on another computer; if refused or expired, the remote requests a new one', async (t) => {
    const { app, television } = await household(t)
    await television.go('/channels/')
    const code = await codeOn(television.page).innerText()
    const desktop = await openPage(t, app.url, { as: { ...as, username: 'user' } })
    await desktop.go('/settings/account/')
    await desktop.page.getByRole('link', { name: 'Sign in a television' }).click()
    await desktop.page.getByRole('button', { name: 'Continue' }).click()
    await desktop.page.getByText('This field is required').or(desktop.page.locator('p.error')).first().waitFor()
    await desktop.page.getByLabel('Code').fill('bbb bbb')
    await desktop.page.keyboard.press('Enter')
    await desktop.page.getByRole('alert').getByText('This code is wrong or has expired.').waitFor()
    await desktop.check([/404/])
    await desktop.shot('link-wrong')
    await desktop.page.getByLabel('Code').fill(` ${code.toLowerCase().replace('-', ' ')} `)
    await desktop.page.keyboard.press('Enter')
    await desktop.page.getByRole('button', { name: 'Refuse' }).click()
    await desktop.page.getByText('Refused. The screen stays signed out.').waitFor()

    await television.page.getByText('The sign-in was refused on the phone.').waitFor()
    await television.page.keyboard.press('Enter')
    await codeOn(television.page).waitFor()
    assert.notEqual(await codeOn(television.page).innerText(), code)
    await app.clock.advance(600_000)
    await television.page.getByText('This code has expired.').waitFor()
    await television.check(NOT_SIGNED_IN)
    await television.page.keyboard.press('ArrowDown')
    await television.page.keyboard.press('Enter')
    await television.page.getByLabel('Username').waitFor()
    await television.page.getByRole('button', { name: 'Sign in with a phone' }).click()
    const last = await codeOn(television.page).innerText()
    await desktop.go(`/link/?code=${last}`)
    await desktop.page.getByRole('button', { name: 'Sign in as user' }).click()
    await television.page.getByRole('button', { name: 'Account: user' }).waitFor()
    assert.equal(new URL(television.page.url()).pathname, '/channels/', 'it goes on where it was')
  })

  test('after some time the phone requires the password again, or the PIN of an account that has one there', async (t) => {
    const { app, television } = await household(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as, size: 'phone' })
    await app.as('user').post('/api/user/2/', { pin: '4711', current_password: PASSWORD })
    for (const username of ['user', 'admin'])
      await page
        .context()
        .request.post(`${app.url}login/`, { data: { username, password: PASSWORD, remember_me: 'on' } })
    await app.clock.advance(16 * 60_000)
    await television.go('/')
    const code = await codeOn(television.page).innerText()
    await go(`/link/?code=${code}`)
    await page.getByRole('button', { name: 'Sign in as admin' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('radio', { name: 'user' }).check()
    await page.getByLabel('PIN of user').fill('0000')
    await page.getByRole('button', { name: 'Sign in as user' }).click()
    await page.getByText('That PIN is wrong').waitFor()
    await check([/400/, /403/])
    await shot('link-pin')
    await page.getByLabel('PIN of user').fill('4711')
    await page.getByRole('button', { name: 'Sign in as user' }).click()
    await television.page.getByRole('button', { name: 'Account: user' }).waitFor()
  })

  test('the name of a screen and the address stay text', async (t) => {
    const { app } = await household(t)
    const agent = '<img/onerror=alert(1)>'
    const { body } = await app.as('nobody').post('/api/sign-in-code/', {}, { 'user-agent': agent })
    const { page, go, check } = await openPage(t, app.url, { as, options: { locale: 'de-DE' } })
    await go(`/link/?code=${body.user_code}`)
    await page.getByRole('heading', { name: 'Unbekanntes Gerät möchte angemeldet werden.' }).waitFor()
    await go('/link/?code=<script>alert(1)</script>')
    await page.getByText('Dieser Code stimmt nicht oder ist abgelaufen.').waitFor()
    await check([/404/])
  })
})

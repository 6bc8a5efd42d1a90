/** A shared television: people set a PIN, and switch accounts by picture and keys, also without a mouse. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }

describe('a shared television', { skip: noBrowser }, () => {
  test('an account sets its PIN, and people switch accounts with it', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }))
    await app.as('user').post('/api/user/2/', { pin: '2222', current_password: PASSWORD })
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    await page.context().request.post(`${app.url}login/`, {
      data: { username: 'user', password: PASSWORD, remember_me: 'on' },
    })
    await page.context().request.post(`${app.url}login/`, { data: { ...as, remember_me: 'on' } })

    await go('/settings/account/')
    await page.getByRole('button', { name: 'Set PIN' }).click()
    await page.getByText('Use 4 to 8 digits').waitFor()
    await page.getByLabel('Your password').fill('wrong')
    await page.getByLabel('New PIN').fill('471147')
    await page.getByRole('button', { name: 'Set PIN' }).click()
    await page.getByText('This is not your password').waitFor()
    await page.getByLabel('Your password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set PIN' }).click()
    await page.getByText('PIN set').waitFor()
    await check([/400/])
    await shot('pin-settings')

    await page.getByRole('button', { name: 'Account: admin' }).click()
    await page.getByRole('menuitem', { name: 'Switch account' }).click()
    await page.getByRole('heading', { name: 'Who’s watching?' }).waitFor()
    await page.getByRole('button', { name: 'user', exact: true }).waitFor()
    await check([/400/, /401/])
    await shot('pin-pictures')
    const one = page.getByRole('button', { name: 'user', exact: true })
    assert.equal(await one.evaluate((button) => button.scrollHeight <= button.clientHeight), true, 'nothing is cut off')

    // By the arrows of a remote control: to the second picture, then to the button 2, which is pressed.
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'PIN for user' }).waitFor()
    await page.keyboard.press('ArrowRight')
    for (let digit = 0; digit < 3; digit++) await page.keyboard.press('Enter')
    await page.getByRole('status', { name: '3 digits entered' }).waitFor()
    // Three digits are too short; digits of a keyboard count as well, and Enter then submits the PIN.
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('That PIN is wrong').waitFor()
    await check([/400/, /401/])
    await shot('pin-wrong')
    await page.keyboard.type('22229')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Account: user' }).waitFor()

    await page.getByRole('button', { name: 'Account: user' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'admin', exact: true }).click()
    for (const digit of '471147') await page.getByRole('button', { name: digit, exact: true }).click()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Account: admin' }).waitFor()
    await check([/400/, /401/])

    await go('/settings/users/')
    await page.getByRole('button', { name: 'More for admin' }).click()
    await page.getByRole('menuitem', { name: 'Lock' }).waitFor()
    for (const own of ['Set a new password', 'Remove PIN'])
      assert.equal(await page.getByRole('menuitem', { name: own }).count(), 0, 'it needs the current password')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More for user' }).click()
    await page.getByRole('menuitem', { name: 'Remove PIN' }).click()
    await page.getByText('Saved').first().waitFor()
    assert.equal((await app.as('user').get('/api/user/2/')).body.has_pin, false)
  })

  test('an account with too many wrong PINs, or removed from the device, needs the password', async (t) => {
    const app = await testApp(t)
    await app.as('admin').post('/api/user/1/', { pin: '4711', current_password: PASSWORD })
    const { page, go, check, shot } = await openPage(t, app.url, { as, size: 'phone' })
    await page.context().clearCookies({ name: 'sessionid' })
    await page.context().clearCookies({ name: 'csrftoken' })

    await go('/')
    await page.getByRole('button', { name: 'admin', exact: true }).click()
    for (let attempt = 0; attempt < 4; attempt++) {
      await page.keyboard.type('0000')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
    }
    await page.keyboard.type('0000')
    await page.keyboard.press('Enter')
    await page.getByText('To use a PIN for admin here again, sign in with the password.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Someone else' }).count(), 0)
    await check([/400/, /401/])
    await shot('pin-off')

    await app.clock.advance(3_600_000)
    await page.getByLabel('Name').fill('admin')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Account: admin' }).click()
    await page.getByRole('menuitem', { name: 'Switch account' }).click()
    await page.getByRole('button', { name: 'admin', exact: true }).click()
    await page.getByRole('button', { name: 'Remove from this device' }).click()
    await page.getByLabel('Name').waitFor()
    assert.deepEqual(await (await page.context().request.get(`${app.url}api/device/`)).json(), [])
  })
})

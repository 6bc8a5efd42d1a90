/** Signing in and out as people do; a session that has ended shows the sign-in. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

describe('signing in', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop'] as const) {
    test(`people without a session sign in, and return to the requested view (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }))
      const { page, go, check, shot } = await openPage(t, app.url, { size })

      await go('/')
      await page.getByLabel('Name').waitFor()
      assert.equal(await page.getByLabel('Name').evaluate((field) => field === document.activeElement), true)
      assert.equal(await page.getByText('first-password').count(), 0, 'the password was given')
      await shot('login')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      assert.equal(await page.getByText('This field is required').count(), 2)
      await check([/401/])
      await page.getByLabel('Name').fill('admin')
      await page.getByLabel('Password').fill('wrong')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('alert').getByText('Wrong username or password').waitFor()
      await shot('login-wrong')
      await check([/401/, /400/])
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()

      await page.getByRole('link', { name: 'Video v1' }).waitFor()
      await check([/401/, /400/])
      await page.getByRole('button', { name: 'Account: admin' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByLabel('Name').waitFor()
      assert.equal(
        (await page.context().cookies()).find(({ name }) => name === 'sessionid'),
        undefined,
      )
    })
  }

  test('the location of the first password is shown until somebody has signed in, and never again', async (t) => {
    const dataDir = await temporaryFolder(t)
    const app = await testApp(t, { dataDir, settings: { password: null } })
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone' })
    await go('/')
    await page
      .getByText('First time? Sign in as admin. The password is in the file first-password in the data folder.')
      .waitFor()
    await check()
    await shot('login-first')
    await page.getByLabel('Name').fill('admin')
    await page.getByLabel('Password').fill((await readFile(join(dataDir, 'first-password'), 'utf8')).trim())
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()

    await page.getByRole('button', { name: 'Account: admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Name').waitFor()
    assert.equal(await page.getByText('first-password').count(), 0)
    await page.reload()
    await page.getByLabel('Name').waitFor()
    assert.equal(await page.getByText('first-password').count(), 0)
  })

  test('a session that has ended meanwhile leads to the sign-in', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }))
    const { page, go } = await openPage(t, app.url, { as: { username: 'admin', password: PASSWORD } })
    await go('/')
    await page.getByRole('link', { name: 'Video v1' }).waitFor()

    await page.context().clearCookies()
    const name = page.getByLabel('Name')
    // A request of the page itself may be refused before the click.
    await page.getByRole('button', { name: 'Mark as watched' }).or(name).first().click()

    await name.waitFor()
  })

  test('the next account that signs in in the same tab sees nothing of the previous one', async (t) => {
    const app = await testApp(t)
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go } = await openPage(t, app.url, { as: { username: 'admin', password: PASSWORD } })
    const signIn = async (name: string) => {
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('button', { name: `Account: ${name}` }).waitFor()
    }
    await go('/')
    await page.getByRole('button', { name: /^Activity: Paused since/ }).waitFor()
    await page.getByRole('button', { name: 'Add by link' }).click()
    await page.getByRole('dialog', { name: 'Add by link' }).getByRole('textbox').fill('what only the admin typed')

    // The session ends elsewhere while the dialog is open.
    await page.context().clearCookies()
    await page.evaluate(() => void dispatchEvent(new Event('offline')))
    await signIn('user')

    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(await page.getByRole('button', { name: /^Activity: Paused since/ }).count(), 0)
  })

  test('a tab writes nothing for another account that has signed in in another tab meanwhile', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }))
    const { page, go } = await openPage(t, app.url, { as: { username: 'admin', password: PASSWORD } })
    await go('/')
    const card = page
      .getByRole('article')
      .filter({ has: page.getByRole('link', { name: 'Video v1' }) })
      .first()
    await card.hover()
    await page
      .context()
      .request.post(`${app.url}login/`, { data: { username: 'user', password: PASSWORD, remember_me: 'on' } })

    const refused = page.waitForResponse(/\/api\/watched\/$/)
    await card.getByRole('button', { name: 'Mark as watched' }).click()
    assert.equal((await refused).status(), 403)
    await page.evaluate(() => void dispatchEvent(new Event('focus')))

    await page.getByRole('button', { name: 'Account: user' }).waitFor()
    assert.equal((await app.as('user').get('/api/video/v1/')).body.data.player.watched, false)
  })

  // Without the focus, the tab is in a window beside the other one.
  for (const hasFocus of [true, false])
    test(`a tab ${hasFocus ? 'with' : 'without'} the focus continues after its account has signed in again in another tab`, async (t) => {
      const app = await testApp(t)
      await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }))
      const as = { username: 'admin', password: PASSWORD }
      const { page, go } = await openPage(t, app.url, { as })
      await go('/settings/users/')
      await page.getByRole('button', { name: 'Add a user' }).click()
      await page.getByLabel('Username').fill('ada')
      await page.getByLabel('Password').fill('an unusual password')
      await page.context().request.post(`${app.url}login/`, { data: { ...as, remember_me: 'on' } })

      if (hasFocus) {
        const compared = page.waitForResponse(/\/api\/session\/$/)
        await page.evaluate(() => void dispatchEvent(new Event('focus')))
        await compared
      }
      await page.getByLabel('Password').press('Enter')

      await page.getByText('ada can sign in now').waitFor()
    })
})

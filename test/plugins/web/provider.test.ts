/**
 * The sign-in by a provider, as people do it: from the sign-in and back, refused with a reason, and connected in
 * Settings.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { CLIENT_ID, CLIENT_SECRET, identityProvider } from '../../support/identity-provider.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

/** Errors before anybody has signed in. */
const NOT_SIGNED_IN = [/401/]

async function given(t: TestContext, more: object = {}) {
  const provider = await identityProvider(t)
  const client = { oidcClientId: CLIENT_ID, oidcClientSecret: CLIENT_SECRET, oidcName: 'Lighthouse' }
  const settings = { ...client, oidcIssuer: provider.issuer, privateHosts: ['127.0.0.1'], ...more }
  const app = await testApp(t, { settings })
  await app.given(aChannel(), aVideo({ id: 'v1', title: 'Fog' }))
  await provider.admit(app.url)
  return { app, provider }
}

describe('a provider', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const)
    test(`people sign in there, and return to the requested view: ${size}, ${colorScheme}`, async (t) => {
      const { app, provider } = await given(t, { oidcCreate: true })
      provider.people.set('s-1', { preferred_username: 'ann' })
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme })
      await go('/channels/?q=a')
      const way = page.getByRole('button', { name: 'Sign in with Lighthouse' })
      await way.waitFor()
      await check(NOT_SIGNED_IN)
      await shot('provider-login')
      await way.click()
      await page.getByLabel('Who').fill('s-1')
      await page.getByRole('button', { name: 'Go on' }).click()

      await page.waitForURL('**/channels/?q=a')
      await page.getByRole('button', { name: 'Account: ann' }).waitFor()
      assert.ok(app.app.accounts.list().some(({ username }) => username === 'ann'))
    })

  test('a refusal has its reason in the language of the page', async (t) => {
    const { app, provider } = await given(t)
    provider.people.set('s-1', { preferred_username: 'ann' })
    const { page, go } = await openPage(t, app.url, { options: { locale: 'de-DE' } })
    await go('/')
    await page.getByRole('button', { name: 'Mit Lighthouse anmelden' }).click()
    await page.getByLabel('Who').fill('s-1')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('Hier ist kein Konto mit deinem verbunden.').waitFor()
    await go('/login/?refused=<b>odd</b>')
    await page.getByRole('button', { name: 'Mit Lighthouse anmelden' }).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  test('an account is connected in Settings with its password, and disconnected again', async (t) => {
    const { app, provider } = await given(t)
    provider.people.set('s-1', {})
    // The redirect back goes through the service worker, as it does for people.
    const options = { serviceWorkers: 'allow' } as const
    const { page, go, check, shot } = await openPage(t, app.url, {
      as: { username: 'user', password: PASSWORD },
      options,
    })
    await go('/settings/account/')
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
    const group = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Sign in with Lighthouse' }) })
    await group.getByLabel('Password for this account').fill('wrong')
    await group.getByRole('button', { name: 'Connect' }).click()
    await group.getByText('not your password').waitFor()
    await check([/400/])
    await group.getByLabel('Password for this account').fill(PASSWORD)
    await group.getByRole('button', { name: 'Connect' }).click()
    await page.getByLabel('Who').fill('s-1')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('Your account at Lighthouse signs you in here.').waitFor()
    await shot('provider-connected')

    const other = await openPage(t, app.url)
    await other.go('/')
    await other.page.getByRole('button', { name: 'Sign in with Lighthouse' }).click()
    await other.page.getByLabel('Who').fill('s-1')
    await other.page.getByRole('button', { name: 'Go on' }).click()
    await other.page.getByRole('button', { name: 'Account: user' }).waitFor()

    await group.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText('Disconnected').waitFor()
    await group.getByRole('button', { name: 'Connect' }).waitFor()
  })
})

describe('a proxy that signs people in', { skip: noBrowser }, () => {
  const behind = async (t: TestContext) => {
    const app = await testApp(t, { settings: { trustedProxies: ['loopback'], forwardedUser: 'remote-user' } })
    await app.given(aChannel(), aVideo({ id: 'v1', title: 'Fog' }))
    return app
  }
  const as = (name: string) => ({ options: { extraHTTPHeaders: { 'remote-user': name } } })

  test('the named user is signed in at once, but not after a sign-out', async (t) => {
    const app = await behind(t)
    const { page, go, check } = await openPage(t, app.url, as('user'))
    await go('/channels/?q=a')
    await page.getByRole('button', { name: 'Account: user' }).waitFor()
    assert.equal(new URL(page.url()).search, '?q=a')
    await page.getByRole('button', { name: 'Account: user' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in as user' }).waitFor()
    await check(NOT_SIGNED_IN)
    await page.getByRole('button', { name: 'Sign in as user' }).click()
    await page.getByRole('button', { name: 'Account: user' }).waitFor()
  })

  test('an unknown user is told so, and can use a password', async (t) => {
    const app = await behind(t)
    const { page, go, check } = await openPage(t, app.url, as('stranger'))
    await go('/')
    await page.getByText('You have signed in as stranger, but there is no account with that name here.').waitFor()
    await page.getByLabel('Username').waitFor()
    await check(NOT_SIGNED_IN)
  })
})

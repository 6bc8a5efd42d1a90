/**
 * Settings of people and of the archive: each has an address, is saved immediately, confirms it, and shows its errors
 * beside itself.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { URI as OTPAuthURI } from 'otpauth'
import { holdBack, holdUp, noBrowser, openPage, type Page } from '../../support/browser.ts'
import { until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { readQrCode } from './qr-code.ts'
import { SECTIONS } from './sections.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const TELEVISION = {
  userAgent: 'Mozilla/5.0 (Web0S; Linux/SmartTV) Chrome/120.0',
  viewport: { width: 1920, height: 1080 },
}
const USER = { username: 'user', password: PASSWORD }

const option = (page: Page, label: string) => page.locator('.option', { has: page.getByText(label, { exact: true }) })
/** @param text  part of a name, or a code */
async function pickLanguage(page: Page, label: string, text: string): Promise<void> {
  await option(page, label)
    .getByRole('button', { name: /^(Add|Choose) language/ })
    .click()
  const dialog = page.getByRole('dialog', { name: label })
  await dialog.getByLabel('Name or code').fill(text)
  await dialog.locator('.choices button').first().click()
}
const saved = (page: Page, label: string) => option(page, label).getByText('Saved').waitFor()

/** Panels with nothing in them, what touches the edge of its panel, and fields too narrow for a text. Runs in the page. */
function misplaced(): string[] {
  const found: string[] = []
  for (const panel of document.querySelectorAll('.settings-panel')) {
    const { left, height } = panel.getBoundingClientRect()
    if (height < 10) found.push(`empty: ${panel.closest('section')?.querySelector('h2')?.textContent}`)
    for (const one of panel.querySelectorAll('a, button, input')) {
      const box = one.getBoundingClientRect()
      if (box.width > 2 && box.left - left < 8) found.push(`at the edge: ${one.textContent}`)
    }
  }
  for (const one of document.querySelectorAll<HTMLInputElement>('.option-control input:not([inputmode])'))
    if (!/^(checkbox|time)$/.test(one.type) && one.getBoundingClientRect().width < 200)
      found.push(`narrow: ${one.labels?.[0]?.textContent}`)
  return found
}

describe('settings', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['phone', 'dark'],
    ['desktop', 'light'],
  ] as const) {
    test(`every section has its address and is in the list (${size})`, async (t) => {
      const app = await testApp(t)
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: ADMIN })
      await go('/settings/')
      const links = page.getByRole('navigation', { name: 'Settings sections' }).getByRole('link')
      await links.nth(SECTIONS.length - 1).waitFor()
      const names = await links.allInnerTexts()
      assert.equal(names.length, SECTIONS.length)
      await check()
      await shot('settings')

      for (const [position, section] of SECTIONS.entries()) {
        if (size === 'phone' && position > 0) await page.locator('.settings-back').click()
        await page
          .getByRole('link', { name: names[position]!, exact: true })
          .and(page.locator('.settings-nav a'))
          .click()
        await page.locator('h1.settings-title', { hasText: names[position]! }).waitFor()
        assert.equal(new URL(page.url()).pathname, `/settings/${section}/`)
        await page.waitForFunction((name) => document.title.startsWith(`${name} – Settings`), names[position]!)
        await page.locator('.settings-body .box').first().waitFor({ state: 'detached' })
        await check()
        assert.deepEqual(await page.evaluate(misplaced), [], section)
        await shot(`settings-${section}`)
      }
    })
  }

  test('a wide screen has two groups beside each other, and its width is used', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, {
      as: ADMIN,
      options: { viewport: { width: 1920, height: 1080 } },
    })
    await go('/settings/downloads/')
    await page.locator('.settings-group').nth(3).waitFor()
    const boxes = await page
      .locator('.settings-body > .settings-group')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, right }) => ({ top, right })))
    assert.equal(boxes[0]!.top, boxes[1]!.top)
    assert.ok(boxes[1]!.right > 1700, `${boxes[1]!.right}`)
    await check()
  })

  for (const size of ['phone', 'desktop', 'television'] as const)
    test(`a setting is found by its words, and speeds are in megabytes (${size})`, async (t) => {
      const app = await testApp(t)
      const look = size === 'television' ? { options: { viewport: { width: 1920, height: 1080 } } } : { size }
      const { page, go, check, shot } = await openPage(t, app.url, { ...look, as: ADMIN })
      await go('/settings/')
      const found = page.locator('.settings-nav li')

      await page.getByLabel('Find a setting').fill('SPEED limit')
      await found.getByRole('link', { name: 'Speed limit Downloads' }).waitFor()
      assert.deepEqual(await found.allInnerTexts(), [
        ...['Speed limit\nDownloads', 'Reading speed limit\nSafety', 'Upload speed limit\nSafety'],
      ])
      await check()
      await shot(`settings-find-${size}`)
      await found.getByRole('link', { name: 'Speed limit Downloads' }).click()

      await page.waitForURL('**/settings/downloads/')
      const field = page.getByLabel('Speed limit')
      await field.waitFor()
      await page.waitForFunction(() => {
        const own = [...document.querySelectorAll('label')].find((one) => one.textContent?.trim() === 'Speed limit')
        const box = own?.getBoundingClientRect()
        return box !== undefined && box.top > 0 && box.bottom < innerHeight
      })
      await field.fill('2,5')
      await field.blur()
      await saved(page, 'Speed limit')
      const { downloads } = (await app.as('admin').get('/api/config/')).body
      assert.equal(downloads.limit_speed, 2441)
      await page.reload()
      await page.waitForFunction(() =>
        [...document.querySelectorAll<HTMLInputElement>('input')].some(({ value }) => value === '2.5'),
      )
      assert.equal(await option(page, 'Speed limit').getByText('MB/s').isVisible(), true)
      await field.fill('0.0001')
      await field.blur()
      await option(page, 'Speed limit')
        .getByText(/A number from 0.01 to 10.240/)
        .waitFor()
      assert.equal((await app.as('admin').get('/api/config/')).body.downloads.limit_speed, 2441)
    })

  test('a setting for experts is expanded when it is found', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/')

    await page.getByLabel('Find a setting').fill('format selection')
    await page.locator('.settings-nav li').getByRole('link', { name: 'Format selection Downloads' }).click()

    await page.getByLabel('Format selection').waitFor()
  })

  test('an unknown setting is not found, and people search only their own settings', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as: USER })
    await go('/settings/')
    const find = page.getByLabel('Find a setting')
    const found = page.locator('.settings-nav li')

    await find.fill('speed limit')
    await page.getByText('Nothing found for “speed limit”').waitFor()
    await find.fill('password')
    await found.getByText('Account').first().waitFor()
    await find.fill('')
    await page.getByRole('link', { name: 'Appearance' }).waitFor()
    await check()
  })

  test('an account that is not an admin sees its own settings', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as: USER })
    await go('/settings/')
    await page.getByText('You can watch, search, and continue where you left off.').waitFor()
    assert.deepEqual(await page.locator('.settings-nav a').allInnerTexts(), ['Account', 'Appearance', 'This device'])
    await go('/settings/users/')
    await page.getByText('This settings page doesn’t exist').waitFor()
    await check()
  })

  test('a password is changed if the current one is right; the token is shown and renewed', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as: USER })
    await go('/settings/account/')
    await page.getByRole('button', { name: 'Change password' }).click()
    assert.equal(await page.getByText('This field is required').count(), 2)
    await page.getByLabel('Current password').fill('wrong')
    await page.getByLabel('New password').fill('short')
    await page.getByText('Use at least 12 characters').waitFor()
    await page.getByLabel('New password').fill('long enough now')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('This is not your password').waitFor()
    await check([/400/])
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed').waitFor()

    await page.getByRole('button', { name: 'Show token' }).click()
    const before = await page.locator('output').innerText()
    await page.getByRole('button', { name: 'Create a new one' }).click()
    await page
      .getByText('The current token will stop working right away, and every app will need the new one')
      .waitFor()
    await check([/400/])
    await page.getByRole('dialog').getByRole('button', { name: 'Create a new one' }).click()
    await page.getByText('This is your new token').waitFor()
    const after = await page.locator('output').innerText()
    assert.match(after, /^[0-9a-f]{40}$/)
    assert.notEqual(after, before)
  })

  test('a token for an app is created with a scope, shown once, and revoked', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as: USER })
    await go('/settings/account/')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByText('This field is required').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Kodi')
    assert.equal(await page.getByLabel('Permissions').locator('option').count(), 2) // this account is no downloader
    await page.getByLabel('Permissions').selectOption('read')
    await page.getByLabel('Expires').selectOption('30')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByText('This is the token for Kodi').waitFor()
    const token = await page.locator('output').innerText()
    const row = page.locator('.settings-rows li', { hasText: 'Kodi' })
    assert.match(await row.innerText(), /Browse and play · until .* · never used/)
    const ping = () => app.as('nobody').get('/api/ping/', { authorization: `Token ${token}` })
    assert.equal((await ping()).status, 200)
    await check()

    await go('/settings/account/')
    await row.waitFor()
    assert.equal(await page.getByText(token).count(), 0)
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The token for Kodi no longer works').waitFor()
    assert.equal((await ping()).status, 401)
  })

  test('an authenticator app is set up, required at the sign-in, and disabled', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as: USER })
    await go('/settings/account/')
    await page.getByLabel('Password for this account').fill('wrong')
    await page.getByRole('button', { name: 'Set up' }).click()
    await page.getByText('This is not your password').waitFor()
    await page.getByLabel('Password for this account').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set up' }).click()
    const link = await page.getByRole('link', { name: 'Open in app' }).getAttribute('href')
    const code = () => OTPAuthURI.parse(link!).generate({ timestamp: app.clock.now() })
    await page.getByLabel('Code', { exact: true }).fill(code())
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('Two-factor sign-in is on').waitFor()
    await page.getByText('On. 10 recovery codes left.').waitFor()
    const recovery = (await page.locator('output').innerText()).split('\n')[0]!
    await check([/400/])

    await page.getByRole('button', { name: 'Sign out' }).last().click()
    await page.getByLabel('Username').fill(USER.username)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Code').fill('000000')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Wrong name, password or code').waitFor()
    await check([/400/, /401/])
    await page.getByLabel('Code').fill(recovery)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('On. 9 recovery codes left.').waitFor()

    await app.clock.advance(30_000)
    await page.getByLabel('Password for this account').fill(PASSWORD)
    await page.getByLabel('Code', { exact: true }).fill(code())
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('Two-factor sign-in is off').waitFor()
  })

  test('recovery codes are shown to somebody who has left the setup before they arrive', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: USER })
    await go('/settings/account/')
    await page.getByLabel('Password for this account').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set up' }).click()
    const link = await page.getByRole('link', { name: 'Open in app' }).getAttribute('href')
    const { asked, release } = await holdBack(page, /\/api\/totp\//, 'PUT')
    const code = OTPAuthURI.parse(link!).generate({ timestamp: app.clock.now() })
    await page.getByLabel('Code', { exact: true }).fill(code)
    await page.getByRole('button', { name: 'Turn on' }).click()
    await asked

    await page
      .getByRole('navigation', { name: 'Sections', exact: true })
      .getByRole('link', { name: 'Channels' })
      .click()
    await page.getByRole('heading', { name: 'Channels', exact: true }).waitFor()
    release()

    const dialog = page.getByRole('dialog', { name: 'Two-factor sign-in is on' })
    await dialog.getByText(/Keep these recovery codes/).waitFor()
    assert.equal((await dialog.locator('output').innerText()).split('\n').length, 10)
    await check()
    await shot('settings-recovery-codes')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  for (const [size, colorScheme] of [
    ['phone', 'dark'],
    ['desktop', 'light'],
  ] as const) {
    test(`a camera can read the picture with the key of an authenticator app (${size}, ${colorScheme})`, async (t) => {
      const app = await testApp(t)
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: USER })
      await go('/settings/account/')
      await page.getByLabel('Password for this account').fill(PASSWORD)
      await page.getByRole('button', { name: 'Set up' }).click()

      const picture = page.getByRole('img', { name: 'QR code for your authenticator app' })

      const uri = await page.getByRole('link', { name: 'Open in app' }).getAttribute('href')
      assert.equal(await readQrCode(page, await picture.screenshot()), uri)
      await check()
      await shot('settings-qr-code')
    })
  }

  test('a password change before the session is known waits for it', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: USER })
    const { release } = await holdBack(page, /\/api\/ping\//)
    await go('/settings/account/')
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByLabel('New password').fill('long enough now')
    await page.getByRole('button', { name: 'Change password' }).click()
    release()
    await page.getByText('Password changed').waitFor()
  })

  test('theme and lists are stored for this account', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel(), aVideo())
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/appearance/')
    await page.locator('#content').getByLabel('Theme').selectOption('Dark')
    assert.deepEqual(
      await page
        .locator('#content select')
        .evaluateAll((choices) => choices.map((one) => (one as HTMLSelectElement).labels[0]!.textContent)),
      ['Language', 'Theme', 'Layout', 'Videos on Home', 'Videos of a channel'],
    )
    await page.getByLabel('Videos on Home').selectOption('List')
    await saved(page, 'Videos on Home')
    await page.getByLabel('Items loaded at once').fill('500')
    await page.keyboard.press('Enter')
    await option(page, 'Items loaded at once').getByRole('alert').waitFor()
    await page.getByLabel('Items loaded at once').fill('20')
    await page.keyboard.press('Tab')
    await saved(page, 'Items loaded at once')
    assert.deepEqual((await app.as('admin').get('/api/config/user/')).body, {
      user_id: 1,
      look: 'dark',
      view_style_home: 'list',
      page_size: 20,
    })

    await go('/')
    await page.locator('article.card.row').first().waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.dataset['theme']), 'dark')
  })

  test('preferences that are changed before the session is known stay as they were chosen', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await app.as('admin').post('/api/config/user/', { look: 'light', view_style_home: 'grid' })
    await go('/settings/appearance/')
    await page.getByRole('button', { name: 'Account: admin' }).waitFor()
    const { asked, release } = await holdBack(page, /\/api\/session\/$/)
    await page.reload()
    await asked

    await page.locator('#content').getByLabel('Theme').selectOption('Dark')
    await page.getByLabel('Videos on Home').selectOption('List')
    await saved(page, 'Videos on Home')
    const events = page.waitForRequest(/\/api\/events\//)
    release()
    await events

    assert.equal(await page.locator('#content').getByLabel('Theme').inputValue(), 'dark')
    assert.equal(await page.getByLabel('Videos on Home').inputValue(), 'list')
    assert.equal(await page.evaluate(() => document.documentElement.dataset['theme']), 'dark')
  })

  test('subtitles that are switched on later are offered for archived videos', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/downloads/')

    await page.getByLabel('Save subtitles').check()
    const question = page.getByRole('dialog', { name: 'Fetch subtitles for the 2 videos in the archive too?' })
    await question.waitFor()
    await check()
    const asked = page.waitForRequest(/\/api\/refresh\//)
    await question.getByRole('button', { name: 'Fetch subtitles' }).click()

    assert.match((await asked).url(), /extract_videos=true/)
    assert.deepEqual((await asked).postDataJSON(), { channel: ['UC1'] })
    await page.getByText('Fetching subtitles. See Tasks').waitFor()
  })

  test('options of downloads are chosen in words; errors are beside their field', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    const downloads = async () => (await app.as('admin').get('/api/config/')).body.downloads
    await go('/settings/downloads/')

    await page.getByRole('option', { name: 'Up to 1,000 per video' }).waitFor({ state: 'attached' })
    await page.getByLabel('Quality').selectOption('Up to 1080p')
    await saved(page, 'Quality')
    await page.getByLabel('File type').selectOption('Plays everywhere')
    await saved(page, 'File type')
    await page.getByLabel('If that isn’t available').selectOption('Wait for it')
    await page.getByLabel('Wait for at most').waitFor()
    assert.deepEqual(await downloads().then(({ quality_height, quality_codec }) => [quality_height, quality_codec]), [
      1080,
      'compatible',
    ])
    await page.getByLabel('Save subtitles').check()
    await pickLanguage(page, 'Languages', `en-${'x'.repeat(30)}`)
    await page.keyboard.press('Escape')
    await option(page, 'Languages').getByRole('alert').getByText('such as en or pt-BR').waitFor()
    assert.equal((await downloads()).subtitle, 'en')
    const pause = await page.getByLabel('Pause between two videos').inputValue()
    await page.getByLabel('Pause between two videos').fill('ten')
    await page.keyboard.press('Tab')
    await page.getByText('A whole number from 0 to 3,600').waitFor()
    // In some countries this is a thousand.
    await page.getByLabel('Pause between two videos').fill('1.000')
    await page.keyboard.press('Tab')
    assert.equal(await page.getByLabel('Pause between two videos').inputValue(), '1.000')
    await page.getByText('A whole number from 0 to 3,600').waitFor()
    assert.equal(String((await downloads()).sleep_interval), pause)
    await check([/400/])
    await shot('settings-wrong')
    await page.getByLabel('Pause between two videos').fill(pause)
    await page.keyboard.press('Tab')
    await page.getByText('A whole number from 0 to 3,600').waitFor({ state: 'detached' })

    await page.getByText('Advanced').click()
    await page.getByLabel('Format selection').fill('worst')
    await page.keyboard.press('Tab')
    await saved(page, 'Format selection')
    assert.equal(await page.getByLabel('Quality').inputValue(), 'own')
    assert.equal(await page.getByLabel('File type').count(), 0, 'the rule goes before it')
    await page.getByLabel('Quality').selectOption('Best available')
    await saved(page, 'Quality')
    assert.deepEqual([(await downloads()).format, (await downloads()).quality_height], [false, false])
  })

  for (const size of ['phone', 'desktop', 'television'] as const)
    test(`languages are chosen by name, in their order, and any code can be typed (${size})`, async (t) => {
      const app = await testApp(t)
      await app.as('admin').post('/api/config/', { downloads: { subtitle: 'en' } })
      const look = size === 'television' ? ({ options: TELEVISION } as const) : { size }
      const { page, go, check, shot } = await openPage(t, app.url, { ...look, as: ADMIN })
      const downloads = async () => (await app.as('admin').get('/api/config/')).body.downloads
      await go('/settings/downloads/')

      await option(page, 'Languages').getByRole('button', { name: 'Remove English' }).waitFor()
      await option(page, 'Languages')
        .getByRole('button', { name: /^Add language/ })
        .click()
      const dialog = page.getByRole('dialog', { name: 'Languages' })
      await dialog.getByRole('button', { name: 'Zulu zu' }).waitFor()
      await check()
      await shot('languages')
      await dialog.getByLabel('Name or code').fill('portug')
      await dialog.getByRole('button', { name: 'Brazilian Portuguese pt-BR' }).click()
      await dialog.getByLabel('Name or code').fill('<b>')
      await dialog.getByText('No matches').waitFor()
      await dialog.getByLabel('Name or code').fill('de')
      await dialog.getByRole('button', { name: 'German de' }).click()
      await dialog.getByLabel('Name or code').fill('xx.*')
      await dialog.getByRole('button', { name: 'Use the code “xx.*”' }).click()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await until('all are saved', downloads, ({ subtitle }) => subtitle === 'en,pt-BR,de,xx.*')
      await option(page, 'Languages').getByRole('button', { name: 'Remove Brazilian Portuguese' }).click()
      await until('one is removed', downloads, ({ subtitle }) => subtitle === 'en,de,xx.*')

      await pickLanguage(page, 'Audio language', 'french')
      await until('one is chosen', downloads, ({ quality_language }) => quality_language === 'fr')
      await pickLanguage(page, 'Audio language', 'german')
      await until('another replaces it', downloads, ({ quality_language }) => quality_language === 'de')
      await check()
      await shot('languages-chosen')
      await option(page, 'Audio language').getByRole('button', { name: 'Remove German' }).click()
      await until('none is chosen', downloads, ({ quality_language }) => quality_language === false)
    })

  test('names of languages are in the language of the page', async (t) => {
    const app = await testApp(t)
    await app.as('admin').post('/api/config/', { downloads: { subtitle: 'en' } })
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN, options: { locale: 'de-DE' } })
    await go('/settings/downloads/')

    await page.getByRole('button', { name: 'Englisch entfernen' }).waitFor()
    await page.getByRole('button', { name: /^Sprache hinzufügen/ }).click()
    await page.getByRole('dialog').getByLabel('Name oder Kürzel').fill('franz')
    await page.getByRole('dialog').getByRole('button', { name: 'Französisch fr', exact: true }).waitFor()
    await check()
  })

  test('automatic deletion is explained in full sentences first', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    const days = async () => (await app.as('admin').get('/api/config/')).body.downloads.autodelete_days
    await go('/settings/downloads/')
    const field = page.getByLabel('Delete watched videos after')
    await field.fill('30')
    await page.keyboard.press('Tab')
    await page.getByText('every video that was watched more than 30 days ago will be deleted').waitFor()
    await check()
    await page.getByRole('button', { name: 'Cancel' }).click()
    assert.deepEqual([await field.inputValue(), await days()], ['', false])

    await field.fill('30')
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Delete automatically' }).click()
    await saved(page, 'Delete watched videos after')
    assert.equal(await days(), 30)
  })

  test('a schedule is chosen in words and shows its next run', async (t) => {
    const app = await testApp(t)
    await app.app.schedules.remove('update_subscribed')
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    const cronOf = async (name: string) =>
      (await app.as('admin').get('/api/schedule/')).body.find((one: { name: string }) => one.name === name)?.schedule
    await go('/settings/schedules/')
    const group = page.locator('.schedules tbody', { hasText: 'Scan subscriptions' })
    await group.getByRole('button', { name: 'Change schedule: Scan subscriptions' }).click()

    await group.getByLabel('How often').selectOption('Every day')
    await group.getByText('Every day at 08:00').waitFor()
    await group.locator('time', { hasText: '8:00' }).waitFor()
    assert.equal(await cronOf('update_subscribed'), '0 8 *')
    await group.getByLabel('Time').fill('06:45')
    await group.getByText('Every day at 06:45').waitFor()
    await group.getByLabel('How often').selectOption('Every week')
    await group.getByLabel('Day').selectOption('Wednesday')
    await until(
      'it is saved',
      () => cronOf('update_subscribed'),
      (cron) => cron === '45 6 3',
    )
    await group.getByText('Advanced').click()
    await group.getByLabel('Cron').fill('61 * *')
    await page.keyboard.press('Tab')
    await group.getByRole('alert').getByText('The minute of a schedule is one number from 0 to 59').waitFor()
    await check([/400/])
    assert.equal(await cronOf('update_subscribed'), '45 6 3')
    await group.getByLabel('Cron').fill('15 8-20 1-5')
    await page.keyboard.press('Tab')
    await until(
      'it says so in words',
      () => group.locator('.when select').first().inputValue(),
      (often) => often === 'own',
    )
    await group.locator('tr:first-child td', { hasText: /Friday at 08:15, 09:15/ }).waitFor()
    await group.getByLabel('How often').selectOption('Never')
    await group.getByRole('cell', { name: 'Never', exact: true }).waitFor()
    assert.equal(await cronOf('update_subscribed'), undefined)
  })

  test('schedules are one table, on a phone too: interval, next run, and last result, in German', async (t) => {
    const app = await testApp(t)
    await app.app.schedules.set('run_backup', '30 */6 *')
    await app.app.schedules.set('thumbnail_check', '5 17 1,3')
    await app.as('admin').post('/api/backup/')
    await app.settled()
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN, options: { locale: 'de-DE' } })
    await go('/settings/schedules/')
    const row = (title: string) => page.locator('.schedules tbody', { hasText: title })

    await row('Sicherung erstellen').getByText('Alle 6 Stunden').waitFor()
    await row('Sicherung erstellen')
      .getByText(/: fertig$/)
      .waitFor()
    await row('Vorschaubilder prüfen').getByText('Montag und Mittwoch um 17:05').waitFor()
    await check()
    await shot('schedules-de')
    await page.setViewportSize({ width: 320, height: 700 })
    await row('Sicherung erstellen').getByText('Letzter Lauf').waitFor()
    await row('Sicherung erstellen').getByRole('button').click()
    await row('Sicherung erstellen').getByLabel('Wie oft').waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true)
    await check()
    await shot('schedules-de-phone')
  })

  test('the last choice wins, and text typed meanwhile stays, however late the previous change is sent', async (t) => {
    const app = await testApp(t)
    await app.app.schedules.remove('update_subscribed')
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/schedules/')
    const group = page.locator('.schedules tbody', { hasText: 'Scan subscriptions' })
    await group.getByRole('button', { name: 'Change schedule: Scan subscriptions' }).click()
    const often = group.getByLabel('How often')
    await often.waitFor()
    const sendSchedule = await holdUp(page, /\/schedule\/$/)
    await often.selectOption('Every week')
    await group.getByLabel('Day').selectOption('Wednesday')
    await sendSchedule()
    const cronOf = async () =>
      (await app.as('admin').get('/api/schedule/')).body.find(
        ({ name }: { name: string }) => name === 'update_subscribed',
      ).schedule
    await until('the last choice is saved', cronOf, (cron) => cron === '0 8 3')
    await group.getByText('Saved').waitFor()
    assert.equal(await group.getByLabel('Day').inputValue(), '3')

    await go('/settings/downloads/')
    const pause = page.getByLabel('Pause between two videos')
    await pause.fill('30')
    const sendConfig = await holdUp(page, /\/config\/$/)
    await page.keyboard.press('Tab')
    await page.getByLabel('Quality').selectOption('Up to 1080p')
    await page.getByLabel('File type').selectOption('Plays everywhere')
    await pause.fill('45')
    await sendConfig()
    const downloads = async () => (await app.as('admin').get('/api/config/')).body.downloads
    await until(
      'all is saved',
      downloads,
      ({ sleep_interval, quality_height, quality_codec }) =>
        sleep_interval === 30 && quality_height === 1080 && quality_codec === 'compatible',
    )
    await saved(page, 'File type')
    assert.equal(await pause.inputValue(), '45')
  })

  test('a number and the time of one schedule are both saved, however late the first one is sent', async (t) => {
    const app = await testApp(t)
    await app.app.schedules.set('run_backup', '0 8 *')
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/schedules/')
    const group = page.locator('.schedules tbody', { hasText: 'Make a backup' })
    await group.getByRole('button', { name: 'Change schedule: Make a backup' }).click()
    const sendTime = await holdUp(page, /\/schedule\/$/)
    await group.getByLabel('Time').fill('06:45')

    await group.getByLabel('Keep the newest').fill('7')
    await page.keyboard.press('Tab')
    await sendTime()
    await saved(page, 'Keep the newest')

    const { schedule, config } = app.app.schedules.get('run_backup')!
    assert.deepEqual({ schedule, config }, { schedule: '45 6 *', config: { rotate: 7 } })
    await group.getByText('Every day at 06:45').waitFor()
  })

  test('a text that is taken back while it is being saved is not saved', async (t) => {
    const app = await testApp(t)
    await app.app.schedules.set('run_backup', '15 8 1')
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/schedules/')
    const group = page.locator('.schedules tbody', { hasText: 'Make a backup' })
    await group.getByRole('button', { name: 'Change schedule: Make a backup' }).click()
    await group.getByText('Advanced').click()
    const cron = group.getByLabel('Cron')
    const send = await holdUp(page, /\/schedule\/$/)
    await cron.fill('30 9 2')
    await page.keyboard.press('Tab')

    await cron.fill('15 8 1')
    await page.keyboard.press('Tab')
    await send()
    await saved(page, 'Cron')

    assert.equal(app.app.schedules.get('run_backup')?.schedule, '15 8 1')
    assert.equal(await cron.inputValue(), '15 8 1')
  })

  test('users are added, locked and deleted; the last admin stays', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    const names = async () =>
      (await app.as('admin').get('/api/user/')).body.map(({ username }: { username: string }) => username)
    await go('/settings/users/')
    await page.getByRole('button', { name: 'Add a user' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('not a name')
    await page.getByRole('dialog').getByLabel('Password').fill('a long enough one')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a user' }).click()
    await page.getByText('Letters, digits and').waitFor()
    await shot('settings-user-wrong')
    await check([/400/])
    await page.getByRole('dialog').getByLabel('Name').fill('grandma')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a user' }).click()
    await page.locator('.settings-rows strong', { hasText: 'grandma' }).waitFor()
    const pictures = page.locator('.settings-rows .avatar')
    const look = (one: { innerText(): Promise<string>; evaluate<R>(read: (node: Element) => R): Promise<R> }) =>
      Promise.all([one.innerText(), one.evaluate((node) => getComputedStyle(node).backgroundColor)])
    const [own, grandma] = [await look(pictures.first()), await look(pictures.last())]
    assert.deepEqual([own[0], grandma[0]], ['A', 'G'])
    assert.notEqual(own[1], grandma[1])
    assert.deepEqual(await look(page.getByRole('button', { name: 'Account: admin' }).locator('.avatar')), own)

    await page.getByRole('button', { name: 'More for grandma' }).click()
    await page.getByRole('menuitem', { name: 'Lock' }).click()
    await page.getByText('locked').waitFor()
    await page.getByRole('button', { name: 'More for grandma' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('Videos, channels and playlists stay.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('grandma deleted').waitFor()
    assert.deepEqual(await names(), ['admin', 'user'])

    await page.getByRole('button', { name: 'More for admin' }).click()
    await page.getByRole('menuitem', { name: 'Change what they can do' }).click()
    await page.getByRole('dialog').getByLabel('Role').selectOption('Watch only')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByText('This is the last active admin').waitFor()
    await check([/400/, /409/])
  })

  test('a late reply to the rights of one user does not close the dialog of another', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const dialog = page.getByRole('dialog')
    await go('/settings/users/')
    await page.getByRole('button', { name: 'More for user' }).click()
    await page.getByRole('menuitem', { name: 'Change what they can do' }).click()
    const send = await holdUp(page, /\/user\/\d+\/$/)
    await dialog.getByRole('button', { name: 'Save' }).click()

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add a user' }).click()
    await dialog.getByLabel('Name').fill('grandma')
    await send()
    await page.locator('.toast', { hasText: 'Saved' }).waitFor()

    assert.equal(await dialog.getByLabel('Name').inputValue(), 'grandma')
  })

  test('a lost connection and a busy server are reported at the setting, whose choice is undone', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as: ADMIN })
    await page.route('**/api/config/', (route) => route.abort())
    await go('/settings/playback/')
    await page.getByRole('alert').getByText('The server isn’t responding').waitFor()
    await check([/ERR_FAILED/])
    await shot('settings-failed')
    await page.unroute('**/api/config/')
    await page.getByRole('button', { name: 'Try again' }).click()
    const one = page.getByRole('switch', { name: 'Mark as watched when finished' })
    await one.waitFor()

    await page.route('**/api/config/', (route) =>
      route.fulfill({ status: 503, json: { message: 'A restore is running' } }),
    )
    await page.locator('label', { hasText: 'Mark as watched when finished' }).click()
    await page.getByRole('alert').getByText('The server cannot do this now: A restore is running').waitFor()
    assert.equal(await one.isChecked(), false)
    await check([/ERR_FAILED/, /503/])
    await shot('settings-busy')
  })
})

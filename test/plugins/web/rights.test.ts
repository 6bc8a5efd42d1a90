/** An account's rights as an admin sets them, and the page of a child and of an account that may download. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_PLATFORM } from '../../platform/start.ts'
import { holdBack, noBrowser, openPage, type Page } from '../../support/browser.ts'
import { aChannel, aPlaylist, aQueued, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const MIA = { username: 'mia', password: PASSWORD }

const LIBRARY = [
  aChannel({ id: 'UCbears', channel_name: 'Bear stories' }),
  aChannel({ id: 'UCnews', channel_name: 'Late news' }),
  aVideo({ id: 'bear1', channelId: 'UCbears', title: 'The bear wakes up' }),
  aVideo({ id: 'news1', channelId: 'UCnews', title: 'Grim news' }),
  aVideo({ id: 'news2', channelId: 'UCnews', title: 'A panda is born', playlist: ['PLzoo'] }),
  aPlaylist({ id: 'PLzoo', playlist_name: 'Zoo', entries: [{ platform_id: 'news2', downloaded: true }] }),
  aQueued({ id: 'q1', title: 'The queued film' }),
]

describe('rights on the page', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`a child sees everything except the chosen channels, and new channels immediately (${size})`, async (t) => {
      const app = await testApp(t, { settings: NO_PLATFORM })
      await app.given(...LIBRARY)
      await app.as('admin').post('/api/user/', { username: 'mia', password: PASSWORD, view: { channel: [] } })
      const { id } = (await app.as('admin').post('/api/group/', { name: 'Night', members: [] })).body
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: ADMIN })
      await go('/settings/users/')
      await page.getByRole('button', { name: /mia/ }).last().click()
      await page.getByRole('menuitem', { name: 'Change what they can do' }).click()
      const dialog = page.getByRole('dialog').first()
      await dialog.getByLabel('What the child sees').selectOption('Everything except what you choose')
      await dialog.getByRole('button', { name: 'Choose channels' }).click()
      await page.getByRole('button', { name: 'Late news' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      await dialog.getByLabel('Night').check()
      await check()
      await shot('rights-except')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Child: sees everything except 1 channel, 0 playlists, and 1 group').waitFor()
      const { view } = (await app.as('mia').get('/api/user/3/')).body
      assert.deepEqual(view, { not_channel: ['UCnews'], not_playlist: [], not_group: [String(id)] })

      await app.given(
        aChannel({ id: 'UCnew', channel_name: 'New here' }),
        aVideo({ id: 'new1', channelId: 'UCnew', title: 'Just in' }),
      )
      const child = await openPage(t, app.url, { size, as: MIA })
      await child.go('/')
      await child.page.getByText('Just in').first().waitFor()
      await child.page.getByText('The bear wakes up').first().waitFor()
      assert.equal(await child.page.getByText('Grim news').count(), 0)
      await child.page.getByRole('link', { name: 'Bear stories' }).first().waitFor()
      await child.check()
    })

  for (const size of ['desktop', 'phone'] as const)
    test(`an admin adds a child and chooses its view; its page shows only that (${size})`, async (t) => {
      const app = await testApp(t, { settings: NO_PLATFORM })
      await app.given(...LIBRARY)
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: ADMIN })
      await go('/settings/users/')
      await page.getByRole('button', { name: 'Add a user' }).click()
      const dialog = page.getByRole('dialog', { name: 'Add a user' })
      await dialog.getByLabel('Name').fill(MIA.username)
      await dialog.getByLabel('Password').fill(MIA.password)
      await dialog.getByText('Sees the whole archive. Cannot download anything.').waitFor()
      await dialog.getByLabel('Role').selectOption('Child')
      await dialog.getByRole('button', { name: 'Choose channels' }).click()
      const picker = page.getByRole('dialog', { name: 'Choose channels' })
      await picker.getByLabel('Find by name').fill('bear')
      await picker.getByText('Late news').waitFor({ state: 'hidden' })
      await picker.getByLabel('Find by name').press('Enter')
      await picker.getByRole('button', { name: 'Bear stories' }).click()
      await picker.locator('button[aria-pressed=true]', { hasText: 'Bear stories' }).waitFor()
      await check()
      await shot('rights-pick')
      await picker.getByRole('button', { name: 'Done' }).click()
      await dialog.getByRole('button', { name: 'Choose playlists' }).click()
      await page.getByRole('dialog', { name: 'Choose playlists' }).getByRole('button', { name: 'Zoo' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      await dialog.getByRole('button', { name: 'Remove Zoo' }).waitFor()
      await check()
      await shot('rights-child')
      await dialog.getByRole('button', { name: 'Add a user' }).click()
      await page.getByText('Child: sees 1 channel and 1 playlist').waitFor()
      await check()
      await shot('rights-users')
      const { view } = (await app.as('mia').get('/api/user/3/')).body
      assert.deepEqual(view, { channel: ['UCbears'], playlist: ['PLzoo'] })

      const child = await openPage(t, app.url, { size, as: MIA })
      await child.go('/')
      await child.page.getByText('The bear wakes up').first().waitFor()
      await child.page.getByText('A panda is born').first().waitFor()
      assert.equal(await child.page.getByText('Grim news').count(), 0)
      const sections = child.page.getByRole('navigation', { name: 'Sections' })
      await sections.getByRole('link', { name: 'Settings' }).waitFor()
      assert.equal(await sections.getByRole('link', { name: 'Downloads' }).count(), 0)
      await child.check()
      await child.shot('rights-child-home')

      await child.go('/video/news2/')
      await child.page.getByRole('heading', { name: 'A panda is born' }).waitFor()
      assert.equal(await child.page.locator('.watch-channel').getAttribute('href'), null)
      await child.shot('rights-child-video')
      await child.go('/video/news1/')
      await child.page.getByText('not in the archive').first().waitFor()
      await child.go('/channels/')
      await child.page.getByText('Bear stories').first().waitFor()
      assert.equal(await child.page.getByText('Late news').count(), 0)
      await child.go('/statistics/')
      await child.page.getByText('Late news').first().waitFor()
      await child.go('/downloads/')
      await child.page.getByRole('heading', { level: 1, name: 'Your account cannot download' }).waitFor()
      await child.go('/settings/account/')
      await child.page.getByText('You can watch and search what was chosen for you.').waitFor()
      await child.shot('rights-child-settings')
      await child.check([/404/])
    })

  test('rights are changed, and an account that may download pastes links and sees waiting items', async (t) => {
    const app = await testApp(t, { settings: NO_PLATFORM })
    await app.given(...LIBRARY)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/users/')
    await page.getByRole('button', { name: 'More for user' }).click()
    await page.getByRole('menuitem', { name: 'Change what they can do' }).click()
    const dialog = page.getByRole('dialog', { name: 'What user can do' })
    await dialog.getByLabel('Role').selectOption('Watch and download')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.locator('.settings-rows').getByText('Watch and download').waitFor()
    await check()

    const other = await openPage(t, app.url, { as: { username: 'user', password: PASSWORD } })
    await other.go('/downloads/')
    await other.page.getByText('The queued film').waitFor()
    assert.equal(await other.page.getByRole('button', { name: /The queued film/ }).count(), 0)
    await other.page.getByLabel('Links').fill('https://www.youtube.com/watch?v=aB3dE6gH9jK')
    await other.page.getByRole('button', { name: 'Download now' }).click()
    await other.page.locator('.toast').waitFor()
    await other.check()
    await other.shot('rights-downloads')
    const [job] = (await app.as('admin').get('/api/task-name/extract_download/')).body
    assert.ok(job)
    await shot('rights-changed')
  })

  test('a theme belongs to its account: used on another device, and not for the next account that signs in here', async (t) => {
    const app = await testApp(t, { settings: NO_PLATFORM })
    const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset['theme'])
    const here = await openPage(t, app.url, { as: ADMIN })
    await here.go('/settings/appearance/')
    await here.page.getByLabel('Theme').selectOption('Dark')
    await here.page.locator('html[data-theme=dark]').waitFor()
    await here.page.getByText('Saved').waitFor()
    assert.equal((await app.as('admin').get('/api/config/user/')).body.look, 'dark')

    const elsewhere = await openPage(t, app.url, { as: ADMIN })
    await elsewhere.go('/')
    await elsewhere.page.locator('html[data-theme=dark]').waitFor()

    await here.page.getByRole('button', { name: 'Account' }).click()
    await here.page.getByRole('menuitem', { name: 'Sign out' }).click()
    await here.page.getByLabel('Username').fill('user')
    await here.page.getByLabel('Password').fill(PASSWORD)
    await here.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await here.page.getByRole('navigation', { name: 'Sections', exact: true }).waitFor()
    assert.equal(await theme(here.page), undefined)
  })

  test("nobody can sign in before the reply to a sign-out, which deletes the session's cookies", async (t) => {
    const app = await testApp(t, { settings: NO_PLATFORM })
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/appearance/')
    await page.getByLabel('Theme').selectOption('Dark')
    await page.getByText('Saved').waitFor()
    const { asked, release } = await holdBack(page, /\/logout\//)
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await asked
    // The session has ended, so requests are refused meanwhile.
    const refused = page.waitForResponse((response) => response.status() === 401)
    await page.getByRole('link', { name: 'Playlists' }).click()
    await refused
    await page.getByRole('heading', { name: 'Playlists' }).waitFor()
    assert.equal(await page.getByLabel('Username').count(), 0)
    release()
    await page.getByLabel('Username').fill('user')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Account: user' }).waitFor()
    await page.getByRole('link', { name: 'Channels' }).click()
    await page.getByRole('heading', { name: 'Channels', exact: true }).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.dataset['theme']), undefined)
  })

  test('a watcher who pastes a link is told whom to ask', async (t) => {
    const app = await testApp(t, { settings: NO_PLATFORM })
    const { page, go } = await openPage(t, app.url, { as: { username: 'user', password: PASSWORD } })
    await go('/')
    await page.evaluate(() => {
      const data = new DataTransfer()
      data.setData('text/plain', 'https://www.youtube.com/watch?v=aB3dE6gH9jK')
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
    })
    await page.getByText('Your account cannot download. Ask whoever runs this archive.').waitFor()
  })
})

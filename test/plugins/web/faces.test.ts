/** Folders for media servers: a face is made with its paths in sight, and a media server is added, as people do it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aJellyfin, KEY } from '../../support/media-servers.ts'
import { aChannel, PASSWORD, testApp } from '../../support/testing.ts'
import { lay } from '../faces/coming.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const VIDEOS = 25
/** Chromium says so of each answer that refuses something. */
const REFUSED = [/status of 4\d\d/]

describe('folders for media servers', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const)
    test(`a folder shows twenty paths while its form is filled in, and says what is wrong (${size})`, async (t) => {
      const archive = await testApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
      await archive.given(aChannel({ id: 'UC1', channel_name: 'Old Mill' }))
      for (let at = 0; at < VIDEOS; at++)
        await lay(archive, {
          id: `v${at}`,
          title: `Film ${at}`,
          published: `2026-01-${String(at + 1).padStart(2, '0')}`,
        })
      const { page, go, check, shot } = await openPage(t, archive.url, { size, colorScheme, as: ADMIN })
      const form = page.locator('form', { has: page.getByRole('button', { name: 'Add folder' }) })
      const paths = form.locator('li code')
      const isFirst = (path: string) => paths.first().getByText(path, { exact: true }).waitFor()
      await go('/settings/faces/')

      await isFirst('Old Mill [UC1]/Season 2026/S2026E1 - Film 24 [v24].mp4')
      assert.equal(await paths.count(), 20)
      await form.getByText('Hard links: no additional space is used').waitFor()
      await check()
      await form.getByRole('button', { name: 'Add folder' }).click()
      await form.getByText('This field is required').waitFor()

      await form.getByLabel('Videos with names of your choice').check()
      await isFirst('Old Mill/2026-01-25 Film 24 [v24].mp4')
      await form.getByLabel('Path of a video').fill('{year}/{title}')
      await form.getByText(/must contain \{id\} in the name of the file/).waitFor()
      await form.getByLabel('Path of a video').fill('{year}/{id} {title}')
      await isFirst('2026/v24 Film 24.mp4')
      await form.getByLabel('Folder', { exact: true }).fill('/etc/tv')
      await form.getByText(/Archivolt may not write to \/etc\/tv/).waitFor()
      await shot('faces-form')

      const root = join(archive.dataDir, 'faces', 'tv')
      await form.getByLabel('Folder', { exact: true }).fill(root)
      await form.getByText('Hard links: no additional space is used').waitFor()
      await form.getByLabel('Name', { exact: true }).fill('Living room')
      await form.getByRole('button', { name: 'Add folder' }).click()
      await page.getByRole('switch', { name: 'Keep Living room up to date' }).waitFor()
      await archive.settled()
      await go('/settings/appearance/')
      await go('/settings/faces/')
      await page.getByText(/25 videos · Hard links.* · updated/).waitFor()
      await page.getByText(`${root}/{year}/{id} {title}`).waitFor()
      await check(REFUSED)
      await shot('faces')

      const server = await aJellyfin(t, root)
      server.scan()
      const adding = page.locator('form', { has: page.getByRole('button', { name: 'Add server' }) })
      await adding.getByLabel('Address').fill(server.url)
      await adding.getByLabel('API key or token').fill('wrong')
      await adding.getByRole('button', { name: 'Add server' }).click()
      await page.getByText('Jellyfin rejects the key: create a new one there and enter it here').waitFor()
      await page.getByRole('button', { name: /^Remove.*Jellyfin/ }).click()
      await page.getByRole('switch', { name: 'Notify Jellyfin' }).waitFor({ state: 'detached' })
      await adding.getByLabel('Address').fill(server.url)
      await adding.getByLabel('API key or token').fill(KEY)
      await adding.getByRole('button', { name: 'Add server' }).click()
      const playlists = page.getByRole('switch', { name: 'Playlists in Jellyfin' })
      await playlists.waitFor()
      assert.equal(await playlists.isChecked(), true)
      await page.getByText(/^Last contact/).waitFor()
      await archive.settled()
      await check(REFUSED)
      await shot('media-servers')
      await go('/settings/health/')
      await page
        .getByRole('listitem')
        .filter({ hasText: /^Jellyfin is fine/ })
        .waitFor()
    })
})

/** Folders for media servers: people create one while they see its paths, and add a media server. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { holdBack, noBrowser, openPage } from '../../support/browser.ts'
import { aJellyfin, KEY } from '../../support/media-servers.ts'
import { aChannel, PASSWORD, testApp } from '../../support/testing.ts'
import { lay } from '../faces/coming.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const VIDEOS = 25
/** Chromium logs this for each reply that refuses something. */
const REFUSED = [/status of 4\d\d/]

describe('folders for media servers', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const)
    test(`a folder shows twenty paths while its form is filled in, and reports errors (${size})`, async (t) => {
      const archive = await testApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
      await archive.given(aChannel({ id: 'UC1', channel_name: 'Old Mill' }))
      for (let at = 0; at < VIDEOS; at++)
        await lay(archive, {
          id: `v${at}`,
          title: `Film ${at}`,
          published: `2026-01-${String(at + 1).padStart(2, '0')}`,
        })
      await archive.given(aChannel({ id: 'UC2', channel_name: 'Harbour' }))
      await lay(archive, { id: 'b1', channelId: 'UC2', title: 'To sea', published: '2026-01-02' })
      await lay(archive, { id: 'b2', channelId: 'UC2', title: 'Ashore', published: '2026-01-01' })
      const admin = archive.as('admin')
      const members = [{ kind: 'channel', id: 'UC2' }]
      const group = (await admin.post('/api/group/', { name: 'Boats', members })).body.id
      await admin.post('/api/watched/', { id: 'b1', is_watched: true })
      await archive.settled()
      const { page, go, check, shot } = await openPage(t, archive.url, { size, colorScheme, as: ADMIN })
      const form = page.locator('form', { has: page.getByRole('button', { name: 'Add folder' }) })
      const paths = form.locator('li code')
      const isFirst = (path: string) => paths.first().getByText(path, { exact: true }).waitFor()
      await go('/settings/faces/')

      await isFirst('Old Mill [UC1]/Season 2026/S2026E25 - Film 24 [v24].mp4')
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
      await page.getByText(/27 videos · Hard links.* · updated/).waitFor()
      await page.getByText(`${root}/{year}/{id} {title}`).waitFor()
      await check(REFUSED)
      await shot('faces')

      await page.getByRole('button', { name: /^Change.*Living room/ }).click()
      const dialog = page.getByRole('dialog', { name: 'Change Living room' })
      const newest = (path: string) => dialog.locator('li code').first().getByText(path, { exact: true }).waitFor()
      await newest('2026/v24 Film 24.mp4')
      await dialog.getByLabel('Boats').check()
      await newest('2026/b1 To sea.mp4')
      await dialog.getByLabel('For the account').selectOption({ label: 'admin' })
      await dialog.getByLabel('Watched by this account').selectOption({ label: 'Only unwatched videos' })
      await newest('2026/b2 Ashore.mp4')
      await dialog.getByRole('switch', { name: 'Videos in folders of other programs' }).uncheck()
      await dialog.getByRole('switch', { name: 'Undo changes by other programs' }).uncheck()
      await check(REFUSED)
      await shot('faces-change')
      const { asked, release } = await holdBack(page, /\/api\/face\/$/)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await asked
      // If it was closed already, it could be opened with the previous values.
      assert.equal(await dialog.count(), 1)
      release()
      await dialog.waitFor({ state: 'detached' })
      await archive.settled()
      const [face] = (await admin.get('/api/face/')).body.faces
      assert.deepEqual(face.selection, { groups: [group], account: 1, watched: false })
      assert.deepEqual([face.takes_back, face.with_places, face.state.films], [false, false, 1])
      await page.getByRole('button', { name: /^Change.*Living room/ }).click()
      await dialog.getByRole('checkbox', { name: 'Boats', checked: true }).waitFor()
      await dialog.getByLabel('For the account').selectOption({ label: 'None: the whole archive' })
      await dialog.getByLabel('Boats').uncheck()
      await dialog.getByText('All videos, unless you choose channels, playlists or groups').waitFor()
      await dialog.getByRole('button', { name: 'Choose channels' }).click()
      const picker = page.getByRole('dialog', { name: 'Choose channels' })
      await picker.getByRole('button', { name: 'Old Mill' }).click()
      await picker.getByRole('button', { name: 'Done' }).click()
      await newest('2026/v24 Film 24.mp4')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      await archive.settled()
      assert.deepEqual((await admin.get('/api/face/')).body.faces[0].selection, { channels: ['UC1'] })

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

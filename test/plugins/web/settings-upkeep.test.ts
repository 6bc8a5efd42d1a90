/**
 * Settings for upkeep: notifications, the cookie, tasks, snapshots, backups. Before anything is deleted, a sentence
 * explains what is deleted and what stays.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { definePlugin, defineRoute, defineTask, Type } from '../../../plugins/plugin-kit/public.ts'
import { startTestPlatform } from '../../platform/start.ts'
import { holdUp, noBrowser, openPage, PATIENCE } from '../../support/browser.ts'
import { lastFirst } from '../../support/last-first.ts'
import { until } from '../../support/server.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const COOKIE =
  '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tSID\tone\n127.0.0.1\tFALSE\t/\tFALSE\t0\tLOGIN_INFO\ttwo\n'

describe('settings of upkeep', { skip: noBrowser }, () => {
  test('an address for notifications is tested by a button, added, and removed with Undo', async (t) => {
    const app = await testApp(t)
    const titles: string[] = []
    const hook = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        titles.push((JSON.parse(body) as { title: string }).title)
        response.end()
      })
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    lastFirst(t).after(async () => void hook.close())
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    const stored = async () => (await app.as('admin').get('/api/schedule/notification/')).body
    await go('/settings/notifications/')

    await page.getByLabel('When').selectOption('Videos were downloaded')
    await page.getByLabel('Address').fill('nonsense')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('An address starts with its type, such as ntfy:// or https://').waitFor()
    await check([/400/])
    await shot('settings-message-wrong')
    await page.getByLabel('Address').fill(url)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('Test message delivered').waitFor()
    assert.match(titles.join(), /^\[Archivolt\] Downloading: a test/)
    await page.getByLabel('When').selectOption('A scan found new videos')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('heading', { name: 'A scan found new videos' }).waitFor()
    assert.deepEqual((await stored()).update_subscribed.urls, [url])
    await check([/400/])

    await page.getByRole('button', { name: `Remove ${url}` }).click()
    await page.getByText('Removed', { exact: true }).waitFor()
    assert.deepEqual(await stored(), {})
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: 'A scan found new videos' }).waitFor()
  })

  test('an address that is typed while another one is being added stays', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const address = page.getByLabel('Address')
    await go('/settings/notifications/')
    await page.getByLabel('When').selectOption('A scan found new videos')
    await address.fill('https://example.org/first')
    const send = await holdUp(page, /\/schedule\/notification\/$/)
    await page.getByRole('button', { name: 'Add', exact: true }).click()

    await address.fill('https://example.org/second')
    await send()
    await page.locator('.toast', { hasText: 'Saved' }).waitFor()

    assert.equal(await address.inputValue(), 'https://example.org/second')
  })

  test('a webhook is added with its secret shown once, tested by a button, switched off, and removed', async (t) => {
    const app = await testApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
    let status = 200
    const types: string[] = []
    const hook = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        types.push((JSON.parse(body) as { type: string }).type)
        response.writeHead(status).end('<b>the barn burns</b>')
      })
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    lastFirst(t).after(async () => void hook.close())
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    const stored = async () => (await app.as('admin').get('/api/webhook/')).body.webhooks
    await go('/settings/webhooks/')

    await page.getByLabel('Name', { exact: true }).fill('Barn')
    await page.getByLabel('Address').fill('https://me:secret@example.org/')
    await page.getByLabel('A video was added').check()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('and contains no password').waitFor()
    await check([/400/])
    await page.getByLabel('Address').fill(url)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Secret of Barn' })
    assert.match((await dialog.getByRole('status').textContent())!, /^whsec_/)
    await shot('settings-webhook-secret')
    await dialog.getByRole('button', { name: 'Done' }).click()
    assert.deepEqual((await stored())[0].events, ['video.added'])

    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('Test message delivered').waitFor()
    assert.deepEqual(types, ['webhook.test'])
    status = 500
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/^Last tried .* Not delivered · The receiver answered with status 500$/).waitFor()
    await page.getByText('Recent messages').click()
    await page.getByText('<b>the barn burns</b>').first().waitFor()
    await check([/400/])
    await shot('settings-webhooks')
    await page.getByRole('switch', { name: 'Send to Barn' }).uncheck()
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('[role=switch]')?.checked === false)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed', { exact: true }).waitFor()
    assert.deepEqual(await stored(), [])
  })

  test('a name that is typed while another webhook is being added stays, and what was sent disappears', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const [name, address] = [page.getByLabel('Name', { exact: true }), page.getByLabel('Address')]
    await go('/settings/webhooks/')
    await name.fill('Barn')
    await address.fill('https://example.org/hook')
    await page.getByLabel('A video was added').check()
    const send = await holdUp(page, /\/webhook\/$/)
    await page.getByRole('button', { name: 'Add', exact: true }).click()

    await name.fill('Mill')
    await send()
    await page.getByRole('dialog', { name: 'Secret of Barn' }).waitFor()

    assert.deepEqual([await name.inputValue(), await address.inputValue()], ['Mill', ''])
    assert.equal(await page.getByLabel('A video was added').isChecked(), false)
  })

  test('added plugins are listed before built-in ones, with their latest errors', async (t) => {
    const fails = () => {
      throw new Error('out of tea')
    }
    const tide = definePlugin({
      ...{ name: 'tide', version: '1.2', title: 'The tide', description: 'Tells when the water is high.' },
      ...{ author: 'Ann', homepage: 'https://tide.example/' },
      needs: ['video'],
      routes: [
        defineRoute({
          ...{ method: 'GET', path: '/api/tide/', access: 'user', summary: 'x', reply: Type.Object({}) },
          handle: () => ({}),
        }),
      ],
      tasks: [
        defineTask({
          ...{ name: 'tide.tell', title: 'Tell', payload: Type.Object({}), lane: 'light', apiStart: true },
          run: async () => null,
        }),
      ],
      preferences: { tide: { height: Type.Integer({ title: 'Height', default: 1 }) } },
      implements: { 'video.tail': () => fails },
    })
    const app = await testApp(t, {
      outside: [tide, definePlugin({ name: 'moon' })],
      settings: { pluginsOff: ['moon'] },
    })
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
    await app.as('admin').get('/api/video/')
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })

    await go('/settings/plugins/')
    const tideGroup = page.locator('.settings-group', { has: page.getByRole('heading', { name: 'The tide' }) })
    await tideGroup.getByText('Tells when the water is high.').waitFor()
    const words = (await tideGroup.innerText()).replace(/\s+/g, ' ')
    assert.match(words, /tide · version 1\.2 · by Ann · needs video · Website/)
    assert.match(words, /Tasks: Tell Settings: below Failed .*: out of tea/)
    assert.equal(await tideGroup.getByRole('link', { name: 'Website' }).getAttribute('href'), 'https://tide.example/')
    const moonGroup = page.locator('.settings-group', { has: page.getByRole('heading', { name: 'moon' }) })
    await moonGroup.getByText('turned off by AV_PLUGINS_OFF').waitFor()
    await page.getByText(/A plugin may do everything that the server may/).waitFor()
    await page.getByRole('switch', { name: 'The tide is on' }).click()
    await tideGroup.getByText(/turning it on takes effect after a restart/).waitFor()
    assert.equal((await app.as('admin').get('/api/tide/')).status, 503)
    await page.getByRole('switch', { name: 'The tide is on' }).click()
    await until(
      'it is on again',
      async () => (await app.as('admin').get('/api/tide/')).status,
      (status) => status === 200,
    )
    await check()
    await shot('settings-plugins-added')
    await page.getByLabel('Name of the npm package').fill('/etc/passwd')
    await page.getByRole('button', { name: 'Add a plugin' }).click()
    await page.getByText('Not the name of an npm package').waitFor()
  })

  test('a cookie is stored once the platform accepts it, tested again, and deleted', async (t) => {
    const { settings } = await startTestPlatform(t)
    const app = await testApp(t, { settings: { port: 0, ...settings } })
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/cookie/')
    await page.getByRole('button', { name: 'Test and save' }).click()
    await page.getByText('This field is required').waitFor()
    await page.getByLabel('Contents of cookies.txt').fill('SID=one')
    await page.getByRole('button', { name: 'Test and save' }).click()
    await page.locator('.field .error').filter({ hasNotText: 'This field is required' }).waitFor()
    await check([/400/])
    await shot('settings-cookie-wrong')

    await page.getByLabel('Contents of cookies.txt').fill(COOKIE)
    await page.getByRole('button', { name: 'Test and save' }).click()
    await page.getByText('YouTube accepted the cookie on').waitFor(PATIENCE)
    assert.equal(await page.getByLabel('Contents of cookies.txt').inputValue(), '')
    await shot('settings-cookie-stored')
    await page.getByRole('button', { name: 'Test cookie' }).click()
    await page.getByText('YouTube accepts the cookie', { exact: true }).waitFor(PATIENCE)
    await page.getByRole('switch', { name: 'Use the cookie' }).uncheck()
    await page.locator('.option', { hasText: 'Use the cookie' }).getByText('Saved').waitFor()
    assert.equal((await app.as('admin').get('/api/cookie/')).body.cookie_enabled, false)
    await check([/400/])

    await page.getByRole('button', { name: 'Delete cookie' }).click()
    await page.getByText('everything in the archive stay').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete cookie' }).click()
    await page.getByRole('heading', { name: 'The cookie', exact: true }).waitFor({ state: 'detached' })
  })

  test('a task is started, shows its result and its log, and asks before it removes videos', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/tasks/')

    await page.getByRole('button', { name: 'Start: Rescan files' }).click()
    const row = page.locator('.tasks li', { hasText: 'Rescan files' }).first()
    await row.getByText('done').waitFor()
    await row.getByText('The files of 2 of 2 videos were not found').first().waitFor()
    await row.locator('summary').click()
    await row.locator('p', { hasText: 'The files of 2 of 2 videos were not found' }).first().waitFor()
    await row.getByRole('region', { name: 'Log of Rescan files' }).waitFor()
    await check()
    await shot('settings-task-held-back')
    await row.getByRole('button', { name: 'Remove these videos' }).click()
    await page.getByText('If a disk is just not connected, connect it first').waitFor()
    await check()
    await page.getByRole('button', { name: 'Cancel' }).click()
    assert.deepEqual(await app.ids('video'), ['v1', 'v2'])
    await row.getByRole('button', { name: 'Remove these videos' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove these videos' }).click()
    await page
      .locator('.tasks li', { hasText: 'done' })
      .filter({ hasText: 'Rescan files', hasNotText: 'not found' })
      .first()
      .waitFor()
    assert.deepEqual(await app.ids('video'), [])
  })

  test('a running task is stopped, also while the platform does not respond', async (t) => {
    const { platform, settings } = await startTestPlatform(t)
    platform.faults.set('global', { name: 'api_slow', ms: 60_000 })
    const app = await testApp(t, { settings: { port: 0, ...settings } })
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/tasks/')
    await app
      .as('admin')
      .post('/api/download/', { data: [{ youtube_id: `${settings.platformUrl}/@harbour`, status: 'pending' }] })
    const row = page.locator('.tasks li', { hasText: 'Add to the queue' })
    await row.getByText('running').waitFor()
    await check()
    await shot('settings-task-running')

    await row.getByRole('button', { name: 'Stop Add to the queue', exact: true }).click()
    await row.getByText('done').waitFor()
    await page.getByText('Nothing is running').first().waitFor()
  })

  test('a task that does not react to a stop is stopped at once, after a question', async (t) => {
    const waits = defineTask({
      name: 'tide.wait',
      title: 'Wait for the tide',
      lane: 'light',
      payload: Type.Object({}),
      apiStop: true,
      run: ({ signal }) =>
        new Promise<null>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const app = await testApp(t, { outside: [definePlugin({ name: 'tide', tasks: [waits] })] })
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    await app.app.jobs.start('tide.wait')
    await go('/settings/tasks/')
    const row = page.locator('.tasks li', { hasText: 'Wait for the tide' })

    await row.getByRole('button', { name: 'Stop Wait for the tide', exact: true }).click()
    await row.getByText('Stopping').waitFor()
    await row.getByRole('button', { name: 'Stop Wait for the tide at once' }).click()
    await page.getByText('Unfinished work will be lost: a download starts over the next time').waitFor()
    await check()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop at once' }).click()

    await row.getByText('stopped').waitFor()
    await page.getByText('Nothing is running').first().waitFor()
  })

  test('a snapshot is taken, restored after an explanation, and deleted', async (t) => {
    const app = await testApp(t)
    await app.settled()
    await app.given(aChannel(), aVideo({ id: 'kept' }))
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/safety/')
    const restores = page.getByRole('button', { name: /^Restore the snapshot/ })
    await restores.first().waitFor()
    const before = await restores.count()
    await app.clock.advance(60_000)
    await page.getByRole('button', { name: 'Take a snapshot now' }).click()
    await restores.nth(before).waitFor()
    await page.getByRole('button', { name: 'Take a snapshot now' }).and(page.locator(':focus')).waitFor()
    await app.given(aVideo({ id: 'newer' }))

    await restores.first().click()
    await page
      .getByText(
        'Everything the archive knows about videos, channels, playlists, subtitles and comments will go back to',
      )
      .waitFor()
    await check()
    await shot('settings-snapshot-restore')
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Nothing else can be changed until it is done').waitFor()
    await app.settled()
    assert.deepEqual(await app.ids('video'), ['kept'])
    await page
      .getByRole('button', { name: /^Delete the snapshot/ })
      .first()
      .click()
    await page.getByText('The archive itself will not change').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Snapshot deleted').waitFor()
    await restores.nth(before).waitFor({ state: 'detached' })
  })

  test('a backup that was made while documents were missing says so, and people can declare that nothing is missing', async (t) => {
    const app = await testApp(t)
    await app.settled()
    await app.given(aChannel(), aVideo({ id: 'v1' }), aPlaylist({ id: 'PL1' }))
    const backUp = async () => {
      await app.as('admin').post('/api/backup/')
      await app.settled()
    }
    await backUp()
    await app.clock.advance(24 * 3_600_000)
    await app.app.index.collection(app.app.index.definitions.find(({ name }) => name === 'playlist')!).remove('PL1')
    await backUp()
    const { page, go, check } = await openPage(t, app.url, { size: 'desktop', colorScheme: 'light', as: ADMIN })
    await go('/settings/safety/')

    await page
      .getByText('That backup is kept next to the good ones, and none of them will be replaced or removed')
      .waitFor()
    await check()
    await page.getByRole('button', { name: 'Nothing is missing', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Nothing is missing' }).click()

    await page.getByRole('link', { name: /^Download av_backup-20260116-auto/ }).waitFor()
    await page
      .getByText('That backup is kept next to the good ones, and none of them will be replaced or removed')
      .waitFor({ state: 'detached' })
  })

  for (const [size, colorScheme] of [
    ['phone', 'light'],
    ['desktop', 'dark'],
  ] as const) {
    test(`a backup is made, downloaded, previewed and restored, deleted by its name, and uploaded again (${size})`, async (t) => {
      const app = await testApp(t)
      await app.settled()
      await app.given(
        aChannel(),
        aVideo({ id: 'kept', width: 0, height: 0 }),
        aVideo({ id: 'changed' }),
        aVideo({ id: 'gone' }),
      )
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: ADMIN })
      await go('/settings/safety/')
      await page.getByText('There are no backups yet.').waitFor()
      await page.getByRole('button', { name: 'Make a backup now' }).click()
      const link = page.getByRole('link', { name: /^Download av_backup-/ })
      await link.waitFor()
      await check()
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
      const zip = await readFile(await download.path())
      assert.equal(zip.subarray(0, 2).toString(), 'PK')
      await app.as('admin').delete('/api/video/gone/')
      await app.given(aVideo({ id: 'changed', title: 'Another title' }), aVideo({ id: 'newer' }))

      await page.getByRole('button', { name: /^Restore av_backup/ }).click()
      const row = page.getByRole('row', { name: /^Videos/ })
      await row.waitFor()
      assert.equal((await row.innerText()).replace(/\s+/g, ' '), 'Videos 3 3 1 1 1')
      await page.getByText('To get back videos whose files are newer, run “Rescan files” under Tasks').waitFor()
      await check()
      await shot('settings-restore')
      await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
      await page.getByText('Nothing else can be changed until it is done').waitFor()
      await app.settled()
      assert.deepEqual(await app.ids('video'), ['changed', 'gone', 'kept'])

      const name = download.suggestedFilename()
      await page.getByRole('button', { name: `Delete ${name}` }).click()
      assert.equal(await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).isDisabled(), true)
      await page.getByLabel(`Type ${name} to delete it`).fill(name)
      await check()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('There are no backups yet.').waitFor()

      const choose = (file: { name: string; buffer: Buffer }) =>
        page.getByLabel('Upload a backup', { exact: true }).setInputFiles({ ...file, mimeType: 'application/zip' })
      await choose({ name: 'holiday.zip', buffer: zip })
      await page.getByText('“holiday.zip” is not the name of a backup').waitFor()
      await choose({ name, buffer: Buffer.from('PK no zip at all') })
      await page.getByRole('alert').filter({ hasNotText: 'holiday' }).waitFor()
      await check([/422/])
      await choose({ name, buffer: zip })
      await link.waitFor()
    })
  }
})

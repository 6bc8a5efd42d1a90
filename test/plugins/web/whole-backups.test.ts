/** Whole backups on the page: made, rehearsed, previewed with their passphrase, and prepared for a restore. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { epochSeconds } from 'archivolt'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aVideo, PASSWORD, testApp } from '../../support/plugin-testing.ts'
import '../../support/slow.ts'

const as = { username: 'admin', password: PASSWORD }
const PASSPHRASE = 'correct horse battery staple'

describe('whole backups', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`are made, rehearsed and restored: ${size}`, async (t) => {
      const app = await testApp(t)
      await app.download(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
      await app.settled()
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })

      await go('/settings/safety/')
      await page.getByText('There is no backup of everything yet.').waitFor()
      await page.getByLabel('Passphrase of backups').fill(PASSPHRASE)
      const saved = page.waitForResponse((reply) => reply.request().method() === 'POST')
      await page.getByLabel('Passphrase of backups').press('Enter')
      await saved
      await page.reload()
      await page.getByRole('button', { name: 'Back up everything' }).click()
      await page.getByText(/^Last backup: /).waitFor()
      assert.equal((await page.content()).includes(PASSPHRASE), false)
      await page.getByText('No backup has been restored as a test yet.').waitFor()
      const { runs } = app.app.wholeBackups
      const proven = { file: '', succeededAt: epochSeconds(app.clock), seconds: 31, documents: { video: 10_123 } }
      await runs.succeeded('rehearsal', proven)
      await page.reload()
      await page.getByText(/^Last successful test restore: .*, 10,123 of 10,123 videos, 31 s\.$/).waitFor()
      await shot(`settings-whole-${size}`)
      await check()

      await page.getByRole('button', { name: /^Restore av_whole-/ }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Passphrase of the backup').fill('another')
      await dialog.getByRole('button', { name: 'Show what would change' }).click()
      await dialog.getByText(/The passphrase is wrong, or the beginning/).waitFor()
      await dialog.getByLabel('Passphrase of the backup').fill(PASSPHRASE)
      await dialog.getByRole('button', { name: 'Show what would change' }).click()
      await dialog.getByText('Accounts that will be replaced by those with the same name: admin, user').waitFor()
      await shot(`settings-whole-restore-${size}`)
      await check([/422/])
      await dialog.getByRole('button', { name: 'Restore' }).click()
      await dialog.waitFor({ state: 'detached' })
      await app.settled()
      assert.equal((await readdir(app.dataDir)).filter((name) => name.startsWith('restored-')).length, 1)

      await go('/settings/health/')
      await page.getByText(/^Last successful test restore: /).waitFor()
      await runs.failed('rehearsal', 'The disk is on fire', epochSeconds(app.clock))
      await page.reload()
      await page.getByText(/^Test restores started failing .*: The disk is on fire/).waitFor()
      await shot(`settings-health-whole-${size}`)
    })

  for (const size of ['desktop', 'phone'] as const)
    test(`are uploaded, and data that restores have replaced is listed: ${size}`, async (t) => {
      const app = await testApp(t)
      await app.download(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
      await app.settled()
      const work = { id: 'test', signal: new AbortController().signal, log: app.app.log, progress: () => undefined }
      const { filename } = await app.app.wholeBackups.make(work, PASSPHRASE)
      const path = join(app.dataDir, 'backups', filename)
      const buffer = await readFile(path)
      await rm(path)
      const aside = 'before-restore-20260101T030000'
      await mkdir(join(app.dataDir, aside))
      await writeFile(join(app.dataDir, aside, 'ledger.sqlite'), 'of before')
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })
      await go('/settings/safety/')
      const choose = (name: string, content: Buffer) =>
        page
          .locator('input[type=file][accept=".tar,.age"]')
          .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: content })
      const dialog = page.getByRole('dialog')
      const upload = dialog.getByRole('button', { name: 'Upload', exact: true })

      await choose('holiday.tar', buffer)
      await upload.click()
      await dialog.getByText(/“holiday.tar” is not the name of a backup of everything/).waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await choose(filename.replace('.tar', ' (1).tar'), buffer)
      await dialog.getByLabel('Passphrase of the backup').fill('another')
      await upload.click()
      await dialog.getByText(/The passphrase is wrong, or the beginning/).waitFor()
      await shot(`settings-whole-upload-${size}`)
      await check([/422/])
      await dialog.getByLabel('Passphrase of the backup').fill(PASSPHRASE)
      await upload.click()
      await dialog.getByText('Accounts that will be replaced by those with the same name: admin, user').waitFor()
      assert.ok((await readdir(join(app.dataDir, 'backups'))).includes(filename))
      await dialog.getByRole('button', { name: 'Restore' }).click()
      await dialog.waitFor({ state: 'detached' })
      await app.settled()
      await page
        .getByText(/Restart the server to finish the restore/)
        .first()
        .waitFor()
      await shot(`settings-whole-waiting-${size}`)
      await check([/422/])
      await page.getByRole('button', { name: 'Discard the restore' }).click()
      await page.getByRole('button', { name: 'Discard the restore' }).waitFor({ state: 'detached' })
      assert.equal((await readdir(app.dataDir)).filter((name) => name.startsWith('restored-')).length, 0)

      await page.getByRole('button', { name: `Delete ${aside}` }).click()
      await dialog.getByRole('button', { name: 'Delete' }).click()
      await page.getByText(aside).waitFor({ state: 'detached' })
      assert.ok(!(await readdir(app.dataDir)).includes(aside))
    })

  test('an upload shows its progress, and can be canceled', async (t) => {
    const app = await testApp(t)
    await app.given(aVideo({ id: 'v1' }))
    const { page, go, shot } = await openPage(t, app.url, { size: 'desktop', as })
    let stored = 0
    // The first upload is the check of the file's beginning; the second is held back.
    await page.route('**/api/whole/**', async (route) => {
      if (route.request().method() !== 'PUT') return route.fallback()
      if (route.request().url().includes('start=')) return route.fulfill({ json: { success: true } })
      stored++
    })
    await go('/settings/safety/')
    const buffer = Buffer.alloc(4 << 20)
    const input = page.locator('input[type=file][accept=".tar,.age"]')
    await input.setInputFiles({ name: 'av_whole-20260101-030000.tar', mimeType: 'application/x-tar', buffer })
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click()
    await dialog.getByRole('progressbar').waitFor()
    await shot('settings-whole-uploading')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(stored, 1)
  })
})

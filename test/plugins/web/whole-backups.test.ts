/** Backups of everything on the page: made, rehearsed, previewed with their passphrase, and prepared to be restored. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { epochSeconds } from 'archivolt'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aVideo, PASSWORD, testApp } from '../../support/plugin-testing.ts'
import '../../support/slow.ts'

const as = { username: 'admin', password: PASSWORD }
const PASSPHRASE = 'correct horse battery staple'

describe('backups of everything', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`are made, proven and restored: ${size}`, async (t) => {
      const app = await testApp(t)
      await app.download(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
      await app.settled()
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })

      await go('/settings/safety/')
      await page.getByText('There is no backup of everything yet.').waitFor()
      await page.getByLabel('Passphrase of backups').fill(PASSPHRASE)
      await page.getByLabel('Passphrase of backups').press('Enter')
      await page.reload()
      await page.getByRole('button', { name: 'Back up everything' }).click()
      await page.getByText(/^Last backup: /).waitFor()
      assert.equal((await page.content()).includes(PASSPHRASE), false)
      await page.getByText('No backup has been restored as a rehearsal yet.').waitFor()
      const { runs } = app.app.wholeBackups
      const proven = { file: '', succeededAt: epochSeconds(app.clock), seconds: 31, documents: { video: 10_123 } }
      await runs.succeeded('rehearsal', proven)
      await page.reload()
      await page.getByText(/^Last proven restore: .*, 10,123 of 10,123 videos, 31 s\.$/).waitFor()
      await shot(`settings-whole-${size}`)
      await check()

      await page.getByRole('button', { name: /^Restore av_whole-/ }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Passphrase of the backup').fill('another')
      await dialog.getByRole('button', { name: 'Show what would change' }).click()
      await dialog.getByText(/The passphrase is not the one of this backup/).waitFor()
      await dialog.getByLabel('Passphrase of the backup').fill(PASSPHRASE)
      await dialog.getByRole('button', { name: 'Show what would change' }).click()
      await dialog.getByText('Accounts that are replaced by those of the same name: admin, user').waitFor()
      await shot(`settings-whole-restore-${size}`)
      await check([/422/])
      await dialog.getByRole('button', { name: 'Restore' }).click()
      await dialog.waitFor({ state: 'detached' })
      await app.settled()
      assert.equal((await readdir(app.dataDir)).filter((name) => name.startsWith('restored-')).length, 1)

      await go('/settings/health/')
      await page.getByText(/^Last proven restore: /).waitFor()
      await runs.failed('rehearsal', 'The disk is on fire', epochSeconds(app.clock))
      await page.reload()
      await page.getByText(/^Restores have failed since .*: The disk is on fire/).waitFor()
      await shot(`settings-health-whole-${size}`)
    })
})

/** The second site on the page: set up, tested, backed up to, and shown in Health; with the real restic. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { lastFirst } from '../../support/last-first.ts'
import { noRestic } from '../../support/restic.ts'
import { aVideo, PASSWORD, testApp } from '../../support/testing.ts'

describe('the second site', { skip: noBrowser || noRestic }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`is set up, tested and used: ${size}`, async (t) => {
      const scope = lastFirst(t)
      const folder = await mkdtemp(join(tmpdir(), 'av-offsite-'))
      scope.after(() => rm(folder, { recursive: true, force: true }))
      const app = await testApp(scope)
      await app.given(aVideo({ id: 'v1', channelId: 'UC1' }))
      const as = { username: 'admin', password: PASSWORD }
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })

      await go('/settings/safety/')
      await page.getByText('No second site is set up yet.').waitFor()
      for (const [label, text] of [
        ['Repository', join(folder, 'repository')],
        ['Password of the repository', 'correct horse'],
      ] as const) {
        await page.getByLabel(label, { exact: true }).fill(text)
        const saved = page.waitForResponse((reply) => reply.request().method() === 'POST')
        await page.getByLabel(label, { exact: true }).press('Enter')
        await saved
      }
      await page.reload()
      await page.getByText('Nothing has been backed up there yet.').waitFor()
      assert.equal((await page.content()).includes('correct horse'), false)
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByText('The second site can be used').waitFor()
      await page.getByRole('button', { name: 'Back up now' }).click()
      await page.getByText(/^Last backup: .*files/).waitFor()
      await shot(`settings-second-site-${size}`)

      await go('/settings/health/')
      await page.getByText(/^Last backup: .*files/).waitFor()
      await check()
    })
})

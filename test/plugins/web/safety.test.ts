/** Safety on the page: how much was read, damaged files, and accepting them; the checksums of a video. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aVideo, type TestApp, testApp } from '../../support/plugin-testing.ts'
import { PASSWORD } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const TITLE = 'The harbour <b>at night</b>'

async function withDamage(app: TestApp): Promise<void> {
  const { rows } = app.app.checksums
  await app.download(aVideo({ id: 'v1', channelId: 'UC1', title: TITLE }))
  await app.settled()
  const row = rows.get({ kind: 'video', id: 'v1', part: '' })!
  await rows.set(row, { state: 'rotten', found_at: row.read_at })
}

describe('safety', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`names a damaged file until somebody accepts it: ${size}`, async (t) => {
      const app = await testApp(t)
      await withDamage(app)
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })

      await go('/settings/health/')
      await page.getByText('1 damaged file has not been replaced.').waitFor()
      await page.getByText('The data folder is on a disk of this machine.').waitFor()
      await shot(`settings-health-safety-${size}`)
      await go('/settings/safety/')
      await page.getByText('1 damaged file has not been replaced.').waitFor()
      await shot(`settings-safety-${size}`)
      await page.getByRole('button', { name: `Accept “${TITLE}” as it is` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click()
      await page.getByText('Files that have changed').waitFor({ state: 'detached' })
      assert.equal(app.app.checksums.alarms(), 0)

      await page.getByRole('button', { name: 'Read all files now' }).click()
      await page.getByText('No file is damaged.').waitFor()
      await app.settled()
      await check()
    })

  test('damaged files are shown in pages, from the last of which one comes back', async (t) => {
    const app = await testApp(t)
    const { rows } = app.app.checksums
    for (const id of ['v1', 'v2']) {
      await app.download(aVideo({ id, channelId: 'UC1', title: id }))
      await app.settled()
      const row = rows.get({ kind: 'video', id, part: '' })!
      await rows.set(row, { state: 'rotten', found_at: row.read_at })
    }
    await app.as('admin').post('/api/config/user/', { page_size: 1 })
    const { page, go } = await openPage(t, app.url, { as })
    await go('/settings/safety/')
    const faults = page.getByRole('button', { name: /^Accept “v[12]” as it is$/ })

    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByRole('button', { name: 'Newer' }).click()
    await page.getByRole('button', { name: 'Older' }).waitFor()

    assert.equal(await faults.count(), 1)
  })

  test('a video shows the checksums of its files', async (t) => {
    const app = await testApp(t)
    await withDamage(app)
    const { page, go, check, shot } = await openPage(t, app.url, { as })

    await go('/video/v1/')
    await page.getByText('File and streams').click()
    await page.getByText('SHA-256 of the video').waitFor()
    const [film] = app.app.checksums.rows.of('v1')
    await page.getByText(film!.sha256!.toString('hex')).waitFor()
    await page.getByText(/damaged · last read/).waitFor()
    await shot('video-checksums')
    await check()
  })
})

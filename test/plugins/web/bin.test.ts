/** The bin on the page: what was removed is found, restored, and deleted for good. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }

describe('the bin', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`lists what was removed, restores it and deletes it for good: ${size}`, async (t) => {
      const app = await testApp(t)
      const titles = { v1: 'The harbour <b>at night</b>', v2: 'Fog signals' }
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Harbour' }),
        ...Object.entries(titles).map(([id, title]) => aVideo({ id, channelId: 'UC1', title })),
      )
      for (const id of Object.keys(titles)) await app.as('admin').delete(`/api/video/${id}/`)
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: ADMIN })

      await go('/settings/bin/')
      await page.getByText(titles.v1).waitFor()
      await shot(`settings-bin-${size}`)
      await page.getByLabel('Search by title or channel').fill('signals')
      await page.getByText(titles.v1).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: `Restore “${titles.v2}”` }).click()
      await page.getByText('Nothing here.').waitFor()
      assert.deepEqual(await app.ids('video'), ['v2'])

      await page.getByLabel('Search by title or channel').fill('')
      await page.getByRole('button', { name: `Delete “${titles.v1}” for good` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click()
      await page.getByText('Nothing here.').waitFor()
      assert.equal((await app.as('admin').get('/api/bin/')).body.paginate.total_hits, 0)
      await check()
    })
})

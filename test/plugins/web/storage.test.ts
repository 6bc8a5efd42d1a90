/** Statistics → Storage on the page: how full the disk is, and freeing space, with Undo. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }

describe('storage', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`shows how full the disk is, and frees space, with Undo: ${size}`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Harbour' }),
        ...['Fog signals', 'Herring', 'Tides'].map((title, at) =>
          aVideo({ id: `v${at}`, channelId: 'UC1', title, media_size: (3 - at) * 1_000_000_000 }),
        ),
      )
      for (const id of ['v0', 'v1', 'v2']) {
        const path = app.app.media.pathOf('UC1', id)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, id)
        if (id !== 'v2') await app.as('admin').post('/api/watched/', { id, is_watched: true })
      }
      await app.as('admin').post('/api/group/', { name: 'Sea', members: [{ kind: 'channel', id: 'UC1' }] })
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: ADMIN })

      await go('/statistics/')
      const storage = page.getByRole('region', { name: 'Storage' })
      await storage.getByText(/Full in|Nothing was added/).waitFor()
      await storage.getByText('Groups', { exact: true }).click()
      await storage.getByText('Sea').waitFor()
      await storage.getByRole('button', { name: 'Free up space' }).click()
      await storage.getByRole('checkbox', { name: 'Select “Herring”' }).uncheck()
      assert.equal(await storage.getByRole('checkbox').count(), 2, 'what nobody has watched is not proposed')
      await shot(`storage-${size}`)
      await storage.getByRole('button', { name: /^Delete 1 video/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Undo' }).waitFor()
      assert.deepEqual(await app.ids('video'), ['v1', 'v2'])
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Restored').waitFor()
      assert.deepEqual(await app.ids('video'), ['v0', 'v1', 'v2'])
      await check()
    })
})

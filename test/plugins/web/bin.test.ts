/** The bin on the page: what was removed is found, restored, and deleted for good. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aNewItem, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

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

  for (const size of ['desktop', 'phone'] as const)
    test(`what was marked, unsubscribed, cleared or deleted comes back by Undo: ${size}`, async (t) => {
      const app = await testApp(t)
      await app.app.platform.command('pause')
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Harbour', channel_subscribed: true }),
        aVideo({ id: 'v1', channelId: 'UC1', title: 'Fog signals' }),
        aPlaylist({ id: 'PL1', playlist_name: 'Tides', entries: ['v1'] }),
      )
      await app.app.playlists.takeInAll()
      await app.app.queue.add([aNewItem('queued11111'), aNewItem('queued22222')], 'pending')
      const { page, go, check } = await openPage(t, app.url, { size, as: ADMIN })
      const undo = async (told: string, back: string) => {
        await page.getByText(told).waitFor()
        await page.getByRole('button', { name: 'Undo' }).click()
        await page.getByText(back).waitFor()
      }
      const subscribed = async () =>
        ((await app.doc('channel', 'UC1')) as { channel_subscribed: boolean }).channel_subscribed

      await go('/channel/UC1/')
      await page.getByRole('button', { name: 'Subscribed' }).click()
      await undo('No longer subscribed to Harbour', 'Subscribed to Harbour')
      assert.equal(await subscribed(), true)

      await page.getByRole('button', { name: 'More for Harbour' }).click()
      await page.getByRole('menuitem', { name: 'Mark all as watched' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Mark as watched' }).click()
      await undo('All marked as watched', 'back as they were')
      assert.equal((await app.as('admin').get('/api/video/?watch=watched')).body.paginate.total_hits, 0)

      await go('/downloads/')
      await page.getByRole('button', { name: 'More for all of these' }).first().click()
      await page.getByRole('menuitem', { name: 'Remove all' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove all' }).click()
      await undo('2 videos removed', '2 videos put back')
      assert.equal(app.app.queue.count({ filter: 'pending' }), 2)

      await go('/playlist/PL1/')
      await page.getByRole('button', { name: 'More for Tides' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('switch').click()
      await page.getByRole('dialog').getByRole('textbox').fill('Tides')
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await undo('Tides deleted', 'Restored')
      assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [['PL1'], ['v1']])
      await check([/404/]) // the playlist that is gone is asked for once more
    })
})

/** The bin on the page: removed entries are found, restored, and deleted for good. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { noBrowser, openPage } from '../../support/browser.ts'
import { makePicture } from '../../support/ffmpeg.ts'
import { until } from '../../support/server.ts'
import { aChannel, aNewItem, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }

describe('the bin', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`lists removed entries, restores them and deletes them for good: ${size}`, async (t) => {
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
      assert.equal(
        await page.getByRole('button', { name: 'Empty the bin' }).count(),
        0,
        'it would delete the other one',
      )
      await page.getByRole('button', { name: `Restore “${titles.v2}”` }).click()
      await page.getByText('No matches').waitFor()
      assert.deepEqual(await app.ids('video'), ['v2'])

      await page.getByLabel('Search by title or channel').fill('')
      await page.getByRole('button', { name: `Delete “${titles.v1}” for good` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click()
      await page.getByText('Nothing here.').waitFor()
      assert.equal(await page.locator('.option-foot').count(), 0, 'no empty row')
      assert.equal((await app.as('admin').get('/api/bin/')).body.paginate.total_hits, 0)
      await check()
    })

  test('other entries stay selected when one is restored', async (t) => {
    const app = await testApp(t)
    const ids = ['v1', 'v2', 'v3']
    await app.given(aChannel({ id: 'UC1' }), ...ids.map((id) => aVideo({ id, channelId: 'UC1', title: `Tide ${id}` })))
    for (const id of ids) await app.as('admin').delete(`/api/video/${id}/`)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/bin/')
    for (const id of ['v1', 'v2']) await page.getByRole('checkbox', { name: `Select Tide ${id}` }).check()

    await page.getByRole('button', { name: 'Restore “Tide v1”' }).click()
    await page.getByRole('checkbox', { name: 'Select Tide v1' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Restore “Tide v3”' }).click()
    await page.getByRole('checkbox', { name: 'Select Tide v3' }).waitFor({ state: 'detached' })

    await page
      .getByRole('toolbar', { name: 'Selected in the bin' })
      .getByText(/^1 selected/)
      .waitFor()
    assert.equal(await page.getByRole('checkbox', { name: 'Select Tide v2' }).isChecked(), true)
  })

  for (const size of ['desktop', 'phone'] as const)
    test(`restores or deletes several selected entries: ${size}`, async (t) => {
      const app = await testApp(t)
      const ids = ['v1', 'v2', 'v3', 'v4', 'v5']
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Harbour' }),
        ...ids.map((id) => aVideo({ id, channelId: 'UC1', title: `Tide ${id}`, active: id !== 'v5', media_size: 5e8 })),
      )
      for (const id of ids) await makePicture(app.app.media.artPathOf('video', id))
      for (const id of ids) await app.as('admin').delete(`/api/video/${id}/`)
      await app.given(aVideo({ id: 'v3', channelId: 'UC1' }))
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: ADMIN })
      const choose = (id: string) => page.getByRole('checkbox', { name: `Select Tide ${id}` }).check()
      const bar = page.getByRole('toolbar', { name: 'Selected in the bin' })
      const left = async () => {
        const { data } = (await app.as('admin').get('/api/bin/')).body
        return data.map((entry: { platform_id: string }) => entry.platform_id).sort()
      }

      await go('/settings/bin/')
      await page.getByText('the oldest go first').waitFor()
      for (const id of ['v1', 'v2', 'v3']) await choose(id)
      await bar.getByText('3 selected (1.5 GB)').waitFor()
      const picture = page.getByRole('listitem').filter({ hasText: 'Tide v1' }).locator('img')
      await picture.evaluate((img: HTMLImageElement) => img.decode())
      await shot(`settings-bin-selected-${size}`)
      await bar.getByRole('button', { name: 'Restore' }).click()
      await page.getByText('Tide v3: It is in the archive again: remove it there first').waitFor()
      assert.deepEqual(
        [await app.ids('video'), await left()],
        [
          ['v1', 'v2', 'v3'],
          ['v3', 'v4', 'v5'],
        ],
      )
      await bar.waitFor({ state: 'detached' })

      await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await page.getByRole('checkbox', { name: 'Select Tide v3' }).uncheck()
      await bar.getByRole('button', { name: 'Delete' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Delete 2 entries for good?').waitFor()
      await dialog.getByText('1 of them is no longer on YouTube').waitFor()
      await dialog.getByRole('button', { name: 'Delete for good' }).click()
      await page.getByText('Deleted for good', { exact: true }).waitFor()
      assert.deepEqual(await left(), ['v3'])
      await check()
    })

  for (const size of ['desktop', 'phone'] as const)
    test(`Undo restores what was marked, unsubscribed, cleared or deleted: ${size}`, async (t) => {
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
      await undo('All marked as watched', 'was restored')
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
      await page.getByRole('link', { name: 'Tides', exact: true }).waitFor()
      assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [['PL1'], ['v1']])
      await check([/404/]) // the page requests the deleted playlist once more
    })

  test('a video restored by Undo appears immediately, at its position', async (t) => {
    const app = await testApp(t)
    const ids = Array.from({ length: 8 }, (_, at) => `v${at}`)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour' }),
      ...ids.map((id, at) => aVideo({ id, channelId: 'UC1', title: `Film ${at}`, published: `2024-05-${20 - at}` })),
      aPlaylist({ id: 'PL1', playlist_name: 'Tides', entries: ids }),
    )
    await app.app.playlists.takeInAll()
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const shown = (list: string) => page.getByRole('list', { name: list }).getByRole('link', { name: /^Film \d$/ })
    const all = ids.map((_, at) => `Film ${at}`)
    const becomes = (list: string, titles: string[]) =>
      until(
        `${titles} are shown`,
        () => shown(list).allTextContents(),
        (now) => isDeepStrictEqual(now, titles),
      )
    const agree = () => page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    const choose = async (title: string, list?: string) => {
      if (list) await page.getByRole('list', { name: list }).getByRole('link', { name: title, exact: true }).focus()
      await page.getByRole('button', { name: `More for ${title}` }).click()
      await page.getByRole('menuitem', { name: 'Delete', exact: true }).click()
      await agree()
    }
    const undo = () => page.getByRole('button', { name: 'Undo' }).click()

    await go('/?type=videos')
    await becomes('All videos', all)
    await choose('Film 3', 'All videos')
    await becomes('All videos', all.toSpliced(3, 1))
    await shown('All videos').nth(1).focus()
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await becomes('All videos', all)
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Film 1', 'it keeps the focus')

    await shown('All videos').nth(4).focus()
    await page.keyboard.press('x')
    await shown('All videos').nth(5).focus()
    await page.keyboard.press('x')
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await agree()
    await becomes('All videos', all.toSpliced(4, 2))
    await undo()
    await becomes('All videos', all)

    await go('/video/v2/')
    await choose('Film 2')
    await becomes('All videos', all.toSpliced(2, 1))
    await undo()
    await becomes('All videos', all)

    await go('/playlist/PL1/')
    await becomes('Videos of this playlist', all)
    await choose('Film 6', 'Videos of this playlist')
    await becomes('Videos of this playlist', all.toSpliced(6, 1))
    await undo()
    await becomes('Videos of this playlist', all)
  })

  test('a page whose last entry was deleted leads to the previous page', async (t) => {
    const app = await testApp(t)
    const ids = Array.from({ length: 3 }, (_, at) => `v${at}`)
    await app.as('admin').post('/api/config/user/', { page_size: 2 })
    await app.given(aChannel({ id: 'UC1' }), ...ids.map((id) => aVideo({ id, channelId: 'UC1', title: `Tide ${id}` })))
    for (const id of ids) await app.as('admin').delete(`/api/video/${id}/`)
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/bin/')
    await page.getByRole('button', { name: 'Older' }).click()
    await page
      .getByRole('button', { name: /^Restore “Tide v\d”/ })
      .nth(1)
      .waitFor({ state: 'detached' })

    await page.getByRole('button', { name: /^Restore “Tide v\d”/ }).click()

    await page
      .getByRole('button', { name: /^Restore “Tide v\d”/ })
      .nth(1)
      .waitFor()
    assert.equal(await page.getByRole('button', { name: 'Older' }).count(), 0)
    await check([/404/])
  })
})

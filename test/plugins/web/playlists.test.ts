/**
 * Playlists as people use them: created, filled, reordered by pointer and by keys, subscribed to, deleted with and
 * without their videos.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdUp, lateFrames, noBrowser, openPage, type Page, type Request } from '../../support/browser.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const AS = { username: 'admin', password: PASSWORD }
const OWN = 'av_playlist_evening'

async function filled(t: Parameters<typeof testApp>[0], length = 6): Promise<TestApp> {
  const app = await testApp(t)
  const ids = Array.from({ length }, (_, index) => `v${index}`)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Old Mill' }),
    ...ids.map((id, index) => aVideo({ id, channelId: 'UC1', title: `Film ${index}`, playlist: [OWN] })),
    aPlaylist({
      id: OWN,
      playlist_name: 'For <b>evenings</b>',
      playlist_type: 'custom',
      playlist_channel: null,
      playlist_channel_id: null,
      playlist_active: false,
      entries: ids.map((id, index) => ({
        platform_id: id,
        title: `Film ${index}`,
        uploader: 'Old Mill',
        downloaded: true,
      })),
    }),
    aPlaylist({
      id: 'PLgrain',
      playlist_name: 'From grain to loaf',
      playlist_channel: 'Old Mill',
      playlist_subscribed: true,
      playlist_description: 'All in order. https://example.org/',
      entries: [
        { platform_id: 'v1', title: 'Film 1', downloaded: true },
        { platform_id: 'gone1111111', title: 'The lost film', uploader: 'Old Mill' },
        { platform_id: 'v2', title: 'Film 2', downloaded: true },
      ],
    }),
  )
  await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: true })
  return app
}

const orderOf = async (app: TestApp): Promise<string[]> =>
  (await app.doc('playlist', OWN)).playlist_entries.map(({ platform_id }: { platform_id: string }) => platform_id)

const shownOrder = (page: Page): Promise<string[]> => page.locator('.entry .card-title').allInnerTexts()

const choose = async (page: Page, title: string, action: string): Promise<void> => {
  await page.getByRole('link', { name: title }).hover()
  await page.getByRole('button', { name: `More for ${title}` }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

describe('playlists', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['phone', 'light'],
    ['desktop', 'dark'],
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const) {
    test('the picture of a playlist is as sharp as the screen', async (t) => {
      const app = await filled(t)
      for (const [size, dpr, variant] of [
        ['phone', 2, 'medium'],
        ['desktop', 2, 'medium'],
        ['desktop', 1, 'small'],
      ] as const) {
        const { page, go } = await openPage(t, app.url, { size, as: AS, options: { deviceScaleFactor: dpr } })
        await go(`/playlist/${OWN}/`)
        const picture = page.locator('.playlist-head img')
        await picture.waitFor()
        await picture.evaluate((image) => (image as HTMLImageElement).decode())
        const chosen = await picture.evaluate((image) => (image as HTMLImageElement).currentSrc)
        assert.match(chosen, new RegExp(`size=${variant}$`), `${size} at ${dpr}`)
      }
    })

    test(`are listed by kind; one shows its videos in order, including missing ones (${size}, ${colorScheme})`, async (t) => {
      const app = await filled(t)
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: AS })
      await go('/playlists/')
      await page.getByRole('link', { name: 'For <b>evenings</b>' }).waitFor()
      await page.getByText('2 of 3 videos').waitFor()
      await check()
      await shot('playlists')
      await page.getByRole('button', { name: 'From YouTube' }).click()
      await page.getByRole('link', { name: 'For <b>evenings</b>' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'From grain to loaf' }).click()

      await page.getByRole('heading', { name: 'From grain to loaf' }).waitFor()
      await page.getByText('The lost film').waitFor()
      await page.getByRole('link', { name: 'Film 2' }).waitFor()
      await check()
      await shot('playlist')
      await page.getByRole('button', { name: 'Missing' }).click()
      await page.getByRole('link', { name: 'Film 2' }).waitFor({ state: 'detached' })
      assert.equal(await page.getByText('The lost film').count(), 1)

      await go(`/playlist/${OWN}/`)
      await page.getByRole('link', { name: 'Film 5' }).waitFor()
      await check()
      await shot('playlist-own')
    })
  }

  test('keys reorder an own playlist, the focus follows, and the server stores the order', async (t) => {
    const app = await filled(t)
    const { page, go, check } = await openPage(t, app.url, { as: AS })
    await go(`/playlist/${OWN}/`)
    const handle = page.getByRole('button', { name: /^Move Film 4/ })
    await page.getByRole('link', { name: 'Film 4' }).waitFor()
    await handle.focus()
    await page.keyboard.press('ArrowUp')
    await page.getByRole('button', { name: 'Move Film 4, position 4 of 6' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('ArrowUp')
    await page.getByRole('button', { name: 'Move Film 4, position 3 of 6' }).and(page.locator(':focus')).waitFor()
    const moved = page.waitForResponse((response) => response.request().postData()?.includes('"index":0') === true)
    await page.keyboard.press('Home')
    await page.getByText('Film 4 is now at position 1 of 6').waitFor()
    await moved
    await check()

    assert.deepEqual(await orderOf(app), ['v4', 'v0', 'v1', 'v2', 'v3', 'v5'])
  })

  test('a handle has the focus at its new position before the next key is handled', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    // As in browsers that take the focus from an element that is moved.
    await page.addInitScript('delete Element.prototype.moveBefore')
    await go(`/playlist/${OWN}/`)
    await page.getByRole('link', { name: 'Film 4' }).waitFor()
    await lateFrames(page)

    for (const [film, keys, position] of [
      ['Film 4', ['Home', 'ArrowDown'], 2],
      ['Film 0', ['End', 'ArrowUp'], 5],
    ] as const) {
      await page.getByRole('button', { name: new RegExp(`^Move ${film}`) }).focus()
      for (const key of keys) await page.keyboard.press(key)
      await page
        .getByRole('button', { name: `Move ${film}, position ${position} of 6` })
        .and(page.locator(':focus'))
        .waitFor()
    }
  })

  test('moves and a removal on a slow connection are stored in the order in which they were made', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go(`/playlist/${OWN}/`)
    await page.getByRole('link', { name: 'Film 2' }).waitFor()
    const release = await holdUp(page, /\/api\/playlist\/custom\//)
    const sent: string[] = []
    page.on('request', (request) => void (request.method() === 'POST' && sent.push(request.postDataJSON().action)))
    await page.getByRole('button', { name: /^Move Film 0/ }).press('End')
    await page.getByRole('button', { name: /^Move Film 1/ }).press('ArrowDown')

    await choose(page, 'Film 2', 'Remove from this playlist')
    await page.getByRole('link', { name: 'Film 2' }).waitFor({ state: 'detached' })
    await release()
    await page.getByText('Removed from the playlist').waitFor()

    assert.deepEqual(sent, ['move', 'move', 'remove'])
    assert.deepEqual(await orderOf(app), ['v1', 'v3', 'v4', 'v5', 'v0'])
    assert.deepEqual(await shownOrder(page), ['Film 1', 'Film 3', 'Film 4', 'Film 5', 'Film 0'])
  })

  test('a playlist that is read again keeps a move that is not stored yet', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go(`/playlist/${OWN}/`)
    await page.getByRole('link', { name: 'Film 5' }).waitFor()
    const release = await holdUp(page, /\/api\/playlist\/custom\//)
    const log: string[] = []
    const isRead = (request: Request) => request.method() === 'GET' && request.url().endsWith(`/api/playlist/${OWN}/`)
    page.on('request', (request) => void (isRead(request) && log.push('read')))
    await page.getByRole('button', { name: /^Move Film 0/ }).press('ArrowDown')

    // After a deletion, the playlist is read again.
    await choose(page, 'Film 5', 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted').waitFor()
    const read = page.waitForResponse((response) => isRead(response.request()))
    log.push('stored')
    await release()
    await read

    assert.deepEqual(log.slice(0, 2), ['stored', 'read'])
    await page.getByText('5 videos', { exact: true }).waitFor()
    assert.deepEqual(await shownOrder(page), ['Film 1', 'Film 0', 'Film 2', 'Film 3', 'Film 4'])
  })

  for (const size of ['desktop', 'phone'] as const) {
    test(`the handle drags a video to its position; Escape cancels (${size})`, async (t) => {
      const app = await filled(t)
      const { page, go, shot } = await openPage(t, app.url, { size, as: AS })
      await go(`/playlist/${OWN}/`)
      await page.getByRole('link', { name: 'Film 3' }).waitFor()
      const at = async (name: string) => {
        const { x, y, width, height } = (await page.getByRole('button', { name }).boundingBox())!
        return [x + width / 2, y + height / 2] as const
      }
      const [from, to] = [await at('Move Film 0, position 1 of 6'), await at('Move Film 2, position 3 of 6')]
      await page.mouse.move(...from)
      await page.mouse.down()
      await page.mouse.move(...to, { steps: 6 })
      await page.getByRole('button', { name: 'Move Film 0, position 3 of 6' }).waitFor()
      await shot('playlist-drag')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Move Film 0, position 1 of 6' }).waitFor()
      await page.mouse.up()
      assert.deepEqual(await orderOf(app), ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'])

      await page.mouse.move(...from)
      await page.mouse.down()
      await page.mouse.move(...to, { steps: 6 })
      await page.getByRole('button', { name: 'Move Film 0, position 3 of 6' }).waitFor()
      const told = page.waitForResponse((response) => response.request().method() === 'POST')
      await page.mouse.up()
      await told
      assert.deepEqual(await orderOf(app), ['v1', 'v2', 'v0', 'v3', 'v4', 'v5'])
    })
  }

  test('a video is removed and restored at its position; a new playlist is created, but not without a name', async (t) => {
    const app = await filled(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    await go(`/playlist/${OWN}/`)
    await page.getByRole('link', { name: 'Film 2' }).waitFor()
    await page.getByRole('link', { name: 'Film 2' }).hover()
    await page.getByRole('button', { name: 'More for Film 2' }).click()
    await page.getByRole('menuitem', { name: 'Remove from this playlist' }).click()
    await page.getByText('Removed from the playlist').waitFor()
    assert.deepEqual(await orderOf(app), ['v0', 'v1', 'v3', 'v4', 'v5'])
    const back = page.waitForResponse((response) => response.request().postData()?.includes('"move"') === true)
    await page.getByRole('button', { name: 'Undo' }).click()
    await back
    assert.deepEqual(await orderOf(app), ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'])

    await go('/playlists/')
    await page.getByRole('button', { name: 'New playlist' }).click()
    const dialog = page.getByRole('dialog', { name: 'New playlist' })
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('This field is required').waitFor()
    await check()
    await shot('playlist-new')
    await dialog.getByLabel('Name').fill('Rainy days')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Rainy days' }).waitFor()
    await page.getByText('This playlist is empty').waitFor()
    await check()
    await shot('playlist-empty')
  })

  test('a video that was downloaded while another view was open replaces its missing entry', async (t) => {
    const app = await filled(t)
    const { page, go, check } = await openPage(t, app.url, { as: AS })
    await go('/playlist/PLgrain/')
    await page.getByText('The lost film').waitFor()
    await page.getByRole('link', { name: 'Film 2' }).waitFor()
    const doc = await app.doc('playlist', 'PLgrain')
    const entries = doc.playlist_entries.map((entry: object) => ({ ...entry, downloaded: true }))
    await app.given(aVideo({ id: 'gone1111111', channelId: 'UC1', title: 'The lost film', playlist: ['PLgrain'] }), {
      index: 'playlist',
      id: 'PLgrain',
      doc: { ...doc, playlist_entries: entries },
    })

    await page.getByRole('link', { name: 'Archivolt, Home' }).click()
    await page.getByRole('list', { name: 'All videos' }).waitFor()
    await page.getByRole('link', { name: 'Playlists', exact: true }).click()
    await page.getByRole('link', { name: 'From grain to loaf' }).click()

    await page.getByRole('link', { name: 'The lost film' }).waitFor()
    assert.equal(await page.locator('.entry .ghost').count(), 0)
    await check()
  })

  test('deleting only the playlist keeps the videos; deleting them requires the name', async (t) => {
    const app = await filled(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    await go('/playlist/PLgrain/')
    await page.getByRole('button', { name: 'More for From grain to loaf' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete this playlist?' })
    await dialog.getByText('Its videos stay in the archive.').waitFor()
    await dialog.getByText('You will no longer be subscribed.').waitFor()
    await check()
    await shot('playlist-delete')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('From grain to loaf deleted').waitFor()
    assert.equal((await app.ids('video')).length, 6)

    await go(`/playlist/${OWN}/`)
    await page.getByRole('button', { name: 'More for For <b>evenings</b>' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByLabel('Also delete its 6 archived videos').check()
    await dialog.getByText('Its 6 videos will be deleted with their files').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), true)
    await check()
    await shot('playlist-delete-all')
    await dialog.getByLabel('Type “For <b>evenings</b>” to confirm').fill('For <b>evenings</b>')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No playlists yet').waitFor()
    assert.deepEqual(await app.ids('video'), [])
    await shot('playlists-empty')
  })

  test('a late reply to a new name does not close the dialog that was opened meanwhile', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    const choose = async (name: string) => {
      await page.getByRole('button', { name: /^More for For/ }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await go(`/playlist/${OWN}/`)
    await choose('Rename or share')
    const send = await holdUp(page, /\/playlist\/av_playlist_evening\/$/)
    await page.getByRole('dialog').getByLabel('Name').fill('For mornings')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()

    await page.keyboard.press('Escape')
    await choose('Delete')
    await send()
    await page.locator('.toast', { hasText: 'Saved' }).waitFor()

    assert.equal(await page.getByRole('dialog', { name: 'Delete this playlist?' }).isVisible(), true)
  })

  test('a refused move is undone and reported; unknown playlists and failures have their messages', async (t) => {
    const app = await filled(t)
    const { page, go, check } = await openPage(t, app.url, { as: AS })
    await go(`/playlist/${OWN}/`)
    await page.getByRole('link', { name: 'Film 0' }).waitFor()
    await page.route(/\/api\/playlist\/custom\//, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: JSON.stringify({ message: 'the index is away', code: 'unavailable' }),
      }),
    )
    await page.getByRole('button', { name: /^Move Film 0/ }).press('End')
    await page.getByText('The server cannot do this now: the index is away').waitFor()
    await page.getByRole('button', { name: 'Move Film 0, position 1 of 6' }).waitFor()
    await go('/playlist/PLnone/')
    await page.getByText('This playlist is not in the archive').waitFor()
    await check([/503/, /404/])
  })
})

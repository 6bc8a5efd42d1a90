/**
 * Several videos of a list, a playlist or a search are selected by key, mouse and finger, for an action on all of them.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {} from '../../../plugins/download/queue.ts'
import { NO_PLATFORM } from '../../platform/start.ts'
import { holdUp, noBrowser, openPage } from '../../support/browser.ts'
import {
  aChannel,
  aFragment,
  aNewItem,
  aPlaylist,
  aVideo,
  PASSWORD,
  type TestApp,
  testApp,
} from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }

async function filled(app: TestApp): Promise<void> {
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    ...Array.from({ length: 30 }, (_, at) =>
      aVideo({
        id: `v${at}`,
        title: at === 2 ? '<img src=x onerror=alert(1)>' : `Film ${at}`,
        channelId: 'UC1',
        playlist: at < 6 ? ['av_playlist_own', 'PL1'] : [],
        published: `2024-05-${String(31 - at).padStart(2, '0')}`,
      }),
    ),
  )
}

describe('selection', { skip: noBrowser }, () => {
  test('by key and mouse: marked, undone, added to a playlist, deleted after a question', async (t) => {
    const app = await testApp(t)
    await filled(app)
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    const list = page.getByRole('list', { name: 'All videos' })
    const card = (title: string) =>
      list.getByRole('article').filter({ has: page.getByRole('link', { name: title, exact: true }) })
    const watched = async () =>
      (await app.as('admin').get('/api/video/?watch=watched')).body.data.map((one: any) => one.platform_id).toSorted()
    await go('/?type=videos')
    await list.getByRole('link', { name: 'Film 0', exact: true }).focus()

    await page.keyboard.press('x')
    await bar.getByText('1 video selected').waitFor()
    for (let steps = 0; steps < 3; steps++) await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+X')
    await bar.getByText('4 videos selected').waitFor()
    await card('Film 5')
      .locator('.picture')
      .click({ modifiers: ['Control'] })
    await bar.getByText('5 videos selected').waitFor()
    await card('Film 1').click()
    await bar.getByText('4 videos selected').waitFor()
    await shot('selection')
    await check()

    await bar.getByRole('button', { name: 'Watched', exact: true }).click()
    await page.getByText('4 videos marked as watched').waitFor()
    assert.equal(await bar.count(), 0)
    assert.deepEqual(await watched(), ['v0', 'v2', 'v3', 'v5'])
    assert.equal(await card('Film 3').locator('.watched-mark').count(), 1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('4 videos marked as unwatched').waitFor()
    assert.deepEqual(await watched(), [])

    await card('Film 8')
      .locator('.picture')
      .click({ modifiers: ['Shift'] })
    await card('Film 6')
      .locator('.picture')
      .click({ modifiers: ['Shift'] })
    await bar.getByText('3 videos selected').waitFor()
    await bar.getByRole('button', { name: 'Playlist' }).click()
    await page.getByLabel('Name of the new playlist').fill('Evening')
    await page.getByRole('button', { name: 'Create and add' }).click()
    await page.getByText('Added to').waitFor()
    const { data } = (await app.as('admin').get('/api/playlist/?own=true')).body
    assert.deepEqual(data[0].playlist_entries.map((one: any) => one.platform_id).toSorted(), ['v6', 'v7', 'v8'])

    await card('Film 6')
      .locator('.picture')
      .click({ modifiers: ['Control'] })
    await card('Film 7').click()
    await bar.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByText('subtitles will be deleted').waitFor()
    await check()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await bar.getByText('2 videos selected').waitFor()
    await bar.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 videos deleted').waitFor()
    assert.equal((await app.as('admin').get('/api/video/v6/')).status, 404)
    assert.equal((await app.as('admin').get('/api/video/v8/')).status, 200)
    assert.equal(await card('Film 6').count(), 0)

    await list.getByRole('link', { name: 'Film 0', exact: true }).focus()
    await page.keyboard.press('x')
    await bar.waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await bar.count(), 0)
  })

  test('videos are downloaded again with one request, after a question', async (t) => {
    const app = await testApp(t, { settings: NO_PLATFORM })
    await filled(app)
    const { page, go, check } = await openPage(t, app.url, { as })
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    await go('/?type=videos')
    for (const title of ['Film 0', 'Film 1']) {
      await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: title, exact: true }).focus()
      await page.keyboard.press('x')
    }
    await bar.getByRole('button', { name: 'Download again' }).click()
    await check()
    const asked = page.waitForResponse((answer) => answer.url().includes('/api/download/?'))
    await page.getByRole('dialog').getByRole('button', { name: 'Download again' }).click()

    const answer = await asked
    const data = ['v0', 'v1'].map((id) => ({ platform_id: id, status: 'pending' }))
    assert.deepEqual([answer.status(), answer.request().postDataJSON()], [200, { data }])
    assert.match(answer.url(), /force=true/)
    assert.equal(await bar.count(), 0)
  })

  test('a refused change is undone', async (t) => {
    const app = await testApp(t)
    await filled(app)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/?type=videos')
    await page.route('**/api/watched/bulk/', (route) =>
      route.fulfill({ status: 503, json: { message: 'A restore is running' } }),
    )
    await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Film 1', exact: true }).focus()
    await page.keyboard.press('x')

    await page.getByRole('button', { name: 'Watched', exact: true }).last().click()

    await page.getByText('The server cannot do this now: A restore is running').waitFor()
    assert.equal(await page.locator('.virtual .watched-mark').count(), 0)
  })

  test('videos stay marked when the list is read again during the request', async (t) => {
    const app = await testApp(t)
    await filled(app)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/?type=videos')
    const release = await holdUp(page, /\/api\/watched\/bulk\//)
    await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Film 1', exact: true }).focus()
    await page.keyboard.press('x')
    await page.getByRole('button', { name: 'Watched', exact: true }).last().click()
    const marks = page.locator('.virtual .watched-mark')
    await marks.waitFor()
    // When a download ends, the list is read again.
    await app.app.queue.add([aNewItem('elsewhere11')], 'pending')
    await app.app.queue.remove('elsewhere11')
    await marks.waitFor({ state: 'detached' })

    await release()
    await page.getByText('1 video marked as watched').waitFor()

    assert.equal(await marks.count(), 1)
  })

  test('in a playlist: removed together and restored in order, deleted; a playlist of the platform is not changed', async (t) => {
    const app = await testApp(t)
    await filled(app)
    const entries = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'].map((id) => ({
      platform_id: id,
      title: `Film ${id.slice(1)}`,
      downloaded: true,
    }))
    await app.given(
      aPlaylist({ id: 'av_playlist_own', playlist_name: 'Own', playlist_type: 'custom', entries }),
      aPlaylist({ id: 'PL1', playlist_name: 'Of the platform', entries }),
    )
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    const link = (title: string) => page.getByRole('link', { name: title, exact: true })
    const order = async () =>
      (await app.doc('playlist', 'av_playlist_own')).playlist_entries.map((one: any) => one.platform_id)
    await go('/playlist/av_playlist_own/')
    await link('Film 5').waitFor()
    await page.getByRole('button', { name: /^Move Film 5/ }).press('Home')
    await page.getByText('Film 5 is now at position 1 of 6').waitFor()

    await link('Film 5').focus()
    await page.keyboard.press('x')
    await link('Film 1').focus()
    await page.keyboard.press('Shift+X')
    await bar.getByText('3 videos selected').waitFor()
    await shot('selection-playlist')
    await check()
    await bar.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('3 videos removed from the playlist').waitFor()
    assert.deepEqual(await order(), ['v2', 'v3', 'v4'])
    const last = page.waitForResponse((response) => response.request().postData()?.includes('"index":2') === true)
    await page.getByRole('button', { name: 'Undo' }).click()
    await last
    assert.deepEqual(await order(), ['v5', 'v0', 'v1', 'v2', 'v3', 'v4'])

    await link('Film 4').focus()
    await page.keyboard.press('x')
    await bar.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 video deleted').waitFor()
    await page.getByText('5 videos', { exact: true }).waitFor()
    assert.equal(await page.locator('.entry .ghost').count(), 0)

    await go('/playlist/PL1/')
    await link('Film 3').focus()
    await page.keyboard.press('x')
    await bar.getByText('1 video selected').waitFor()
    assert.equal(await bar.getByRole('button', { name: 'Remove' }).count(), 0)
    await bar.getByRole('button', { name: 'Watched', exact: true }).click()
    await page.getByText('1 video marked as watched').waitFor()
    assert.equal(await page.locator('.entry .watched-mark').count(), 1)
  })

  test('in a search: marked, and deleted videos disappear from the results, with their subtitle hits', async (t) => {
    const app = await testApp(t)
    await filled(app)
    await app.given(aFragment({ platform_id: 'v7', subtitle_line: 'a film of the harbour' }))
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    const found = page.locator('.found-videos')
    await go('/search/?q=film')
    await page.getByRole('button', { name: /^Show all/ }).click()
    await found.getByRole('link', { name: 'Film 7', exact: true }).focus()

    await page.keyboard.press('x')
    await found.getByRole('article').nth(2).locator('.picture').click()
    await bar.getByText('2 videos selected').waitFor()
    await shot('selection-search')
    await check()
    await bar.getByRole('button', { name: 'Watched', exact: true }).click()
    await page.getByText('2 videos marked as watched').waitFor()
    assert.equal(await found.locator('.watched-mark').count(), 2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 videos marked as unwatched').waitFor()
    assert.equal(await found.locator('.watched-mark').count(), 0)

    await found.getByRole('link', { name: 'Film 7', exact: true }).focus()
    await page.keyboard.press('x')
    await bar.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 video deleted').waitFor()
    assert.equal(await found.getByRole('link', { name: 'Film 7', exact: true }).count(), 0)
    assert.equal(await page.locator('.hit').count(), 0)

    await found
      .getByRole('article')
      .nth(1)
      .locator('.picture')
      .click({ modifiers: ['Control'] })
    await bar.waitFor()
    await page.getByLabel('Search the archive').fill('film 1')
    await bar.waitFor({ state: 'detached' })
  })

  test('by finger: a long press begins the selection, taps select, and a tap opens once nothing is selected', async (t) => {
    const app = await testApp(t)
    await filled(app)
    const { page, go, check, shot } = await openPage(t, app.url, { as, size: 'phone' })
    await go('/?type=videos')
    const list = page.getByRole('list', { name: 'All videos' })
    const picture = (title: string) =>
      list
        .getByRole('article')
        .filter({ has: page.getByRole('link', { name: title, exact: true }) })
        .locator('.picture')
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    await picture('Film 0').waitFor()
    const { x, y } = (await picture('Film 0').boundingBox())!
    const touch = await page.context().newCDPSession(page)
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: x + 40, y: y + 40 }] })
    await bar.getByText('1 video selected').waitFor()
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })

    await picture('Film 1').tap()
    await bar.getByText('2 videos selected').waitFor()
    await shot('selection')
    await check()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    await bar.getByRole('button', { name: 'Clear the selection' }).tap()
    await picture('Film 1').tap()

    await page.getByRole('heading', { level: 1, name: 'Film 1', exact: true }).waitFor()
  })

  test('Escape closes an open menu, and the selection stays', async (t) => {
    const app = await testApp(t)
    await filled(app)
    const { page, go } = await openPage(t, app.url, { as })
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    await go('/?type=videos')
    await page.getByRole('link', { name: 'Film 0', exact: true }).focus()
    await page.keyboard.press('x')
    await bar.getByText('1 video selected').waitFor()
    await page.getByRole('button', { name: 'Account: admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()

    await page.keyboard.press('Escape')

    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor({ state: 'detached' })
    assert.equal(await bar.getByText('1 video selected').count(), 1)
    await page.keyboard.press('Escape')
    await bar.waitFor({ state: 'detached' })
  })
})

/**
 * An account's own lists as people use them: Watch later from a card and a video's page, private and shared playlists,
 * and what another account sees of them.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdUp, noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const USER = { username: 'user', password: PASSWORD }

async function filled(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Old Mill' }),
    ...[0, 1, 2, 3].map((n) =>
      aVideo({ id: `v${n}`, channelId: 'UC1', title: `Film ${n}`, published: `2026-01-0${9 - n}` }),
    ),
    aPlaylist({ id: 'PLgrain', playlist_name: 'From grain to loaf', playlist_channel: 'Old Mill', entries: ['v1'] }),
  )
  return app
}

const laterOf = async (app: TestApp, who: 'user' | 'admin'): Promise<string> =>
  (await app.as(who).get('/api/playlist/watchlater/')).body.data.playlist_entries
    .map(({ platform_id }: { platform_id: string }) => platform_id)
    .join(' ')

/** There are no films here, and players report that. */
const NO_FILM = [/\/media\/UC1\//]

describe('own lists', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const) {
    test(`a video is added to Watch later from its card and its page, and removed again (${size})`, async (t) => {
      const app = await filled(t)
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: USER })
      await go('/')
      const card = (title: string) => page.getByRole('article').filter({ hasText: title })
      await card('Film 2').waitFor()
      if (size === 'desktop') {
        await card('Film 2').hover()
        await card('Film 2').getByRole('button', { name: 'Watch later' }).click()
      } else {
        await card('Film 2').getByRole('button', { name: 'More for Film 2' }).click()
        await page.getByRole('menuitem', { name: 'Watch later' }).click()
      }
      await page.getByText('Added to Watch later').waitFor()
      await card('Film 2').getByText('In Watch later').waitFor({ state: 'attached' })
      await check()
      await shot('later-card')
      assert.equal(await laterOf(app, 'user'), 'v2')

      await go('/video/v0/')
      const button = page.getByRole('button', { name: 'Watch later', exact: true })
      await button.click()
      await page.locator('button[aria-pressed="true"]', { hasText: 'Watch later' }).waitFor()
      await page.getByText('Added to Watch later').waitFor()
      await check(NO_FILM)
      await shot('later-video')
      assert.equal(await laterOf(app, 'user'), 'v0 v2')

      await go('/playlists/')
      await page.getByRole('article').filter({ hasText: 'Watch later' }).waitFor()
      await check(NO_FILM)
      await shot('later-playlists')
      await page.getByRole('main').getByRole('link', { name: 'Watch later' }).first().click()
      await page.getByRole('heading', { name: 'Watch later' }).waitFor()
      await page.getByRole('link', { name: 'Film 0' }).waitFor()
      await check(NO_FILM)
      await shot('later-list')
      await page.getByRole('button', { name: 'More for Watch later' }).click()
      assert.equal(await page.getByRole('menuitem', { name: 'Delete' }).count(), 0)
      await page.keyboard.press('Escape')
      const row = page.getByRole('article').filter({ hasText: 'Film 2' })
      if (size === 'desktop') await row.hover()
      await row.getByRole('button', { name: 'More for Film 2' }).click()
      await page.getByRole('menuitem', { name: 'Remove from Watch later' }).click()
      await page.getByRole('link', { name: 'Film 2' }).waitFor({ state: 'detached' })
      await page.getByText('Removed from the playlist').waitFor()
      assert.equal(await laterOf(app, 'user'), 'v0')

      await go('/')
      await card('Film 0').getByText('In Watch later').waitFor({ state: 'attached' })
      assert.equal(await page.locator('.later-mark').count(), 1)
    })
  }

  test('a refused change of Watch later is undone and reported; the key works like the button; an empty list explains what to do', async (t) => {
    const app = await filled(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: USER })
    await go('/playlist/watchlater/')
    await page.getByText('Press the clock on a video').waitFor()
    await check()
    await shot('later-empty')
    await go('/')
    await page.getByRole('link', { name: 'Film 1' }).last().focus()
    await page.keyboard.press('l')
    await page.getByText('Added to Watch later').waitFor()
    assert.equal(await laterOf(app, 'user'), 'v1')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Removed from Watch later').waitFor()
    assert.equal(await laterOf(app, 'user'), '')

    await page.route(/\/api\/playlist\/watchlater\//, (route) =>
      route.fulfill({
        status: 409,
        contentType: 'application/json',
        body: JSON.stringify({ message: 'This playlist is full', code: 'conflict' }),
      }),
    )
    await page.getByRole('link', { name: 'Film 1' }).last().focus()
    await page.keyboard.press('l')
    await page.getByText('This playlist is full').waitFor()
    await page.locator('.later-mark').waitFor({ state: 'detached' })
    await check([/409/])
  })

  test('of two quick changes of Watch later, the reply to the first does not hide the second', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: USER })
    await go('/')
    const answerSecond = await holdUp(page, /\/api\/playlist\/watchlater\/$/)
    const answerFirst = await holdUp(page, /\/api\/playlist\/watchlater\/$/)
    const marks = page.locator('.later-mark')
    await page.getByRole('link', { name: 'Film 1' }).last().focus()
    await page.keyboard.press('l')
    await marks.waitFor()
    await page.keyboard.press('l')
    await marks.waitFor({ state: 'detached' })

    await answerFirst()
    await page.getByText('Added to Watch later').waitFor()
    const between = await marks.count()
    await answerSecond()
    await page.getByText('Removed from Watch later').waitFor()

    assert.equal(between, 0)
  })

  test('two people have lists of their own; both see shared ones, and only the owner changes them', async (t) => {
    const app = await filled(t)
    const user = await openPage(t, app.url, { as: USER })
    const admin = await openPage(t, app.url, { as: ADMIN })
    await user.go('/')
    const card = user.page.getByRole('article').filter({ hasText: 'Film 3' })
    await card.hover()
    await card.getByRole('button', { name: 'Add to a playlist' }).click()
    const adding = user.page.getByRole('dialog', { name: 'Add to a playlist' })
    await adding.getByText('You have no playlists yet.').waitFor()
    await adding.getByText('Nobody else sees this playlist, not even admins.').waitFor()
    await user.check()
    await user.shot('own-add')
    await adding.getByLabel('Name of the new playlist').fill('Rainy days')
    await adding.getByRole('button', { name: 'Create and add' }).click()
    await user.page.getByText('Added to Rainy days').waitFor()
    await card.getByRole('button', { name: 'Watch later' }).click()
    await user.page.getByText('Added to Watch later').waitFor()

    await admin.go('/playlists/')
    await admin.page.getByRole('link', { name: 'From grain to loaf' }).waitFor()
    assert.equal(await admin.page.getByText('Rainy days').count(), 0)
    await admin.go('/')
    await admin.page.getByRole('article').filter({ hasText: 'Film 3' }).waitFor()
    assert.equal(await admin.page.locator('.later-mark').count(), 0, 'no mark of somebody else')

    await user.go('/playlists/?show=own')
    await user.page.getByText('Only you').first().waitFor()
    await user.check()
    await user.shot('own-lists')
    const [first] = await user.page.getByRole('article').allInnerTexts()
    assert.match(first!, /Watch later/, 'Watch later comes first')
    await user.page.getByRole('link', { name: 'Rainy days' }).click()
    await user.page.getByRole('button', { name: 'More for Rainy days' }).click()
    await user.page.getByRole('menuitem', { name: 'Rename or share' }).click()
    const edit = user.page.getByRole('dialog', { name: 'Rename or share' })
    await edit.getByLabel('Name').fill('Rainy evenings')
    await edit.getByLabel('Only for me').uncheck()
    await edit.getByText('Everyone who signs in here sees this playlist.').waitFor()
    await user.check()
    await user.shot('own-share')
    await edit.getByRole('button', { name: 'Save' }).click()
    await user.page.getByText('Yours, shared').waitFor()
    await user.page.getByRole('heading', { name: 'Rainy evenings' }).waitFor()

    await admin.go('/playlists/?show=shared')
    await admin.page.getByRole('link', { name: 'Rainy evenings' }).click()
    await admin.page.getByRole('link', { name: 'Film 3' }).waitFor()
    await admin.page.getByRole('button', { name: 'More for Rainy evenings' }).click()
    await admin.page.getByRole('menuitem', { name: 'Rename or share' }).click()
    const renaming = admin.page.getByRole('dialog', { name: 'Rename or share' })
    await renaming.getByLabel('Name').waitFor()
    assert.equal(await renaming.getByLabel('Only for me').count(), 0, 'only its owner takes it away')
    await admin.check()

    const { body } = await app.as('admin').post('/api/playlist/custom/', { playlist_name: 'Of the admin' })
    await user.go(`/playlist/${body.playlist_id}/`)
    await user.page.getByRole('heading', { name: 'Of the admin' }).waitFor()
    await user.page.getByRole('button', { name: 'More for Of the admin' }).click()
    await user.page.getByRole('menuitem', { name: 'Mark all as watched' }).waitFor()
    assert.deepEqual(await user.page.getByRole('menuitem').allInnerTexts(), [
      'Mark all as watched',
      'Listen as a podcast',
      'Save for a trip',
    ])
    await user.check()
  })

  test('a child has lists of its own, and is not offered to share them', async (t) => {
    const app = await filled(t)
    await app.app.accounts.change(2, { view: { channel: ['UC1'] } })
    const { page, go, check, shot } = await openPage(t, app.url, { as: USER })
    await go('/playlists/')
    await page.getByRole('button', { name: 'New playlist' }).click()
    const dialog = page.getByRole('dialog', { name: 'New playlist' })
    assert.equal(await dialog.getByLabel('Only for me').count(), 0)
    await dialog.getByLabel('Name').fill('Mine')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Mine' }).waitFor()
    await page.getByText('Only you').waitFor()
    await check()
    await shot('own-child')
    assert.deepEqual(await app.ids('playlist'), ['PLgrain'])
  })

  test('the dialog shows which lists contain a video, and removes it from them; an own list is deleted without its videos', async (t) => {
    const app = await filled(t)
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as: USER })
    const { body } = await app.as('user').post('/api/playlist/custom/', { playlist_name: 'Rainy days' })
    const path = `/api/playlist/${body.playlist_id}/`
    for (const video_id of ['v0', 'v1']) await app.as('user').post(path, { action: 'create', video_id })
    await go('/video/v1/')
    await page.getByRole('button', { name: 'Add to a playlist' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add to a playlist' })
    await dialog.getByRole('button', { name: 'Rainy days', pressed: true }).waitFor()
    await check(NO_FILM)
    await shot('own-add-in')
    await dialog.getByRole('button', { name: 'Rainy days' }).click()
    await page.getByText('Removed from Rainy days').waitFor()
    const { data } = (await app.as('user').get(path)).body
    assert.deepEqual(
      data.playlist_entries.map(({ platform_id }: any) => platform_id),
      ['v0'],
    )

    await go(`/playlist/${body.playlist_id}/`)
    await page.getByRole('button', { name: 'More for Rainy days' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const deleting = page.getByRole('dialog', { name: 'Delete this playlist?' })
    assert.equal(await deleting.getByLabel(/Also delete/).count(), 0)
    await deleting.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Rainy days deleted').waitFor()
    assert.equal((await app.ids('video')).length, 4)
  })
  test('a late reply about one video does not close the dialog of another', async (t) => {
    const app = await filled(t)
    await app.as('user').post('/api/playlist/custom/', { playlist_name: 'Rainy days' })
    const { page, go } = await openPage(t, app.url, { as: USER })
    const dialog = page.getByRole('dialog', { name: 'Add to a playlist' })
    const open = async (title: string) => {
      const card = page.getByRole('article').filter({ hasText: title })
      await card.hover()
      await card.getByRole('button', { name: 'Add to a playlist' }).click()
    }
    await go('/')
    await open('Film 3')
    const send = await holdUp(page, /\/bulk\/$/)
    await dialog.getByRole('button', { name: 'Rainy days' }).click()

    await page.keyboard.press('Escape')
    await open('Film 2')
    await dialog.getByLabel('Name of the new playlist').fill('Sunny days')
    await send()
    await page.getByText('Added to Rainy days').waitFor()

    assert.equal(await dialog.getByLabel('Name of the new playlist').inputValue(), 'Sunny days')
  })
})

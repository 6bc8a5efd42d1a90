/** Buttons, menus and forms send a request once, report failures, and keep the focus meanwhile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import type {} from '../../../plugins/download/queue.ts'
import { holdBack, noBrowser, openPage, type Page } from '../../support/browser.ts'
import { aChannel, aNewItem, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
/** The header by which the page recognizes that the reply is not a proxy's. */
const OURS = { 'X-Request-Id': 'one' }

/**
 * Counts requests. Those to one path are sent one after the other, so no earlier one is pending once a later one was
 * answered.
 */
function countPosts(page: Page, pattern: RegExp): () => number {
  let count = 0
  page.on('request', (request) => void (request.method() === 'POST' && pattern.test(request.url()) && count++))
  return () => count
}

/** Stores the role of the element that has the focus when a menu is added. */
const noteFocusAtBeginOfMenu = `void (window.focusAtBegin = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.menu')) return
    observer.disconnect()
    resolve(document.activeElement.role)
  }).observe(document, { childList: true, subtree: true })
}))`

describe('actions', { skip: noBrowser }, () => {
  test('a button that is clicked twice sends one request, is busy until the reply, and keeps the focus', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/settings/tasks/')
    const button = page.getByRole('button', { name: 'Start: Rescan files' })
    await button.waitFor()
    const posts = countPosts(page, /\/api\/task-name\/\w/)
    const { asked, release } = await holdBack(page, /\/api\/task-name\/\w/)

    await button.dblclick()
    await asked

    assert.equal(await button.getAttribute('aria-busy'), 'true')
    assert.equal(await button.isDisabled(), true)
    assert.equal(await button.evaluate((element) => element === document.activeElement), true)
    await check()
    release()
    await page.locator('button[aria-busy]').waitFor({ state: 'detached' })
    const answered = page.waitForResponse(/\/api\/task-name\/\w/)
    await button.click()
    await answered
    assert.equal(posts(), 2)
  })

  test('the focus goes to the next row when its own is removed, and to the heading after the last one', async (t) => {
    const app = await testApp(t)
    await app.app.queue.add([aNewItem('ignored1111'), aNewItem('ignored2222'), aNewItem('ignored3333')], 'ignore')
    for (const name of ['Kodi', 'A script']) await app.as('admin').post('/api/access-token/', { name, scope: 'read' })
    const { page, go } = await openPage(t, app.url, { as })
    const focused = page.locator(':focus')
    const press = async (button: Locator) => {
      await button.focus()
      await page.keyboard.press('Enter')
    }

    await go('/downloads/?show=ignored')
    for (const [id, next] of [
      ['ignored1111', 'Video ignored2222'],
      ['ignored3333', 'Video ignored2222'],
    ] as const) {
      await press(page.getByRole('button', { name: `Put back: Video ${id}` }))
      await page.getByRole('listitem').and(focused).getByText(next).waitFor()
    }
    await press(page.getByRole('button', { name: 'Put back: Video ignored2222' }))
    await page.getByRole('heading', { name: 'Nothing is ignored' }).and(focused).waitFor()

    await go('/settings/account/')
    for (const [name, next] of [
      ['Kodi', page.getByRole('listitem').filter({ hasText: 'A script' })],
      ['A script', page.getByRole('heading', { name: 'Tokens', exact: true })],
    ] as const) {
      await press(page.getByRole('button', { name: `Revoke: ${name}` }))
      await press(page.getByRole('dialog').getByRole('button', { name: 'Revoke' }))
      await next.and(focused).waitFor()
    }
  })

  test('the focus returns to the button that opened a dialog', async (t) => {
    const app = await testApp(t)
    await app.as('admin').post('/api/group/', { name: 'Food', members: [] })
    const { page, go } = await openPage(t, app.url, { as })
    await go('/settings/groups/')
    const opener = page.getByRole('button', { name: 'Add a group' })
    const dialog = page.getByRole('dialog')
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Cancel' }).click(),
      () => dialog.getByRole('button', { name: 'Close' }).click(),
    ]) {
      await opener.click()
      await dialog.waitFor()

      await close()

      await opener.and(page.locator(':focus')).waitFor()
      await dialog.waitFor({ state: 'detached' })
    }
  })

  test('a menu has the focus before the next key is handled', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/settings/users/')
    const more = page.getByRole('button', { name: 'More for user', exact: true })
    await more.waitFor()
    await page.evaluate(noteFocusAtBeginOfMenu)

    await more.press('Enter')

    assert.equal(await page.evaluate('window.focusAtBegin'), 'menuitem')
  })

  test('the end of a list stays known while the list is reloaded: its last row gives way to the heading', async (t) => {
    const app = await testApp(t)
    await app.app.queue.add([aNewItem('ignored1111')], 'ignore')
    const { page, go } = await openPage(t, app.url, { as })
    await go('/downloads/?show=ignored')
    const button = page.getByRole('button', { name: 'Put back: Video ignored1111' })
    await button.focus()
    const { asked, release } = await holdBack(page, /\/api\/download\/\?filter=ignore/)
    await app.app.emit('queue.changed', {})
    await asked

    await page.keyboard.press('Enter')

    await page.getByRole('heading', { name: 'Nothing is ignored' }).and(page.locator(':focus')).waitFor()
    release()
  })

  test('a row that scrolls out of a long list, or is removed after a click elsewhere, moves no focus', async (t) => {
    const app = await testApp(t)
    await app.app.queue.add(
      Array.from({ length: 200 }, (_, index) => aNewItem(`item${String(index).padStart(7, '0')}`)),
      'ignore',
    )
    const { page, go } = await openPage(t, app.url, { as })
    await go('/downloads/?show=ignored')
    const first = page.getByRole('button', { name: 'Put back: Video item0000000' })
    await first.focus()
    // At first, the page may be too short to scroll far enough.
    await page.waitForFunction(() => {
      scrollBy(0, 1000)
      return document.querySelector('[aria-label="Put back: Video item0000000"]') === null
    })
    assert.equal(await page.evaluate('document.activeElement === document.body'), true)

    await page.evaluate(() => scrollTo(0, 0))
    await first.focus()
    await first.blur()
    await app.as('admin').delete('/api/download/item0000000/')
    await first.waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('document.activeElement === document.body'), true)
  })

  test('a toast reports the failure of a button, which can be pressed again', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/settings/tasks/')
    await page.route(/\/api\/task-name\/\w/, (route) => route.abort(), { times: 1 })
    const button = page.getByRole('button', { name: 'Start: Rescan files' })

    await button.click()

    await page.locator('.toast.error').waitFor()
    const answered = page.waitForResponse(/\/api\/task-name\/\w/)
    await button.click()
    assert.equal((await answered).ok(), true)
  })

  test('a view stays when it cannot be reloaded, and reports that once', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/settings/users/')
    const more = page.getByRole('button', { name: 'More for user', exact: true })
    const row = page.locator('.settings-rows li').filter({ has: more })
    const choose = async (entry: string) => {
      await more.click()
      await page.getByRole('menuitem', { name: entry }).click()
    }
    await row.waitFor()
    await page.route(/\/api\/user\/$/, (route) =>
      route.fulfill({ status: 503, headers: OURS, json: { message: 'A restore is running' } }),
    )
    const toast = page.locator('.toast.error').filter({ hasText: 'A restore is running' })

    await choose('Lock')
    await toast.waitFor()
    await toast.getByRole('button', { name: 'Close' }).click()
    const refused = page.waitForResponse((answer) => answer.status() === 503)
    await choose('Lock')
    await refused

    assert.equal(await row.isVisible(), true)
    assert.equal(await toast.count(), 0)
    await check([/503/])
    await page.unroute(/\/api\/user\/$/)
    await choose('Lock')
    await row.getByText('locked').waitFor()
  })

  test('a lost connection is reported by the notice, not by each part of the view; a later refusal is reported', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/settings/users/')
    const more = page.getByRole('button', { name: 'More for user', exact: true })
    const lock = async () => {
      await more.click()
      await page.getByRole('menuitem', { name: 'Lock' }).click()
    }
    await more.waitFor()
    await page.route(/\/api\/user\/$/, (route) => route.abort('connectionrefused'))
    const failed = page.waitForEvent('requestfailed')
    await lock()
    await failed
    await page.unroute(/\/api\/user\/$/)
    await page.route(/\/api\/user\/$/, (route) =>
      route.fulfill({ status: 503, headers: OURS, json: { message: 'A restore is running' } }),
    )

    await lock()

    await page.locator('.toast.error').first().waitFor()
    assert.deepEqual(await page.locator('.toast.error p').allInnerTexts(), [
      'The server cannot do this now: A restore is running',
    ])
  })

  test('a menu item cannot be chosen again while its action runs', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/settings/users/')
    const menu = page.getByRole('button', { name: 'More for user', exact: true })
    await menu.click()
    const posts = countPosts(page, /\/api\/user\/\d+\//)
    const { asked, release } = await holdBack(page, /\/api\/user\/\d+\//)
    const lock = page.getByRole('menuitem', { name: 'Lock' })

    await lock.click()
    await asked
    await menu.click()

    assert.equal(await lock.isDisabled(), true)
    await check()
    await lock.press('Enter')
    release()
    await menu.click()
    const answered = page.waitForResponse(/\/api\/user\/\d+\//)
    await page.getByRole('menuitem', { name: 'Unlock' }).click()
    await answered
    assert.equal(posts(), 2)
  })

  test('a form is sent once, however often Enter is pressed', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/settings/users/')
    const posts = countPosts(page, /\/api\/user\/$/)
    const { asked, release } = await holdBack(page, /\/api\/user\/$/)
    const fill = async (name: string) => {
      await page.getByRole('button', { name: 'Add a user' }).click()
      await page.getByLabel('Username').fill(name)
      await page.getByLabel('Password').fill('an unusual password')
    }
    await fill('ada')

    await page.getByLabel('Password').press('Enter')
    await page.getByLabel('Password').press('Enter')
    await asked

    assert.equal(await page.getByRole('dialog').getByRole('button', { name: 'Add a user' }).isDisabled(), true)
    await check()
    release()
    await page.getByText('ada can sign in now').waitFor()
    await fill('grace')
    await page.getByLabel('Password').press('Enter')
    await page.getByText('grace can sign in now').waitFor()
    assert.equal(posts(), 2)
  })

  test('text typed while links are being sent stays in the field', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route(/\/api\/download\/\?autostart/, async (route) => {
      await released
      await route.fulfill({ json: { task_id: null } })
    })
    await go('/downloads/')
    const field = page.getByLabel('Links to download')
    await field.fill('aaaaaaaaaaa')
    const sent = page.waitForRequest(/\/api\/download\/\?autostart/)
    await page.getByRole('button', { name: 'Download now' }).click()
    await sent

    await field.fill('aaaaaaaaaaa bbbbbbbbbbb')
    release()

    await page.getByText('Looking up 1 link.').waitFor()
    assert.equal(await field.inputValue(), 'bbbbbbbbbbb')
  })

  test('a form whose second request failed does not repeat the first one', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }))
    const { page, go } = await openPage(t, app.url, { as })
    const refuseOnce = (pattern: RegExp) =>
      page.route(
        pattern,
        (route) => route.fulfill({ status: 503, headers: OURS, json: { message: 'A restore is running' } }),
        { times: 1 },
      )

    await go('/video/v1/')
    await page.getByRole('button', { name: 'Add to a playlist' }).click()
    await page.getByLabel('Name of the new playlist').fill('Evening')
    await refuseOnce(/\/bulk\/$/)
    await page.getByRole('button', { name: 'Create and add' }).click()
    await page.getByRole('dialog').getByText('A restore is running').waitFor()
    await page.getByRole('button', { name: 'Create and add' }).click()
    await page.getByText('Added to').waitFor()
    const { data } = (await app.as('admin').get('/api/playlist/?own=true')).body
    assert.deepEqual(data.filter(({ playlist_name: name }: { playlist_name: string }) => name === 'Evening').length, 1)

    await go('/settings/users/')
    await page.getByRole('button', { name: 'Add a user' }).click()
    await page.getByLabel('Username').fill('ada')
    await page.getByLabel('Password').fill('an unusual password')
    await page.getByLabel('Role').selectOption('child')
    await page.getByLabel('Minutes a day').fill('60')
    await refuseOnce(/\/api\/screentime\/\d+\/$/)
    const add = page.getByRole('dialog').getByRole('button', { name: 'Add a user' })
    await add.click()
    await page.getByRole('dialog').getByText('A restore is running').waitFor()
    await add.click()

    await page.getByText('ada can sign in now').waitFor()
    const [, , ada] = (await app.as('admin').get('/api/user/')).body
    const times = (await app.as('admin').get('/api/screentime/')).body
    assert.equal(times.find(({ user_id: id }: { user_id: number }) => id === ada.id).minutes, 60)
  })

  test('a tap beside a dialog closes it, and does not reach the element behind it', async (t) => {
    const app = await testApp(t)
    const ids = Array.from({ length: 8 }, (_, at) => `v${at}`)
    await app.given(aChannel({ id: 'UC1' }), ...ids.map((id) => aVideo({ id, channelId: 'UC1' })))
    const { page, go } = await openPage(t, app.url, { as, size: 'phone' })
    await go('/?type=videos')
    await page.getByRole('article').nth(1).waitFor()
    await page.getByRole('button', { name: 'Add by link' }).tap()
    const dialog = page.getByRole('dialog')
    const { y, height } = (await dialog.boundingBox())!

    const touch = await page.context().newCDPSession(page)
    const touchPoints = [{ x: 195, y: y + height + 40 }]
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })

    await dialog.waitFor({ state: 'detached' })
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    assert.equal(new URL(page.url()).pathname, '/')
  })
})

/** On a television: detected automatically or chosen in the settings; the arrows of a remote reach everything. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Locator } from 'playwright-core'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import '../../support/ffmpeg.ts'
import { aChannel, aQueued, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const TELEVISION =
  'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36 WebAppManager'
const MOST_STEPS = 40

/** The arrows that lead from the focused element to the target, the better one first. */
const lead = async (target: Locator): Promise<{ keys: string[]; isThere: boolean; at: string }> =>
  target.evaluate((element: HTMLElement) => {
    const on = document.activeElement as HTMLElement
    const [from, to] = [on.getBoundingClientRect(), element.getBoundingClientRect()]
    const across = Math.max(0, to.left - from.right, from.left - to.right)
    const along = Math.max(0, to.top - from.bottom, from.top - to.bottom)
    const sideways = to.left + to.width / 2 < from.left + from.width / 2 ? 'ArrowLeft' : 'ArrowRight'
    const upright = to.top + to.height / 2 < from.top + from.height / 2 ? 'ArrowUp' : 'ArrowDown'
    return {
      keys: along > across ? [upright, sideways] : [sideways, upright],
      isThere: on === element,
      at: `${on.tagName} ${on.getAttribute('aria-label') ?? on.textContent?.slice(0, 40)} at ${Math.round(from.left)},${Math.round(from.top)}`,
    }
  })

/** Moves the focus by arrows alone, as a person would: towards the target, and around obstacles. */
async function reach(page: Page, target: Locator, isSidewaysFirst = false): Promise<void> {
  await target.waitFor()
  const way: string[] = []
  for (let step = 0; step < MOST_STEPS; step++) {
    const { keys, isThere, at } = await lead(target)
    if (isThere) return
    way.push(at)
    // If the direct way leads nowhere or back, tries the other arrow.
    const isAcross = /Left|Right/.test(keys[0]!)
    const [straight, other] = isSidewaysFirst && !isAcross ? keys.toReversed() : keys
    const key = way.filter((one) => one === at).length % 2 === 1 ? straight! : other!
    await page.keyboard.press(key)
  }
  assert.fail(`not reached: ${way.join('\n')}`)
}

/** Moves to the navigation by Left alone. */
async function toSections(page: Page): Promise<void> {
  const way: string[] = []
  for (let step = 0; step < 8; step++) {
    const { isThere, at } = await page.evaluate(() => {
      const on = document.activeElement!
      return { isThere: on.closest('.rail') !== null, at: `${on.tagName}.${on.className} ${on.ariaLabel}` }
    })
    if (isThere) return
    way.push(at)
    await page.keyboard.press('ArrowLeft')
  }
  assert.fail(`not reached: ${way.join('\n')}`)
}

const isSeen = (page: Page) =>
  page.evaluate(() => {
    const on = document.activeElement as HTMLElement
    const shown = [on, on.closest('.card')?.querySelector('.picture')].filter(Boolean) as Element[]
    const { top, bottom, left, right } = on.getBoundingClientRect()
    const isInWindow = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
    return isInWindow && shown.some((one) => Number.parseFloat(getComputedStyle(one).outlineWidth) >= 4)
  })

/** A film of 40 s. */
async function aLongFilm(app: TestApp, id: string): Promise<void> {
  const film = join(app.app.settings['mediaDir'] as string, 'UC1', `${id}.mp4`)
  await mkdir(dirname(film), { recursive: true })
  await promisify(execFile)('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=size=160x90:rate=5:duration=40'],
    ...['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', film],
  ])
}

/** Remotes have this key; keyboards do not. */
const BACK = `document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', { key: 'GoBack', bubbles: true, cancelable: true }))`

/** Waits until the document no longer changes. */
const untilQuiet = `new Promise((resolve) => {
  let timer = setTimeout(resolve, 500)
  new MutationObserver(() => {
    clearTimeout(timer)
    timer = setTimeout(resolve, 500)
  }).observe(document, { childList: true, subtree: true, attributes: true, characterData: true })
})`

/** Stores the title of the element that has the focus when a dialog is removed. */
const noteFocusAtEndOfDialog = `void (window.focusAtEnd = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector('dialog')) return
    observer.disconnect()
    resolve(document.activeElement.title)
  }).observe(document, { childList: true, subtree: true })
}))`

describe('on a television', { skip: noBrowser }, () => {
  test('a view that was rendered before the module for remotes was loaded has a first focus, too', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v0', title: 'Film 0', channelId: 'UC1' }))
    const { page, go } = await openPage(t, app.url, { as, options: { userAgent: TELEVISION } })
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route(/\/assets\/.*\.js$/, async (route) => {
      const response = await route.fetch()
      if ((await response.text()).includes('XF86Back')) await released
      await route.fulfill({ response })
    })
    await go('/')
    await page.getByRole('link', { name: 'Film 0', exact: true }).waitFor()
    await page.evaluate(untilQuiet)
    assert.equal(await page.evaluate('document.activeElement === document.body'), true)
    release()
    await page.waitForFunction(() => document.activeElement?.textContent === 'Film 0')
  })

  test('arrows alone lead from Home to a playing film, to the settings and back', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour' }),
      ...Array.from({ length: 40 }, (_, at) =>
        aVideo({
          id: `v${at}`,
          title: `Film ${at}`,
          channelId: 'UC1',
          published: new Date(Date.parse('2024-06-01') - at * 86_400_000).toISOString().slice(0, 10),
          player: { duration: 40 },
        }),
      ),
    )
    await aLongFilm(app, 'v7')
    const { page, go, check, shot } = await openPage(t, app.url, {
      as,
      options: { viewport: { width: 1920, height: 1080 }, userAgent: TELEVISION },
    })
    const list = page.getByRole('list', { name: 'All videos' })
    await go('/?type=videos')
    await list.getByRole('link', { name: 'Film 0', exact: true }).waitFor()

    // The focus is on a card, not on an element above the list that was rendered earlier.
    await page.waitForFunction(() => document.activeElement?.closest('.card-title'))
    assert.equal(await page.evaluate('document.documentElement.dataset.layout'), 'sofa')
    await reach(page, list.getByRole('link', { name: 'Film 7', exact: true }))
    assert.equal(await isSeen(page), true)
    assert.ok(
      (await list
        .locator('.cell')
        .first()
        .evaluate((cell) => cell.clientWidth)) >= 340,
      'few columns',
    )
    await shot('television-home')
    await check()
    const before = Number(await page.evaluate('scrollY'))

    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Film 7', exact: true }).waitFor()
    await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.2)
    await page.waitForFunction(() => document.activeElement?.classList.contains('player'))
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.querySelector('video')!.paused)
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(() => document.querySelector('video')!.currentTime > 5)
    await reach(page, page.getByRole('button', { name: 'Full screen' }))
    await reach(page, page.getByRole('button', { name: 'Add to a playlist' }).first())
    assert.equal(await isSeen(page), true)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await reach(page, page.getByRole('dialog').getByRole('button', { name: 'Create and add' }))
    await shot('television-video')
    await page.evaluate(noteFocusAtEndOfDialog)
    await page.keyboard.press('Escape')
    assert.equal(await page.evaluate('window.focusAtEnd'), 'Add to a playlist')

    await toSections(page)
    await reach(page, page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Settings' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    await reach(page, page.getByRole('link', { name: 'Appearance' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Appearance' }).waitFor()
    await reach(page, page.getByLabel('Layout'))
    await shot('television-settings')
    await check()
    for (const heading of ['Settings', 'Film 7']) {
      await page.keyboard.press('Escape')
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
    }
    await page.keyboard.press('Escape')

    await page.waitForFunction(() => document.activeElement?.textContent === 'Film 7')
    assert.ok(Math.abs(Number(await page.evaluate('scrollY')) - before) < 5)
    await reach(page, page.getByRole('button', { name: 'Unwatched' }))
    await reach(page, page.getByRole('searchbox'))
  })

  test('Left leads to the navigation and the search, Down to the actions of a film, and every letter has at least 24 px', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour' }),
      ...Array.from({ length: 12 }, (_, at) =>
        aVideo({ id: `v${at}`, title: `Film ${at}`, channelId: 'UC1', player: { duration: 40 } }),
      ),
      aQueued({ id: 'waiting' }),
    )
    await aLongFilm(app, 'v7')
    const { page, go, check, shot } = await openPage(t, app.url, {
      as,
      options: { viewport: { width: 1920, height: 1080 }, userAgent: TELEVISION },
    })
    const isOn = (selector: string) =>
      page.evaluate((wanted) => document.activeElement?.closest(wanted) != null, selector)
    const small = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('body *')]
          .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim()))
          .filter((one) => one.checkVisibility() && !one.closest('.unseen, script, style, title'))
          .filter((one) => Number.parseFloat(getComputedStyle(one).fontSize) * (one.currentCSSZoom ?? 1) < 23.9)
          .map(
            (one) =>
              `${one.className} ${one.parentElement?.className} ${one.textContent} ${getComputedStyle(one).fontSize}`,
          ),
      )
    const isWithin = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)

    await go('/?type=videos')
    await page.waitForFunction(() => document.activeElement?.closest('.card-title'))
    assert.deepEqual(await small(), [])
    assert.equal(await isWithin(), true)
    await shot('television-type-home')
    for (const key of [
      'ArrowUp',
      'ArrowUp',
      'ArrowUp',
      'ArrowUp',
      'ArrowDown',
      'ArrowDown',
      'ArrowDown',
      'ArrowDown',
    ]) {
      await page.keyboard.press(key)
      assert.equal(await isOn('.rail'), false, key)
    }
    await toSections(page)
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Home')

    await page.keyboard.press('ArrowUp')
    await page.waitForFunction(() => document.activeElement?.id === 'search')
    await page.keyboard.type('Film 7')
    await page.locator('.found').getByRole('link', { name: 'Film 7' }).first().waitFor()
    assert.deepEqual(await small(), [])
    await check()
    await shot('television-type-search')

    await go('/video/v7/')
    await page.waitForFunction(() => document.activeElement?.classList.contains('player'))
    for (let step = 0; step < 4 && !(await isOn('.watch-text')); step++) await page.keyboard.press('ArrowDown')
    assert.equal(await isOn('.watch-text button, .watch-text a'), true)
    assert.deepEqual(await small(), [])
    assert.equal(await isWithin(), true)
    await shot('television-type-video')
    await check()

    for (const path of ['/search/', '/channels/', '/playlists/', '/downloads/', '/statistics/', '/settings/users/']) {
      await go(path)
      await page.waitForFunction(() => document.querySelector('main h1, main h2, main .language, main .sentence'))
      assert.deepEqual(await small(), [], path)
      assert.equal(await isWithin(), true, path)
      await shot(`television-type${path.replaceAll('/', '-')}`)
    }
  })

  test('Back in a view without history leads to Home; menus and dialogs are closed first', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v0', title: 'Film 0', channelId: 'UC1' }))
    await aLongFilm(app, 'v0')
    const { page, go, check } = await openPage(t, app.url, { as, options: { userAgent: TELEVISION } })
    const level1 = (name: string) => page.getByRole('heading', { level: 1, name, exact: true })
    await go('/video/v0/')
    await page.waitForFunction(() => document.activeElement?.classList.contains('player'))
    await reach(page, page.getByRole('button', { name: 'Full screen' }))
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.fullscreenElement !== null)
    await page.evaluate(BACK)
    await page.waitForFunction(() => document.fullscreenElement === null)
    await level1('Film 0').waitFor()

    await page.evaluate(BACK)
    await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Film 0', exact: true }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/')
    await page.waitForFunction(() => document.activeElement?.textContent === 'Film 0')
    await check()
    await page.keyboard.press('Enter')
    await level1('Film 0').waitFor()
    await page
      .getByRole('button', { name: /^More for/ })
      .first()
      .click()
    await page.getByRole('menu').waitFor()
    await page.evaluate(BACK)
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await level1('Film 0').waitFor()
    await page.evaluate(BACK)
    await page.waitForURL((url) => url.pathname === '/')
  })

  test('Back in the first view leads to the navigation, and from there the browser handles it and leaves', async (t) => {
    const app = await testApp(t)
    const films = Array.from({ length: 40 }, (_, at) => aVideo({ id: `v${at}`, title: `Film ${at}`, channelId: 'UC1' }))
    await app.given(aChannel({ id: 'UC1' }), ...films)
    const { page, go, check } = await openPage(t, app.url, { as, options: { userAgent: TELEVISION } })
    const sections = page.getByRole('navigation', { name: 'Sections' })
    const isAt = (name: string) =>
      sections.getByRole('link', { name }).evaluate((link) => document.activeElement === link)
    await go('/channels/')
    await page.getByRole('heading', { level: 1, name: 'Channels' }).waitFor()
    await go('/?type=videos')
    await page.waitForFunction(() => document.activeElement?.closest('.card-title'))
    const newest = page.getByRole('list', { name: 'All videos' }).locator('.card-title a').first()
    await reach(page, newest)
    for (let row = 0; row < 5; row++) await page.keyboard.press('ArrowDown')
    await page.waitForFunction(() => scrollY > 0)

    assert.equal(await page.evaluate(BACK), false, 'the page has taken it')
    assert.equal(await isAt('Home'), true)
    await page.waitForFunction(() => scrollY === 0)
    assert.equal(new URL(page.url()).pathname, '/')
    await check()
    assert.equal(await page.evaluate(BACK), true, 'the browser does what it does')
    assert.equal(await isAt('Home'), true)
    await reach(page, newest)

    await page.keyboard.press('Escape')
    assert.equal(await isAt('Home'), true)
    await page.keyboard.press('Escape')
    await page.waitForURL('**/channels/')
  })

  test('the months of a long list can be stepped through and left; every button of a player can be reached', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour' }),
      ...Array.from({ length: 70 }, (_, at) =>
        aVideo({
          id: `v${at}`,
          title: `Film ${at}`,
          channelId: 'UC1',
          published: new Date(Date.parse('2024-06-01') - at * 7 * 86_400_000).toISOString().slice(0, 10),
          player: { duration: 40 },
          chapters: [
            { start: 0, title: 'Low water' },
            { start: 20, title: 'High water' },
          ],
          subtitles: [
            { ext: 'vtt', lang: 'en', name: 'English', source: 'user', url: '', media_url: `/media/UC1/v${at}.en.vtt` },
          ],
        }),
      ),
    )
    await aLongFilm(app, 'v0')
    const { page, go, check, shot } = await openPage(t, app.url, {
      as,
      options: { viewport: { width: 1920, height: 1080 }, userAgent: TELEVISION },
    })
    const list = page.getByRole('list', { name: 'All videos' })
    await go('/?type=videos')
    await page.getByRole('slider', { name: 'Month' }).waitFor()
    await reach(page, page.getByRole('slider', { name: 'Month' }), true)
    for (const month of ['May 2024', 'April 2024']) {
      await page.keyboard.press('ArrowDown')
      await page.getByRole('button', { name: `Clear ${month}` }).waitFor()
    }
    await list.getByRole('link', { name: 'Film 5', exact: true }).waitFor()
    await shot('television-months')
    await check()
    await page.keyboard.press('ArrowLeft')
    assert.equal(await page.evaluate(`document.activeElement.closest('.virtual') !== null`), true)

    await go('/video/v0/')
    await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.2)
    const buttons = page.locator('.controls-row button:visible')
    const names = await buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''))
    for (const part of ['Pause', 'Mute', 'Chapters', 'Speed', 'Subtitles', 'Full screen'])
      assert.ok(
        names.some((name) => name.startsWith(part)),
        `${part} in ${names.join()}`,
      )
    await page.waitForFunction(() => document.activeElement?.classList.contains('player'))
    await page.keyboard.press('ArrowDown')
    const bar = page.getByRole('slider', { name: 'Position' })
    await reach(page, bar)
    const from = await bar.inputValue()
    await page.keyboard.press('ArrowRight')
    assert.notEqual(await bar.inputValue(), from)
    // A slider would use the arrows itself.
    assert.equal(await page.getByRole('slider', { name: 'Volume' }).count(), 0)
    for (const name of names) await reach(page, page.getByRole('button', { name, exact: true }), true)
    for (const name of names.toReversed()) await reach(page, page.getByRole('button', { name, exact: true }), true)
    await shot('television-player')
  })

  test('the setting for this device explains its state, and can be reset', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/settings/appearance/')
    const isSofa = () => page.evaluate('document.documentElement.dataset.layout')
    await page.getByLabel('Layout').waitFor()
    assert.equal(await isSofa(), undefined)

    await page.getByLabel('Layout').selectOption({ label: 'Television' })
    await page.reload()
    await page.getByLabel('Layout').waitFor()

    assert.equal(await isSofa(), 'sofa')
    await page.getByLabel('Layout').selectOption({ label: 'Automatic' })
    assert.equal(await isSofa(), undefined)
  })
})

/** What may confuse a new user: elements that jump, are cut off, look the same, or have no name. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { definePlugin, defineTask, Type } from 'archivolt'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { ROOT } from '../../support/sources.ts'
import { aChannel, aFragment, aNewItem, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { SECTIONS } from './sections.ts'
import '../../support/long.ts'

const as = { username: 'admin', password: PASSWORD }

const talkative = definePlugin({
  name: 'talk',
  needs: ['task'],
  tasks: [
    defineTask({
      name: 'talk.on',
      title: 'Talking',
      group: 'download:run',
      payload: Type.Object({}),
      lane: 'light',
      apiStart: true,
      async run({ progress, signal }) {
        progress(0.25, 'A message that is as long as the titles of videos often are')
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      },
    }),
  ],
})

/** Accessible names that several buttons of the view have. */
const namesInCommon = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const seen = new Map<string, number>()
    for (const button of document.querySelectorAll<HTMLElement>('main button')) {
      if (!button.checkVisibility()) continue
      const name = button.getAttribute('aria-label') ?? button.innerText.trim()
      seen.set(name, (seen.get(name) ?? 0) + 1)
    }
    return [...seen].filter(([, count]) => count > 1).map(([name, count]) => `${count} × ${name}`)
  })

describe('at first look', { skip: noBrowser }, () => {
  for (const width of [1280, 900, 390]) {
    test(`the search field keeps its position while tasks run and while typing (${width} px)`, async (t) => {
      const app = await testApp(t, { replace: [talkative] })
      const { page, go } = await openPage(t, app.url, { as, options: { viewport: { width, height: 800 } } })
      await go('/')
      await page.getByText('Your archive is empty').waitFor()
      const field = page.getByLabel('Search the archive')
      const atFirst = await field.boundingBox()

      await app.as('admin').post('/api/task-name/talk.on/')
      await page.getByRole('button', { name: /A message that is as long/ }).waitFor()
      const whileBusy = await field.boundingBox()
      await field.fill('x')
      await page.getByText('Nothing found for “x”').waitFor()

      assert.deepEqual(whileBusy, atFirst)
      assert.deepEqual(await field.boundingBox(), atFirst)
    })
  }

  for (const size of ['phone', 'desktop'] as const)
    test(`a card names its channel beside the mark of a lost video, in German (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ channel_name: 'Harbour Works and Tide Tables' }),
        aVideo({ title: 'Gone', active: false, published: '2025-02-01' }),
      )
      const { page, go, shot } = await openPage(t, app.url, { as, size, options: { locale: 'de-DE' } })
      await go('/')
      await page.getByText('Verschwunden').first().waitFor()

      const widths = await page
        .locator('.card-channel > span:last-child')
        .evaluateAll((names) => names.map((name) => name.getBoundingClientRect().width))

      assert.ok(widths.length > 0 && widths.every((width) => width > 40), `${widths}`)
      await shot('lost-card')
    })

  test('what a subscription leaves out is folded away behind one arrow, and each field has room', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    await go('/channels/')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).first().click()
    const folded = page.getByText('Skip some, or keep only some')
    // The browser’s own arrow belongs to `list-item`.
    assert.equal(await folded.evaluate((summary) => getComputedStyle(summary).display), 'flex')

    await folded.click()

    const gaps = await folded.evaluate((summary) => {
      const boxes = [...summary.parentElement!.children].map((one) => one.getBoundingClientRect())
      return boxes.slice(1).map(({ top }, index) => top - boxes[index]!.bottom)
    })
    assert.ok(gaps.length > 4 && gaps.every((gap) => gap >= 8), `${gaps}`)
    await check()
    await shot('wishes')
  })

  test('all sections of the settings are readable at a height of 900 px', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as, options: { viewport: { width: 900, height: 800 } } })
    await go('/settings/account/')

    const link = page.getByRole('navigation', { name: 'Settings sections' }).getByRole('link', { name: 'Plugins' })
    const { x, width } = (await link.boundingBox())!
    const whole = await page.locator('.settings-nav').boundingBox()

    assert.ok(x + width <= whole!.x + whole!.width)
    assert.equal(await isWhollySeen(link), true)
  })

  const isWhollySeen = (link: ReturnType<Page['locator']>): Promise<boolean> =>
    link.evaluate(
      (element) =>
        new Promise<boolean>((resolve) =>
          new IntersectionObserver(([entry]) => resolve(entry!.intersectionRatio === 1)).observe(element),
        ),
    )

  test('waiting and failed items look different', async (t) => {
    const app = await testApp(t)
    await app.app.queue.add([aNewItem('waiting1111')], 'pending')
    await app.app.queue.add([aNewItem('failed11111')], 'pending', {
      failure: { message: 'This video has been removed by the uploader', errorClass: 'gone' },
    })
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/downloads/')
    const link = page.getByRole('link', { name: 'Downloads' })
    await link.getByLabel('1 failed').waitFor()

    const isRed = (label: string): Promise<boolean> =>
      link.getByLabel(label).evaluate((badge) => {
        const [red, green, blue] = getComputedStyle(badge)
          .backgroundColor.match(/[\d.]+/g)!
          .map(Number)
        return red! > 1.5 * Math.max(green!, blue!)
      })

    assert.deepEqual([await isRed('1 waiting'), await isRed('1 failed')], [false, true])
    await check()
  })

  test('each button names the item that it acts on', async (t) => {
    const app = await testApp(t)
    await app.given(
      ...[aChannel(), aChannel({ id: 'UC2' })],
      ...['v1', 'v2', 'v3'].map((id) => aVideo({ id, title: `A mill ${id}` })),
      ...['v1', 'v2'].map((videoId) => aFragment({ platform_id: videoId, subtitle_line: 'the mill' })),
      ...['PL1', 'PL2'].map((id) => aPlaylist({ id, entries: ['v1', 'v2'] })),
    )
    await app.app.queue.add([aNewItem('waiting1111'), aNewItem('waiting2222')], 'pending')
    await app.app.queue.add([aNewItem('ignored1111'), aNewItem('ignored2222')], 'ignore')
    await app.app.queue.add([aNewItem('failed11111')], 'pending', {
      failure: { message: 'This video has been removed by the uploader', errorClass: 'gone' },
    })
    await app.app.queue.add([aNewItem('failed22222')], 'pending', {
      failure: { message: 'Sign in to confirm that this is you', errorClass: 'login_required' },
    })
    for (const name of ['one', 'two']) {
      await app
        .as('admin')
        .post('/api/webhook/', { name, url: `https://${name}.example.org/`, events: ['video.added'] })
      await app.as('admin').post('/api/access-token/', { name, scope: 'read' })
    }
    const { page, go } = await openPage(t, app.url, { as })
    const found: string[] = []
    for (const address of [
      ...['/', '/channels/', '/channel/UC1/', '/playlists/', '/playlist/PL1/', '/video/v1/', '/search/?q=mill'],
      ...['waiting', 'failed', 'ignored'].map((show) => `/downloads/?show=${show}`),
      ...SECTIONS.map((section) => `/settings/${section}/`),
    ]) {
      await go(address)
      await page.locator('main h1').first().waitFor({ state: 'attached' })
      await page.waitForLoadState('networkidle')
      for (const name of await namesInCommon(page)) found.push(`${address}: ${name}`)
    }

    assert.deepEqual(found, [])
  })
})

test('the dot between facts is never underlined with the link after it', async () => {
  const folder = join(ROOT, 'plugins/web/page')
  const sheets = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.css'))
  const rules: string[] = []
  for (const name of sheets)
    for (const [rule] of (await readFile(join(folder, name), 'utf8')).matchAll(/[^{}]+\{[^{}]*content: "·"[^{}]*\}/g))
      rules.push(rule)

  assert.ok(rules.length > 3)
  for (const rule of rules) assert.match(rule, /display: inline-block/)
})

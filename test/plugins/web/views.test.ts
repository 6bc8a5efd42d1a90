/**
 * Every view at every width, light and dark, full, empty and failing: nothing is wider than the window, and no texts
 * overlap. With AV_SCREENSHOTS, screenshots are written.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type {} from '../../../plugins/download/queue.ts'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import { SECTIONS } from './sections.ts'

const as = { username: 'admin', password: PASSWORD }
const TELEVISION = 'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/120.0 Safari/537.36 WebAppManager'

interface Screen {
  widths: number[]
  height: number
  options?: object
  size?: 'phone'
}
const SCREENS: Record<string, Screen> = {
  phone: { widths: [320, 390], height: 844, size: 'phone' },
  desktop: { widths: [820, 1440], height: 900 },
  television: { widths: [1920], height: 1080, options: { userAgent: TELEVISION } },
}

const VIEWS = [
  '/',
  '/?type=videos&watch=unwatched',
  '/video/v1/',
  '/video/v1/?list=PL1',
  '/channels/',
  '/channel/UC1/',
  '/channel/UC1/?show=settings',
  '/playlists/',
  '/playlist/PL1/',
  '/playlist/av_playlist_1/',
  '/downloads/',
  '/downloads/?show=failed',
  '/search/?q=tide',
  '/statistics/',
  '/settings/users/',
]
const SETTINGS = SECTIONS.map((one) => `/settings/${one}/`)

async function fill(app: TestApp): Promise<void> {
  const entries = Array.from({ length: 12 }, (_, at) => ({
    platform_id: `v${at}`,
    title: `Film ${at}`,
    downloaded: true,
  }))
  await app.given(
    aChannel({
      ...{ id: 'UC1', channel_name: 'Harbour and tide', channel_subscribed: true, channel_subs: 1_234_567 },
      channel_description: 'Of boats, nets and the weather. '.repeat(20),
    }),
    aChannel({
      id: 'UC2',
      channel_name: 'A channel whose name is so long that it has no room on most screens',
      channel_active: false,
    }),
    ...entries.map(({ platform_id: id, title }, at) =>
      aVideo({
        ...{ id, title: at % 3 ? `${title}: the tide` : `${title}: ${'how the tide comes and goes '.repeat(4)}` },
        channelId: at % 4 ? 'UC1' : 'UC2',
        published: `2024-0${(at % 9) + 1}-01`,
        description: 'What is said of it. '.repeat(30),
        player: { duration: 3600 * at + 75 },
        stats: { view_count: 10 ** at, like_count: 9 ** at },
      }),
    ),
    aPlaylist({ id: 'PL1', playlist_name: 'Of the sea', playlist_channel_id: 'UC1', entries }),
    aPlaylist({ id: 'av_playlist_1', playlist_name: 'For winter', playlist_type: 'custom', entries }),
  )
  await makeFilm(join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4'))
  const item = (id: string) => ({
    ...{ id, title: `Waiting ${id}`, channelId: 'UC1', channelName: 'Harbour and tide', durationSeconds: 500 },
    ...{ published: '2026-01-02', vidType: 'videos' as const },
  })
  await app.app.queue.add([item('waiting1111'), item('waiting2222')], 'pending')
  const failure = { message: 'Sign in to confirm your age', errorClass: 'login_required' as const }
  await app.app.queue.add([item('failed11111')], 'pending', { failure })
  await app.as('admin').post('/api/watched/', { id: 'v3', is_watched: true })
  await app.as('admin').post('/api/video/v4/progress/', { position: 600 })
}

/** Texts that overlap. Runs in the page. */
function overlaps(): string[] {
  const content = document.querySelector('#content')
  if (!content) return ['there is no content']
  const found: string[] = []
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth} px wide`)
  const texts: Array<{ text: string; left: number; right: number; top: number; bottom: number; owner: Element }> = []
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement!
    const text = node.textContent!.trim()
    // Texts over pictures and bars are intended.
    const isUpon = owner.closest(
      '.unseen, .player, .picture, .card-actions, option, svg, canvas, .u-legend, .sticky, [aria-hidden=true]',
    )
    if (text === '' || isUpon || !owner.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const line of range.getClientRects()) {
      const inset = line.height * 0.25
      const box = { left: line.left + 1, right: line.right - 1, top: line.top + inset, bottom: line.bottom - inset }
      for (let around: Element | null = owner; around && around !== document.body; around = around.parentElement) {
        if (getComputedStyle(around).overflow === 'visible') continue
        const edge = around.getBoundingClientRect()
        box.left = Math.max(box.left, edge.left)
        box.right = Math.min(box.right, edge.right)
        box.top = Math.max(box.top, edge.top)
        box.bottom = Math.min(box.bottom, edge.bottom)
      }
      if (box.right - box.left > 2 && box.bottom - box.top > 2) texts.push({ ...box, text: text.slice(0, 40), owner })
    }
  }
  for (const [at, one] of texts.entries())
    for (const other of texts.slice(at + 1)) {
      if (one.owner === other.owner) continue
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      if (across > 2 && down > 2) found.push(`“${one.text}” lies over “${other.text}”`)
    }
  return found
}

type State = 'full' | 'empty' | 'failing'

const ready = async (page: Page) => {
  await page.locator('#content :is(h1, h2, form)').first().waitFor({ state: 'attached' })
  await page.waitForFunction(() => !document.querySelector('#content .box'))
}

/** Makes all requests fail, except those for the session. */
const fail = (page: Page) =>
  page.route(/\/api\/(?!session|events|config\/user)/, (route) =>
    route.fulfill({ status: 503, json: { message: 'The index cannot be reached now' } }),
  )

describe('every view', { skip: noBrowser }, () => {
  test('elements that are too wide and overlapping texts are found', async (t) => {
    const app = await testApp(t)
    await fill(app)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/channels/')
    await ready(page)
    assert.deepEqual(await page.evaluate(overlaps), [])
    await page.evaluate(`{
      const [title, chip] = ['h1', '.chip'].map((name) => document.querySelector('#content ' + name))
      const [to, from] = [title, chip].map((one) => one.getBoundingClientRect())
      title.style.translate = (from.x - to.x) + 'px ' + (from.y - to.y) + 'px'
    }`)
    await page.evaluate(`document.querySelector('#content').style.minWidth = '3000px'`)
    const found = (await page.evaluate(overlaps)) as string[]
    assert.match(found.join(), /the page is \d+ px wide.*“Channels” lies over “All”/)
  })

  for (const state of ['full', 'empty', 'failing'] as State[])
    for (const [name, { widths, height, options, size }] of Object.entries(SCREENS))
      test(`fits, ${state}, on a ${name}`, async (t) => {
        const app = await testApp(t)
        if (state === 'full') await fill(app)
        const viewport = { width: widths[0]!, height }
        const { page, go, check, shot, undeclared } = await openPage(t, app.url, {
          ...{ as, ...(size && { size }) },
          options: { ...options, viewport },
        })
        if (state === 'failing') await fail(page)
        const met: string[] = []
        // Settings look the same with any archive; other tests check them on narrow phones and televisions.
        const views = [...VIEWS, ...(state === 'full' && name === 'desktop' ? SETTINGS : [])]
        for (const [at, view] of views.entries()) {
          if (state === 'empty' && /\/(video|channel|playlist)\//.test(view)) continue
          await page.setViewportSize(viewport)
          await go(view)
          await ready(page)
          for (const width of widths) {
            await page.setViewportSize({ width, height })
            for (const colorScheme of ['light', 'dark'] as const) {
              await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
              // Colors move nothing, so overlaps are measured once; screenshots and axe check the colors.
              if (colorScheme === 'light')
                met.push(...((await page.evaluate(overlaps)) as string[]).map((one) => `${view} at ${width}: ${one}`))
              await shot(`view-${state}-${width}${view.replace(/\W+/g, '-')}-${colorScheme}`)
            }
          }
          // Each view is checked on one of the screens, because the tests of each view check all its states.
          if (state !== 'failing' && at % 3 === Object.keys(SCREENS).indexOf(name)) await check()
        }
        assert.deepEqual(met, [])
        assert.deepEqual(await undeclared(), [], 'the server knows every query parameter of the page')
      })
})

/** The narrowest phone: at 320 pixels, every button and link can be reached, in every view and dialog. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type {} from '../../../plugins/download/queue.ts'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { SECTIONS } from './sections.ts'
import '../../support/long.ts'

const as = { username: 'admin', password: PASSWORD }
const NARROW = { width: 320, height: 568 }
const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänskajüte'

/** Elements that a finger cannot reach: outside the width, or covered by another element. */
function unreachable(): string[] {
  const found: string[] = []
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth > width)
    found.push(`the page is ${document.documentElement.scrollWidth} px wide`)
  const within = [...document.querySelectorAll('dialog[open], [popover]:popover-open')].at(-1) ?? document
  for (const one of within.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary')) {
    if (
      !one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ||
      one.closest('.unseen, .skip, [aria-hidden="true"]') ||
      getComputedStyle(one).pointerEvents === 'none'
    )
      continue
    one.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' })
    const box = one.getBoundingClientRect()
    if (box.width < 2 || box.height < 2) continue
    const name = `${one.tagName.toLowerCase()} “${(one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40)}”`
    // A link may be broken into lines, each with its own box. Long words may be cut off with an ellipsis.
    const line = [...one.getClientRects()].find(({ width }) => width > 0) ?? box
    let [left, right] = [line.left, line.right]
    for (let around = one.parentElement; around; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible' || around === document.body) continue
      left = Math.max(left, around.getBoundingClientRect().left)
      right = Math.min(right, around.getBoundingClientRect().right)
    }
    if (left < -0.5 || right > width + 0.5 || right - left < Math.min(line.width, 24) - 1)
      found.push(`${name} is seen from ${Math.round(left)} to ${Math.round(right)}`)
    const top = document.elementFromPoint((left + right) / 2, line.top + line.height / 2)
    const isItself =
      top !== null &&
      (one.contains(top) ||
        top.contains(one) ||
        [...((one as HTMLInputElement).labels ?? [])].some((label) => label.contains(top)))
    if (!isItself) found.push(`${name} lies below ${top?.outerHTML.slice(0, 80) ?? 'nothing'}`)
  }
  return found
}

/** Labels of the bottom bar that are cut off. Runs in the page. */
const cutLabels = (): string[] =>
  [...document.querySelectorAll('.rail-label')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map((label) => `“${label.textContent}” is cut`)

const look = async (page: Page, where: string): Promise<string[]> =>
  ((await page.evaluate(unreachable)) as string[]).map((one) => `${where}: ${one}`)

describe('at 320 pixels', { skip: noBrowser }, () => {
  for (const [language, locale] of [
    ['', 'en-GB'],
    ['de', 'de-DE'],
  ] as const)
    test(`every view keeps its buttons reachable, in ${locale}`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({
          id: 'UC1',
          channel_name: LONG,
          channel_subs: 1_234_567,
          channel_views: 987_654_321,
          channel_subscribed: true,
          channel_tabs: ['videos', 'streams', 'shorts'],
          channel_description: LONG,
        }),
        ...Array.from({ length: 30 }, (_, index) =>
          aVideo({
            id: `v${index}`,
            title: `${LONG} ${index}`,
            description: `https://example.org/${LONG}`,
            playlist: ['PL1'],
            player: { duration: 4_000 },
            // The largest number of buttons that a player may have.
            chapters: [
              { start: 0, title: LONG },
              { start: 2000, title: LONG },
            ],
            subtitles: [{ ext: 'vtt', lang: 'en', name: LONG, source: 'user', url: '', media_url: '/media/a.en.vtt' }],
          }),
        ),
        aPlaylist({
          id: 'PL1',
          playlist_name: LONG,
          playlist_channel: LONG,
          playlist_channel_id: 'UC1',
          entries: ['v1', 'v2', { platform_id: 'gone', downloaded: false }],
        }),
        aPlaylist({ id: 'av_playlist_1', playlist_name: LONG, playlist_type: 'custom', entries: ['v1', 'v2'] }),
      )
      const item = (id: string) => ({
        id,
        title: `${LONG} ${id}`,
        channelId: 'UC1',
        channelName: LONG,
        durationSeconds: 500,
        published: '2026-01-02',
        vidType: 'videos' as const,
      })
      await app.app.queue.add([item('waiting1111')], 'pending')
      await app.app.queue.add([item('failed11111')], 'pending', {
        failure: { message: LONG, errorClass: 'login_required' },
      })
      await app.app.queue.add([item('later111111')], 'pending', { failure: { message: LONG, errorClass: 'upcoming' } })
      await app.app.queue.add([item('ignored1111')], 'ignore')
      await app.as('admin').post('/api/config/user/', { language })
      await makeFilm(join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4'))
      const { page, go } = await openPage(t, app.url, { size: 'phone', as, options: { viewport: NARROW, locale } })
      const views = [
        '/',
        '/?watch=unwatched&type=videos&channel=UC1',
        '/video/v1/',
        '/video/v1/?list=PL1',
        '/channels/',
        '/channel/UC1/',
        '/channel/UC1/?show=playlists',
        '/channel/UC1/?show=settings',
        '/playlists/',
        '/playlist/PL1/',
        '/playlist/av_playlist_1/',
        ...['waiting', 'later', 'failed', 'ignored'].map((show) => `/downloads/?show=${show}`),
        '/search/',
        `/search/?q=${LONG}`,
        '/statistics/',
        '/settings/',
        ...SECTIONS.map((one) => `/settings/${one}/`),
        '/welcome/',
        '/nope/',
      ]
      const met: string[] = []
      for (const view of views) {
        await go(view)
        await page.locator('#content :is(h1, h2, form)').first().waitFor({ state: 'attached' })
        await page.waitForLoadState('networkidle')
        // During playback the buttons are hidden.
        if (view.startsWith('/video/')) await page.locator('video').evaluate((video: HTMLVideoElement) => video.pause())
        met.push(...(await look(page, view)))
      }
      met.push(...((await page.evaluate(cutLabels)) as string[]))
      assert.deepEqual(met, [])
    })

  test('dialogs, menus and the sign-in keep their buttons reachable', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: LONG }),
      aVideo({ id: 'v1', title: LONG }),
      aPlaylist({ id: 'av_playlist_1', playlist_name: LONG, playlist_type: 'custom', entries: [] }),
    )
    const { page, go } = await openPage(t, app.url, { size: 'phone', as, options: { viewport: NARROW } })
    const met: string[] = []
    const opened = async (view: string, name: string | RegExp, then: string) => {
      await go(view)
      await page.getByRole('button', { name }).first().click()
      await page.locator(then).waitFor()
      met.push(...(await look(page, `${view} ${name}`)))
    }
    // The chip “Subscribed” is rendered before the page knows that this is an admin.
    await opened('/channels/', /^Subscribe$/, 'dialog[open]')
    await page.getByLabel('Channels or playlists').fill(`@${LONG}`)
    await page.locator('.pasted li').first().waitFor()
    met.push(...(await look(page, 'a pasted name')))
    await opened('/playlists/', 'New playlist', 'dialog[open]')
    await opened('/video/v1/', 'Add to a playlist', 'dialog[open]')
    await opened('/video/v1/', /^More for/, '[role=menu]')
    await opened('/channel/UC1/', /^More for/, '[role=menu]')
    await opened('/', /^Activity/, '[role=dialog]')
    await opened('/', /^Account/, '[role=menu]')
    await opened('/', 'Channel', 'dialog[open]')

    const guest = await openPage(t, app.url, { size: 'phone', options: { viewport: NARROW } })
    await guest.go('/')
    await guest.page.getByLabel('Name').waitFor()
    met.push(...(await look(guest.page, 'the sign-in')))
    assert.deepEqual(met, [])
  })
})

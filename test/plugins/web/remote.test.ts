/** A remote in every view: arrows alone reach each focusable element, show its focus, and leave it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type {} from '../../../plugins/download/queue.ts'
import { noBrowser, openPage, type Watched } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import { SECTIONS } from './sections.ts'

const as = { username: 'admin', password: PASSWORD }
const TELEVISION = 'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/120.0 Safari/537.36 WebAppManager'
const VIEWS = [
  ...['/', '/?type=videos&watch=unwatched', '/video/v1/', '/video/v1/?list=PL1', '/channels/', '/channel/UC1/'],
  ...['/channel/UC1/?show=settings', '/playlists/', '/playlist/PL1/', '/playlist/av_playlist_1/', '/downloads/'],
  ...['/downloads/?show=failed', '/search/', '/search/?q=tide', '/statistics/'],
  ...SECTIONS.map((one) => `/settings/${one}/`),
]

/**
 * Walks from the focused element, trying all four arrows at each element. Runs in the page.
 * @returns the elements that were never reached, those that cannot be left, and those that do not show their focus
 */
function walk(): { missed: string[]; trapped: string[]; unseen: string[]; count: number } {
  const REACHABLE =
    'a[href]:not([tabindex="-1"]), button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'
  // The menu of a card is also on the page of its video; elements that only a mouse needs are skipped.
  const PASSED_BY = '.card .meta a, .card-actions *, .card-choose, .skip, [role=menuitem], .volume input'
  const within = [...document.querySelectorAll('dialog[open], [popover]:popover-open')].at(-1) ?? document.body
  const all = () =>
    [...within.querySelectorAll<HTMLElement>(REACHABLE)].filter(
      (one) => !one.matches(PASSED_BY) && one.checkVisibility({ visibilityProperty: true }) && !one.closest('[inert]'),
    )
  const nameOf = (one: Element) =>
    `${one.tagName.toLowerCase()} “${(one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40)}” ${one.className}`
  const around = (one: Element) => [
    ...[one, one.parentElement, one.parentElement?.parentElement, one.closest('.card')?.querySelector('.picture')],
    ...[one.nextElementSibling, one.previousElementSibling, one.querySelector('span')],
  ]
  const look = (one: Element) =>
    around(one)
      .map((near) => {
        if (!near) return ''
        const { outlineWidth, outlineStyle, boxShadow, backgroundColor, borderColor } = getComputedStyle(near)
        return [outlineStyle === 'none' ? '' : outlineWidth, boxShadow, backgroundColor, borderColor].join()
      })
      .join('|')
  const seen = new Set<Element>()
  const [unseen, trapped]: [string[], string[]] = [[], []]
  const first = document.activeElement!
  const waiting: Element[] = [first]
  while (waiting.length > 0) {
    const one = waiting.pop() as HTMLElement
    if (seen.has(one) || !one.isConnected) continue
    seen.add(one)
    let ways = 0
    for (const key of ['ArrowDown', 'ArrowUp', 'ArrowRight', 'ArrowLeft']) {
      one.focus({ focusVisible: true } as FocusOptions)
      // Moves the caret to the end at which the key leaves the field.
      const field = one as HTMLTextAreaElement
      if (one.matches('textarea, input[type=text], input[type=search], input[type=password]'))
        field.setSelectionRange(
          ...(/Left|Up/.test(key) ? ([0, 0] as const) : ([field.value.length, field.value.length] as const)),
        )
      one.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      const to = document.activeElement
      if (to !== one) ways++
      if (to && to !== document.body && !seen.has(to)) waiting.push(to)
    }
    if (ways === 0) trapped.push(nameOf(one))
    one.blur()
    const before = look(one)
    one.focus({ focusVisible: true } as FocusOptions)
    if (look(one) === before) unseen.push(nameOf(one))
  }
  return {
    missed: all()
      .filter((one) => !seen.has(one))
      .map(nameOf),
    trapped,
    unseen,
    count: seen.size,
  }
}

describe('a remote', { skip: noBrowser }, () => {
  let app: TestApp
  let sofa: Watched
  const scope = lastFirst({ after })

  before(async () => {
    app = await testApp(scope)
    const entries = Array.from({ length: 9 }, (_, at) => ({
      platform_id: `v${at}`,
      title: `The tide ${at}`,
      downloaded: true,
    }))
    await app.given(
      aChannel({
        id: 'UC1',
        channel_name: 'Harbour',
        channel_subscribed: true,
        channel_description: 'Of boats. '.repeat(90),
      }),
      ...entries.map(({ platform_id: id, title }, at) =>
        aVideo({
          ...{ id, title, channelId: 'UC1', published: `2024-01-0${at + 1}`, description: 'Said of it. '.repeat(90) },
          player: { duration: 100 },
          chapters: [
            { start: 0, title: 'Low water' },
            { start: 50, title: 'High water' },
          ],
        }),
      ),
      aPlaylist({ id: 'PL1', playlist_name: 'Of the sea', playlist_channel_id: 'UC1', entries }),
      aPlaylist({ id: 'av_playlist_1', playlist_name: 'For winter', playlist_type: 'custom', entries }),
    )
    await makeFilm(join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4'))
    const item = (id: string) => ({
      ...{ id, title: `Waiting ${id}`, channelId: 'UC1', channelName: 'Harbour', durationSeconds: 500 },
      ...{ published: '2026-01-02', vidType: 'videos' as const },
    })
    await app.app.queue.add([item('waiting1111')], 'pending')
    const failure = { message: 'Sign in', errorClass: 'login_required' as const }
    await app.app.queue.add([item('failed11111')], 'pending', { failure })
    sofa = await openPage(scope, app.url, {
      as,
      options: { viewport: { width: 1920, height: 1080 }, userAgent: TELEVISION, reducedMotion: 'reduce' },
    })
    // The bundler names functions by a helper that does not exist in the page.
    await sofa.page.addInitScript('globalThis.__name = (made) => made')
    await sofa.page.addInitScript(`localStorage.setItem('av_player', '{"isAutoplay":false}')`)
  })

  const ready = async () => {
    const { page } = sofa
    await page.waitForFunction(
      () => !document.querySelector('#content .box') && document.activeElement !== document.body,
    )
    await page.locator('#content :is(h1, h2, form)').first().waitFor({ state: 'attached' })
  }

  for (const view of VIEWS)
    test(`reaches every element at ${view}`, async () => {
      await sofa.go(view)
      await ready()

      const { missed, trapped, unseen, count } = await sofa.page.evaluate(walk)

      assert.ok(count > 8, `${count} things`)
      assert.deepEqual([missed, trapped, unseen], [[], [], []])
    })

  const DIALOGS: Array<[view: string, button: string | RegExp]> = [
    ['/video/v1/', 'Add to a playlist'],
    ['/playlists/', 'New playlist'],
    ['/channels/', /^Subscribe$/],
    ['/settings/users/', 'Add a user'],
  ]
  for (const [view, button] of DIALOGS)
    test(`reaches every element in the dialog “${button}”, and Back closes the dialog and stays in the view`, async () => {
      const { page, go } = sofa
      await go(view)
      await ready()
      await page.locator('#content').getByRole('button', { name: button }).first().focus()
      await page.keyboard.press('Enter')
      await page.locator('dialog[open]').waitFor()

      const { missed, trapped, unseen } = await page.evaluate(walk)

      assert.deepEqual([missed, trapped, unseen], [[], [], []])
      // Remotes have this key; keyboards do not.
      await page.evaluate(`document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'GoBack', bubbles: true, cancelable: true }),
      )`)
      await page.locator('dialog[open]').waitFor({ state: 'detached' })
      assert.equal(new URL(page.url()).pathname, view)
    })
})

/** The page in a right-to-left language: the same page, mirrored. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { ROOT } from '../../support/sources.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { SECTIONS } from './sections.ts'

const as = { username: 'admin', password: PASSWORD }
const VIEWS = [
  '/',
  '/video/v1/',
  '/channels/',
  '/channel/UC1/',
  '/playlists/',
  '/playlist/PL1/',
  '/downloads/',
  '/search/?q=film',
  '/statistics/',
  '/welcome/',
  ...SECTIONS.map((section) => `/settings/${section}/`),
]
/** Properties and values that name left or right. */
const OF_SIDES =
  /(?:^|[\s;{])(?:(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)|(?:left|right)|border-(?:top|bottom)-(?:left|right)-radius|text-align:\s*(?:left|right)|float:\s*(?:left|right)|clear:\s*(?:left|right))\s*[:;]/
/** Properties with four values: the second and the last must be the same. */
const FOUR = /(?:^|\s)(?:margin|padding|inset):\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+);/

/** `calc(-1 * var(--side))` → `calc` */
const withoutCalls = (line: string): string => line.replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, '')

test('styles use start and end, not left and right, except in the player, whose time runs from left to right', async () => {
  const [found, folder]: [string[], string] = [[], join(ROOT, 'plugins/web/page')]
  for (const path of await readdir(folder, { recursive: true })) {
    if (!path.endsWith('.css') || path === join('player', 'player.css')) continue
    for (const [at, line] of (await readFile(join(folder, path), 'utf8')).split('\n').entries()) {
      const [, , right, , left] = FOUR.exec(withoutCalls(line)) ?? []
      if (OF_SIDES.test(line) || right !== left) found.push(`${path}:${at + 1}: ${line.trim()}`)
    }
  }
  assert.deepEqual(found, [])
})

/** Changes documents to the form that the server sends for such a language. */
async function turn(page: Page): Promise<void> {
  await page.route('**/*', async (route) => {
    if (route.request().resourceType() !== 'document') return route.fallback()
    const response = await route.fetch()
    await route.fulfill({
      response,
      body: (await response.text()).replace('<html lang="en"', '<html lang="en" dir="rtl"'),
    })
  })
}

describe('right to left', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop'] as const)
    test(`every view is mirrored and fits (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'الميناء' }),
        ...['v1', 'v2', 'v3'].map((id) => aVideo({ id, channelId: 'UC1', title: `A film, ${id}`, playlist: ['PL1'] })),
        aPlaylist({ id: 'PL1', playlist_name: 'أمسيات', entries: ['v1', 'v2', 'v3'] }),
      )
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })
      await turn(page)

      for (const address of VIEWS) {
        await go(address)
        await page.locator('#content').getByRole('heading').first().waitFor({ state: 'attached' })
        await page.locator('.box').first().waitFor({ state: 'detached' })
        const [wide, across] = (await page.evaluate(
          '[document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollLeft]',
        )) as number[]
        assert.deepEqual([wide! <= 0, across], [true, 0], `${address} is ${wide} pixels too wide`)
        await shot(`rtl${address.replace(/\W+/g, '-')}`)
      }
      await check([/UC1\/v1\.mp4/]) // the video has no file

      const [brand, search] = await Promise.all(
        ['.brand', '[role=search]'].map((one) => page.locator(one).first().boundingBox()),
      )
      assert.ok(brand!.x > search!.x, 'the mark stands at the right')
    })

  test('arrow keys move in the visual direction', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }))
    for (const id of ['v1', 'v2', 'v3']) await app.given(aVideo({ id, channelId: 'UC1', title: `A film, ${id}` }))
    const { page, go } = await openPage(t, app.url, { as })
    await turn(page)
    await go('/')
    const links = page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: /^A film/ })
    await links.nth(1).waitFor()
    const reached = async (at: number) =>
      page.waitForFunction(
        (text) => document.activeElement?.closest('.card')?.textContent?.includes(text),
        await links.nth(at).innerText(),
      )
    await links.nth(0).focus()

    await page.keyboard.press('ArrowLeft')

    await reached(1)
    await page.keyboard.press('ArrowRight')
    await reached(0)
  })
})

/**
 * Hostile texts from the platform and from users stay text: chapters, subtitles, names of saved filters, titles of
 * pasted links.
 */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const SCRIPT = '<script>window.taken = "script"</script>'
const PICTURE = '<img src=x onerror="window.taken = 1">'
/** Reverses the direction of the text that follows, until its end mark. */
const TURNED = 'One \u202Eowt'
const LONG = 'x'.repeat(10_000)
const TEXTS = [SCRIPT, PICTURE, TURNED, LONG]
/** An id with the form of the platform's ids. */
const idOf = (_: string, at: number) => `hostile000${at}`
const WINDOWS = [
  { width: 320, height: 700 },
  { width: 1280, height: 800 },
] as const

/** Checks what must hold wherever one of these texts is shown. */
async function isCalm(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(() => ({
    taken: 'taken' in window,
    elements: document.querySelectorAll('body script:not([src]), img[src="x"], [onerror]').length,
    isWide: document.documentElement.scrollWidth > innerWidth,
    // No shown element is wider than the window or than its scrolling container.
    cut: [...document.querySelectorAll<HTMLElement>('.menu, .transcript ol, dialog[open]')].filter(
      (one) => one.scrollWidth > one.clientWidth + 1,
    ).length,
  }))
  assert.deepEqual(found, { taken: false, elements: 0, isWide: false, cut: 0 }, where)
}

const stamp = (seconds: number) => `00:00:${String(seconds).padStart(2, '0')}.000`
const cue = (text: string, at: number) => `${stamp(at * 4)} --> ${stamp(at * 4 + 3)}\n${text}.\n`
const escaped = (text: string) => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')

describe('hostile texts', { skip: noBrowser }, () => {
  let app: TestApp
  const scope = lastFirst({ after })

  before(async () => {
    app = await testApp(scope)
    const track = '/media/UC1/v1.en.vtt'
    await app.given(
      aChannel({ id: 'UC1' }),
      aVideo({
        id: 'v1',
        title: 'A film',
        player: { duration: 20 },
        chapters: TEXTS.map((title, at) => ({ start: at * 4, title })),
        subtitles: [{ ext: 'vtt', lang: 'en', name: 'English', source: 'user', url: '', media_url: track }],
      }),
    )
    await app.given(...TEXTS.map((title, at) => aVideo({ id: idOf(title, at), title })))
    const media = app.app.settings['mediaDir'] as string
    const longer = ['-vf', 'tpad=stop_duration=19:stop_mode=clone', '-af', 'apad=pad_dur=19', '-c:v', 'libx264']
    await makeFilm(join(media, 'UC1', 'v1.mp4'), longer)
    await mkdir(join(media, 'UC1'), { recursive: true })
    // Cues with escaped texts, and one with markup, which the format supports.
    const cues = [...TEXTS.map(escaped), SCRIPT].map(cue).join('\n')
    await writeFile(join(media, 'UC1', 'v1.en.vtt'), `WEBVTT\n\n${cues}`)
  })

  for (const viewport of WINDOWS)
    test(`in chapters stay text (${viewport.width} px)`, async (t) => {
      const { page, go, check, shot } = await openPage(t, app.url, { as, options: { viewport } })
      await go('/video/v1/')
      const chapters = page.getByRole('button', { name: /^Chapters/ })
      // The bar may move away from the pointer while the page loads: like a hand, the pointer moves until it shows
      // something.
      const hint = page.locator('.seek-hint').getByText(SCRIPT.slice(0, 8), { exact: false })
      for (let at = 0; at < 20 && !(await hint.isVisible()); at++) {
        await page.locator('.seek').hover({ position: { x: 20 + (at % 2), y: 10 } })
        await hint.waitFor({ timeout: 1000 }).catch(() => undefined)
      }
      await hint.waitFor()
      for (const [at, title] of TEXTS.entries()) {
        await chapters.click()
        const items = page.getByRole('menuitemradio')
        const said = await items.nth(at).innerText()
        assert.equal(said, `0:${String(at * 4).padStart(2, '0')} · ${title.replace('\u202E', '')}`)
        await isCalm(page, `menu at ${viewport.width}`)
        const heights = await items.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
        assert.ok(Math.max(...heights) < 160, `${heights} px high`)
        await shot(`hostile-chapters-${viewport.width}`)
        await items.nth(at).click()
        await page.waitForFunction((from) => document.querySelector('video')!.currentTime >= from, at * 4)
        await isCalm(page, `chapter ${at} at ${viewport.width}`)
      }
      await check()
    })

  for (const viewport of WINDOWS)
    test(`in subtitles stay text (${viewport.width} px)`, async (t) => {
      const { page, go, check, shot } = await openPage(t, app.url, { as, options: { viewport } })
      await go('/video/v1/')
      await page.getByRole('button', { name: 'Transcript', exact: true }).click()
      const lines = page.getByRole('region', { name: 'Transcript' }).getByRole('listitem')
      await lines.nth(TEXTS.length).waitFor()

      const said = await lines.locator('span[dir=auto]').evaluateAll((all) => all.map((one) => one.textContent))
      assert.deepEqual(said, [...TEXTS.map((text) => `${text}.`), 'window.taken = "script".'])
      await isCalm(page, 'transcript')
      await page.getByLabel('Search in the transcript').fill('<img')
      await page.locator('.transcript mark').waitFor()
      assert.equal(await lines.count(), 1)
      await page.getByLabel('Search in the transcript').fill('')
      await shot(`hostile-transcript-${viewport.width}`)
      await isCalm(page, 'transcript')
      await check()
    })

  for (const viewport of WINDOWS)
    test(`in names of saved filters stay text (${viewport.width} px)`, async (t) => {
      const saved_filters = TEXTS.map((name, at) => ({ name: name.slice(0, 60), query: `sort=views&type=${at}` }))
      const settings = (body: object) => app.as('admin').post('/api/config/user/', body)
      assert.equal((await settings({ saved_filters: [{ name: LONG, query: 'sort=views' }] })).status, 400)
      assert.equal((await settings({ saved_filters })).status, 200)
      const { page, go, check, shot } = await openPage(t, app.url, { as, options: { viewport } })
      await go('/')

      for (const [at, { name }] of saved_filters.entries()) {
        await page.getByRole('button', { name: /^Saved views/ }).click()
        const items = page.getByRole('menuitemradio')
        assert.equal(await items.nth(at).innerText(), name.replace('\u202E', ''))
        await isCalm(page, 'saved filters')
        await shot(`hostile-saved-${viewport.width}`)
        await items.nth(at).click()
        await page.waitForURL((url) => url.search === `?sort=views&type=${at}`)
        await page.locator('.chip-name').getByText(name.slice(0, 4), { exact: false }).waitFor()
        await isCalm(page, `saved filter ${at}`)
      }
      await check()
    })

  for (const viewport of WINDOWS)
    test(`in titles of pasted links stay text (${viewport.width} px)`, async (t) => {
      const permissions = ['clipboard-read', 'clipboard-write']
      const { page, go, check, shot } = await openPage(t, app.url, { as, options: { viewport, permissions } })
      await go('/channels/')
      await page.getByRole('heading', { level: 1 }).waitFor()
      const links = TEXTS.map((text, at) => `https://www.youtube.com/watch?v=${idOf(text, at)}`)
      await page.evaluate((text) => navigator.clipboard.writeText(text), links.join('\n'))
      await page.keyboard.press('Control+v')
      const names = page.getByRole('dialog').locator('.pasted-name')
      await names
        .nth(TEXTS.length - 1)
        .getByText(LONG)
        .waitFor()

      const called = TEXTS.map((text) => text.replace('\u202E', ''))
      for (const [at, name] of called.entries()) await names.nth(at).getByText(name, { exact: true }).waitFor()
      await isCalm(page, 'pasted links')
      await shot(`hostile-pasted-${viewport.width}`)
      await check()
    })
})

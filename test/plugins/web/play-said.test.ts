/**
 * Clips from a search in subtitles are played: one after the other, across videos, from a link, by another account, and
 * saved as a file.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { holdBack, noBrowser, openPage, type Page } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { until } from '../../support/server.ts'
import { aChannel, aFragment, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const USER = { username: 'user', password: PASSWORD }
const TELEVISION = {
  userAgent: 'Mozilla/5.0 (Web0S; Linux/SmartTV) Chrome/120.0',
  viewport: { width: 1920, height: 1080 },
}
const LONG = [
  '-vf',
  'tpad=stop_duration=29:stop_mode=clone',
  '-af',
  'apad=pad_dur=29',
  '-c:v',
  'libx264',
  '-c:a',
  'aac',
]

const said = (id: string, at: number, start: string, end: string, line: string) =>
  aFragment({
    ...{ id: `${id}-en-${at}`, platform_id: id, subtitle_index: at, channel_id: id === 'v1' ? 'UC1' : 'UC2' },
    // Among equally good hits, the newest video comes first.
    date_downloaded: id === 'v1' ? 1_768_000_001 : 1_768_000_000,
    ...{ subtitle_start: `00:00:${start}.000`, subtitle_end: `00:00:${end}.000`, subtitle_line: line },
  })

/** Three clips in two videos. */
async function anArchive(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  for (const [channel, id] of [
    ['UC1', 'v1'],
    ['UC2', 'v2'],
  ] as const)
    await makeFilm(join(app.app.settings.mediaDir, channel, `${id}.mp4`), LONG)
  const streams = [{ type: 'video' as const, index: 0, codec: 'h264', bitrate: 1, width: 320, height: 180 }]
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    aChannel({ id: 'UC2', channel_name: 'Mill' }),
    aVideo({ id: 'v1', channelId: 'UC1', title: 'The <b>ferry</b>', player: { duration: 30 }, streams }),
    aVideo({ id: 'v2', channelId: 'UC2', title: 'Bread', player: { duration: 30 }, streams }),
    said('v1', 1, '04', '05', 'marzipan marzipan <i>on board</i>'),
    said('v1', 2, '20', '21', 'marzipan marzipan again'),
    said('v2', 1, '10', '11', 'some marzipan for everybody'),
  )
  return app
}

const rows = (page: Page) => page.getByRole('list', { name: 'Clips', exact: true }).getByRole('listitem')
const isCurrent = (page: Page, at: number) => rows(page).nth(at).locator('[aria-current="true"]').waitFor()
const film = (page: Page) =>
  page.evaluate(`(() => { const { currentTime: at, paused, src } = document.querySelector('.said-player video')
    return { at, paused, src: new URL(src, document.baseURI).pathname } })()`) as Promise<{
    at: number
    paused: boolean
    src: string
  }>

describe('clips of spoken words', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop', 'television'] as const)
    test(`are played one after the other, across videos, with a list to choose from (${size})`, async (t) => {
      const app = await anArchive(t)
      const look = size === 'television' ? ({ options: TELEVISION } as const) : { size }
      const { page, go, check, shot } = await openPage(t, app.url, { ...look, as: USER })
      await go('/search/?q=marzipan')
      await page.getByRole('link', { name: 'Play all' }).click()

      await page.waitForURL(/\/said\/\?q=full%3Amarzipan$/)
      await page.getByRole('heading', { name: 'Said in videos: marzipan' }).waitFor()
      assert.equal(await rows(page).count(), 3)
      await isCurrent(page, 0)
      assert.match(await rows(page).first().innerText(), /<i>on board<\/i>[\s\S]*The <b>ferry<\/b>/)
      await until(
        'the first plays',
        () => film(page),
        ({ at, paused }) => at > 0 && !paused,
      )
      assert.equal((await film(page)).src, '/media/UC1/v1.mp4')
      await check()
      await shot(`said-${size}`)

      await page.evaluate("document.querySelector('.said-player video').currentTime = 8.9")
      await isCurrent(page, 1)
      await until(
        'the second plays',
        () => film(page),
        ({ at }) => at >= 16 && at < 25,
      )
      assert.equal(new URL(page.url()).searchParams.get('at'), '2')
      if (size === 'television') {
        await page.getByRole('button', { name: 'Next clip' }).focus()
        await page.keyboard.press('Enter')
      } else await rows(page).nth(2).getByRole('button').click()
      await isCurrent(page, 2)
      await until(
        'the other video plays',
        () => film(page),
        ({ at, src }) => src.endsWith('v2.mp4') && at >= 6,
      )
      const next = page.getByRole('button', { name: 'Next clip' })
      assert.equal(await next.isDisabled(), true)
      if (size === 'television') await next.and(page.locator(':focus')).waitFor()
      await page.keyboard.press('P')
      await isCurrent(page, 1)
      const { body } = await app.as('user').get('/api/video/v1/')
      assert.equal(body.data.player.position ?? 0, 0, 'the account’s position stays')
    })

  test('continue as they are when the list is loaded again', async (t) => {
    const app = await anArchive(t)
    const { page, go } = await openPage(t, app.url, { as: USER })
    await go('/said/?q=full%3Amarzipan')
    await isCurrent(page, 0)
    await page.getByRole('link', { name: 'Back to the search' }).click()
    await page.getByRole('link', { name: 'Play all' }).waitFor()
    await app.given(said('v2', 2, '20', '21', 'some marzipan at last'))
    const { release } = await holdBack(page, /\/api\/said\/\?/)
    await page.goBack()
    await page.getByRole('button', { name: 'Pause' }).click()
    let reads = 0
    page.on('request', (request) => void (/\/api\/video\/\w+\/$/.test(request.url()) && reads++))

    release()
    await rows(page).nth(3).waitFor()
    assert.match(await rows(page).first().innerText(), /on board/)
    await page.getByRole('button', { name: 'Next clip' }).click()
    await until(
      'the next clip plays',
      () => film(page),
      ({ at, paused }) => at >= 16 && !paused,
    )

    assert.equal(reads, 1, 'only the next clip has begun')
  })

  test('pause the film in the corner while they play', async (t) => {
    const app = await anArchive(t)
    const { page, go } = await openPage(t, app.url, { as: USER })
    await go('/video/v2/')
    await page.waitForFunction(() => Number(document.querySelector('video')?.currentTime) > 0.2)
    await page.getByLabel('Search the archive').fill('marzipan')
    await page.getByRole('complementary', { name: 'Mini player' }).getByRole('button', { name: 'Pause' }).waitFor()

    await page.getByRole('link', { name: 'Play all' }).click()
    await page.waitForFunction(() => {
      const clip = document.querySelector<HTMLVideoElement>('.said-player video')
      return clip && !clip.paused && clip.currentTime > 0
    })

    const stills = await page.evaluate(`[...document.querySelectorAll('video')].map(({ paused }) => paused)`)
    assert.deepEqual((stills as boolean[]).toSorted(), [false, true])
  })

  test('fill the screen of a phone that supports that for films alone', async (t) => {
    const app = await anArchive(t)
    const { page, go } = await openPage(t, app.url, { as: USER, size: 'phone' })
    await go('/said/?q=full%3Amarzipan')
    await isCurrent(page, 0)
    await page.evaluate(`{
      window.full = []
      delete Element.prototype.requestFullscreen
      HTMLVideoElement.prototype.webkitEnterFullscreen = function () { window.full.push(this.tagName) }
    }`)

    await page.getByRole('button', { name: 'Full screen' }).click()

    assert.deepEqual(await page.evaluate('window.full'), ['VIDEO'])
  })

  test('open at the same clip by a link for another account, with the videos that this account sees', async (t) => {
    const app = await anArchive(t)
    await app.as('admin').post('/api/user/', { username: 'lina', password: PASSWORD, view: { channel: ['UC2'] } })
    const user = await openPage(t, app.url, { as: USER })
    await user.go('/said/?q=full%3Amarzipan&at=3')
    await isCurrent(user.page, 2)
    const child = await openPage(t, app.url, { as: { username: 'lina', password: PASSWORD } })
    await child.go('/said/?q=full%3Amarzipan&at=3')

    await isCurrent(child.page, 0)
    assert.deepEqual(await rows(child.page).count(), 1)
    assert.match(await rows(child.page).first().innerText(), /Bread/)
    await child.go('/said/?q=full%3Azzzz')
    await child.page.getByText('Nothing found for “zzzz”').waitFor()
    await child.check()
  })

  test('skip a missing film, which the list marks', async (t) => {
    const app = await anArchive(t)
    const { page, go, check } = await openPage(t, app.url, { as: USER })
    await page.route('**/media/UC1/v1.mp4', (route) => route.fulfill({ status: 404 }))
    await go('/said/?q=full%3Amarzipan')

    await isCurrent(page, 2)
    assert.equal(await rows(page).nth(0).getByText('This browser can’t play this video').count(), 1)
    await until(
      'the last plays',
      () => film(page),
      ({ src, at }) => src.endsWith('v2.mp4') && at >= 6,
    )
    await check([/404/])
  })

  test('are saved as a file, which is downloaded and removed', async (t) => {
    const app = await anArchive(t)
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as: USER })
    await go('/said/?q=full%3Amarzipan')
    await page.getByRole('button', { name: 'Make a file' }).click()
    const list = page.getByRole('list', { name: 'As a file' })
    await list.getByRole('button', { name: /^Stop/ }).waitFor()

    await list.getByRole('link', { name: 'Download' }).waitFor({ timeout: 120_000 })
    await check()
    await shot('said-file')
    const coming = page.waitForEvent('download')
    await list.getByRole('link', { name: 'Download' }).click()
    assert.equal((await coming).suggestedFilename(), 'marzipan.mp4')
    await list.getByRole('button', { name: /^Remove/ }).click()
    await list.waitFor({ state: 'detached' })
  })
})

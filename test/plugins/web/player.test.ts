/** The player beyond playback: previews above its seek bar, and the player in the corner while other views are open. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { noBrowser, openPage, type Watched } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'user', password: PASSWORD }
const MINUTES = [
  '-vf',
  'tpad=stop_duration=179:stop_mode=clone',
  '-af',
  'apad=pad_dur=179',
  '-c:v',
  'libx264',
  '-g',
  '10',
]

const THREE = ['v1', 'v2', 'v3'].map((platform_id) => ({
  platform_id,
  title: `A film, ${platform_id}`,
  downloaded: true,
}))

describe('the player', { skip: noBrowser }, () => {
  let app: TestApp
  let desktop: Watched
  const scope = lastFirst({ after })

  before(async () => {
    app = await testApp(scope)
    await app.as('admin').post('/api/config/', { playback: { seek_previews: true } })
    await app.given(aChannel({ id: 'UC1' }))
    for (const id of ['v1', 'v2', 'v3']) {
      await app.given(
        aVideo({
          id,
          channelId: 'UC1',
          title: `A film, ${id}`,
          player: { duration: 180 },
          streams: [{ type: 'video', index: 0, codec: 'h264', bitrate: 1, width: 320, height: 180 }],
        }),
      )
      await makeFilm(join(app.app.settings['mediaDir'] as string, 'UC1', `${id}.mp4`), MINUTES)
    }
    desktop = await openPage(scope, app.url, { as })
  })

  const plays = ({ page }: Pick<Watched, 'page'>, from = 0.2) =>
    page.waitForFunction((seconds) => {
      const video = document.querySelector('video')
      return video && !video.paused && video.currentTime > seconds
    }, from)

  test('previews appear above the seek bar by mouse, key and finger, once they are made', async (t) => {
    const { page, go, check, shot } = desktop
    const wanted = page.waitForResponse((answer) => /\/preview\/$/.test(answer.url()) && answer.status() === 200)
    await go('/video/v1/?t=1')
    await plays(desktop, 1)
    assert.equal(((await (await wanted).json()) as { state: string }).state, 'wanted')
    await app.settled()

    await go('/video/v1/?t=1')
    await plays(desktop, 1)
    const picture = page.locator('.seek-picture')
    const sheet = page.waitForResponse((answer) => answer.url().includes('/cache/previews/v1/'))
    const bar = (await page.locator('.seek').boundingBox())!
    await page.mouse.move(bar.x + bar.width / 2, bar.y + 10)
    await picture.waitFor()
    assert.equal((await sheet).status(), 200)
    const look = () =>
      picture.evaluate((one: HTMLElement) => [one.style.width, one.style.height, one.style.backgroundPosition])
    // 90 s: preview 45, which is in the second sheet, the first in the last row.
    assert.deepEqual(await look(), ['160px', '90px', '0px -360px'])
    await page.mouse.move(bar.x + 2, bar.y + 10)
    await page.waitForFunction(
      () => document.querySelector<HTMLElement>('.seek-picture')?.style.backgroundPosition === '0px 0px',
    )
    const box = (await picture.boundingBox())!
    assert.ok(box.x >= bar.x - 1, 'it stays within the player')
    await shot('player-preview')
    await check()
    await page.mouse.move(bar.x + 2, bar.y - 300)
    await picture.waitFor({ state: 'detached' })

    await page.keyboard.press('5')
    await page.keyboard.press('l')
    await picture.waitFor()

    const phone = await openPage(t, app.url, { size: 'phone', as })
    await phone.go('/video/v1/?t=1')
    await plays(phone, 1)
    const touched = (await phone.page.locator('.seek').boundingBox())!
    const finger = { pointerType: 'touch', clientX: touched.x + touched.width / 2, clientY: touched.y + 10 }
    await phone.page.locator('.seek').dispatchEvent('pointerdown', finger)
    await phone.page.locator('.seek-picture').waitFor()
    await phone.page.locator('.seek').dispatchEvent('pointerup', finger)
    await phone.page.locator('.seek-picture').waitFor({ state: 'detached' })
  })

  test('a playing video moves into the corner while other views are open, never restarts, and moves back', async () => {
    const { page, go, check, shot } = desktop
    await go('/video/v1/?t=1')
    await plays(desktop, 1)
    await page.evaluate(() => {
      const video = document.querySelector('video')!
      const met = ((window as unknown as { met: string[] }).met = [])
      for (const name of ['pause', 'emptied', 'loadstart', 'seeking'])
        video.addEventListener(name, () => void (met as string[]).push(name))
      video.dataset['kept'] = 'yes'
    })
    const met = () => page.evaluate(() => (window as unknown as { met: string[] }).met)
    const isSame = () => page.evaluate(() => document.querySelectorAll('video[data-kept=yes]').length)

    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    const mini = page.getByRole('complementary', { name: 'Mini player' })
    await mini.getByRole('link', { name: 'A film, v1' }).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Channels' }).waitFor()
    await plays(desktop, await page.locator('video').evaluate((one: HTMLVideoElement) => one.currentTime + 0.3))
    assert.deepEqual([await isSame(), await met()], [1, []])
    await check()
    await shot('mini-player')

    await mini.getByRole('link', { name: 'A film, v1' }).click()
    await mini.waitFor({ state: 'hidden' })
    await page.locator('.watch-player video').waitFor()
    assert.deepEqual([await isSame(), await met()], [1, []])
    assert.equal(await page.getByRole('slider', { name: 'Position' }).count(), 1)

    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    await mini.getByRole('button', { name: 'Pause' }).focus()
    await page.keyboard.press('Enter')
    await mini.getByRole('button', { name: 'Play', exact: true }).waitFor()
    assert.deepEqual(await met(), ['pause'])
    await mini.getByRole('button', { name: 'Close the player' }).focus()
    await page.keyboard.press('Enter')
    await mini.waitFor({ state: 'hidden' })
    assert.equal(await page.locator('video').count(), 0)
  })

  test('another video replaces it; a paused one does not move into the corner', async () => {
    const { page, go } = desktop
    await go('/video/v1/?t=1')
    await plays(desktop, 1)
    await page.getByRole('link', { name: 'Archivolt, Home' }).click()
    const mini = page.getByRole('complementary', { name: 'Mini player' })
    await mini.getByRole('link', { name: 'A film, v1' }).waitFor()
    await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'A film, v2' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'A film, v2' }).waitFor()
    await page.waitForFunction(() => document.querySelector('video')?.src.endsWith('v2.mp4'))
    await mini.waitFor({ state: 'hidden' })
    await plays(desktop, 1)
    assert.equal(await page.locator('video').count(), 1)

    await page.keyboard.press('k')
    await page.waitForFunction(() => document.querySelector('video')?.paused)
    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Channels' }).waitFor()
    assert.equal(await page.locator('video').count(), 0)
  })

  test('on a phone it is a row above the navigation, and the player stays visible while people read', async (t) => {
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as })
    await go('/video/v1/?t=1')
    await plays({ page }, 1)
    await page.mouse.wheel(0, 400)
    await page.waitForFunction(() => scrollY > 0 || document.documentElement.scrollHeight <= innerHeight)
    assert.ok((await page.locator('.player').boundingBox())!.y >= 0)

    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    const mini = page.getByRole('complementary', { name: 'Mini player' })
    await mini.getByRole('button', { name: 'Pause' }).waitFor()
    const [row, bar] = [(await mini.boundingBox())!, (await page.locator('.rail').boundingBox())!]
    assert.deepEqual([row.x, Math.round(row.y + row.height)], [0, Math.round(bar.y)])
    await shot('mini-player')
    await check()
  })

  const toEnd = ({ page }: Pick<Watched, 'page'>) =>
    page.locator('video').evaluate((video: HTMLVideoElement) => void (video.currentTime = video.duration - 0.3))
  const shows = ({ page }: Pick<Watched, 'page'>, id: string) =>
    page.waitForFunction((name) => document.querySelector('video')?.src.endsWith(name), `/${id}.mp4`)

  test('fullscreen continues from one video to the next', async (t) => {
    const watched = await openPage(t, app.url, { as: { ...as, username: 'admin' } })
    const { page, go, check, shot } = watched
    const isFull = () =>
      page.evaluate(() => {
        const box = document.querySelector('.player')?.getBoundingClientRect()
        return document.fullscreenElement !== null && box?.width === innerWidth && box.height === innerHeight
      })
    await go('/video/v1/?t=1')
    await plays(watched, 1)
    await page.keyboard.press('f')
    await page.getByRole('button', { name: 'Exit full screen' }).waitFor()
    assert.equal(await isFull(), true)
    await shot('player-full')
    await check()
    await page.evaluate(`addEventListener('fullscreenchange', () => (window.wasLeft = true))`)

    await toEnd(watched)

    await page.getByText(/^Next in \d/).waitFor()
    await shows(watched, 'v2')
    await plays(watched)
    assert.equal(await isFull(), true)
    await page.getByRole('button', { name: 'Exit full screen' }).waitFor()
    await page.getByRole('button', { name: 'Next: A film, v3' }).waitFor()
    await page.keyboard.press('N')
    await shows(watched, 'v3')
    await plays(watched)
    assert.deepEqual([await isFull(), await page.evaluate('window.wasLeft')], [true, undefined])
    await page.keyboard.press('f')
    await page.waitForFunction(() => document.fullscreenElement === null)
    await page.getByRole('heading', { level: 1, name: 'A film, v3' }).waitFor()
  })

  test('the next video follows in the corner, without leaving the view', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go, check, shot } = watched
    for (const id of ['v1', 'v2', 'v3']) await app.as('user').post('/api/watched/', { id, is_watched: false })
    await go('/video/v1/?t=1')
    await plays(watched, 1)
    await page.getByRole('button', { name: 'Next: A film, v2' }).waitFor()
    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    const mini = page.getByRole('complementary', { name: 'Mini player' })
    await mini.getByRole('link', { name: 'A film, v1' }).waitFor()

    await toEnd(watched)

    await mini.getByText(/^Next in \d+: A film, v2$/).waitFor()
    await shot('mini-player-next')
    await check()
    await mini.getByRole('link', { name: 'A film, v2' }).waitFor()
    await shows(watched, 'v2')
    await plays(watched)
    await toEnd(watched)
    await mini.getByRole('button', { name: 'Play now' }).click()
    await mini.getByRole('link', { name: 'A film, v3' }).waitFor()
    await plays(watched)
    assert.equal(new URL(page.url()).pathname, '/channels/')
    for (const id of ['v1', 'v2'])
      assert.equal((await app.as('user').get(`/api/video/${id}/`)).body.data.player.watched, true)

    await page.locator('video').evaluate((video) => void (video.dataset['kept'] = 'yes'))
    await mini.getByRole('link', { name: 'A film, v3' }).click()
    await page.getByRole('heading', { level: 1, name: 'A film, v3' }).waitFor()
    await page.locator('.watch-player video[data-kept=yes]').waitFor()
    await plays(watched)
  })

  test('picture-in-picture continues when its view is left, also while paused', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go } = watched
    // Picture-in-picture is simulated. A real window may close when its element is removed from the document, even if
    // it is inserted again at once: an element beside the video records that.
    await page.addInitScript(`
      HTMLVideoElement.prototype.requestPictureInPicture = async function () {
        this.dispatchEvent(new Event('enterpictureinpicture'))
      }
      customElements.define('a-witness', class extends HTMLElement {
        connectedMoveCallback() { window.moves = (window.moves ?? 0) + 1 }
        disconnectedCallback() { window.isTaken = true }
      })
    `)
    await go('/video/v1/?t=1')
    await plays(watched, 1)
    await page.evaluate(`document.querySelector('.player').parentElement.append(document.createElement('a-witness'))`)
    await page.keyboard.press('i')
    const mini = page.getByRole('complementary', { name: 'Mini player' })

    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    await mini.getByRole('link', { name: 'A film, v1' }).waitFor()
    await plays(watched, 1)
    await mini.getByRole('link', { name: 'A film, v1' }).click()
    await page.locator('.watch-player video').waitFor()
    await page.keyboard.press('k')
    await page.waitForFunction(() => document.querySelector('video')?.paused)
    await page.getByRole('link', { name: 'Archivolt, Home' }).click()

    await mini.getByRole('button', { name: 'Play', exact: true }).waitFor()
    assert.deepEqual(await page.evaluate('[window.moves, window.isTaken ?? false]'), [3, false])
  })

  test('on a narrow screen the playlist and the next video are right below the title of the video', async (t) => {
    await app.given(aPlaylist({ id: 'PL1', playlist_name: 'Of the <b>sea</b>', entries: THREE }))
    for (const size of ['phone', 'desktop'] as const) {
      const watched = await openPage(t, app.url, { size, as })
      const { page, go, check, shot } = watched
      await go('/video/v2/?t=1&list=PL1')
      await plays(watched, 1)
      const playlist = page.locator('.opened')
      await playlist.getByText('2 / 3').waitFor()
      const top = async (name: string) => (await page.locator(name).first().boundingBox())!.y
      if (size === 'desktop') {
        assert.equal(await page.locator('.watch-aside .opened, .watch-aside [role=switch]').count(), 2)
        continue
      }
      const tops = [
        await top('.watch-head'),
        await top('.watch [role=switch]'),
        await top('.opened'),
        await top('.about'),
      ]
      assert.deepEqual(
        tops,
        tops.toSorted((a, b) => a - b),
      )
      assert.equal(await playlist.locator('ol').isVisible(), false)
      await shot('video-playlist-folded')
      await check()
      await playlist.locator('summary').click()
      await playlist.getByRole('link', { name: 'A film, v3' }).waitFor()
      await playlist.scrollIntoViewIfNeeded()
      await shot('video-playlist-open')
      await check()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
      await playlist.getByRole('button', { name: 'Shuffle' }).click()
      await page.waitForURL(/shuffle=1/)
    }
  })

  test('lock screens and headphones get picture, title, next and previous; a repeated video starts again by itself', async (t) => {
    await app.given(aPlaylist({ id: 'PL1', playlist_name: 'Of the sea', entries: THREE }))
    const watched = await openPage(t, app.url, { as })
    const { page, go, check, shot } = watched
    await page.addInitScript(`
      window.acts = {}
      const set = MediaSession.prototype.setActionHandler
      MediaSession.prototype.setActionHandler = function (name, act) { acts[name] = act; set.call(this, name, act) }
    `)
    await go('/video/v2/?t=1&list=PL1')
    await plays(watched, 1)
    const hasActs = (...names: string[]) =>
      page.waitForFunction((wanted) => {
        const { acts } = window as unknown as { acts: Record<string, unknown> }
        return wanted.every((name) => acts[name])
      }, names)
    await hasActs('nexttrack', 'previoustrack')
    const told = (await page.evaluate(`(() => {
      const { title, artist, artwork } = navigator.mediaSession.metadata
      return { title, artist, picture: artwork[0].src }
    })()`)) as Record<string, string>
    assert.deepEqual([told['title'], told['artist']], ['A film, v2', 'Channel UC1'])
    assert.equal((await page.request.get(told['picture']!)).status(), 200)
    await page.evaluate('acts.nexttrack()')
    await page.getByRole('heading', { level: 1, name: 'A film, v3' }).waitFor()
    // At the end of the playlist, its channel continues.
    await hasActs('nexttrack', 'previoustrack')
    await page.evaluate('acts.previoustrack()')
    await page.getByRole('heading', { level: 1, name: 'A film, v2' }).waitFor()
    await shows(watched, 'v2')
    await plays(watched)

    await page.getByRole('button', { name: 'Speed' }).click()
    await shot('player-speeds')
    await page.getByRole('menuitemcheckbox', { name: 'Repeat this video' }).click()
    await toEnd(watched)
    await page.waitForFunction(() => document.querySelector('video')!.currentTime < 10)
    await plays(watched)
    assert.equal(await page.getByText(/^Next in/).count(), 0)
    await check()
  })

  test('the theater mode is as wide as the page', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go } = watched
    await go('/video/v1/?t=1')
    await plays(watched, 1)
    const width = async (name: string) => (await page.locator(name).first().boundingBox())!.width
    assert.ok((await width('.player')) < (await width('.watch')) - 300)
    await page.keyboard.press('t')
    assert.equal(await width('.player'), await width('.watch'))
  })

  test('after a click on the seek bar, the keys still control the player', async () => {
    const { page, go } = desktop
    await go('/video/v1/?t=1')
    await plays(desktop, 1)
    await page.locator('.seek input').click()
    await page.locator('.seek input:focus').waitFor()
    await plays(desktop, 60)

    await page.keyboard.press('k')

    await page.waitForFunction(() => document.querySelector('video')?.paused)
  })

  test('only the main mouse button pauses', async () => {
    const { page, go } = desktop
    await go('/video/v1/?t=1')
    await plays(desktop, 1)
    const video = page.locator('video')
    const isPaused = () => video.evaluate((one: HTMLVideoElement) => one.paused)

    for (const [button, wanted] of [
      ['middle', false],
      ['right', false],
      ['left', true],
    ] as const) {
      await video.click({ button })
      assert.equal(await isPaused(), wanted, button)
    }
  })

  test('a position that could not be sent is not sent again with every frame', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go } = watched
    let sent = 0
    await page.route('**/progress/', (route) => {
      sent++
      return route.abort()
    })

    await go('/video/v1/?t=9')
    await plays(watched, 13)

    assert.equal(sent, 1)
  })

  test('a video that is deleted while it plays stops', async (t) => {
    const { page, go, check } = await openPage(t, app.url, { as: { ...as, username: 'admin' } })
    await go('/video/v2/?t=5')
    await plays({ page }, 5)
    await page.getByRole('button', { name: /^More for/ }).click()
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Deleted').waitFor()
    await page.getByRole('list', { name: 'All videos' }).waitFor()
    assert.equal(await page.locator('video').count(), 0)
    await check()
  })

  test('if the browser finds a television, the film is sent there with a URL of its own', async (t) => {
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    // Simulates a browser that finds a device; no real one was tried.
    await page.addInitScript(`{
      const remote = Object.assign(new EventTarget(), {
        watchAvailability: async (tell) => tell(true),
        prompt: async () => { window.prompted = document.querySelector('video').src },
      })
      Object.defineProperty(HTMLMediaElement.prototype, 'remote', { get: () => remote })
      window.end = () => remote.dispatchEvent(new Event('disconnect'))
    }`)
    await go('/video/v1/?t=30')
    await plays({ page }, 30)

    await page.getByRole('button', { name: 'Play on another device' }).click()

    await page.waitForFunction(() => 'prompted' in window)
    const address = String(await page.evaluate('window.prompted'))
    assert.match(address, /\/media\/UC1\/v1\.mp4\?signed=/)
    assert.equal((await fetch(address, { headers: { range: 'bytes=0-0' } })).status, 206)
    await plays({ page }, 30)
    await shot('player-cast')
    await check()

    await page.evaluate('window.end()')
    await page.waitForFunction(() => !document.querySelector('video')!.src.includes('signed='))
    await plays({ page }, 30)
  })

  test('seeking before the film has loaded is kept, and not replaced by the account’s position', async (t) => {
    await app.as('user').post('/api/video/v3/progress/', { position: 30 })
    const { page, go } = await openPage(t, app.url, { as })
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/media/UC1/v3.mp4', async (route) => {
      await released
      await route.continue()
    })
    await go('/video/v3/')
    await page.getByRole('slider', { name: 'Position' }).waitFor()

    await page.keyboard.press('5')
    await page.waitForFunction(() => document.querySelector('.time')?.textContent?.startsWith('1:30'))
    release()

    await plays({ page }, 30.5)
    assert.ok((await page.locator('video').evaluate((one: HTMLVideoElement) => one.currentTime)) >= 90)
  })

  test('a key that is pressed as soon as the player is shown seeks', async (t) => {
    const { page, go } = await openPage(t, app.url, { as })
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        const player = document.querySelector('.player[tabindex]')
        if (!player) return
        observer.disconnect()
        player.dispatchEvent(new KeyboardEvent('keydown', { key: '5', bubbles: true }))
      }).observe(document, { childList: true, subtree: true })
    })

    await go('/video/v1/')

    await plays({ page }, 90)
  })

  test('Back to a video that plays in the corner continues at its current position, also if its address has a time', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go } = watched
    await go('/video/v1/?t=9')
    await plays(watched, 9)
    await page.keyboard.press('5')
    await plays(watched, 90)
    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    await page.getByRole('complementary', { name: 'Mini player' }).waitFor()

    await page.goBack()

    await page.locator('.watch-player video').waitFor()
    await plays(watched, 0.1)
    assert.ok((await page.locator('video').evaluate((one: HTMLVideoElement) => one.currentTime)) >= 90)
  })

  test('a film that is loaded again after a failure keeps its speed', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go } = watched
    await go('/video/v1/?t=9')
    await plays(watched, 9)
    await page.keyboard.press('>')
    await page.keyboard.press('>')
    await page.getByText('1.5×').waitFor()

    await page.locator('video').evaluate((video: HTMLVideoElement) => {
      video.load()
      return new Promise((resolve) => video.addEventListener('loadedmetadata', resolve, { once: true }))
    })

    assert.equal(await page.locator('video').evaluate((video: HTMLVideoElement) => video.playbackRate), 1.5)
  })

  test('a volume of zero mutes, and the previous volume returns', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go } = watched
    await go('/video/v1/?t=9')
    await plays(watched, 9)
    await page.getByRole('slider', { name: 'Volume' }).fill('0.7')
    await page.getByRole('slider', { name: 'Volume' }).fill('0')
    await page.waitForFunction(() => document.querySelector('video')!.muted)

    await page.getByRole('button', { name: 'Unmute' }).click()

    await page.waitForFunction(() => !document.querySelector('video')!.muted)
    assert.equal(await page.locator('video').evaluate((video: HTMLVideoElement) => video.volume), 0.7)
  })

  test('a film without a duration has the duration of its record', async (t) => {
    const watched = await openPage(t, app.url, { as })
    const { page, go } = watched
    await page.addInitScript(`Object.defineProperty(HTMLMediaElement.prototype, 'duration', { get: () => Infinity })`)
    await go('/video/v1/?t=9')
    await plays(watched, 9)

    assert.match((await page.locator('.time').textContent())!, /^0:\d\d \/ 3:00$/)
    await page.keyboard.press('5')
    await plays(watched, 90)
  })

  test('a double tap at a side seeks, without switching fullscreen', async (t) => {
    const watched = await openPage(t, app.url, { as, size: 'phone' })
    const { page, go } = watched
    await go('/video/v1/?t=30')
    await plays(watched, 30)
    const box = (await page.locator('video').boundingBox())!
    const touchPoints = [{ x: box.x + box.width * 0.8, y: box.y + box.height / 2 }]
    const touch = await page.context().newCDPSession(page)
    await page.evaluate(`{
      window.full = 0
      Element.prototype.requestFullscreen = async () => void window.full++
    }`)

    for (let taps = 0; taps < 2; taps++) {
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    }

    await plays(watched, 40)
    assert.equal(await page.evaluate('window.full'), 0)
  })
})

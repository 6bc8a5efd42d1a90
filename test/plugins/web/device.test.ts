/** Videos saved in a browser: they play without the server, send positions later, and disappear with their account. */
import assert from 'node:assert/strict'
import { stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { errors } from '../../../core/base/error.ts'
import { noBrowser, openPage, type Page, type Watched } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { aForwardProxy } from '../../support/forward-proxy.ts'
import { lastFirst } from '../../support/last-first.ts'
import { type Proxy, startProxy } from '../../support/proxy.ts'
import { until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'user', password: PASSWORD }
const options = { serviceWorkers: 'allow' } as const
const PATIENCE_MS = 30_000
const NO_ANSWER = [/net::ERR_/]
const [PIECE, SECONDS] = [4 << 20, 20]
/** Noise makes the film so large that it takes several pieces. */
const LARGE = [
  '-vf',
  `tpad=stop_duration=${SECONDS - 1}:stop_mode=clone,noise=alls=90:allf=t`,
  '-af',
  `apad=pad_dur=${SECONDS - 1}`,
  '-qp',
  '8',
  '-g',
  '10',
]
const TITLE = 'The harbour <b>at night</b>'

interface Setup {
  app: TestApp
  proxy: Proxy
  bytes: number
}

const filmOf = ({ app }: TestApp, id = 'v1'): string => join(app.settings['mediaDir'] as string, 'UC1', `${id}.mp4`)

/** A film of several pieces, behind a proxy that can become unreachable. */
async function behindProxy(t: Parameters<typeof testApp>[0], basePath = '/'): Promise<Setup> {
  const app = await testApp(t, { settings: { basePath } })
  const path = filmOf(app)
  await makeFilm(path, [...LARGE, '-c:v', 'libx264', '-preset', 'ultrafast'])
  const { size } = await stat(path)
  assert.ok(size > 2 * PIECE, `${size} bytes are too few`)
  const streams = [{ type: 'video' as const, index: 0, codec: 'h264', bitrate: 1, width: 320, height: 180 }]
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    aVideo({ id: 'v1', channelId: 'UC1', title: TITLE, player: { duration: SECONDS }, media_size: size, streams }),
    aVideo({ id: 'v2', channelId: 'UC1', title: 'Another' }),
  )
  return { app, proxy: await startProxy(t, new URL(app.url).origin), bytes: size }
}

const becomes = (page: Page, state: string) => until(state, () => page.evaluate(state), Boolean, PATIENCE_MS)
const plays = (page: Page, from: number) =>
  becomes(
    page,
    `(() => { const video = document.querySelector('video'); return video && !video.paused && video.currentTime > ${from} })()`,
  )
const ofFilms = `(async () => {
  const names = (await caches.keys()).filter((name) => name.endsWith(' films'))
  const lists = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
  return lists.flat().map(({ url }) => new URL(url).pathname + new URL(url).search)
})()`
const sizeOfPieces = `(async () => {
  const cache = await caches.open((await caches.keys()).find((one) => one.endsWith(' films')))
  let bytes = 0
  for (const { url } of await cache.keys())
    if (url.includes('?piece=')) bytes += (await (await cache.match(url)).blob()).size
  return bytes
})()`
const stored = (page: Page): Promise<string[]> => page.evaluate(ofFilms)

async function choose(page: Page, entry: string, title = TITLE): Promise<void> {
  await page.getByRole('button', { name: `More for ${title}` }).click()
  await page.getByRole('menuitem', { name: entry }).click()
}

/** Opens the page of the film and pauses it. */
async function openPaused({ page, go }: Pick<Watched, 'page' | 'go'>): Promise<void> {
  await go('/')
  await becomes(page, 'navigator.serviceWorker.controller !== null')
  await go('/video/v1/?t=1')
  await plays(page, 1)
  await page.evaluate(`document.querySelector('video').pause()`)
}

async function keep({ page, go }: Watched): Promise<void> {
  await go('/')
  await becomes(page, 'navigator.serviceWorker.controller !== null')
  await go('/video/v1/')
  await choose(page, 'Save offline')
  await page.getByText(/^Saved. You can watch .+ offline.$/).waitFor()
  // Waits until the view of a video is cached as well.
  const [script] = /\/[\w/]*assets\/video-\w+\.js/.exec(await (await page.request.get(page.url())).text())!
  await becomes(page, `caches.match('${script}', { ignoreVary: true }).then((one) => one !== undefined)`)
}

describe('a saved video', { skip: noBrowser }, () => {
  for (const base of ['', '/archive'])
    test(`plays below ${base}/ without the server, from any position, and sends its position later`, async (context) => {
      const t = lastFirst(context)
      const { app, proxy, bytes } = await behindProxy(t, `${base}/`)
      const watched = await openPage(t, proxy.url + base, { size: 'phone', as, options })
      const { page, go, check, shot } = watched
      await keep(watched)
      await app.clock.advance(600_000)
      const pieces = (await stored(page)).filter((path) => path.includes('?piece='))
      assert.equal(pieces.length, Math.ceil(bytes / PIECE))

      await proxy.refuse()
      await go('/')
      const here = page.getByRole('list', { name: 'On this device' })
      await here.getByRole('link', { name: TITLE }).waitFor()
      await shot('device-home')
      await here.getByRole('link', { name: TITLE }).click()
      await plays(page, 0.5)
      await page.evaluate(`document.querySelector('video').currentTime = ${SECONDS - 12}`)
      await plays(page, SECONDS - 11)
      await page.evaluate(`document.querySelector('video').pause()`)
      await shot('device-video')
      await check(NO_ANSWER)
      const at = Number(await page.evaluate(`document.querySelector('video').currentTime`))
      await go('/video/v1/')
      await plays(page, at - 1)
      await page.evaluate(`document.querySelector('video').pause()`)

      await proxy.accept()

      const position = async () => (await app.as('user').get('/api/video/v1/progress/')).body.position as number
      await until('the server has the position', position, (seconds) => seconds >= at - 1, PATIENCE_MS)
    })

  test('sends a position later if the server cannot store it now', async (context) => {
    const t = lastFirst(context)
    const { app, proxy } = await behindProxy(t)
    const { page, go } = await openPage(t, proxy.url, { as })
    const saved = page.waitForResponse((answer) => answer.url().endsWith('/progress/') && answer.status() === 503)
    const full = context.mock.method(app.app.ledger, 'write', () =>
      Promise.reject(errors.unavailable('The disk is full')),
    )
    await go('/video/v1/?t=6')
    await plays(page, 6.2)
    await page.evaluate(`document.querySelector('video').pause()`)
    assert.ok((await saved).headers()['x-request-id'])
    full.mock.restore()

    await go('/')

    const position = async () => (await app.as('user').get('/api/video/v1/progress/')).body.position as number
    await until('the server has the position', position, (seconds) => seconds >= 6, PATIENCE_MS)
  })

  test('plays from this browser while the server is reachable, and is removed by its menu', async (context) => {
    const t = lastFirst(context)
    const { proxy } = await behindProxy(t)
    const watched = await openPage(t, proxy.url, { as, options })
    const { page, go, shot } = watched
    await keep(watched)
    proxy.asked.length = 0

    await go('/video/v1/')
    await plays(page, 0.2)
    assert.deepEqual(
      proxy.asked.filter((line) => line.includes('.mp4')),
      [],
    )
    await go('/settings/device/')
    await page.getByRole('link', { name: TITLE }).waitFor()
    await watched.check()
    await shot('device-settings')
    await page.getByRole('button', { name: `Remove “${TITLE}” from this device` }).click()

    await page.getByText('None yet').waitFor()
    await until(
      'nothing of it is stored',
      () => stored(page),
      (paths) => paths.length === 0,
      PATIENCE_MS,
    )
    await go('/video/v1/')
    await plays(page, 0.2)
    assert.ok(proxy.asked.some((line) => line.includes('.mp4')))
  })

  test('requests a piece again after a failure', async (context) => {
    const t = lastFirst(context)
    const { proxy, bytes } = await behindProxy(t)
    const { page, go } = await openPage(t, proxy.url, { as, options })
    await page.clock.install()
    await openPaused({ page, go })
    const refused = page.waitForResponse((answer) => answer.status() === 502)
    let isFirst = true
    await page.context().route(/\.mp4$/, async (route) => {
      const { range } = await route.request().allHeaders()
      if (!isFirst || !range?.startsWith(`bytes=${PIECE}-`)) return route.continue()
      isFirst = false
      return route.fulfill({ status: 502 })
    })

    await choose(page, 'Save offline')
    await refused

    await until(
      'all of it is here',
      async () => (await page.clock.fastForward(30_000), page.evaluate(sizeOfPieces)),
      (size) => size === bytes,
      PATIENCE_MS,
    )
  })

  test('of another tab is downloaded once the download of this tab has ended', async (context) => {
    const t = lastFirst(context)
    const { app, proxy } = await behindProxy(t)
    await makeFilm(filmOf(app, 'v2'))
    const { page, go } = await openPage(t, proxy.url, { as, options })
    await openPaused({ page, go })
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.context().route(/v1\.mp4$/, async (route) => {
      const { range } = await route.request().allHeaders()
      if (range?.startsWith(`bytes=${PIECE}-`)) await released
      await route.continue()
    })
    await choose(page, 'Save offline')
    const here = (name: string) =>
      until(
        name,
        () => stored(page),
        (paths) => paths.some((path) => path.includes(name)),
        PATIENCE_MS,
      )
    await here('v1.mp4?piece=0')

    const other = await page.context().newPage()
    await other.goto(`${proxy.url}/video/v2/`)
    await choose(other, 'Save offline', 'Another')
    await here('/api/video/v2/')
    release()

    await here('v2.mp4?piece=0')
  })

  for (const isChanged of [false, true])
    test(`${isChanged ? 'is downloaded from its start if the file has changed' : 'is downloaded from where it was cut off, once the server is back'}`, async (context) => {
      const t = lastFirst(context)
      const { app, proxy, bytes } = await behindProxy(t)
      const { page, go } = await openPage(t, proxy.url, { as, options })
      await openPaused({ page, go })
      await page.context().route(/\.mp4$/, async (route) => {
        const { range } = await route.request().allHeaders()
        return range?.startsWith(`bytes=${PIECE}-`) ? route.abort() : route.continue()
      })
      await choose(page, 'Save offline')
      await until(
        'a piece is here',
        () => stored(page),
        (paths) => paths.some((path) => path.endsWith('?piece=0')),
        PATIENCE_MS,
      )
      // While its page is open, the next piece may be requested at any moment, and would be counted.
      await page.goto('about:blank')
      await page.context().unrouteAll({ behavior: 'wait' }) // one that is being asked is answered first
      if (isChanged) await truncate(filmOf(app), bytes - 1000)
      proxy.asked.length = 0

      // The message disappears after five seconds, and on a busy machine the page may need longer to load.
      await Promise.all([page.getByText(/^Saved. You can watch .+ offline.$/).waitFor(), go('/')])

      const pieces = Math.ceil(bytes / PIECE)
      assert.equal(proxy.asked.filter((line) => line.endsWith('.mp4')).length, isChanged ? 1 + pieces : pieces - 1)
      assert.equal(await page.evaluate(sizeOfPieces), isChanged ? bytes - 1000 : bytes)
    })

  test('is removed when the video is deleted', async (context) => {
    const t = lastFirst(context)
    const { app, proxy } = await behindProxy(t)
    const watched = await openPage(t, proxy.url, { as, options })
    const { page, go } = watched
    await keep(watched)
    await app.as('admin').delete('/api/video/v1/')
    await go('/')
    await until(
      'a video that is gone goes here',
      () => stored(page),
      (paths) => paths.length === 0,
      PATIENCE_MS,
    )
  })

  test('is removed at sign-out', async (context) => {
    const t = lastFirst(context)
    const { proxy } = await behindProxy(t)
    const watched = await openPage(t, proxy.url, { as, options })
    const { page } = watched
    await keep(watched)
    await page.evaluate(`localStorage.setItem('av_unsent', '{}')`)

    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()

    await becomes(
      page,
      `caches.keys().then((names) => names.length === 0 && localStorage.getItem('av_unsent') === null)`,
    )
  })

  for (const isOther of [false, true])
    test(`is removed by ${isOther ? 'another account that signs in elsewhere' : 'a session that ended elsewhere'}`, async (context) => {
      const t = lastFirst(context)
      const { app, proxy } = await behindProxy(t)
      await app.as('admin').get('/api/ping/')
      const watched = await openPage(t, proxy.url, { as, options })
      const { page } = watched
      await keep(watched)
      assert.ok((await stored(page)).length > 2)

      if (isOther) {
        const data = { username: 'admin', password: PASSWORD }
        assert.equal((await page.context().request.post(`${proxy.url}/login/`, { data })).status(), 204)
      } else await page.context().clearCookies({ name: 'sessionid' })
      await page.reload()

      await until(
        'nothing of it is stored',
        () => stored(page),
        (paths) => paths.length === 0,
        PATIENCE_MS,
      )
    })

  test('is not stored if there is no space, and the page reports it', async (context) => {
    const t = lastFirst(context)
    const { app, proxy } = await behindProxy(t)
    await app.given(aVideo({ id: 'v1', channelId: 'UC1', title: TITLE, media_size: 2 ** 50 }))
    const { page, go } = await openPage(t, proxy.url, { as, options })
    await go('/video/v1/')

    await choose(page, 'Save offline')

    await page.getByText(/^Not enough space: the video needs/).waitFor()
    assert.deepEqual(await stored(page), [])
  })

  test('is not offered over plain http: one sentence explains why, and all else works', async (t) => {
    const { app } = await behindProxy(t)
    const { url: server } = await aForwardProxy(t, new URL(app.url).host)
    const { page, go, check, shot } = await openPage(t, 'http://archive.test/', {
      size: 'phone',
      as,
      options: { ...options, proxy: { server } },
    })

    await go('/settings/device/')
    await page.getByText('This page was loaded over plain http,').waitFor()
    await shot('device-plain')
    await check([/Cross-Origin-Opener-Policy header has been ignored/])

    await go('/video/v1/')
    await plays(page, 0.2)
    await page.getByRole('button', { name: 'Share' }).waitFor()
    assert.equal(await page.getByRole('button', { name: `More for ${TITLE}` }).count(), 0)
  })

  test('survives a newer build of the page, which removes the files of the older one', async (t) => {
    const { proxy } = await behindProxy(t)
    const watched = await openPage(t, proxy.url, { as, options })
    const { page, go } = watched
    await keep(watched)
    const older = '/assets/app-OLDER.js'
    // Simulates an earlier build at the last visit: the cached document names another script.
    await page.evaluate(`(async () => {
      const [name] = (await caches.keys()).filter((one) => !one.endsWith(' films'))
      const cache = await caches.open(name)
      const text = await (await cache.match('/', { ignoreVary: true })).text()
      await cache.put('${older}', new Response('0'))
      await cache.put('/', new Response(text.replace(/assets\\/app-\\w+\\.js/, 'assets/app-OLDER.js'), { headers: { 'content-type': 'text/html' } }))
    })()`)

    await go('/')

    await becomes(page, `caches.match('${older}').then((one) => one === undefined)`)
    const left = (await page.evaluate(`(async () => {
      const [name] = (await caches.keys()).filter((one) => !one.endsWith(' films'))
      return (await (await caches.open(name)).keys()).map(({ url }) => url)
    })()`)) as string[]
    assert.ok(
      left.some((url) => url.includes('/assets/offline-videos-')),
      `${left}`,
    )
    await proxy.refuse()
    await go('/video/v1/')
    await plays(page, 0.2)
  })

  test('a proxy whose server is stopped opens the page as an unreachable server does', async (context) => {
    const t = lastFirst(context)
    const { proxy } = await behindProxy(t)
    const { page, go } = await openPage(t, proxy.url, { as, options })
    await go('/')
    await becomes(
      page,
      `Promise.all(['/', '/api/video/?sort=published&order=desc&page=1'].map((path) => caches.match(path, { ignoreVary: true }))).then((all) => all.every(Boolean))`,
    )
    for (const status of [502, 503, 504]) {
      proxy.break({ what: { status, body: {} } })

      await go('/')

      await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Another', exact: true }).waitFor()
      await page.getByText('Showing what is saved on this device').waitFor()
      proxy.mend()
    }
  })
})

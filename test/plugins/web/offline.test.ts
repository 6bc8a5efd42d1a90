/** Without the server: the page opens with the account's last Home, and with nothing after a sign-out. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { errors } from '../../../core/base/error.ts'
import { holdUp, noBrowser, openPage, type Page } from '../../support/browser.ts'
import { startProxy } from '../../support/proxy.ts'
import { until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const PATIENCE_MS = 30_000
const options = { serviceWorkers: 'allow' } as const
/** Errors of a browser whose server is unreachable. */
const NO_ANSWER = [/ERR_CONNECTION_REFUSED/, /ERR_FAILED/, /ERR_INTERNET_DISCONNECTED/]

async function oneFilm(app: TestApp): Promise<void> {
  await app.given(aChannel({ id: 'UC1', channel_name: 'Harbour' }))
  await app.given(aVideo({ id: 'v1', title: 'Breakwater', channelId: 'UC1' }))
}

/** Paths of the replies that this browser has cached. */
const cached = (page: Page): Promise<string[]> =>
  page.evaluate(`(async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith('archivolt '))
    const lists = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
    return lists.flat().map(({ url }) => new URL(url).pathname)
  })()`)

const becomes = (page: Page, state: string) => until(state, () => page.evaluate(state), Boolean, PATIENCE_MS)

const keepsHome = (page: Page, base = '/') =>
  becomes(
    page,
    `(async () => {
      const answers = await Promise.all(['', 'api/video/?sort=published&order=desc&page=1'].map((path) =>
        caches.match(${JSON.stringify(base)} + path, { ignoreVary: true })))
      return navigator.serviceWorker.controller !== null && answers.every((one) => one !== undefined)
    })()`,
  )

const keepsNothing = (page: Page) =>
  becomes(
    page,
    `(async () => (await caches.keys()).length === 0 && (await navigator.serviceWorker.getRegistrations()).length === 0)()`,
  )

const film = (page: Page) =>
  page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Breakwater', exact: true })

describe('without the server', { skip: noBrowser }, () => {
  for (const base of ['/', '/archive/']) {
    test(`the page below ${base} opens with the last Home and reports the problem`, async (t) => {
      const app = await testApp(t, { settings: { basePath: base } })
      await oneFilm(app)
      const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as, options })
      await go('/')
      await film(page).waitFor()
      await keepsHome(page, base)

      await app.close()
      await page.reload()

      await page.getByText('Showing what is saved on this device').waitFor()
      await film(page).waitFor()
      await shot('offline')
      await check(NO_ANSWER)
      for (const path of await cached(page))
        assert.match(path.slice(base.length), /^($|assets\/|cache\/|api\/video\/$)/)
    })
  }

  test('a first list that arrives after the worker was installed is cached, too', async (t) => {
    const app = await testApp(t)
    await oneFilm(app)
    const { page, go } = await openPage(t, app.url, { as, options })
    const release = await holdUp(page, /\/api\/video\/\?sort=published/)
    await go('/')
    await becomes(page, 'navigator.serviceWorker.controller !== null')

    await release()

    await film(page).waitFor()
    await keepsHome(page)
  })

  test('the server’s own 503 is reported instead of cached lists; that of a proxy means an unreachable server', async (t) => {
    const app = await testApp(t)
    await oneFilm(app)
    const proxy = await startProxy(t, new URL(app.url).origin)
    const { page, go, check } = await openPage(t, proxy.url, { as, options })
    await go('/')
    await film(page).waitFor()
    await keepsHome(page)
    // Changes the list, because the server has a cached reply of an unchanged one.
    await app.given(aVideo({ id: 'v2', title: 'Another', channelId: 'UC1' }))
    const { videos } = app.app
    const away = t.mock.method(videos, 'find', () => Promise.reject(errors.unavailable('The index is away')))

    await page.reload()

    await page.getByText('The server cannot do this now: The index is away').first().waitFor()
    assert.equal(await film(page).count(), 0)
    assert.equal(await page.getByText('Showing what is saved on this device').count(), 0)
    away.mock.restore()
    for (const status of [502, 503, 504]) {
      proxy.break({ on: /^GET \/api\/video\//, what: { status } })
      await page.reload()
      await film(page).waitFor()
      proxy.mend()
    }
    await check([/50[234]/])
  })

  test('at most 20 MB of pictures are cached', async (t) => {
    const app = await testApp(t)
    await oneFilm(app)
    const folder = join(app.app.settings['cacheDir'] as string, 'videos', 'v')
    await mkdir(folder, { recursive: true })
    for (let number = 1; number <= 8; number++)
      await writeFile(join(folder, `v${number}.jpg`), Buffer.alloc(4_000_000, 1))
    const { page, go } = await openPage(t, app.url, { as, options })
    await go('/')
    await keepsHome(page)
    await page.evaluate(`(async () => {
      for (let number = 1; number <= 8; number++) {
        const answer = await fetch('/cache/videos/v/v' + number + '.jpg')
        if (!answer.ok || (await answer.blob()).size !== 4000000) throw new Error('no picture')
      }
    })()`)

    const bytes = `(async () => {
      const cache = await caches.open((await caches.keys())[0])
      const pictures = (await cache.keys()).filter(({ url }) => url.includes('/cache/'))
      const sizes = await Promise.all(pictures.map(async (one) => (await (await cache.match(one)).blob()).size))
      return sizes.reduce((sum, size) => sum + size, 0)
    })()`
    await becomes(page, `caches.match('/cache/videos/v/v8.jpg').then((one) => one !== undefined)`)
    await until(
      'older ones are gone',
      () => page.evaluate<number>(bytes),
      (sum) => sum > 12_000_000 && sum <= 20_000_000,
      PATIENCE_MS,
    )
  })

  test('a sign-out deletes everything, and the next visit without a server shows no videos', async (t) => {
    const app = await testApp(t)
    await oneFilm(app)
    const { page, go } = await openPage(t, app.url, { as, options })
    await go('/')
    await film(page).waitFor()
    await keepsHome(page)

    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await keepsNothing(page)

    await app.close()
    await assert.rejects(page.reload(), /ERR_CONNECTION_REFUSED/)
  })

  test('a session that ended elsewhere deletes everything, too', async (t) => {
    const app = await testApp(t)
    await oneFilm(app)
    const { page, go } = await openPage(t, app.url, { as, options })
    await go('/')
    await keepsHome(page)

    await page.context().clearCookies({ name: 'sessionid' })
    await page.reload()

    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    await keepsNothing(page)
  })

  test('the cache of one account is deleted when another account opens the page', async (t) => {
    const app = await testApp(t)
    await oneFilm(app)
    await app.as('user').get('/api/ping/')
    const { page, go } = await openPage(t, app.url, { as, options })
    await go('/')
    await keepsHome(page)
    const [before] = (await page.evaluate('caches.keys()')) as string[]

    // A sign-in that the page does not notice.
    const root = app.url.replace(/\/$/, '')
    const signedIn = await page
      .context()
      .request.post(`${root}/login/`, { data: { username: 'user', password: PASSWORD } })
    assert.equal(signedIn.status(), 204)
    await page.reload()

    await becomes(page, `caches.keys().then((names) => names.length === 1 && names[0] !== ${JSON.stringify(before)})`)
  })
})

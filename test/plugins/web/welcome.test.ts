/** The first minutes of a new user: the real server and yt-dlp on an empty folder, a real browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { noBrowser, openPage, PATIENCE, type Page } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { allQuiet, PASSWORD, startServer, USERNAME, until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD as TEST_PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const NOT_ARCHIVED = [/404 .*channel\/search/]
const NOT_SIGNED_IN = [/401/, ...NOT_ARCHIVED]

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

describe('the first minutes', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const) {
    test(`from an empty folder: a subscription, a search for a spoken word, and the video plays there (${size})`, async (t) => {
      const scope = lastFirst(t)
      const loopback = await startTestPlatform(scope)
      const words = ['one', 'two', 'three', 'four', 'five', 'marzipan', 'seven']
      const cues = words.map((text, start) => ({ start, end: start + 0.9, text: `And ${text}.` }))
      loopback.platform.catalogue.put('videos', VIDEO.comet, { captions: { en: cues } })
      const server = await startServer(scope, await temporaryFolder(scope), {
        ...loopback.env,
        AV_SEGMENTS_URL: loopback.segmentsUrl,
      })
      const { page, go, check, shot } = await openPage(t, server.baseUrl, { size, colorScheme })
      await go('/')
      await signIn(page, USERNAME, PASSWORD)

      await page.getByRole('heading', { name: 'First, a few choices' }).waitFor()
      await page.getByRole('button', { name: 'Remove English' }).waitFor()
      await check(NOT_SIGNED_IN)
      await shot('welcome')

      await page.getByLabel('A link, ID or handle').fill(`${loopback.platform.baseUrl}/channel/${CHANNEL.orbit}`)
      await page.getByRole('button', { name: 'Download 5 videos' }).waitFor(PATIENCE)
      await page.getByRole('button', { name: 'Subscribe' }).click()
      const question = page.getByRole('dialog', { name: 'Subscribe' })
      assert.ok(await question.getByLabel('The newest 10').isChecked())
      await check(NOT_SIGNED_IN)
      await shot('welcome-take')
      await question.getByRole('button', { name: 'Subscribe' }).click()

      await page.waitForURL(`${server.baseUrl}/`)
      const { downloads, subscriptions, page: own } = (await server.api('GET', '/api/config/')).body
      assert.deepEqual(
        [
          downloads.subtitle,
          downloads.subtitle_source,
          downloads.subtitle_index,
          downloads.integrate_sponsorblock,
          downloads.comment_max,
        ],
        ['en', 'auto', true, true, false],
      )
      assert.deepEqual([subscriptions.auto_start, own.welcomed], [true, true])

      await page.getByRole('heading', { name: 'The first videos are on their way' }).waitFor(PATIENCE)
      await shot('home-coming')
      const cards = page.locator('.card:not(.ghost) a[href*="/video/"]')
      await cards.first().waitFor(PATIENCE)
      await page.waitForFunction(
        () =>
          new Set(
            [...document.querySelectorAll<HTMLAnchorElement>('.card:not(.ghost) a[href*="/video/"]')].map(
              ({ pathname }) => pathname,
            ),
          ).size >= 3,
        undefined,
        PATIENCE,
      )
      await check(NOT_SIGNED_IN)
      await shot('home-filled')
      await allQuiet(server)
      await page.getByLabel('Search the archive').fill('marzipan')
      await shot('search-first')
      await page.getByRole('link', { name: /^Play from 0:05/ }).click()
      await page.waitForURL(`**/video/${VIDEO.comet}/?t=5`)
      await page.waitForFunction(() => Number(document.querySelector('video')?.currentTime) >= 5, undefined, PATIENCE)
      await shot('video-first')
    })
  }

  const TOO_LONG = `en-${'x'.repeat(30)}`
  /** @param texts  parts of names, or codes */
  async function pickLanguages(page: Page, ...texts: string[]): Promise<void> {
    await page.getByRole('button', { name: /^Add language/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Languages' })
    for (const text of texts) {
      await dialog.getByLabel('Name or code').fill(text)
      await dialog.locator('.choices button').first().click()
    }
    await dialog.getByRole('button', { name: 'Done' }).click()
  }

  /** An app like a new data folder, in which nothing is chosen yet. */
  async function unwelcomed(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
    const app = await testApp(t)
    await app.as('admin').post('/api/config/', { page: { welcomed: false } })
    return app
  }
  const config = async (app: TestApp) => (await app.as('admin').get('/api/config/')).body

  test('if left, the choices are offered again; if declined, never again, and nothing is changed', async (t) => {
    const app = await unwelcomed(t)
    await app.given(aChannel(), aVideo({ id: 'v1' }))
    const before = await config(app)
    const { page, go, check, shot } = await openPage(t, app.url)
    await go('/')
    await signIn(page, 'admin', TEST_PASSWORD)
    await page.getByRole('heading', { name: 'First, a few choices' }).waitFor()

    await go('/')
    const notice = page.getByText('Finish setting up: subtitles, comments and what to skip')
    await notice.waitFor()
    await check(NOT_SIGNED_IN)
    await shot('home-choices')
    await page.getByRole('link', { name: 'Choose' }).click()
    await page.getByRole('heading', { name: 'First, a few choices' }).waitFor()
    await go('/')
    const saved = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Not now' }).click()
    await notice.waitFor({ state: 'detached' })
    await saved
    await go('/welcome/')
    await page.getByRole('heading', { name: 'Add your first video' }).waitFor()

    assert.equal(await page.getByRole('heading', { name: 'First, a few choices' }).count(), 0)
    assert.deepEqual(await config(app), { ...before, page: { welcomed: true } })
  })

  test('of two admins at the same time, the first choice wins, and the second admin is told', async (t) => {
    const app = await unwelcomed(t)
    const as = { username: 'admin', password: TEST_PASSWORD }
    const [one, two] = [await openPage(t, app.url, { as }), await openPage(t, app.url, { as })]
    for (const { page, go } of [one, two]) {
      await go('/welcome/')
      await page.getByRole('heading', { name: 'First, a few choices' }).waitFor()
    }

    await one.page.getByRole('button', { name: 'Remove English' }).click()
    await one.page.getByText('Choose languages, or enter codes').waitFor()
    await pickLanguages(one.page, 'french', TOO_LONG)
    await one.page.getByRole('button', { name: 'Save and continue' }).click()
    await one.page.getByText('Choose languages, or enter codes').waitFor()
    await one.page.getByRole('button', { name: `Remove ${TOO_LONG}` }).click()
    await pickLanguages(one.page, 'german')
    await one.page.getByRole('switch', { name: 'Save comments' }).check()
    await one.page.getByRole('button', { name: 'Save and continue' }).click()
    await until(
      'it is chosen',
      () => config(app),
      ({ page }) => page.welcomed,
    )
    await two.page.getByRole('button', { name: 'Save and continue' }).click()

    await two.page.getByText('You can see the result in Settings').waitFor()
    await two.page.getByRole('heading', { name: 'First, a few choices' }).waitFor({ state: 'detached' })
    const { downloads } = await config(app)
    assert.deepEqual([downloads.subtitle, downloads.comment_max], ['fr,de', '100'])
  })

  test('a choice that cannot be saved stops the download below it, with a reason', async (t) => {
    const app = await unwelcomed(t)
    const { page, go } = await openPage(t, app.url, { as: { username: 'admin', password: TEST_PASSWORD } })
    await go('/welcome/')
    await pickLanguages(page, TOO_LONG)
    await page.getByLabel('A link, ID or handle').fill('dQw4w9WgXcQ')
    await page.getByRole('button', { name: 'Download' }).click()

    await page.getByText('The choices above could not be saved: Choose languages').waitFor()

    assert.equal((await app.as('admin').get('/api/download/')).body.paginate.total_hits, 0)
    assert.equal((await config(app)).page.welcomed, false)
  })

  test('words that are no links get no action', async (t) => {
    const app = await unwelcomed(t)
    const { page, go } = await openPage(t, app.url, { as: { username: 'admin', password: TEST_PASSWORD } })
    for (const address of ['/welcome/', '/downloads/']) {
      await go(address)
      await page.getByLabel(/^(A link, ID or handle|Links)/).fill('hello world')
      await page.getByText('“hello”, “world”').waitFor()

      const buttons = page.locator('.link-field footer button')
      assert.ok((await buttons.count()) > 1)
      for (const button of await buttons.all()) assert.equal(await button.isEnabled(), false)
    }
  })

  test('accounts that are not admins are offered no choices', async (t) => {
    const app = await unwelcomed(t)
    const { page, go, check } = await openPage(t, app.url, { as: { username: 'user', password: TEST_PASSWORD } })
    await go('/welcome/')
    await page.getByText('An admin adds videos to this archive; you can watch them').waitFor()
    assert.equal(await page.getByRole('switch').count(), 0)
    await go('/')
    await page.getByText('Your archive is empty').waitFor()
    assert.equal(await page.getByText('Finish setting up').count(), 0)
    await check()
  })

  test('an update shows no welcome for a data folder that was used before', async (t) => {
    assert.equal((await config(await testApp(t))).page.welcomed, true)
  })
})

/**
 * Home: filters and order in the address, lists of any length, Back to the same position, and the empty and failed
 * states.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeAnswer, holdBack, holdUp, measureShifts, noBrowser, openPage } from '../../support/browser.ts'
import { until } from '../../support/server.ts'
import { aChannel, aNewItem, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const DAY_MS = 86_400_000
/** In epoch seconds. */
const LOST = 1_717_200_000

/** The first is the newest. */
const dayOf = (position: number): string =>
  new Date(Date.parse('2024-06-01') - position * DAY_MS).toISOString().slice(0, 10)

async function filled(app: TestApp, count: number): Promise<void> {
  await app.given(aChannel({ id: 'UC1', channel_name: 'Harbour' }), aChannel({ id: 'UC2', channel_name: 'Workshop' }))
  await app.given(
    ...Array.from({ length: count }, (_, position) =>
      aVideo({
        id: `v${position}`,
        title: `Film ${position}`,
        channelId: position % 2 ? 'UC2' : 'UC1',
        published: dayOf(position),
      }),
    ),
  )
  for (let position = 0; position < count; position += 5)
    await app.as('admin').post('/api/watched/', { id: `v${position}`, is_watched: true })
}

describe('home', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop'] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`shows started videos and all videos, accessibly (${size}, ${colorScheme})`, async (t) => {
        const app = await testApp(t)
        await filled(app, 40)
        await app.as('admin').post('/api/video/v3/progress/', { position: 50 })
        const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as })

        await go('/')
        await page.getByRole('heading', { name: 'Continue watching' }).waitFor()
        await page
          .getByRole('list', { name: 'All videos' })
          .getByRole('link', { name: 'Film 0', exact: true })
          .waitFor()

        const [first] = await page.getByRole('list', { name: 'All videos' }).locator('.portrait').all()
        assert.match((await first!.locator('img').getAttribute('src'))!, /channels\/UC1_thumb\.jpg/)
        const title = page.getByRole('link', { name: 'Film 0', exact: true }).first()
        assert.equal(
          await title.evaluate((link) => getComputedStyle(link).textDecorationLine),
          'none',
          'the titles of cards are no links in a text',
        )
        await shot('home')
        await check()
        assert.equal(
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          true,
          'nothing is wider than the window',
        )
      })
    }
  }

  test('pictures are as sharp as the screen, and no larger', async (t) => {
    const app = await testApp(t)
    await filled(app, 2)
    for (const [size, dpr, variant] of [
      ['phone', 1, 'medium'],
      ['phone', 2, 'large'],
      ['desktop', 1, 'small'],
    ] as const) {
      const { page, go } = await openPage(t, app.url, { size, as, options: { deviceScaleFactor: dpr } })
      await go('/')
      const picture = page.getByRole('list', { name: 'All videos' }).locator('img').first()
      await picture.scrollIntoViewIfNeeded()
      const chosen = () => picture.evaluate((image) => (image as HTMLImageElement).currentSrc)
      while ((await chosen()) === '') await picture.evaluate((image) => (image as HTMLImageElement).decode())
      assert.match(await chosen(), new RegExp(`size=${variant}$`), `${size} at ${dpr}`)
    }
  })

  for (const size of ['phone', 'desktop'] as const)
    test(`the first videos that are downloaded are cards with their progress (${size})`, async (t) => {
      const app = await testApp(t)
      const { queue, jobs } = app.app
      await queue.add(
        [aNewItem('first111111', { title: 'Ferry <b>1</b>' }), aNewItem('second22222', { title: 'Ferry 2' })],
        'pending',
      )
      const task = { name: 'download_pending', title: 'Downloading', group: 'download:run' }
      await jobs.notify({ of: task, level: 'info', messages: ['Video 1 of 2'], shownForSeconds: 3600 })
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })
      await go('/')

      const coming = page.getByRole('list', { name: 'The first videos are on their way' })
      await coming.getByRole('article').nth(1).waitFor()
      assert.match(await coming.getByRole('article').first().innerText(), /Ferry <b>1<\/b>[\s\S]*Waiting/)
      await page.locator('.home-section').getByText('Video 1 of 2').waitFor()
      await check()
      await shot('home-coming')
      await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'first111111', channelId: 'UC1' }))
      await app.as('admin').delete('/api/download/first111111/')
      await until(
        'one is left',
        () => coming.getByRole('article').count(),
        (count) => count === 1,
      )
    })

  test('an empty archive explains how to begin, and what is missing', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as })

    await go('/')
    await page.getByText('Your archive is empty').waitFor()
    await shot('home-empty')
    await check()
    await page.getByRole('link', { name: 'Get started' }).click()
    await page.getByText(/free for videos|room for just a few videos/).waitFor()
    await page.getByLabel('A link, ID or handle').fill('no link at all')

    await page.getByText('These aren’t YouTube links or IDs:').waitFor()
    await page.getByLabel('A link, ID or handle').fill('UCqnT2_QO_aL5-D0vQbK5hpy')
    // The button is emphasized once the link has been identified.
    await page.locator('.button.main', { hasText: 'Subscribe' }).waitFor()
    await shot('welcome')
    await check()
  })

  test('filters and order are in the address, so they survive a reload', async (t) => {
    const app = await testApp(t)
    await filled(app, 30)
    await app.given(aPlaylist({ id: 'PL1', playlist_name: 'Evening', entries: ['v2', 'v1'] }))
    const { page, go, check } = await openPage(t, app.url, { as })
    const titles = () => page.getByRole('list', { name: 'All videos' }).locator('.card-title').allTextContents()
    await go('/')
    await page.getByRole('link', { name: 'Film 0', exact: true }).first().waitFor()

    await page.getByRole('button', { name: 'Watched', exact: true }).click()
    await page.waitForFunction(() => document.querySelectorAll('.virtual .card-title').length === 6)
    await page.getByLabel('Sort by').selectOption({ label: 'Oldest' })
    await page.waitForFunction(() => document.querySelector('.virtual .card-title')?.textContent === 'Film 25')
    await page.getByRole('button', { name: 'Channel', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Find by name').fill('work')
    await page.getByRole('dialog').getByRole('button', { name: 'Workshop' }).click()
    await page.waitForFunction(() => document.querySelectorAll('.virtual .card-title').length === 3)

    assert.deepEqual(await titles(), ['Film 25', 'Film 15', 'Film 5'])
    assert.equal(new URL(page.url()).search, '?watch=watched&sort=published.asc&channel=UC2')
    await check()
    await page.reload()
    await page.getByRole('button', { name: 'Clear Workshop' }).click()
    await page.waitForFunction(() => document.querySelectorAll('.virtual .card-title').length === 6)
  })

  test('a key marks a card as watched, with Undo', async (t) => {
    const app = await testApp(t)
    await filled(app, 4)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/?watch=unwatched')
    await page.getByRole('link', { name: 'Film 1', exact: true }).focus()

    await page.keyboard.press('w')
    await page.getByRole('status').getByText('Marked as watched').waitFor()
    const isWatched = async () => (await app.as('admin').get('/api/video/v1/')).body.data.player.watched
    assert.equal(await isWatched(), true)
    await page.getByRole('button', { name: 'Undo' }).click()

    await page.getByRole('status').getByText('Marked as unwatched').waitFor()
    assert.equal(await isWatched(), false)
  })

  test('a click into a field beside an open menu focuses the field, and typing triggers no shortcut', async (t) => {
    const app = await testApp(t)
    await filled(app, 4)
    const { page, go } = await openPage(t, app.url, { as })
    let marks = 0
    page.on('request', (request) => void (request.url().endsWith('/api/watched/') && marks++))
    await go('/?type=videos')
    await page.getByRole('link', { name: 'Film 1', exact: true }).hover()
    await page.getByRole('button', { name: 'More for Film 1' }).click()
    await page.getByRole('menu').waitFor()

    await page.locator('#search').click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.keyboard.type('walle')

    assert.equal(await page.locator('#search').inputValue(), 'walle')
    await page.getByText('Nothing found for “walle”').waitFor()
    assert.equal(marks, 0)
  })

  for (const [size, late, heading] of [
    ['phone', /watch=continue/, 'Continue watching'],
    ['desktop', /watch=continue/, 'Continue watching'],
    ['desktop', /lost=any/, 'Only here'],
  ] as const) {
    test(`nothing that can be clicked moves when a strip of videos arrives late (${size}, ${heading})`, async (t) => {
      const app = await testApp(t)
      await filled(app, 40)
      await app.as('admin').post('/api/video/v3/progress/', { position: 50 })
      await app.given(aVideo({ id: 'gone', published: dayOf(41), lost: { date: LOST, kind: 'removed' } }))
      const { page, go } = await openPage(t, app.url, { size, as })
      const moved = await measureShifts(page)
      await changeAnswer(page, /\/api\/session\/$/, (session) => ({ ...session, shelves: ['lost'] }))
      const answer = await holdUp(page, late)
      const rest = Promise.all([page.waitForResponse(/sort=downloaded/), page.waitForResponse(/sort=published/)])

      await go('/')
      await rest
      await moved()
      await answer()
      await page.getByRole('heading', { name: heading }).waitFor()
      await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Film 0', exact: true }).waitFor()

      const sum = await moved()
      assert.ok(sum < 0.02, `${sum}`)
    })
  }

  test('a mark appears wherever the video does, and a late earlier reply does not undo it', async (t) => {
    const app = await testApp(t)
    await filled(app, 40)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/')
    const link = page
      .getByRole('list', { name: 'New in the archive' })
      .getByRole('link', { name: /^Film \d+$/ })
      .first()
    const title = String(await link.textContent())
    const marks = page
      .getByRole('article')
      .filter({ has: page.getByRole('link', { name: title, exact: true }) })
      .locator('.watched-mark')
    await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: title, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Statistics' }).click()
    await page.getByRole('heading', { name: 'Statistics' }).waitFor()
    const { asked, release } = await holdBack(page, /sort=downloaded/)
    await page.goBack()
    await asked

    await link.focus()
    await page.keyboard.press('w')

    await page.getByText('Marked as watched').waitFor()
    assert.equal(await marks.count(), 2)
    const answered = page.waitForResponse(/sort=downloaded/)
    release()
    await answered
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    assert.equal(await marks.count(), 2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Marked as unwatched').waitFor()
    assert.equal(await marks.count(), 0)
  })

  test('of two quick changes of a mark, the reply to the first does not hide the second', async (t) => {
    const app = await testApp(t)
    await filled(app, 4)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/?watch=unwatched')
    const answerSecond = await holdUp(page, /\/api\/watched\/$/)
    const answerFirst = await holdUp(page, /\/api\/watched\/$/)
    const marks = page.locator('.virtual .watched-mark')
    await page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Film 1', exact: true }).focus()
    await page.keyboard.press('w')
    await marks.waitFor()
    await page.keyboard.press('w')
    await marks.waitFor({ state: 'detached' })

    await answerFirst()
    await page.getByText('Marked as watched').waitFor()
    const between = await marks.count()
    await answerSecond()
    await page.getByText('Marked as unwatched').waitFor()

    assert.equal(between, 0)
  })

  test('marks of different videos do not wait for each other', async (t) => {
    const app = await testApp(t)
    await filled(app, 4)
    const { page, go } = await openPage(t, app.url, { as })
    const areWatched = () =>
      Promise.all(
        ['v1', 'v2'].map(async (id) => (await app.as('admin').get(`/api/video/${id}/`)).body.data.player.watched),
      )
    await go('/')
    const all = page.getByRole('list', { name: 'All videos' })
    const answerFirst = await holdUp(page, /\/api\/watched\/$/)
    await all.getByRole('link', { name: 'Film 1', exact: true }).focus()
    await page.keyboard.press('w')

    await all.getByRole('link', { name: 'Film 2', exact: true }).focus()
    await page.keyboard.press('w')
    await page.getByText('Marked as watched').waitFor()
    const before = await areWatched()
    await answerFirst()
    await page.getByText('Marked as watched').nth(1).waitFor()

    assert.deepEqual(before, [false, true])
    assert.deepEqual(await areWatched(), [true, true])
  })

  test('a started video can be removed from Continue watching, and Undo restores its position', async (t) => {
    const app = await testApp(t)
    await filled(app, 6)
    const path = '/api/video/v3/progress/'
    await app.as('admin').post(path, { position: 50 })
    const { page, go, check } = await openPage(t, app.url, { as })
    const position = async () => (await app.as('admin').get(path)).body.position
    await go('/')
    const strip = page.getByRole('list', { name: 'Continue watching' })

    await strip.getByRole('link', { name: 'Film 3', exact: true }).focus()
    await strip.getByRole('button', { name: 'More for Film 3' }).click()
    await page.getByRole('menuitem', { name: 'Remove from Continue watching' }).click()

    await strip.waitFor({ state: 'detached' })
    assert.equal(await position(), 0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await strip.getByRole('link', { name: 'Film 3', exact: true }).waitFor()
    assert.equal(await position(), 50)
    await check()
  })

  test('Back returns to the same position also after the video was marked, and so does a reload', async (t) => {
    const app = await testApp(t)
    await filled(app, 200)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/?watch=unwatched')
    const far = page.getByRole('link', { name: 'Film 101', exact: true })
    for (let turn = 0; turn < 100 && !(await far.isVisible()); turn++) {
      await page.mouse.wheel(0, 500)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    }
    await far.scrollIntoViewIfNeeded()
    const scroll = Number(await page.evaluate('scrollY'))
    assert.ok(scroll > 1500)
    await far.click()
    await page.getByRole('heading', { level: 1, name: 'Film 101' }).waitFor()
    await page.keyboard.press('w')
    await page.getByText('Marked as watched').waitFor()

    await page.goBack()

    await far.waitFor()
    await page.waitForFunction((wanted) => Math.abs(scrollY - wanted) < 5, scroll)
    assert.equal(await page.getByRole('article').filter({ has: far }).locator('.watched-mark').count(), 1)

    await page.reload()
    await page.waitForFunction((wanted) => Math.abs(scrollY - wanted) < 5, scroll)
  })

  test('a refused change is undone and reported', async (t) => {
    const app = await testApp(t)
    await filled(app, 4)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/')
    await page.getByRole('link', { name: 'Film 1', exact: true }).hover()
    await page.route('**/api/watched/', (route) =>
      route.fulfill({ status: 503, json: { message: 'A restore is running' } }),
    )

    await page
      .getByRole('listitem')
      .filter({ hasText: 'Film 1' })
      .getByRole('button', { name: 'Mark as watched' })
      .click()

    await page.getByText('The server cannot do this now: A restore is running').waitFor()
    assert.equal(await page.getByRole('listitem').filter({ hasText: 'Film 1' }).locator('.watched-mark').count(), 0)
  })

  test('a list that cannot be loaded reports it, and loads on retry', async (t) => {
    const app = await testApp(t)
    await filled(app, 4)
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    await page.route('**/api/video/**', (route) => route.abort())

    await go('/')
    await page.getByRole('alert').getByText('The server isn’t responding').waitFor()
    await shot('home-failing')
    await check([/ERR_FAILED/])
    await page.unroute('**/api/video/**')
    await page.getByRole('button', { name: 'Try again' }).click()

    await page.getByRole('link', { name: 'Film 0', exact: true }).waitFor()
  })

  test('a list that could not be reloaded has each video once after a retry', async (t) => {
    const app = await testApp(t)
    await filled(app, 4)
    const { page, go } = await openPage(t, app.url, { as })
    const film = page.getByRole('list', { name: 'All videos' }).getByRole('link', { name: 'Film 0', exact: true })
    await page.clock.install()
    await go('/?type=videos')
    await film.waitFor()
    await page.getByRole('link', { name: 'Statistics' }).click()
    await page.getByRole('heading', { level: 1, name: 'Statistics' }).waitFor()
    // A list older than a minute is reloaded.
    await page.clock.fastForward(61_000)
    await page.route('**/api/video/**', (route) => route.abort())
    await page.goBack()
    const failed = page.getByRole('alert').filter({ hasText: 'The server isn’t responding' })
    await failed.waitFor()
    await page.unroute('**/api/video/**')

    const answered = page.waitForResponse(/\/api\/video\/\?/)
    await failed.getByRole('button', { name: 'Try again' }).click()
    await answered
    await failed.waitFor({ state: 'detached' })
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

    assert.equal(await film.count(), 1)
  })

  test('arrows move through the grid, Enter opens, and Back returns to the same position', async (t) => {
    const app = await testApp(t)
    await filled(app, 400)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/?watch=unwatched')
    await page.getByRole('link', { name: 'Film 1', exact: true }).focus()
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Film 2')
    for (let times = 0; times < 12; times++) {
      const before = await page.evaluate('document.activeElement.textContent')
      await page.keyboard.press('ArrowDown')
      await page.waitForFunction(
        (text) =>
          document.activeElement?.textContent !== text && document.activeElement?.textContent?.startsWith('Film'),
        before,
      )
    }
    const [title, scroll] = [
      await page.evaluate('document.activeElement.textContent'),
      Number(await page.evaluate('scrollY')),
    ]
    assert.ok(scroll > 1500, `${scroll}`)

    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: String(title) }).waitFor()
    assert.equal(await page.evaluate('scrollY'), 0)
    await page.goBack()

    await page.waitForFunction((wanted) => document.activeElement?.textContent === wanted, title)
    assert.ok(Math.abs(Number(await page.evaluate('scrollY')) - scroll) < 5)
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(
      (before) =>
        document.activeElement?.textContent !== before && document.activeElement?.textContent?.startsWith('Film'),
      title,
    )
  })

  test('sorted by publication, the list continues beyond the 10,000 results of one query, with each video once', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }))
    // A reduced limit of the server: the test is about how the page gets past it.
    const { page, go } = await openPage(t, app.url, { as })
    await app.given(
      ...Array.from({ length: 90 }, (_, position) =>
        aVideo({ id: `v${position}`, title: `Film ${position}`, published: dayOf(Math.floor(position / 4)) }),
      ),
    )
    const WINDOW = 40
    await changeAnswer(page, /\/api\/video\/\?/, (body) => {
      const { paginate } = body
      if (paginate.total_hits >= WINDOW) {
        const last = Math.floor(WINDOW / paginate.page_size)
        Object.assign(paginate, {
          max_hits: true,
          total_hits: WINDOW,
          last_page: paginate.current_page >= last ? 0 : last,
        })
      }
      return body
    })
    await go('/?type=videos')
    await page.getByRole('link', { name: 'Film 0', exact: true }).waitFor()

    const seen = new Set<string>()
    for (let step = 0; step < 60 && seen.size < 90; step++) {
      for (const title of await page.locator('.virtual .card-title').allTextContents()) seen.add(title)
      await page.mouse.wheel(0, 600)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      await page.waitForFunction(
        () => !document.querySelector('.ghost') || scrollY + innerHeight < document.documentElement.scrollHeight - 400,
      )
    }

    assert.equal(seen.size, 90)
    assert.equal(
      await page
        .locator('.virtual')
        .evaluate((element) => element.querySelector('[role=listitem]')?.getAttribute('aria-setsize')),
      '90',
    )
  })

  test('in another order the list ends there, and explains what to do', async (t) => {
    const app = await testApp(t)
    await filled(app, 30)
    const { page, go } = await openPage(t, app.url, { as })
    await changeAnswer(page, /\/api\/video\/\?/, ({ paginate, ...answer }) => ({
      ...answer,
      paginate: { ...paginate, max_hits: true, last_page: 0 },
    }))

    await go('/?type=videos&sort=views')

    await page.getByText('Narrow the filter').waitFor()
  })

  test('a page that was offline for a while shows what was added meanwhile, without being opened again', async (t) => {
    const app = await testApp(t)
    await filled(app, 3)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/')
    const list = page.getByRole('list', { name: 'All videos' })
    await list.getByRole('link', { name: 'Film 0', exact: true }).waitFor()
    await app.given(aVideo({ id: 'new', title: 'From the night', channelId: 'UC1', published: '2024-06-02' }))
    await app.as('admin').post('/api/video/v1/progress/', { position: 50 })

    await page.evaluate(() => {
      const now = Date.now
      Date.now = () => now() + 8 * 3_600_000
      dispatchEvent(new Event('offline'))
    })

    await list.getByRole('link', { name: 'From the night', exact: true }).waitFor()
    await page.getByRole('list', { name: 'Continue watching' }).getByRole('link', { name: 'Film 1' }).waitFor()
  })
})

/**
 * The frame around every view: live without polling, polling if the stream fails, clear if nobody replies; keyboard,
 * theme, and accounts with fewer rights.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { definePlugin, defineTask, Type } from 'archivolt'
import { changeAnswer, holdBack, noBrowser, openPage, type Page } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const DAY_MS = 86_400_000
const as = { username: 'admin', password: PASSWORD }

/** A task that reports its progress and waits until it is stopped. */
const patient = definePlugin({
  name: 'patience',
  needs: ['task'],
  tasks: [
    defineTask({
      name: 'patience.wait',
      title: 'Waiting for the tide',
      group: 'download:run',
      payload: Type.Object({}),
      lane: 'light',
      apiStart: true,
      apiStop: true,
      async run({ progress, signal, isStopping }, app) {
        progress(0.25, 'Still low water')
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve())
          const unwatch = app.jobs.watch(() => {
            if (!isStopping()) return
            unwatch()
            resolve()
          })
        })
      },
    }),
  ],
})

const noAnswers = '**/api/**'
async function setAway(page: Page, isAway: boolean): Promise<void> {
  if (isAway) await page.route(noAnswers, (route) => route.abort())
  else await page.unroute(noAnswers)
  await page.context().setOffline(isAway)
}

describe('the frame', { skip: noBrowser }, () => {
  test('on a first visit, a view is shown once the account is known, with what only this account sees', async (t) => {
    const app = await testApp(t)
    await app.given(aVideo({ id: 'v1' }))
    const item = { id: 'waiting1111', title: 'Fog', channelId: 'UC1', channelName: 'Harbour', durationSeconds: 5 }
    await app.app.queue.add([{ ...item, published: '2026-01-02', vidType: 'videos' }], 'pending')
    const { page, go } = await openPage(t, app.url, { as })
    const { asked, release } = await holdBack(page, /\/api\/session\/$/)
    const chunk = page.waitForResponse(/\/assets\/statistics-/)
    await go('/statistics/')
    await Promise.all([asked, chunk.then((response) => response.finished())])
    // The view would be mounted by now.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')

    release()

    await page.getByText('Waiting downloads').waitFor()
  })

  test('lists problems that last until somebody acts, with a link to the remedy, as long as they exist', async (t) => {
    const app = await testApp(t)
    const failure = { message: 'Private video', errorClass: 'gone' as const }
    const item = { id: 'failed11111', title: 'Fog', channelId: 'UC1', channelName: 'Harbour', durationSeconds: 5 }
    await app.app.queue.add([{ ...item, published: '2026-01-02', vidType: 'videos' }], 'pending', { failure })
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const pill = page.getByRole('button', { name: /^Activity/ })
    const dialog = page.getByRole('dialog', { name: 'Activity' })
    await go('/')
    await pill.click()
    await dialog.getByText('1 download has failed. See downloads').waitFor()
    assert.equal(await dialog.getByText(/cookie|yt-dlp is out/).count(), 0)
    assert.equal(await pill.locator('.dot').count(), 0, 'it can wait')

    await changeAnswer(page, '**/api/platform/', (answer) => ({
      ...answer,
      health: {
        ...answer.health,
        cookie: { ...answer.health.cookie, state: 'invalid' },
        downloader: { ...answer.health.downloader, state: 'old' },
      },
    }))
    await go('/')
    await pill.locator('.dot').waitFor()
    await pill.click()
    await dialog.getByText('YouTube no longer accepts your cookie. Renew the cookie').waitFor()
    await dialog.getByText('yt-dlp is out of date. See Health').waitFor()
    await shot('activity-troubles')
    await check()
    await dialog.getByRole('link', { name: 'Renew the cookie' }).click()
    await page.waitForURL('**/settings/cookie/')

    await pill.locator('.dot').waitFor()
    await page.unroute('**/api/platform/')
    await app.as('admin').delete('/api/download/failed11111/')
    await pill.locator('.dot').waitFor({ state: 'detached' })
    await go('/')
    const asked = page.waitForResponse('**/api/platform/')
    await pill.click()
    await asked
    assert.equal(await dialog.getByText(/cookie|yt-dlp is out|failed/).count(), 0)
  })

  test('reports that a scheduled task has failed, until it succeeds', async (t) => {
    let isAway = true
    const tide = definePlugin({
      name: 'tide',
      tasks: [
        defineTask({
          name: 'tide.sweep',
          title: 'Sweep the beach',
          payload: Type.Object({}),
          lane: 'light',
          apiStart: true,
          schedule: { auto: '0 7 *', initially: 'auto' },
          async run() {
            if (isAway) throw new Error('the broom is away')
            return 'swept'
          },
        }),
      ],
    })
    const app = await testApp(t, { replace: [tide] })
    const run = async () => {
      await app.as('admin').post('/api/task-name/tide.sweep/')
      await app.settled()
    }
    await run()
    // By now, the task's own notification has disappeared.
    await app.clock.advance(30_000)
    const { page, go, check } = await openPage(t, app.url, { as })
    const pill = page.getByRole('button', { name: /^Activity/ })
    await go('/')
    await pill.locator('.dot').waitFor()
    await pill.click()
    await page.getByRole('dialog', { name: 'Activity' }).getByText('“tide.sweep” has failed. See Schedules').waitFor()
    await check()

    isAway = false
    await run()
    await pill.locator('.dot').waitFor({ state: 'detached' })
    assert.equal(await page.getByText(/has failed/).count(), 0)
  })

  test('warns before an access token of the account expires, as long as the token exists', async (t) => {
    const app = await testApp(t)
    const ends = async (name: string, days: number) =>
      app.as('user').post('/api/access-token/', {
        name,
        scope: 'read',
        expires: new Date(app.clock.now() + days * DAY_MS).toISOString(),
      })
    const hostile = '<img src=x onerror=alert(1)>'
    await ends('Kodi', 1)
    await ends(hostile, 5)
    await ends('Script', 30)
    app.clock.set(app.clock.now() + 2 * DAY_MS)
    const { page, go, check, shot } = await openPage(t, app.url, { as: { username: 'user', password: PASSWORD } })
    await page.clock.setFixedTime(app.clock.now())
    const pill = page.getByRole('button', { name: /^Activity/ })
    const dialog = page.getByRole('dialog', { name: 'Activity' })
    await go('/')
    await pill.locator('.dot').waitFor()
    await pill.click()
    await dialog.getByText('The token for Kodi expired yesterday. See Tokens').waitFor()
    await dialog.getByText(`The token for ${hostile} expires in 3 days. See Tokens`).waitFor()
    assert.equal(await dialog.getByText(/Script/).count(), 0)
    await shot('activity-tokens')
    await check()

    await dialog.getByRole('link', { name: 'See Tokens' }).first().click()
    await page.waitForURL('**/settings/account/')
    for (const [name, left] of [
      ['Kodi', 1],
      [hostile, 0],
    ] as const) {
      await page.getByRole('button', { name: 'Revoke' }).first().click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByText(`The token for ${name} no longer works`).waitFor()
      assert.equal(await pill.locator('.dot').count(), left)
    }
  })

  test('an earlier reply that comes later does not bring back a problem that is solved', async (t) => {
    const app = await testApp(t)
    const expires = new Date(app.clock.now() + DAY_MS).toISOString()
    await app.as('user').post('/api/access-token/', { name: 'Kodi', scope: 'read', expires })
    const { page, go } = await openPage(t, app.url, { as: { username: 'user', password: PASSWORD } })
    await page.clock.setFixedTime(app.clock.now())
    const pill = page.getByRole('button', { name: /^Activity/ })
    await go('/settings/account/')
    await pill.locator('.dot').waitFor()
    const session = /\/api\/session\/$/
    const { asked, release } = await holdBack(page, session, 'GET', 1)
    await pill.click()
    await asked
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await pill.locator('.dot').waitFor({ state: 'detached' })

    const answered = page.waitForResponse(session)
    release()
    await (await answered).finished()

    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    assert.equal(await pill.locator('.dot').count(), 0)
  })

  test('shows that the platform refuses us before the list is opened', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    await changeAnswer(page, '**/api/platform/', (answer) => ({
      ...answer,
      state: 'blocked',
      reason: 'HTTP Error 429',
      next_attempt: answer.since + 1800,
    }))
    await go('/')
    const pill = page.getByRole('button', { name: /^Activity: YouTube has been blocking us(?!.*blocking us)/ })
    await pill.locator('.dot').waitFor()
  })

  test('shows running tasks live without polling, and stops them', async (t) => {
    const app = await testApp(t, { replace: [patient] })
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const asked: string[] = []
    page.on('request', (request) => void (request.url().includes('/api/notification/') && asked.push(request.url())))
    await go('/')
    await page.getByText('Your archive is empty').waitFor()

    await app.as('admin').post('/api/task-name/patience.wait/')
    await page.getByRole('button', { name: 'Activity', exact: false }).filter({ hasText: 'Still low water' }).click()
    await page.getByText('Waiting for the tide').waitFor()
    await shot('activity')
    await check()
    await page.getByRole('button', { name: 'Stop Waiting for the tide' }).click()

    await page
      .getByText('Stopping')
      .or(page.getByRole('dialog', { name: 'Activity' }).getByText('Nothing is running'))
      .first()
      .waitFor()
    await app.settled()
    assert.deepEqual(asked, [], 'it never polled')
  })

  test('does not receive a reply again until it changes', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel(), aVideo({ id: 'v1', title: 'Low tide' }))
    await app.settled()
    const { page, go } = await openPage(t, app.url, { as })
    const lists: number[] = []
    page.on('response', (answer) => void (answer.url().includes('watch=unwatched') && lists.push(answer.status())))
    const visit = async () => {
      await page.getByRole('link', { name: 'Channels', exact: true }).first().click()
      await page.getByText('Channel UC1').first().waitFor()
      await page.getByRole('link', { name: 'Home', exact: true }).first().click()
      await page.getByText('Low tide').first().waitFor()
    }
    await go('/')
    await visit()
    // Any write, such as the time of the last visit, causes one more full reply.
    for (let visits = 0; lists.at(-1) !== 304 && visits < 10; visits++) await visit()
    assert.equal(lists.at(-1), 304)

    await app.app.videos.collection.patch('v1', { set: { title: 'Spring tide' } })

    const sent = page.waitForResponse((answer) => answer.url().includes('watch=unwatched') && answer.status() === 200)
    await visit()
    assert.match(await (await sent).text(), /Spring tide/)
  })

  test('polls if the event stream does not work', async (t) => {
    const app = await testApp(t, { replace: [patient] })
    const { page, go } = await openPage(t, app.url, { as })
    await page.route('**/api/events/', (route) => route.abort())
    await go('/')
    await page.getByText('Your archive is empty').waitFor()

    await app.as('admin').post('/api/task-name/patience.wait/')

    await page.getByRole('button', { name: 'Activity', exact: false }).filter({ hasText: 'Still low water' }).waitFor()
  })

  test('reports a lost connection, and reconnects by itself', async (t) => {
    const app = await testApp(t)
    const { page, go, shot } = await openPage(t, app.url, { as })
    const connected = page.waitForResponse('**/api/events/')
    await go('/')
    await connected
    await page.getByRole('button', { name: 'Account: admin' }).waitFor()

    await page.context().setOffline(true)
    await page.getByText('The connection to the server is lost').waitFor()
    await shot('offline')
    await page.context().setOffline(false)

    await page.getByText('The connection to the server is lost').waitFor({ state: 'detached' })
  })

  test('a view that cannot be loaded reports that the server does not respond, and appears once it does', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    const connected = page.waitForResponse('**/api/events/')
    await go('/')
    await connected
    await page.getByRole('button', { name: 'Account: admin' }).waitFor()
    await page.getByText('Your archive is empty').waitFor()

    await setAway(page, true)
    await page.getByRole('link', { name: 'Statistics' }).click()
    const said = page.getByRole('alert').getByText('The server isn’t responding')
    await said.waitFor()
    const asked = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/ping/'))
    await page.getByRole('button', { name: 'Try again' }).click()
    await asked
    await said.waitFor()
    await setAway(page, false)

    await page.getByText('Nothing to count yet').waitFor()
  })

  test('an unknown address shows a page with a link to Home', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as })

    await go('/nope/')

    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    assert.equal(await page.title(), 'Page not found – Archivolt')
    await check([/404.*nope/])
    await shot('nothing')
    await page.getByRole('link', { name: 'Go to Home' }).click()
    await page.getByText('Your archive is empty').waitFor()
    assert.equal(await page.title(), 'Home – Archivolt')
  })

  test('a lost connection is also reported further down the page', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1' }),
      ...Array.from({ length: 60 }, (_, position) => aVideo({ id: `v${position}`, title: `Film ${position}` })),
    )
    const { page, go } = await openPage(t, app.url, { as })
    const connected = page.waitForResponse('**/api/events/')
    await go('/?watch=unwatched')
    await connected
    await page.getByRole('button', { name: 'Account: admin' }).waitFor()
    await page.getByRole('link', { name: 'Film 1', exact: true }).waitFor()
    await page.evaluate('scrollTo(0, 900)')
    await page.getByRole('link', { name: 'Film 40', exact: true }).waitFor({ state: 'attached' })

    await setAway(page, true)

    const notice = page.getByText('The connection to the server is lost')
    await notice.waitFor()
    assert.ok(Number(await page.evaluate('scrollY')) > 800)
    const [header, { y }] = [(await page.getByRole('banner').boundingBox())!, (await notice.boundingBox())!]
    assert.ok(y >= header.height && y < 200, `${y}`)
  })

  test('a page that was opened offline continues once it is online', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as })
    let isFirst = true
    await page.route('**/api/session/', (route) => (isFirst ? ((isFirst = false), route.abort()) : route.fallback()))
    await go('/')
    await page.getByText('The server isn’t responding').waitFor()
    await page.context().setOffline(true)
    await page.context().setOffline(false)
    await page.getByText('Your archive is empty').waitFor()
  })

  test('can be used by keys, except while a field has the focus', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    await go('/welcome/')
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()

    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await shot('help')
    await check()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL(new URL('/', app.url).href)
    await page.keyboard.press('/')
    assert.equal(await page.evaluate('document.activeElement.id'), 'search')
    await page.keyboard.type('gh?')

    assert.equal(await page.getByLabel('Search the archive').inputValue(), 'gh?')
    assert.equal(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count(), 0)
  })

  test('a chosen theme is applied at the next visit before the first paint', async (t) => {
    const app = await testApp(t)
    const { page, go, check } = await openPage(t, app.url, { as, colorScheme: 'light' })
    await go('/')
    await page.getByRole('button', { name: 'Account: admin' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    assert.equal(await ground(), 'rgb(23, 20, 18)')
    await check()

    const reply = await page.reload()

    assert.match(await reply!.text(), /<html lang="en" data-theme="dark">/)
    assert.equal(await ground(), 'rgb(23, 20, 18)')
  })

  test('a phone has five sections in its bar; the account menu has the name at the top and the themes below', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'A film', channelId: 'UC1' }))
    const { page, go, check, shot } = await openPage(t, app.url, { as, size: 'phone' })
    await go('/channel/UC1/')
    await page.getByRole('link', { name: 'A film', exact: true }).waitFor()
    assert.equal(await page.locator('.card .portrait').filter({ visible: true }).count(), 0, 'all are of this channel')
    await shot('channel-cards')
    assert.deepEqual(await page.locator('.rail').getByRole('link').allTextContents(), [
      ...['Home', 'Channels', 'Playlists', 'Downloads', 'Settings'],
    ])

    await page.getByRole('button', { name: 'Account: admin' }).click()
    const entries = await page.locator('[role^="menuitem"]').allTextContents()
    assert.equal(entries[0], 'admin')
    assert.deepEqual(entries.slice(-3), ['Same as system', 'Light', 'Dark'])
    assert.equal(await page.locator('[role^="menuitem"]:focus').textContent(), 'admin')
    await shot('account-menu')
    await check()
    await page.getByRole('menuitem', { name: 'Statistics' }).click()
    await page.getByRole('heading', { name: 'Statistics' }).waitFor()
  })

  test('accounts that are not admins see nothing that only admins may do', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'A film' }))
    const { page, go, check } = await openPage(t, app.url, { as: { username: 'user', password: PASSWORD } })
    await go('/')

    await page.getByRole('link', { name: 'A film', exact: true }).hover()
    await page.getByRole('button', { name: 'More for A film' }).click()

    assert.deepEqual(await page.getByRole('menuitem').allTextContents(), [
      'Mark as watched',
      'Watch later',
      'Add to a playlist',
      'Go to the channel',
      'Save Channel UC1 for a trip',
    ])
    assert.equal(await page.getByRole('link', { name: 'Downloads' }).count(), 0)
    await check()
  })
})

/** Downloads as people use them: the state and its reason, many links in one field, single items and all of a kind. */
import assert from 'node:assert/strict'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type {} from '../../../plugins/download/queue.ts'
import { changeAnswer, holdBack, noBrowser, openPage } from '../../support/browser.ts'
import { until } from '../../support/server.ts'
import { aChannel, aNewItem, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const AS = { username: 'admin', password: PASSWORD }

/** Nothing is downloaded here: the platform is paused, or nobody requests it. */
async function filled(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'archived111', title: 'A day at the mill' }))
  const { queue } = app.app
  await queue.add(
    [
      aNewItem('waiting1111', { title: 'Grinding rye <img src=x onerror=alert(1)>' }),
      aNewItem('waiting2222'),
      aNewItem('waiting3333', { channelId: 'UC2', channelName: 'Elsewhere' }),
    ],
    'pending',
  )
  await queue.add([aNewItem('failed11111')], 'pending', {
    failure: { message: 'Sign in to confirm that this is you', errorClass: 'login_required' },
  })
  await queue.add([aNewItem('failed22222'), aNewItem('failed33333')], 'pending', {
    failure: { message: 'This video has been removed by the uploader', errorClass: 'gone' },
  })
  await queue.add([aNewItem('ignored1111')], 'ignore')
  return app
}

describe('downloads', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop'] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`lists waiting, failed and ignored items, with reasons (${size}, ${colorScheme})`, async (t) => {
        const app = await filled(t)
        const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: AS })

        await go('/downloads/')
        await page.getByRole('heading', { name: '3 videos waiting' }).waitFor()
        await page.getByText('Grinding rye <img src=x onerror=alert(1)>').waitFor()
        await check()
        await shot('downloads-waiting')
        await page.getByRole('button', { name: /^Failed/ }).click()
        await page.getByRole('heading', { name: 'Needs an account 1' }).waitFor()
        await page.getByText('Removed by the uploader').first().waitFor()
        assert.match(page.url(), /\?show=failed$/)
        await check()
        await shot('downloads-failed')
        await page.getByRole('button', { name: /^Ignored/ }).click()
        await page.getByText('Video ignored1111').waitFor()
        await check()
        await shot('downloads-ignored')
      })
    }

    test(`shows an empty queue, and identifies each link in the field (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'archived111', title: 'A day at the mill' }))
      await app.as('admin').post('/api/platform/', { command: 'pause' })
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: AS })
      await go('/downloads/')
      await page.getByRole('heading', { name: /^Paused since/ }).waitFor()
      await page.getByRole('button', { name: 'Resume' }).click()
      await page.getByRole('heading', { name: 'Nothing to do' }).waitFor()
      await page.getByText('Nothing waiting').waitFor()
      await check()
      await shot('downloads-empty')

      // The platform is paused, so that it is not asked for the handle.
      await app.as('admin').post('/api/platform/', { command: 'pause' })
      const field = page.getByLabel('Links to download')
      await field.fill('nonsense')
      await page.getByText('Not a YouTube link or ID: “nonsense”').waitFor()
      assert.ok(await page.getByRole('button', { name: 'Download now' }).isDisabled())
      await field.fill(
        'archived111 https://www.youtube.com/watch?v=abcdefghijk\n@SomeHandle nonsense https://www.youtube.com/playlist?list=PLabcdefghijklmnopqrstuvwxyz012345',
      )
      await page.getByText('A day at the mill').waitFor()
      const kinds = await page.locator('.pasted-kind').allTextContents()
      assert.deepEqual(kinds, ['Video', 'Video', 'Channel', 'Playlist'])
      await page.getByText('Not a YouTube link or ID: “nonsense”').waitFor()
      await check([/503/])
      await shot('downloads-pasted')
      await page.getByRole('button', { name: 'Add to the queue' }).click()
      await page.getByRole('dialog').getByText('YouTube does not say how many videos there are').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Download all its videos' }).click()
      await page.getByText('4 links added to the queue').waitFor()
      assert.equal(await field.inputValue(), 'nonsense')
    })
  }

  test('a link stays identified when a download ends while a further link is identified', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')
    await page.getByText('Video waiting2222').waitFor()
    const field = page.getByLabel('Links to download')
    await field.fill('archived111')
    await page.getByText('A day at the mill').waitFor()
    const { asked, release } = await holdBack(page, /\/api\/resolve\//)

    await field.fill('archived111 https://www.youtube.com/watch?v=abcdefghijk')
    await asked
    await app.app.queue.remove('waiting2222')
    await page.getByText('Video waiting2222').waitFor({ state: 'detached' })
    release()

    await page.locator('.pasted-kind').nth(1).waitFor()
    assert.equal(await page.getByText('Not a YouTube link').count(), 0)
  })

  for (const [state, headline] of [
    ['blocked', /^YouTube has been blocking us since .+; next try at /],
    ['offline', /^YouTube has not answered since /],
    ['halted', /^Downloads on hold since /],
  ] as const) {
    test(`the reason for a pause precedes everything else: ${state}`, async (t) => {
      const app = await filled(t)
      const { page, go, check, shot } = await openPage(t, app.url, { as: AS, size: 'phone' })
      const now = Math.floor(Date.now() / 1000)
      await changeAnswer(page, '**/api/platform/', (answer) => ({
        ...answer,
        state,
        reason: 'The disk is full; downloads continue when 200 MB are free.',
        since: now - 600,
        next_attempt: now + 600,
      }))
      await go('/downloads/')

      await page.getByRole('heading', { name: headline }).waitFor()
      await page
        .getByRole('button', { name: headline })
        .or(page.getByRole('button', { name: /^Activity: (YouTube|Downloads on hold)/ }))
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Waiting 3' }).waitFor()
      await check()
      await shot(`downloads-${state}`)
      await go('/')
      await page.getByRole('button', { name: /^Activity/ }).click()
      await page.getByRole('dialog', { name: 'Activity' }).getByText(headline).waitFor()
    })
  }

  test('a missing program is the headline, instead of "Nothing to do"', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    await changeAnswer(page, '**/api/platform/', (answer) => ({ ...answer, missing: ['ffmpeg'] }))
    await go('/downloads/')
    await page.getByRole('heading', { name: 'ffmpeg is missing. Nothing can be downloaded without it.' }).waitFor()
    assert.equal(await page.getByText('Nothing to do').count(), 0)
  })

  test('live or announced videos count neither as waiting nor as failed; Downloads shows the number of failures', async (t) => {
    const app = await filled(t)
    await app.app.queue.add([aNewItem('later111111')], 'pending', {
      failure: { message: 'This live event will begin in 3 days.', errorClass: 'upcoming' },
    })
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')

    await page.getByRole('heading', { name: '3 videos waiting' }).waitFor()
    await page.getByRole('button', { name: 'Failed 3' }).waitFor()
    const link = page.getByRole('link', { name: 'Downloads' })
    await link.getByLabel('3 waiting').waitFor()
    await link.getByLabel('3 failed').waitFor()
    await check()
    await shot('downloads-badges')
    await page.getByRole('button', { name: 'Live or announced 1' }).click()
    await page.getByText('Video later111111').waitFor()
    await check()
    await app.as('admin').delete('/api/download/?filter=pending')
    await link.getByLabel('3 failed').waitFor({ state: 'detached' })
  })

  test('a queue with failures does not look fine', async (t) => {
    const app = await testApp(t)
    await app.app.queue.add([aNewItem('failed11111')], 'pending', {
      failure: { message: 'This video has been removed by the uploader', errorClass: 'gone' },
    })
    const { page, go, check } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')

    await page.getByRole('heading', { name: '1 download failed; nothing else is waiting' }).waitFor()

    assert.equal(await page.locator('.sentence.trouble').count(), 1)
    assert.equal(await page.locator('.sentence.ok').count(), 0)
    await check()
  })

  test('shows running, next and waiting items if opened in the middle of a run', async (t) => {
    const app = await testApp(t)
    t.mock.method(
      app.app.platform,
      'download',
      (_id: string, _wanted: object, { signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
    )
    await app.app.queue.add([aNewItem('running1111'), aNewItem('waiting1111'), aNewItem('waiting2222')], 'priority')
    await app.app.jobs.start('download_pending', {})
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')

    await page.getByRole('heading', { name: 'Downloading 1 of 3' }).waitFor()
    const now = page.getByRole('region', { name: 'Now' })
    await now.getByText('Video running1111').waitFor()
    await now.getByRole('progressbar', { name: 'Progress of Video running1111' }).waitFor()
    await now.getByText('Starting').waitFor()
    const waiting = page.getByRole('region', { name: 'Waiting' }).locator('.queue-row')
    assert.deepEqual(await waiting.locator('.queue-title').allInnerTexts(), ['Video waiting1111', 'Video waiting2222'])
    assert.equal(await waiting.first().getByText('Priority').count(), 1)
    assert.equal(await page.getByText('Priority').count(), 1)
    await check()
    await shot('downloads-in-the-middle')
  })

  test('the reason of a failure is explained in words, and the downloader’s own message is one click away', async (t) => {
    const app = await filled(t)
    const hostile = 'Video unavailable. It is gone due to a copyright claim by <img src=x onerror=alert(1)>'
    await app.app.queue.fail('failed22222', { message: hostile, errorClass: 'gone' })
    await app.app.queue.fail('failed33333', { message: 'Something else: 7', errorClass: 'unknown' })
    const { page, go, check, shot } = await openPage(t, app.url, {
      size: 'phone',
      as: AS,
      options: { locale: 'de-DE' },
    })

    await go('/downloads/?show=failed')
    await page.getByRole('button', { name: 'Something else: 7' }).waitFor()
    await page.getByRole('button', { name: 'Nur mit Anmeldung zu sehen' }).waitFor()
    assert.equal(
      await page.evaluate(() => document.documentElement.scrollWidth),
      390,
      'nothing is wider than the phone',
    )
    await page.getByRole('button', { name: /^Wegen eines Urheberrechtsanspruchs gesperrt: .*<img/ }).click()

    const dialog = page.getByRole('dialog', { name: 'Video failed22222' })
    await dialog.getByText('Gelöscht oder privat gestellt.').waitFor()
    await dialog.getByText(hostile, { exact: true }).waitFor()
    await check()
    await shot('downloads-why')
    await dialog.getByRole('button', { name: 'Schließen' }).click()
    await dialog.waitFor({ state: 'detached' })
    const [item] = (await app.as('admin').get('/api/download/?error_class=gone')).body.data
    assert.deepEqual(
      [item.message, item.reason],
      [
        hostile,
        { key: 'Taken down on a copyright claim by {name}', params: { name: hostile.slice(hostile.indexOf('<')) } },
      ],
    )
  })

  test('shows "more than" beyond the number that the API counts', async (t) => {
    const app = await testApp(t)
    await app.app.queue.add(
      Array.from({ length: 10_001 }, (_, index) => aNewItem(`item${String(index).padStart(7, '0')}`)),
      'pending',
    )
    const { page, go, check } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')

    await page.getByRole('heading', { name: 'More than 10,000 videos waiting' }).waitFor()
    await page.getByRole('button', { name: 'Waiting more than 10,000' }).waitFor()
    await page
      .getByRole('link', { name: 'Downloads' })
      .getByLabel('more than 10,000 waiting')
      .or(page.getByLabel('More than 10,000 waiting'))
      .first()
      .waitFor()
    await check()
    await page.getByRole('button', { name: 'More for all of these' }).click()
    await page.getByRole('menuitem', { name: 'Ignore all' }).click()
    await page.getByRole('dialog', { name: 'Ignore more than 10,000 videos?' }).waitFor()
  })

  test('an item is ignored, put back and removed; changes made elsewhere appear', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go, check } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')
    const status = async (id: string) => (await app.as('admin').get(`/api/download/${id}/`)).body.data?.status

    await page.getByRole('button', { name: 'Ignore: Video waiting2222' }).click()
    await page.getByText('1 video ignored').waitFor()
    assert.equal(await status('waiting2222'), 'ignore')
    await page.getByRole('button', { name: 'Ignored 2' }).click()
    await page.getByRole('button', { name: 'Put back: Video waiting2222' }).click()
    await page.getByText('1 video back in the queue').waitFor()
    assert.equal(await status('waiting2222'), 'pending')
    await page.getByRole('button', { name: 'Remove: Video ignored1111' }).click()
    await page.getByText('Nothing is ignored').waitFor()
    await page.getByText('1 video removed').waitFor()
    assert.equal(await status('ignored1111'), undefined)

    await page.getByRole('button', { name: 'Waiting 3' }).click()
    await page.getByText('Video waiting2222').waitFor()
    assert.deepEqual(
      (await page.locator('.queue-title').allTextContents()).slice(1),
      ['Video waiting2222', 'Video waiting3333'],
      'it is back in its place',
    )
    await app.app.queue.add([aNewItem('elsewhere11')], 'pending')
    await page.getByText('Video elsewhere11').waitFor()
    await app.app.queue.remove('elsewhere11')
    await page.getByText('Video elsewhere11').waitFor({ state: 'detached' })
    const turn = app.app.queue.begin('waiting1111')
    turn.report({ fraction: 0.42, speed: 2_500_000, eta: 75 })
    const running = page.getByRole('region', { name: 'Now' })
    await running.getByText('42%').waitFor()
    await running.getByText('2.5 MB/s').waitFor()
    await running.getByText('1 min 15 sec left').waitFor()
    // The page may request its picture after it was removed.
    await check([/404.*elsewhere11/])
    turn.end()
    await running.waitFor({ state: 'detached' })
  })

  test('the lists stay at their position when what is above them comes late, so that a click hits its target', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go } = await openPage(t, app.url, { as: AS })
    const state = await holdBack(page, /\/api\/platform\/$/)
    const items = await holdBack(page, /filter=pending&error=false&page=/)
    await go('/downloads/')
    await Promise.all([state.asked, items.asked])
    const ignored = page.getByRole('button', { name: /^Ignored/ })
    const before = await ignored.boundingBox()

    items.release()
    await page.getByText('Video waiting2222').waitFor()
    const between = await ignored.boundingBox()
    state.release()
    await page.getByRole('heading', { name: /^Paused since/ }).waitFor()

    assert.deepEqual([between!.y, (await ignored.boundingBox())!.y], [before!.y, before!.y])
  })

  test('a late reply does not bring back an item that was removed meanwhile', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')
    await page.getByText('Video waiting2222').waitFor()
    const { asked, release } = await holdBack(page, /filter=pending&error=false&page=/)
    await app.as('admin').post('/api/download/bulk/', { filter: 'ignore', status: 'pending' })
    await asked

    await page.getByRole('button', { name: 'Remove: Video waiting2222' }).click()
    await page.getByText('1 video removed').waitFor()
    release()
    await page.getByText('Video ignored1111').waitFor()

    assert.deepEqual((await page.locator('.queue-title').allTextContents()).slice(1), [
      'Video waiting3333',
      'Video ignored1111',
    ])
  })

  test('all items with one reason are retried, and all waiting ones are ignored after a question', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    await go('/downloads/?show=failed')

    await page.getByRole('region', { name: 'No longer on YouTube' }).getByRole('button', { name: 'Ignore all' }).click()
    await page.getByRole('dialog', { name: 'Ignore 2 videos?' }).waitFor()
    await check()
    await shot('downloads-ask')
    await page.getByRole('dialog').getByRole('button', { name: 'Ignore all' }).click()
    await page.getByText('2 videos ignored').waitFor()
    await page.getByRole('region', { name: 'Needs an account' }).getByRole('button', { name: 'Try all again' }).click()
    await page.getByText('1 video will be downloaded next').waitFor()
    await page.getByText('Nothing has failed').waitFor()

    assert.deepEqual(
      (await app.as('admin').get('/api/download/?filter=priority')).body.data.map(
        ({ platform_id }: { platform_id: string }) => platform_id,
      ),
      ['failed11111'],
    )
    assert.equal((await app.as('admin').get('/api/download/?filter=ignore')).body.paginate.total_hits, 3)
  })

  test('the number beside Downloads stays when an older reply comes late', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    const state = /\/api\/platform\/$/
    let replies = 0
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    t.after(() => release())
    await changeAnswer(page, state, async (answer) => {
      if (++replies === 1) await released
      return answer
    })
    await go('/')
    await until(
      'the first reply',
      async () => replies,
      (count) => count === 1,
    )
    await app.app.queue.add([aNewItem('waiting4444')], 'pending')
    const count = page.getByRole('link', { name: 'Downloads' }).getByText('4', { exact: true })
    await count.waitFor()

    const answered = page.waitForResponse(state)
    release()
    await answered
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

    assert.equal(await count.count(), 1)
  })

  test('the number beside Downloads is that of the waiting items, in one line at any width', async (t) => {
    const app = await filled(t)
    await app.app.queue.add(
      Array.from({ length: 120 }, (_, index) => aNewItem(`item${String(index).padStart(7, '0')}`)),
      'pending',
    )
    const { page, go, shot } = await openPage(t, app.url, { as: AS })
    await go('/downloads/?show=failed')
    const link = page.getByRole('link', { name: 'Downloads' })
    await link.getByText('123', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Waiting 123' }).waitFor()
    await page.getByText('Video failed11111').waitFor()

    for (const width of [1280, 800, 390, 320]) {
      await page.setViewportSize({ width, height: 800 })
      await shot(`downloads-${width}`)
      const lines = await link
        .locator('.count, .rail-label')
        .evaluateAll((parts) =>
          parts.map((part) => part.getClientRects()[0]!.height / parseFloat(getComputedStyle(part).lineHeight)),
        )
      assert.ok(
        lines.every((count) => count < 1.5),
        `${width}: ${lines}`,
      )
      const outside = await link.evaluate((whole) => {
        const { left, right } = whole.getBoundingClientRect()
        return [...whole.querySelectorAll('.count')]
          .filter((one) => one.getBoundingClientRect().left < left || one.getBoundingClientRect().right > right)
          .map((one) => one.textContent)
      })
      if (width >= 1100) assert.deepEqual(outside, [], 'the side bar would cut them')
      assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width, `${width}`)
    }
  })

  test('a list of hundreds is read as far as it is scrolled, and stays in position when much changes', async (t) => {
    const app = await testApp(t)
    await app.app.queue.add(
      Array.from({ length: 300 }, (_, index) => aNewItem(`item${String(index).padStart(7, '0')}`)),
      'pending',
    )
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go('/downloads/')
    await page.getByRole('button', { name: 'Waiting 300' }).waitFor()
    await page.getByRole('button', { name: 'Ignore: Video item0000002' }).focus()
    const reached = page.locator('.queue-row:focus-within .queue-title')
    const far = reached.filter({ hasText: /item0000(1[5-9]|2)/ })
    for (let press = 0; press < 500 && !(await far.isVisible()); press++) {
      await page.keyboard.press('PageDown')
      await reached.waitFor()
    }
    await far.waitFor()
    await page.waitForLoadState('networkidle')
    const position = async () => [await reached.textContent(), (await reached.boundingBox())?.y]
    const before = await position()

    const readAgain = page.waitForResponse((response) => response.url().includes('error=false&page='))
    await app.as('admin').post('/api/download/bulk/', { filter: 'ignore', status: 'delete' })
    await readAgain
    await page.waitForLoadState('networkidle')

    assert.deepEqual(await position(), before)
  })

  test('a server that does not reply is reported, with a retry button; a refusal is beside the field', async (t) => {
    const app = await filled(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    let asked = false
    await page.exposeFunction('onAsked', () => {
      asked = true
    })
    await page.route(/\/api\/(platform|download)\//, (route) =>
      asked
        ? route.fallback()
        : route.fulfill({
            status: 503,
            contentType: 'application/json',
            body: JSON.stringify({ message: 'the index is away', code: 'unavailable' }),
          }),
    )
    await go('/downloads/')
    await page.getByText('The server cannot do this now: the index is away').first().waitFor()
    await shot('downloads-failing')
    await check([/503/])
    // The page also polls by itself: the server must return with the click and not before.
    await page.evaluate(() =>
      addEventListener('click', () => (globalThis as unknown as { onAsked(): void }).onAsked(), true),
    )
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByRole('heading', { name: '3 videos waiting' }).waitFor()
    await page.getByText('Video waiting2222').waitFor()

    await page.route(/\/api\/download\//, (route) =>
      route.fulfill({
        status: 400,
        contentType: 'application/json',
        body: JSON.stringify({ message: 'no', code: 'bad_request', fields: { 'data[0]': 'must be an id' } }),
      }),
    )
    await page.getByLabel('Links to download').fill('abcdefghijk')
    await page.getByText('Video', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Add to the queue' }).click()
    await page.getByText('The server refused one of these links: it must be an id.').waitFor()
  })

  for (const size of ['phone', 'desktop'] as const) {
    test(`an offline library is reported, and another folder is accepted after a question (${size})`, async (t) => {
      const app = await testApp(t)
      await rename(app.app.settings.mediaDir, join(app.dataDir, 'disk'))
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: AS })
      await go('/downloads/')
      await page.getByRole('heading', { name: /^Downloads on hold since/ }).waitFor()
      await page.getByText('The library can’t be found: the media folder is missing').waitFor()
      await page.getByRole('button', { name: 'Use this folder' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Use this folder' }).click()
      await page.getByText('connect its disk, or create the folder').waitFor()
      await check([/409/])

      await mkdir(app.app.settings.mediaDir)
      await page.getByRole('button', { name: 'Use this folder' }).click()
      await page
        .getByText('If a disk is just not connected, connect it instead: everything will then continue automatically')
        .waitFor()
      await check([/409/])
      await shot('downloads-library-away')
      await page.getByRole('dialog').getByRole('button', { name: 'Use this folder' }).click()
      await page.getByText('This folder is now your library').waitFor()
      await page.getByRole('heading', { name: 'Nothing to do' }).waitFor()
    })
  }

  test('an open menu stays with its video when an earlier video disappears', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { size: 'phone', as: AS })
    await go('/downloads/')
    await page.getByRole('button', { name: 'More for Video waiting2222' }).click()
    await page.getByRole('menuitem', { name: 'Ignore' }).waitFor()

    await app.as('admin').delete('/api/download/waiting1111/')
    await page.getByText('Grinding rye').waitFor({ state: 'detached' })
    await page.getByRole('menuitem', { name: 'Ignore' }).click()

    await page.getByText('1 video ignored').waitFor()
    assert.equal((await app.as('admin').get('/api/download/waiting2222/')).body.data.status, 'ignore')
    assert.equal((await app.as('admin').get('/api/download/waiting3333/')).body.data.status, 'pending')
  })
})

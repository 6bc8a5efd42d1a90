/** Videos for a trip: what fits into time and space is saved on the device, and removed after watching. */
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { planTrip } from '../../../plugins/web/page/parts/trip-plan.ts'
import { holdBack, noBrowser, openPage, type Page } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'user', password: PASSWORD }
const options = { serviceWorkers: 'allow' } as const

test('a trip takes what fits, in order, and counts what it skips', () => {
  const films = [
    { id: 'a', seconds: 50, bytes: 10 },
    { id: 'b', seconds: 60, bytes: 10 },
    { id: 'c', seconds: 40, bytes: 90 },
    { id: 'd', seconds: 10, bytes: 5 },
  ]

  const plan = planTrip(films, { seconds: 100, bytes: 50 })

  assert.deepEqual(
    { ...plan, taken: plan.taken.map(({ id }) => id) },
    { taken: ['a', 'd'], seconds: 60, bytes: 15, tooLong: 1, tooLarge: 1 },
  )
  assert.deepEqual(planTrip([], { seconds: 1, bytes: 1 }).taken, [])
})

/** Videos of one, two and three hours. */
async function anArchive(t: Parameters<typeof testApp>[0]): Promise<{ app: TestApp; bytes: number }> {
  const app = await testApp(t)
  const at = (id: string) => join(app.app.settings.mediaDir, 'UC1', `${id}.mp4`)
  for (const id of ['v1', 'v2', 'v3', 'seen']) await makeFilm(at(id))
  const { size: bytes } = await stat(at('v1'))
  const streams = [{ type: 'video' as const, index: 0, codec: 'h264', bitrate: 1, width: 320, height: 180 }]
  const film = (id: string, hours: number, title: string) =>
    aVideo({
      ...{ id, channelId: 'UC1', title, media_size: bytes, streams },
      ...{ player: { duration: hours * 3600 }, published: `2024-01-0${4 - hours}` },
    })
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    film('v1', 1, 'Short <b>film</b>'),
    film('v2', 2, 'Longer'),
    film('v3', 3, 'Longest'),
    film('seen', 1, 'Seen'),
  )
  await app.as('user').post('/api/watched/', { id: 'seen', is_watched: true })
  return { app, bytes }
}

const saved = (page: Page): Promise<string[]> =>
  page.evaluate(`(async () => {
    const names = (await caches.keys()).filter((name) => name.endsWith(' films'))
    const lists = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
    return lists.flat().map(({ url }) => new URL(url).pathname).filter((path) => path.startsWith('/device/')).sort()
  })()`)

describe('a trip', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop'] as const)
    test(`is filled from a list, explains why not more fits, and is removed after watching (${size})`, async (t) => {
      const { app } = await anArchive(t)
      const { page, go, check, shot } = await openPage(t, app.url, { size, as, options })
      await go('/')
      await page.getByRole('button', { name: 'Save for a trip', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Videos for a trip' })

      await dialog.getByText(/^2 videos, 3 hrs?, /).waitFor()
      await dialog.getByText(/^One more video doesn’t fit in the remaining time\. .* is free\.$/).waitFor()
      assert.deepEqual(await dialog.locator('.trip-films li > :first-child').allInnerTexts(), [
        'Short <b>film</b>',
        'Longer',
      ])
      await dialog.getByRole('button', { name: '10 hours' }).click()
      await dialog.getByText(/^These are all unwatched videos\./).waitFor()
      await dialog.getByRole('button', { name: '3 hours' }).click()
      await check()
      await shot('trip')
      await dialog.getByRole('button', { name: 'Save to this device' }).click()
      await dialog.getByText('2 videos are ready for the trip.').waitFor()
      await check()
      await dialog.getByRole('button', { name: 'Done' }).click()
      assert.deepEqual(await saved(page), ['/device/v1', '/device/v2'])

      await app.as('user').post('/api/watched/', { id: 'v1', is_watched: true })
      await page.reload()
      await until(
        'the watched one is removed',
        () => saved(page),
        (all) => all.join() === '/device/v2',
      )
    })

  test('is filled from as many pages of a list as it needs', async (t) => {
    const { app } = await anArchive(t)
    const more = ['v4', 'v5'].map((id) => aVideo({ id, channelId: 'UC1', player: { duration: 60 } }))
    await app.given(...more)
    await app.as('user').post('/api/config/user/', { page_size: 1 })
    const { page, go } = await openPage(t, app.url, { as, options })
    await go('/')

    await page.getByRole('button', { name: 'Save for a trip', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Videos for a trip' })
    await dialog.getByRole('button', { name: '10 hours' }).click()

    await dialog.getByText(/^5 videos, /).waitFor()
  })

  test('is opened from a card, uses only free space, and can be canceled', async (t) => {
    const { app, bytes } = await anArchive(t)
    const { page, go, check } = await openPage(t, app.url, { as, options })
    await page.addInitScript(
      `Object.defineProperty(navigator.storage, 'estimate', { value: async () => ({ quota: ${bytes * 2}, usage: 0 }) })`,
    )
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    t.after(() => release())
    await page.context().route('**/media/UC1/*.mp4*', async (route) => {
      await released
      await route.abort().catch(() => undefined)
    })
    await go('/')
    const card = page.getByRole('list', { name: 'All videos' }).getByRole('article').first()
    await card.hover()
    await card.getByRole('button', { name: /^More/ }).click()
    await page.getByRole('menuitem', { name: 'Save Harbour for a trip' }).click()
    const dialog = page.getByRole('dialog', { name: 'Videos for a trip: Harbour' })

    await dialog.getByText(/^1 video, /).waitFor()
    await dialog.getByText(/(2 more don|One more video doesn)’t fit in the free space/).waitFor()
    await dialog.getByRole('button', { name: 'Save to this device' }).click()
    await dialog.getByText('Saving 1 of 1').waitFor()
    await check()
    await dialog.getByRole('button', { name: 'Cancel the rest' }).click()
    await page.getByText('Cancelled. 0 videos are saved.').waitFor()
    await until(
      'nothing is left',
      () => saved(page),
      (all) => all.length === 0,
    )
  })

  test('saves no further video after it was canceled', async (t) => {
    const { app } = await anArchive(t)
    const { page, go } = await openPage(t, app.url, { as, options })
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    t.after(() => release())
    await page.context().route('**/api/video/v1/', async (route) => {
      await released
      await route.continue().catch(() => undefined)
    })
    await go('/')
    await page.getByRole('button', { name: 'Save for a trip', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Videos for a trip' })
    await dialog.getByRole('button', { name: 'Save to this device' }).click()
    const asked = page.waitForResponse('**/api/video/v1/')

    await dialog.getByRole('button', { name: 'Cancel the rest' }).click()
    await page.getByText('Cancelled. 0 videos are saved.').waitFor()
    release()
    await asked
    await page.getByRole('link', { name: 'Longest' }).first().click()
    await page.getByRole('button', { name: 'More for Longest' }).click()
    await page.getByRole('menuitem', { name: 'Save offline' }).click()
    await page.getByText('Saved. You can watch “Longest” offline.').waitFor()

    assert.deepEqual(await saved(page), ['/device/v3'])
  })

  test('stays with the chosen source when another one is loaded later', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
    await app.as('admin').post('/api/group/', { name: 'Sea', members: [{ kind: 'channel', id: 'UC1' }] })
    const rule = { side: 'keep', name: 'Long ones', scope: { kind: 'all' }, outcome: 'keep' }
    await app.as('admin').post('/api/rule/', { ...rule, conditions: { longer_than: 3700 } })
    const { page, go } = await openPage(t, app.url, { as: { username: 'admin', password: PASSWORD } })
    await go('/')
    const { release } = await holdBack(page, /\/api\/group\/$/)
    await page.getByRole('button', { name: 'Save for a trip', exact: true }).click()
    const from = page.getByRole('dialog', { name: 'Videos for a trip' }).getByLabel('From')
    await from.selectOption({ label: 'Rule: Long ones' })

    release()

    await from.getByRole('option', { name: 'Group: Sea' }).waitFor({ state: 'attached' })
    const chosen = await from.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]!.label)
    assert.equal(chosen, 'Rule: Long ones')
  })

  test('is filled from a group or a rule, and refills itself after watching (phone)', async (t) => {
    const { app, bytes } = await anArchive(t)
    const at = join(app.app.settings.mediaDir, 'UC2', 'w1.mp4')
    await makeFilm(at)
    await app.given(
      aChannel({ id: 'UC2', channel_name: 'Mill' }),
      ...['w1', 'w2'].map((id) =>
        aVideo({ id, channelId: 'UC2', title: `Mill ${id}`, media_size: bytes, player: { duration: 9000 } }),
      ),
    )
    const members = [{ kind: 'channel', id: 'UC1' }]
    const { id: group } = (await app.as('admin').post('/api/group/', { name: 'Sea', members })).body
    await app.as('admin').post('/api/rule/', {
      ...{ side: 'keep', name: 'Long ones', scope: { kind: 'group', id: group } },
      ...{ outcome: 'keep', conditions: { longer_than: 3700 } },
    })
    await app.as('admin').post('/api/rule/', {
      ...{ side: 'take', scope: { kind: 'all' }, outcome: 'skip', conditions: { title: { words: ['no'] } } },
    })
    await app.as('admin').post('/api/watched/', { id: 'seen', is_watched: true })
    const { page, go, check, shot } = await openPage(t, app.url, {
      size: 'phone',
      as: { username: 'admin', password: PASSWORD },
      options,
    })
    await go('/')
    await page.getByRole('button', { name: 'Save for a trip', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Videos for a trip' })
    const titles = () => dialog.locator('.trip-films li > :first-child').allInnerTexts()
    const from = dialog.getByLabel('From')

    await from.waitFor()
    await from.locator('option').nth(2).waitFor({ state: 'attached' })
    assert.deepEqual(await from.locator('option').allInnerTexts(), ['This list', 'Group: Sea', 'Rule: Long ones'])
    await dialog.getByRole('button', { name: '10 hours' }).click()
    await from.selectOption({ label: 'Rule: Long ones' })
    await until('only the rule’s', titles, (all) => all.join() === 'Longer,Longest')
    await from.selectOption({ label: 'Group: Sea' })
    await until('only the group’s', titles, (all) => all.join() === 'Short <b>film</b>,Longer,Longest')
    await dialog.getByRole('button', { name: '3 hours' }).click()
    await dialog.getByRole('switch', { name: 'Keep filled' }).check()
    await check()
    await shot('trip-from')
    await dialog.getByRole('button', { name: 'Save to this device' }).click()
    await dialog.getByText('2 videos are ready for the trip.').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    assert.deepEqual(await saved(page), ['/device/v1', '/device/v2'])

    for (const id of ['v1', 'v2']) await app.as('admin').post('/api/watched/', { id, is_watched: true })
    await page.reload()
    await until(
      'the next one takes their place',
      () => saved(page),
      (all) => all.join() === '/device/v3',
    )
    await go('/settings/device/')
    await page.getByText('Keeps 3 hours of videos ready').waitFor()
    // Only complete videos are compared with the server at the next start.
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Longest' })
      .getByText(/^\S+ kB$/)
      .waitFor()
    await check()
    await shot('trip-refilled')
    await page.getByRole('button', { name: 'Stop filling' }).click()
    await app.as('admin').post('/api/watched/', { id: 'v3', is_watched: true })
    await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: false })
    await page.reload()
    await until(
      'nothing takes its place',
      () => saved(page),
      (all) => all.length === 0,
    )
  })
})

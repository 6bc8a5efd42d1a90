/** Channels as people use them: finding them, subscribing by pasted links, settings of one channel, and deletion. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdUp, noBrowser, openPage } from '../../support/browser.ts'
import { until } from '../../support/server.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const AS = { username: 'admin', password: PASSWORD }
const HOSTILE = 'A <script>alert(1)</script> Channel'

async function filled(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(
    aChannel({
      id: 'UCmill',
      channel_name: 'Old Mill',
      channel_subs: 48_200,
      channel_views: 1_900_000,
      channel_subscribed: true,
      channel_tabs: ['videos', 'shorts'],
      channel_description:
        'Slow films about flour.\nhttps://example.org/mill\nNew ones on Fridays.\nAnd a fourth line that is only there to be folded away.',
    }),
    aChannel({ id: 'UChostile', channel_name: HOSTILE, channel_active: false }),
    ...Array.from({ length: 14 }, (_, index) =>
      aChannel({ id: `UCmany${index}`, channel_name: `Channel ${index}`, channel_subs: index * 971 }),
    ),
    ...Array.from({ length: 5 }, (_, index) =>
      aVideo({ id: `v${index}`, channelId: 'UCmill', title: `Flour, part ${index}` }),
    ),
    aPlaylist({
      id: 'PLmill',
      playlist_name: 'From grain to loaf',
      playlist_channel: 'Old Mill',
      playlist_channel_id: 'UCmill',
      entries: [{ platform_id: 'v1', downloaded: true }, 'gone'],
    }),
  )
  return app
}

describe('channels', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['phone', 'dark'],
    ['desktop', 'light'],
    ['desktop', 'dark'],
    ['phone', 'light'],
  ] as const) {
    test(`are listed by name and lead to their videos, playlists and settings (${size}, ${colorScheme})`, async (t) => {
      const app = await filled(t)
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: AS })
      await go('/channels/')
      await page.getByRole('link', { name: HOSTILE }).waitFor()
      await check()
      await shot('channels')
      await page.getByLabel('Find a channel').fill('mill')
      await page.getByRole('link', { name: HOSTILE }).waitFor({ state: 'detached' })
      assert.match(page.url(), /\?q=mill$/)
      await page.getByRole('link', { name: 'Old Mill' }).click()

      await page.getByRole('heading', { name: 'Old Mill' }).waitFor()
      await page
        .getByRole('link', { name: /^Flour, part/ })
        .first()
        .waitFor()
      await page.getByText('5 videos archived').waitFor()
      await check()
      await shot('channel')
      await page
        .getByRole('navigation', { name: 'Parts of this channel' })
        .getByRole('link', { name: 'Playlists' })
        .click()
      await page.getByRole('link', { name: 'From grain to loaf' }).waitFor()
      await page.getByText('1 of 2 videos').waitFor()
      await check()
      await shot('channel-playlists')
      await page
        .getByRole('navigation', { name: 'Parts of this channel' })
        .getByRole('link', { name: 'Settings' })
        .click()
      await page.getByLabel('Highest quality').waitFor()
      await check()
      await shot('channel-settings')
    })
  }

  test('a letter that is typed while the list is filtered stays', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go('/channels/')
    const field = page.getByLabel('Find a channel')
    // On a slow device, a key is handled between a change of the address and the next paint.
    await field.evaluate((input: HTMLInputElement) => {
      const { replaceState } = history
      history.replaceState = function (...given) {
        replaceState.apply(this, given)
        if (input.value !== 'mi') return
        setTimeout(() => {
          input.value = 'mill'
          input.dispatchEvent(new Event('input', { bubbles: true }))
        })
      }
    })

    await field.fill('mi')

    await page.waitForURL(/\?q=mill$/)
    await page.getByRole('link', { name: 'Old Mill' }).waitFor()
    assert.equal(await field.inputValue(), 'mill')
    await page.getByRole('link', { name: HOSTILE }).waitFor({ state: 'detached' })
    await page.goto(`${app.url}channels/?q=mill`)
    await field.fill('nothing of that name')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: HOSTILE }).waitFor()
    assert.equal(await field.inputValue(), '')
  })

  test('a setting of one channel is saved immediately, described in words, and reset', async (t) => {
    const app = await filled(t)
    const { page, go, check } = await openPage(t, app.url, { as: AS })
    const overwrites = async () => (await app.as('admin').get('/api/channel/UCmill/')).body.data.channel_overwrites
    await go('/channel/UCmill/?show=settings')

    await page.getByLabel('Highest quality').selectOption({ label: 'Up to 720p' })
    await page.getByText('Saved').first().waitFor()
    await page.getByLabel('Shorts').selectOption({ label: 'None' })
    await page.getByLabel('Delete watched videos').selectOption({ label: 'After 30 days' })
    await page.getByLabel('Skip sponsors and intros').selectOption({ label: 'Yes' })
    await until('all is saved', overwrites, (saved) => Object.keys(saved).length === 4)
    assert.deepEqual(await overwrites(), {
      quality_height: 720,
      subscriptions_shorts_channel_size: 0,
      autodelete_days: 30,
      integrate_sponsorblock: true,
    })

    await page.getByText('Advanced').click()
    const format = page.getByLabel('yt-dlp format')
    await format.fill('x'.repeat(501))
    await format.blur()
    await page.getByRole('alert').waitFor()
    await check([/400/])
    await format.fill('worst')
    await format.blur()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await until('the format is saved', overwrites, ({ download_format: saved }) => saved === 'worst')
    await page.getByLabel('Highest quality').selectOption({ label: 'Default' })
    await page.getByLabel('Shorts').selectOption({ index: 0 })
    await until(
      'both are taken back',
      overwrites,
      (saved) => !('download_format' in saved) && !('subscriptions_shorts_channel_size' in saved),
    )
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('[placeholder="bv*+ba/b"]')?.value === '')
    assert.deepEqual(
      Object.keys(await overwrites()).filter((key) => key === 'download_format' || key === 'quality_height'),
      [],
    )
  })

  test('a subscription ends with one click and begins with a question; pasted links are identified before anything is sent', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/platform/', { command: 'pause' })
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    const isSubscribed = async (id: string) =>
      (await app.as('admin').get(`/api/channel/${id}/`)).body.data.channel_subscribed
    await go('/channels/')

    await page.getByRole('button', { name: 'Subscribed to Old Mill' }).click()
    await page.getByText('No longer subscribed to Old Mill').waitFor()
    assert.equal(await isSubscribed('UCmill'), false)
    await page.getByRole('button', { name: 'Subscribe to Old Mill' }).click()
    const asked = page.getByRole('dialog', { name: 'Subscribe to Old Mill' })
    await asked.getByText('Channel').waitFor()
    await asked.getByText('Old Mill', { exact: true }).waitFor()
    await asked.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('Looking it up on YouTube…').waitFor()
    await until('the subscription begins', () => isSubscribed('UCmill'), Boolean)

    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Subscribe' })
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await dialog.getByText('Paste a link to a channel').waitFor()
    await dialog.getByLabel('Channels or playlists').fill('av_playlist_mine')
    await dialog.getByText('Your own playlists are not on YouTube, so there is nothing to subscribe to').waitFor()
    await check()
    await shot('subscribe-refused')
    await dialog
      .getByLabel('Channels or playlists')
      .fill('https://www.youtube.com/@HarbourAndTide\nUCaaaaaaaaaaaaaaaaaaaaaa')
    await dialog.locator('.pasted-kind').nth(1).waitFor()
    await shot('subscribe')
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('Looking up all 2 on YouTube…').waitFor()
    const jobs = (await app.as('admin').get('/api/task-name/subscribe_to/')).body
    assert.equal(jobs.length, 2)
  })

  test('a deletion explains what is deleted and what stays, requires the name, and returns to the list', async (t) => {
    const app = await filled(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: AS })
    await go('/channel/UCmill/')
    await page.getByRole('button', { name: 'More for Old Mill' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()

    const dialog = page.getByRole('dialog', { name: 'Delete this channel?' })
    await dialog.getByText('“Old Mill” will be deleted with all its 5 videos').waitFor()
    await dialog.getByText('Its 1 playlist will be deleted too').waitFor()
    await dialog.getByText('You will no longer be subscribed.').waitFor()
    await check()
    await shot('channel-delete')
    assert.equal(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), true)
    await dialog.getByLabel('Type “Old Mill” to confirm').fill('Old Mill')
    await dialog.getByRole('button', { name: 'Delete' }).click()

    await page.getByText('Old Mill deleted').waitFor()
    await page.getByRole('heading', { name: 'Channels' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Old Mill' }).count(), 0)
    assert.deepEqual(await app.ids('video'), [])
  })

  test('a deletion that ends after somebody has gone to another view leaves them there', async (t) => {
    const app = await filled(t)
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go('/channel/UCmill/')
    await page.getByRole('button', { name: 'More for Old Mill' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete this channel?' })
    await dialog.getByLabel('Type “Old Mill” to confirm').fill('Old Mill')
    const release = await holdUp(page, /\/api\/channel\/UCmill\/$/)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'Statistics' }).click()
    await page.getByRole('heading', { name: 'Statistics' }).waitFor({ state: 'attached' })

    await release()

    await page.getByText('Old Mill deleted').waitFor()
    assert.match(page.url(), /\/statistics\/$/)
  })

  test('videos that are shown while a subscription ends can still be marked', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/config/user/', { view_style_home: 'table' })
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go('/channel/UCmill/')
    const release = await holdUp(page, /\/api\/channel\/$/)
    await page.getByRole('button', { name: 'Subscribed', exact: true }).click()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    const table = page.getByRole('table', { name: 'All videos' })
    await table.getByRole('link', { name: 'Flour, part 1' }).focus()

    await release()
    await page.getByText('No longer subscribed to Old Mill').waitFor()
    await page.keyboard.press('w')

    const row = table.getByRole('row').filter({ has: page.getByRole('link', { name: 'Flour, part 1' }) })
    await row.getByText('Watched').waitFor()
  })

  test('the mark of a whole channel waits for an earlier mark of one of its videos', async (t) => {
    const app = await filled(t)
    await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: true })
    const { page, go } = await openPage(t, app.url, { as: AS })
    await go('/channel/UCmill/')
    await page.getByRole('link', { name: 'Flour, part 1' }).focus()
    const answerFirst = await holdUp(page, /\/api\/watched\/$/)
    await page.keyboard.press('w')

    await page.getByRole('button', { name: 'More for Old Mill' }).click()
    await page.getByRole('menuitem', { name: 'Mark all as watched' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as watched' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await answerFirst()

    await page.getByText('All marked as watched').waitFor()
    const { data } = (await app.as('admin').get('/api/video/v1/')).body
    assert.equal(data.player.watched, true)
  })

  test('empty lists, unknown channels and failures have their messages; a plain user can change nothing', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as: AS })
    await go('/channels/')
    await page.getByText('No channels yet').waitFor()
    await check()
    await shot('channels-empty')
    await go('/channel/UCnobody/')
    await page.getByText('This channel is not in the archive').waitFor()
    await check([/404/])
    await page.route(/\/api\/channel\//, (route) => route.abort())
    await go('/channels/')
    await page.getByText('The server isn’t responding.').waitFor()
    await shot('channels-failing')
    await page.unroute(/\/api\/channel\//)
    await app.given(aChannel({ id: 'UCmill', channel_name: 'Old Mill', channel_subscribed: true }))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Old Mill' }).waitFor()

    const user = await openPage(t, app.url, { as: { username: 'user', password: PASSWORD } })
    await user.go('/channel/UCmill/?show=settings')
    await user.page.getByText('Nothing from this channel is archived yet').waitFor()
    assert.equal(await user.page.getByRole('button', { name: /Subscribe|Download/ }).count(), 0)
    await user.check()
  })

  test('a late reply about one channel does not change the page of another', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour', channel_subscribed: false }),
      aChannel({ id: 'UC2', channel_name: 'Workshop', channel_subscribed: true }),
    )
    const { page, go } = await openPage(t, app.url, { as: AS })
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route(/\/api\/channel\/$/, async (route) => {
      await released
      await route.fulfill({ status: 500, json: {} })
    })
    await go('/channel/UC1/')
    await page.getByRole('link', { name: 'Channels', exact: true }).click()
    await page.getByRole('link', { name: 'Workshop' }).click()
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Subscribed', exact: true }).click()
    await sent

    // Goes back past the list of channels in one step.
    await page.evaluate('history.go(-2)')
    await page.getByRole('heading', { level: 1, name: 'Harbour' }).waitFor()
    release()

    await page.locator('.toast.error').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Subscribed', exact: true }).count(), 0)
    await page.getByRole('button', { name: 'Subscribe', exact: true }).waitFor()
  })
})

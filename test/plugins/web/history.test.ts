/**
 * Videos that exist only here, and changes on the platform: the strip on Home, the notification, the number, the
 * timeline.
 */
import assert from 'node:assert/strict'
import { cp, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { FILM_FILE } from '../../support/film.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const DATE = Math.floor(Date.parse('2026-01-12T12:00:00Z') / 1000)

async function filled(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    aVideo({ id: 'v1', title: 'Why the new ferry runs', lost: { date: DATE, kind: 'removed' }, active: false }),
    aVideo({ id: 'v2', title: 'There', published: '2026-01-11' }),
    aPlaylist({ id: 'PL1', entries: ['v2'] }),
  )
  const path = app.app.media.pathOf('UC1', 'v1')
  await mkdir(dirname(path), { recursive: true })
  await cp(FILM_FILE, path)
  const { rows, losses, rescues } = app.app.history
  const about = { kind: 'video', subject: 'v1', seenAt: DATE } as const
  await app.app.ledger.write(() => {
    rows.add({ ...about, part: 'title', before: 'Why the old ferry still runs', after: 'Why the new ferry runs' })
    rows.add({ ...about, part: 'tags', before: ['sea', 'ferry'], after: ['ferry', 'harbour'] })
    rows.add({ ...about, part: 'length', before: 700, after: 640 })
    rows.add({ ...about, part: 'availability', before: 'public', after: 'removed' })
    rows.add({ kind: 'channel', subject: 'UC1', seenAt: DATE, part: 'name', before: 'Tide', after: 'Harbour' })
    rows.add({
      ...{ kind: 'playlist', subject: 'PL1', seenAt: DATE, part: 'entries' },
      before: [{ id: 'v9', title: 'Taken out' }],
      after: [{ id: 'v2', title: 'There' }],
    })
    rescues.offer({ channel: 'UC1', lost: 3, videos: 12, seconds: 6000 })
    losses.put({
      ...{ kind: 'video', subject: 'v1', channel: 'UC1', loss: 'removed', first_at: DATE, last_at: DATE },
      ...{ lost_at: DATE, is_marked: 1, is_told: 0, ask_at: Number.MAX_SAFE_INTEGER },
    })
  })
  await app.app.jobs.ended((await app.app.jobs.start('check_lost')).id)
  return app
}

describe('history', { skip: noBrowser }, () => {
  for (const size of ['phone', 'desktop'] as const)
    test(`a lost video is on Home, in the notification and in the statistics, and its page lists the changes (${size})`, async (t) => {
      const app = await filled(t)
      const { page, go, check } = await openPage(t, app.url, { size, as: ADMIN })
      await go('/')
      const shelf = page.getByRole('list', { name: 'Only here' })
      await shelf.getByRole('link', { name: 'Why the new ferry runs' }).waitFor()
      assert.equal(await shelf.getByRole('listitem').count(), 1)
      await check()

      await page.getByRole('button', { name: /^Activity/ }).click()
      const message = page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'The archive still has it' })
      await message.getByRole('link').click()
      await page.waitForURL(/lost=any/)
      await page.getByRole('link', { name: 'Why the new ferry runs' }).first().waitFor()
      assert.equal(await page.getByRole('link', { name: 'There', exact: true }).count(), 0)
      await go('/statistics/')
      await page.locator('dl.numbers').getByText('Only here').waitFor()

      await go('/video/v1/')
      await page.getByText(/Removed by its uploader on .*; it exists only here/).waitFor()
      await page.getByText('Changes on the platform').click()
      const title = page.locator('.timeline li', { hasText: 'Title' })
      await title.waitFor()
      assert.deepEqual(await title.locator('del').allInnerTexts(), ['old', ' still'])
      assert.deepEqual(await title.locator('ins').allInnerTexts(), ['new'])
      const tags = page.locator('.timeline li', { hasText: 'Tags' }).first()
      assert.deepEqual(await tags.locator('del, ins').allInnerTexts(), ['sea', 'harbour'])
      await page.locator('.timeline').getByText('11:40').waitFor()
      await check()

      await go('/channel/UC1/')
      await page.getByText('Changes on the platform').click()
      await page.locator('.timeline ins', { hasText: 'Harbour' }).waitFor()
      await check()

      await go('/playlist/PL1/')
      await page.getByText('Changes on the platform').click()
      await page.locator('.timeline del', { hasText: 'Taken out' }).waitFor()
      await page.locator('.timeline ins', { hasText: 'There' }).waitFor()
      await check()
    })

  for (const size of ['phone', 'desktop'] as const)
    test(`a channel whose videos disappear is rescued from Home with one tap, or the offer is declined on its page (${size})`, async (t) => {
      const app = await filled(t)
      const { page, go, shot, check } = await openPage(t, app.url, { size, as: ADMIN })
      await go('/channel/UC1/')
      const offer = page.locator('.rescue')
      await offer.getByText('3 videos were lost within a day. 12 more videos are not archived yet').waitFor()
      await offer.getByRole('button', { name: 'Not now' }).click()
      await offer.waitFor({ state: 'detached' })

      await app.app.ledger.write(() =>
        app.app.history.rescues.offer({ channel: 'UC1', lost: 3, videos: 12, seconds: 6000 }),
      )
      await go('/')
      await offer.getByRole('link', { name: 'Harbour' }).waitFor()
      await shot(`rescue-${size}`)
      await check()
      await offer.getByRole('button', { name: 'Download the rest first' }).click()
      await page.getByText('The missing videos will be downloaded before everything else').waitFor()
      await offer.waitFor({ state: 'detached' })
      const { body } = await app.as('admin').get('/api/task-name/extract_download/')
      assert.equal(body.length, 1)
      assert.deepEqual(app.app.history.rescues.open(), [])
    })
})

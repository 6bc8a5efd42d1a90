/** The search as people use it: while typing, by example, and to the second at which something is said. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CommentMetadata } from '../../../plugins/platform/types.ts'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { holdBack, lateFrames, noBrowser, openPage } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { allQuiet, PASSWORD as SERVER_PASSWORD, startServer, USERNAME } from '../../support/server.ts'
import { aChannel, aFragment, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const aComment = (id: string, author: string, text: string, parent = 'root'): CommentMetadata => ({
  ...{ id, author, text, parent, timestamp: 1_709_300_000, likeCount: 0 },
  ...{ isFavorited: false, authorId: 'UCa', authorThumbnail: '', authorIsUploader: false },
})
const TELEVISION = {
  userAgent: 'Mozilla/5.0 (Web0S; Linux/SmartTV) Chrome/120.0',
  viewport: { width: 1920, height: 1080 },
}
const ADMIN = { username: 'admin', password: PASSWORD }

describe('searching', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['phone', 'dark'],
    ['desktop', 'light'],
  ] as const) {
    test(`results of all kinds appear on one page while typing (${size}, ${colorScheme})`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Bread and Butter' }),
        aVideo({ id: 'v1', title: 'Sourdough bread' }),
        aVideo({ id: 'v2', title: 'Ferry' }),
        aPlaylist({ playlist_name: 'All about bread' }),
        aFragment({
          platform_id: 'v2',
          subtitle_start: '00:01:02.500',
          subtitle_end: '01:00:00.000',
          subtitle_line: 'the <b>bread</b> & the sea',
        }),
      )
      const { page, go, check, shot } = await openPage(t, app.url, { size, colorScheme, as: ADMIN })
      await go('/')

      await page.getByLabel('Search the archive').pressSequentially('bread', { delay: 10 })

      await page.getByRole('heading', { name: 'Said in videos' }).waitFor()
      assert.equal(new URL(page.url()).search, '?q=bread')
      for (const name of ['Sourdough bread', /Bread and Butter/, /All about bread/])
        assert.equal(await page.locator('.found').getByRole('link', { name }).first().isVisible(), true)
      assert.equal(
        await page.locator('.hit-line').innerText(),
        'the <b>bread</b> & the sea',
        'text from outside stays text',
      )
      assert.equal(await page.locator('.hit mark').innerText(), 'bread')
      assert.equal(
        await page.getByRole('link', { name: 'Play from 1:02: Ferry' }).getAttribute('href'),
        '/video/v2/?t=62',
      )
      await check()
      await shot('search')
      await page.goBack()
      assert.equal(new URL(page.url()).pathname, '/')
    })
  }

  test('a click inserts an example, and typing replaces its sample word', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1' }),
      aVideo({ id: 'v1', title: 'Ferry' }),
      aVideo({ id: 'v2', title: 'Lost', active: false }),
    )
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/search/')
    await check()
    await shot('search-language')

    await lateFrames(page)
    await page.getByRole('button', { name: 'video:bread Only videos' }).click()
    assert.equal(await page.evaluate("document.activeElement.id + ' ' + getSelection()"), 'search bread')
    await page.keyboard.type('ferry')
    await page.getByRole('link', { name: 'Ferry' }).first().waitFor()
    assert.equal(await page.getByLabel('Search the archive').inputValue(), 'video:ferry')

    await page.getByText('Advanced search', { exact: true }).click()
    await page.getByRole('button', { name: /All videos that are no longer on YouTube/ }).click()
    await page.getByRole('link', { name: 'Lost' }).first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Videos', exact: true }).getAttribute('aria-pressed'), 'true')
  })

  test('Escape leaves the field, and the results stay', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'Ferry' }))
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/search/')
    const field = page.getByLabel('Search the archive')
    await field.pressSequentially('ferry', { delay: 10 })
    const found = page.locator('.found').getByRole('link', { name: 'Ferry' }).first()
    await found.waitFor()

    await field.press('Escape')

    await page.waitForFunction(() => document.activeElement?.id !== 'search')
    assert.equal(await field.inputValue(), 'ferry')
    assert.equal(new URL(page.url()).search, '?q=ferry')
    assert.equal(await found.isVisible(), true)
  })

  test('no results, a lost connection and a busy server have their messages, with a retry button', async (t) => {
    const app = await testApp(t)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/search/?q=zzz')
    await page.getByText('Nothing found for “zzz”').waitFor()
    await check()
    await shot('search-nothing')

    await page.route('**/api/search/**', (route) => route.abort())
    await page.getByLabel('Search the archive').fill('yyy')
    await page.getByRole('alert').getByText('The server isn’t responding').waitFor()
    await check([/ERR_FAILED/])
    await shot('search-failed')
    await page.unroute('**/api/search/**')
    await page.route('**/api/search/**', (route) =>
      route.fulfill({ status: 503, json: { message: 'A restore is running' } }),
    )
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('The server cannot do this now: A restore is running').waitFor()
    await page.unroute('**/api/search/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Nothing found for “yyy”').waitFor()
  })

  test('a search without results says so only after its reply', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/search/?q=zzz')
    await page.getByText('Nothing found for “zzz”').waitFor()
    const { asked, release } = await holdBack(page, /\/api\/search\//)

    await page.getByLabel('Search the archive').fill('zzzy')
    await asked
    const early = await page.getByText('Nothing found').count()
    release()

    await page.getByText('Nothing found for “zzzy”').waitFor()
    assert.equal(early, 0)
  })

  for (const size of ['phone', 'desktop', 'television'] as const)
    test(`an empty search offers the last searches and the channels of the newest videos (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Harbour <b>& Tide</b>' }),
        aVideo({ id: 'v1', title: 'Ferry', channelId: 'UC1' }),
      )
      const look = size === 'television' ? ({ options: TELEVISION } as const) : { size }
      const { page, go, check, shot } = await openPage(t, app.url, { ...look, as: ADMIN })
      await go('/search/')
      await page.getByRole('button', { name: 'Harbour <b>& Tide</b>' }).waitFor()
      assert.equal(await page.getByText('Recent searches').count(), 0)

      await page.getByLabel('Search the archive').pressSequentially('ferry', { delay: 10 })
      await page.locator('.found').getByRole('link', { name: 'Ferry' }).first().click()
      await page.waitForURL('**/video/v1/')
      await page.goBack()
      await page.getByLabel('Search the archive').fill('nothing of that name')
      await page.getByText('Nothing found for').waitFor()
      await go('/search/')

      const recent = page.locator('.search-offer').filter({ hasText: 'Recent searches' })
      await recent.waitFor()
      assert.deepEqual(await recent.getByRole('listitem').allInnerTexts(), ['ferry'], 'only what was found, once')
      await check([/v1\.mp4/])
      await shot(`search-offers-${size}`)
      await recent.getByRole('button', { name: 'ferry' }).click()
      await page.locator('.found').getByRole('link', { name: 'Ferry' }).first().waitFor()
      await go('/search/')
      await recent.getByRole('button', { name: 'Clear' }).click()
      await recent.waitFor({ state: 'detached' })
      await page.reload()
      await page.getByRole('button', { name: 'Harbour <b>& Tide</b>' }).click()
      await page
        .locator('.found')
        .getByRole('link', { name: /Harbour/ })
        .first()
        .waitFor()
    })

  for (const size of ['phone', 'desktop', 'television'] as const) {
    const look = size === 'television' ? ({ options: TELEVISION } as const) : { size }
    test(`a comment is found by its author, and opens its thread (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'Ferry', comment_count: 181 }))
      await app.app.videos.setComments('v1', [
        ...Array.from({ length: 30 }, (_, at) => aComment(`c${at}`, '@somebody', `Comment ${at}`)),
        ...Array.from({ length: 150 }, (_, at) => aComment(`c20.${at}`, '@sam', `Reply ${at}`, 'c20')),
        aComment('c20.last', '@greta <b>miller</b>', 'The <i>bow</i> thruster & the tide', 'c20.149'),
      ])
      const { page, go, check, shot } = await openPage(t, app.url, { ...look, as: ADMIN })
      await go('/search/?q=comment:greta%20tide')

      const hit = page.getByRole('link', { name: 'The <i>bow</i> thruster & the tide' })
      await hit.waitFor()
      assert.equal(await page.getByText('@greta <b>miller</b>').isVisible(), true)
      await check()
      await shot(`search-comments-${size}`)
      await hit.click()

      const thread = page.getByRole('list', { name: 'Thread with the comment you found' })
      const found = thread.locator('[aria-current=true]')
      await found.getByText('The <i>bow</i> thruster & the tide').waitFor()
      await page.waitForFunction(() => {
        const at = document.querySelector('.linked-comment')?.getBoundingClientRect()
        return at !== undefined && at.top > 0 && at.bottom < innerHeight
      })
      await shot(`comment-thread-${size}`)
      assert.equal(await found.getByText('to @sam').isVisible(), true)
      assert.equal(await thread.getByText('Reply 0', { exact: true }).count(), 0)
      await thread.getByRole('button', { name: 'Earlier replies' }).click()
      await thread.getByText('Reply 0', { exact: true }).waitFor()

      const threads = page.locator('.comments > ol').last()
      assert.equal(await threads.getByText('Comment 0', { exact: true }).isVisible(), true)
      await page.getByRole('button', { name: 'More comments' }).click()
      await threads.getByText('Comment 20', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'More comments' }).and(page.locator(':focus')).waitFor()
      await threads.getByRole('button', { name: '151 replies' }).click()
      assert.equal(await threads.getByText('Reply 20', { exact: true }).count(), 0)
      await threads.getByRole('button', { name: 'More replies' }).click()
      await threads.getByText('Reply 99', { exact: true }).waitFor()
      await threads.getByRole('button', { name: 'More replies' }).click()
      await threads.getByText('The <i>bow</i> thruster').waitFor()
      await page.getByRole('button', { name: 'More comments' }).click()
      await threads.getByText('Comment 29', { exact: true }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'More comments' }).count(), 0)
      if (size !== 'television') await threads.locator('li:focus').getByText('Comment 29', { exact: true }).waitFor()
      assert.equal(await page.locator('.comments i').count(), 0, 'text from outside stays text')
      await check([/v1\.mp4/])
    })
  }

  test('a downloaded video is found by a word of its subtitles, and opens at that second', async (t) => {
    const { platform, env } = await startTestPlatform(t)
    const cues = ['one', 'two', 'three', 'four', 'five', 'marzipan', 'seven'].map((text, position) => ({
      start: position,
      end: position + 0.9,
      text: `And ${text}.`,
    }))
    platform.catalogue.put('videos', VIDEO.lighthouse, { captions: { en: cues } })
    const server = await startServer(t, await temporaryFolder(t), env)
    await server.api('POST', '/api/config/', {
      downloads: { subtitle: 'en', subtitle_source: 'user', subtitle_index: true, sleep_interval: 0 },
    })
    await server.api('POST', '/api/download/?autostart=true', {
      data: [{ youtube_id: VIDEO.lighthouse, status: 'pending' }],
    })
    await allQuiet(server)
    const { page, go, check } = await openPage(t, server.baseUrl, {
      as: { username: USERNAME, password: SERVER_PASSWORD },
    })
    await go('/')

    await page.getByLabel('Search the archive').fill('marzipan')
    await page.getByRole('link', { name: /^Play from 0:05/ }).click()

    await page.waitForURL(`**/video/${VIDEO.lighthouse}/?t=5`)
    await page.waitForFunction(() => Number(document.querySelector('video')?.currentTime) >= 5)
    await check()
  })
})

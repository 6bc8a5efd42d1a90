/** The next video, step by step: from the playlist, the channel, similar ones, any; shuffled, and at the ends. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { holdBack, noBrowser, openPage, type Watched } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'user', password: PASSWORD }
const NEXT = /^Next: /

/** id, day, channel, title. Titles share a word only if the videos must be similar. */
const FILMS = [
  ['h1', '2024-01-01', 'HARBOUR', 'Anchor'],
  ['h2', '2024-01-02', 'HARBOUR', 'Buoy'],
  ['h3', '2024-01-02', 'HARBOUR', 'Capstan'],
  ['h4', '2024-01-02', 'HARBOUR', 'Davit'],
  ['h5', '2024-01-05', 'HARBOUR', 'Eyelet kestrel'],
  ['k1', '2023-01-01', 'KITES', 'Kestrel'],
  ['k2', '2023-01-02', 'KITES', 'Kestrel two flies'],
  ['l1', '2022-01-01', 'LONELY', 'Zeppelin'],
  ['n1', '2025-06-01', 'NEWS', 'Weather'],
] as const
const titleOf = (id: string) => FILMS.find(([one]) => one === id)![3]

async function give(app: TestApp, films: ReadonlyArray<readonly [string, string, string, string]>): Promise<void> {
  await app.given(
    ...[...new Set(films.map(([, , channel]) => channel))].map((id) => aChannel({ id })),
    ...films.map(([id, published, channelId, title]) => aVideo({ id, channelId, published, title })),
  )
  for (const [id, , channelId] of films)
    await makeFilm(join(app.app.settings['mediaDir'] as string, channelId, `${id}.mp4`))
}

describe('the next video', { skip: noBrowser }, () => {
  let app: TestApp
  let watched: Watched
  const scope = lastFirst({ after })

  before(async () => {
    app = await testApp(scope)
    await give(app, FILMS)
    const entries = ['h3', 'k1', 'h1'].map((id) => ({
      platform_id: id,
      title: titleOf(id),
      downloaded: true,
    }))
    const missing = {
      platform_id: 'gone',
      title: 'Not here',
      downloaded: false,
    }
    await app.given(
      aPlaylist({ id: 'PL1', entries: [...entries, missing] }),
      aPlaylist({ id: 'PL2', entries: entries.slice(1) }),
    )
    watched = await openPage(scope, app.url, { as })
    // The test is about what would come next, not about when.
    await watched.page.addInitScript(`localStorage.setItem('av_player', '{"isAutoplay":false}')`)
  })

  const only = async (...seen: string[]) => {
    for (const [id] of FILMS) await app.as('user').post('/api/watched/', { id, is_watched: seen.includes(id) })
  }
  const next = ({ page }: Pick<Watched, 'page'> = watched) =>
    page.locator('.player').getByRole('button', { name: NEXT })

  const LINKS: Array<[title: string, address: string, seen: string[], then: string]> = [
    ['is that of the playlist, whatever its channel has', '/video/h3/?list=PL1', [], 'k1'],
    [
      'leaves out what the playlist has and the archive has not, and goes on with the channel',
      '/video/h1/?list=PL1',
      [],
      'h2',
    ],
    ['of a repeated playlist is its first again', '/video/h1/?list=PL2&repeat=1', [], 'k1'],
    ['of a playlist that is no more is that of the channel', '/video/h1/?list=PLgone', [], 'h2'],
    ['of a playlist without this video is that of the channel', '/video/h4/?list=PL2', [], 'h5'],
    ['without a playlist is what its channel published then', '/video/h4/', [], 'h5'],
    ['is one of the same day before one of a later', '/video/h2/', [], 'h3'],
    ['is none that was watched', '/video/h1/', ['h2', 'h3'], 'h4'],
    ['after the last of its channel is one that is alike', '/video/h5/', ['k1'], 'k2'],
    ['is one that is alike also where all was watched', '/video/h5/', FILMS.map(([id]) => id), 'k1'],
    ['of one that is alone and unlike all is the newest of the archive', '/video/l1/', [], 'n1'],
  ]
  for (const [title, address, seen, then] of LINKS)
    test(title, async () => {
      await only(...seen)
      await watched.go(address)
      await next().waitFor()
      assert.equal(await next().getAttribute('aria-label'), `Next: ${titleOf(then)}`)
      assert.equal(await watched.page.getByRole('switch', { name: 'Autoplay', checked: false }).count(), 1)
    })

  test('is not announced before its video is known, even if a similar one is', async () => {
    await only()
    const { page, go } = watched
    const { asked, release } = await holdBack(page, /\/api\/video\/k1\/$/)
    await go('/video/k1/')
    await asked
    await page.getByRole('link', { name: titleOf('h5') }).waitFor()
    assert.equal(await page.locator('.up-next-title').count(), 0)

    release()
    await next().waitFor()
    assert.equal(await next().getAttribute('aria-label'), `Next: ${titleOf('k2')}`)
    await page.unroute(/\/api\/video\/k1\/$/)
  })

  test('moves nothing above the playlist when it becomes known', async () => {
    await only()
    const { page, go } = watched
    const { asked, release } = await holdBack(page, /\/api\/video\/\?channel=HARBOUR/)
    await go('/video/h1/?list=PL2')
    await asked
    const repeat = page.getByRole('button', { name: 'Repeat the playlist' })
    const before = await repeat.boundingBox()
    assert.equal(await next().count(), 0)

    release()
    await next().waitFor()
    assert.deepEqual(await repeat.boundingBox(), before)
    await page.unroute(/\/api\/video\/\?channel=HARBOUR/)
  })

  test('starts as announced, even if it changes in the last second before it starts', async (t) => {
    await only()
    const { page, go } = await openPage(t, app.url, { as })
    await go('/video/h1/?list=PL2')
    await page.evaluate(() => {
      new MutationObserver((_, observer) => {
        if (!/Next in 1:/.test(document.querySelector('.player-notes')?.textContent ?? '')) return
        observer.disconnect()
        setTimeout(() => document.querySelector<HTMLElement>('[aria-label="Repeat the playlist"]')!.click(), 200)
      }).observe(document.body, { subtree: true, childList: true, characterData: true })
    })

    await page.waitForURL(/repeat=1/)
    await page.waitForURL((url) => !url.pathname.startsWith('/video/h1/'))
    assert.match(page.url(), /\/video\/k1\/\?list=PL2&repeat=1$/)
  })

  test('skipping never repeats a video, also among those of one day', async () => {
    await only()
    await watched.go('/video/h1/')
    for (const id of ['h2', 'h3', 'h4', 'h5', 'k1', 'k2']) {
      await watched.page.locator(`.player button[aria-label="Next: ${titleOf(id)}"]`).click()
      await watched.page.getByRole('heading', { level: 1, name: titleOf(id), exact: true }).waitFor()
    }
  })

  test('when shuffled, each video of a channel plays once, then similar ones', async () => {
    const { page, go, check } = watched
    await only()
    await go('/video/h1/')
    await page.getByRole('button', { name: 'Shuffle the channel', pressed: false }).click()
    await page.waitForURL(/shuffle=1/)
    const ids: string[] = []
    for (let step = 0; step < 4; step++) {
      await next().waitFor()
      const before = page.url()
      await next().click()
      await page.waitForURL((url) => url.href !== before)
      ids.push(new URL(page.url()).pathname.split('/')[2]!)
      await page.getByRole('button', { name: 'Shuffle the channel', pressed: true }).waitFor()
    }
    assert.deepEqual(ids.toSorted(), ['h2', 'h3', 'h4', 'h5'])
    await next().waitFor()
    assert.doesNotMatch((await next().getAttribute('aria-label'))!, /Anchor|Buoy|Capstan|Davit|Eyelet/)
    await check([/PLgone/])
  })

  test('does not exist if the archive has no other video', async (t) => {
    const small = await testApp(t)
    await give(small, [FILMS[0]])
    const alone = await openPage(t, small.url, { as })
    await alone.go('/video/h1/')
    await alone.page.waitForFunction(() => document.querySelector('video')?.ended)
    await alone.page.waitForLoadState('networkidle')

    assert.equal(await next(alone).count(), 0)
    assert.equal(await alone.page.getByRole('switch', { name: 'Autoplay' }).count(), 0)
    await alone.check()
  })
})

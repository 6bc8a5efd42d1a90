/** A long list: scrolling to a month, and filters that are saved under a name. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdBack, noBrowser, openPage } from '../../support/browser.ts'
import { until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const COUNT = 120
const WEEK_MS = 7 * 86_400_000
/** One video a week, the newest first. */
const dayOf = (at: number): string => new Date(Date.parse('2024-06-01') - at * WEEK_MS).toISOString().slice(0, 10)
const HOSTILE = '<img src=x onerror=alert(1)>'

describe('a long list', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(`its months are a slider that leads to each of them, and follows the list (${size})`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Harbour' }),
        ...Array.from({ length: COUNT }, (_, at) =>
          aVideo({ id: `v${at}`, title: `Film ${at}`, channelId: 'UC1', published: dayOf(at) }),
        ),
      )
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })
      const slider = page.getByRole('slider', { name: 'Month' })
      const list = page.getByRole('list', { name: 'All videos' })
      await go('/?type=videos')
      await slider.waitFor()
      assert.equal(await slider.getAttribute('aria-valuetext'), 'June 2024, 1 video')
      await check()

      await slider.focus()
      // In a horizontal slider, older months are to the right; in a vertical one, below.
      const older = size === 'phone' ? 'ArrowRight' : 'ArrowDown'
      for (const name of ['May 2024', 'April 2024']) {
        await page.keyboard.press(older)
        await page.getByRole('button', { name: `Clear ${name}` }).waitFor()
        assert.match((await slider.getAttribute('aria-valuetext'))!, new RegExp(`^${name}, `))
      }
      await page.keyboard.press('End')

      const last = COUNT - 1
      await list.getByRole('link', { name: `Film ${last}`, exact: true }).waitFor()
      const month = dayOf(last).slice(0, 7)
      assert.equal(new URL(page.url()).searchParams.get('month'), month)
      const inMonth = Array.from({ length: COUNT }, (_, at) => dayOf(at)).filter((day) => day.startsWith(month)).length
      assert.equal(await list.locator('.card-title').count(), inMonth)
      await shot('months')
      await check()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)

      await page.goBack()
      await list.getByRole('link', { name: 'Film 0', exact: true }).waitFor()
      const before = await slider.getAttribute('aria-valuetext')
      for (let turn = 0; turn < 60 && (await slider.getAttribute('aria-valuetext')) === before; turn++) {
        await page.mouse.wheel(0, 600)
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      }
      assert.notEqual(await slider.getAttribute('aria-valuetext'), before, 'it follows')

      await go('/?type=videos&month=2023-01&sort=published.asc')
      const first = Array.from({ length: COUNT }, (_, at) => at).findLast((at) => dayOf(at) >= '2023-01-01')
      await list.getByRole('link', { name: `Film ${first}`, exact: true }).waitFor()
      assert.equal(await list.locator('.card-title').first().textContent(), `Film ${first}`)
      await page.getByRole('button', { name: 'Clear January 2023' }).click()
      await list.getByRole('link', { name: `Film ${last}`, exact: true }).waitFor()
    })

  test('a deletion far down removes one card, and the list stays in position', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1' }),
      ...Array.from({ length: COUNT }, (_, at) => aVideo({ id: `v${at}`, title: `Film ${at}`, published: dayOf(at) })),
    )
    const { page, go } = await openPage(t, app.url, { as })
    const list = page.getByRole('list', { name: 'All videos' })
    const film = (at: number) => list.getByRole('link', { name: `Film ${at}`, exact: true })
    await go('/?type=videos')
    await film(0).waitFor()
    for (let turn = 0; turn < 1000 && !(await film(60).isVisible()); turn++) {
      await page.mouse.wheel(0, 600)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    }
    await film(60).hover()
    const before = Number(await page.evaluate('scrollY'))
    assert.ok(before > 1500, `${before}`)

    await list.getByRole('button', { name: 'More for Film 60' }).click()
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()

    await page.getByText('Deleted').waitFor()
    await film(60).waitFor({ state: 'detached' })
    assert.equal(await film(61).isVisible(), true)
    assert.ok(Math.abs(Number(await page.evaluate('scrollY')) - before) < 5)
  })

  test('filters are saved under any name, and available on another device', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour' }),
      ...Array.from({ length: 4 }, (_, at) => aVideo({ id: `v${at}`, title: `Film ${at}`, published: dayOf(at) })),
    )
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/?watch=unwatched&sort=views')
    const saved = page.getByRole('button', { name: 'Saved views' })
    await saved.click()
    await page.getByRole('menuitem', { name: 'Save these filters' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill(HOSTILE)
    await check()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText(`Saved as`).waitFor()
    assert.deepEqual((await app.as('admin').get('/api/config/user/')).body.saved_filters, [
      { name: HOSTILE, query: 'watch=unwatched&sort=views' },
    ])

    const other = await openPage(t, app.url, { as, size: 'phone' })
    await other.go('/')
    await other.page.getByRole('button', { name: 'Saved views' }).click()
    await other.page.getByRole('menuitemradio', { name: HOSTILE }).click()
    await other.page.getByRole('button', { name: 'Unwatched', pressed: true }).waitFor()
    assert.equal(new URL(other.page.url()).search, '?watch=unwatched&sort=views')
    await other.check()

    // Meanwhile the first device saves another filter, which this page has not read.
    await page.getByRole('button', { name: 'Watched', exact: true }).click()
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('menuitem', { name: 'Save these filters' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Seen')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await other.page.getByRole('button', { name: 'Saved views' }).click()
    await other.page.getByRole('menuitem', { name: /^Remove/ }).click()
    const left = async () =>
      (await app.as('admin').get('/api/config/user/')).body.saved_filters.map(({ name }: { name: string }) => name)
    await until('it is removed, and only that', left, (names) => !names.includes(HOSTILE))
    assert.deepEqual(await left(), ['Seen'])
    for (const wrong of [[{ name: '', query: 'a' }], [{ name: 'a' }], Array(31).fill({ name: 'a', query: 'b' }), 'x'])
      assert.equal((await app.as('admin').post('/api/config/user/', { saved_filters: wrong })).status, 400)
  })

  test('a filter that is saved while the previous one is not read yet replaces none', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'Film' }))
    const { page, go } = await openPage(t, app.url, { as })
    await go('/?watch=unwatched')
    const save = async (name: string) => {
      await page.getByRole('button', { name: 'Saved views' }).click()
      await page.getByRole('menuitem', { name: 'Save these filters' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill(name)
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    }
    const { asked, release } = await holdBack(page, /\/api\/config\/user\/$/)
    await save('New')
    await asked
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Watched', exact: true }).click()
    await save('Seen')
    release()
    await page.getByText('Saved as Seen').waitFor()

    const { saved_filters: stored } = (await app.as('admin').get('/api/config/user/')).body
    assert.deepEqual(
      stored.map(({ name }: { name: string }) => name),
      ['New', 'Seen'],
    )
  })

  test('searches are saved with them, and each opens its own view', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'Sourdough & <b>bread</b>' }))
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const saved = page.getByRole('button', { name: /^Saved views/ })
    await go('/search/')
    assert.equal(await saved.count(), 0, 'nothing to save, and nothing saved')
    await page.getByLabel('Search the archive').fill('video:sourdough & <b>')
    await page.getByRole('link', { name: 'Sourdough & <b>bread</b>' }).first().waitFor()

    await saved.click()
    await page.getByRole('menuitem', { name: 'Save this search' }).click()
    await page.getByRole('dialog', { name: 'Save this search' }).getByLabel('Name').fill(HOSTILE)
    await check()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved as').waitFor()
    await page.locator('.chip-name', { hasText: HOSTILE }).waitFor()
    await shot('saved-search')
    await check()

    await go('/?watch=unwatched')
    await saved.click()
    await page.getByRole('menuitemradio', { name: HOSTILE }).click()
    await page.getByRole('link', { name: 'Sourdough & <b>bread</b>' }).first().waitFor()
    assert.equal(await page.getByLabel('Search the archive').inputValue(), 'video:sourdough & <b>')
    await saved.click()
    await page.getByRole('menuitem', { name: /^Remove/ }).click()
    await page.locator('.chip-name', { hasText: HOSTILE }).waitFor({ state: 'detached' })
  })

  test('a channel’s page has months, too, and saves its filters under a name', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour' }),
      aChannel({ id: 'UC2', channel_name: 'Mill' }),
      ...Array.from({ length: COUNT }, (_, at) =>
        aVideo({ id: `v${at}`, title: `Film ${at}`, channelId: 'UC1', published: dayOf(at) }),
      ),
      aVideo({ id: 'mill', title: 'Of the mill', channelId: 'UC2', published: '2024-06-20' }),
    )
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/channel/UC1/')
    const slider = page.getByRole('slider', { name: 'Month' })
    await slider.waitFor()
    assert.equal(await slider.getAttribute('aria-valuetext'), 'June 2024, 1 video')
    await slider.focus()
    await page.keyboard.press('End')

    const last = `Film ${COUNT - 1}`
    await page.getByRole('link', { name: last, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('menuitem', { name: 'Save these filters' }).click()
    await page.getByLabel('Name').fill('Oldest of the harbour')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await check()

    await go('/')
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page
      .getByRole('menuitemradio', { name: 'Oldest of the harbour' })
      .or(page.getByRole('menuitem', { name: 'Oldest of the harbour' }))
      .click()
    await page.getByRole('link', { name: last, exact: true }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('channel'), 'UC1')
  })
})

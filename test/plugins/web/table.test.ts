/** The list of videos as a table: sorted by its headings, with columns to choose, by mouse and by keys. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdBack, noBrowser, openPage } from '../../support/browser.ts'
import { until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const HOSTILE = '<img src=x onerror=alert(1)>'

async function filled(app: TestApp, count = 60): Promise<void> {
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    ...Array.from({ length: count }, (_, at) =>
      aVideo({
        id: `v${at}`,
        title: at === 2 ? HOSTILE : `Film ${at}`,
        channelId: 'UC1',
        published: new Date(Date.parse('2024-05-31') - at * 86_400_000).toISOString().slice(0, 10),
        media_size: ((at * 7) % count) * 1_000_000,
      }),
    ),
  )
}

describe('the table of videos', { skip: noBrowser }, () => {
  test('is chosen beside grid and list, sorted by a heading, and stays', async (t) => {
    const app = await testApp(t)
    await filled(app)
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const table = page.getByRole('table', { name: 'All videos' })
    const titles = () => table.getByRole('row').locator('.table-title a').allTextContents()
    const head = (name: string) => table.getByRole('columnheader', { name, exact: true })
    await go('/')

    await page.getByRole('button', { name: 'Show as a table' }).click()
    await table.getByRole('link', { name: 'Film 0', exact: true }).waitFor()
    assert.equal(await table.getAttribute('aria-rowcount'), '61')
    assert.equal(await head('Published').getAttribute('aria-sort'), 'descending')
    assert.deepEqual((await titles()).slice(0, 3), ['Film 0', 'Film 1', HOSTILE])
    await shot('table')
    await check()

    await head('Published').getByRole('button').click()
    await table.getByRole('row').nth(1).getByText('Film 59').waitFor()
    assert.equal(await head('Published').getAttribute('aria-sort'), 'ascending')
    await head('Size').getByRole('button').click()
    await table.getByRole('row').nth(1).getByText('59 MB').waitFor()
    assert.equal(new URL(page.url()).searchParams.get('sort'), 'mediasize')
    assert.equal(await head('Published').getAttribute('aria-sort'), 'none')
    assert.equal(await head('Channel').getByRole('button').count(), 0, 'the API orders by no name')
    await head('Size').getByRole('button').click()
    await table.getByRole('row').nth(1).getByText('Film 0', { exact: true }).waitFor()

    await go('/channel/UC1/')
    await page.getByRole('list', { name: 'Videos' }).waitFor()
    await go('/')
    await table.getByRole('link', { name: 'Film 0', exact: true }).waitFor()
  })

  test('shows the chosen columns, as many as fit, on all devices of the account', async (t) => {
    const app = await testApp(t)
    await filled(app)
    await app.as('admin').post('/api/config/user/', { view_style_home: 'table' })
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const table = page.getByRole('table', { name: 'All videos' })
    const heads = () => table.getByRole('columnheader').allTextContents()
    await go('/')
    await table.waitFor()
    assert.deepEqual((await heads()).slice(1, -1), [
      'Title',
      ...['Channel', 'Published', 'Archived', 'Length', 'Size', 'Resolution'],
    ])

    await table.getByRole('button', { name: 'Choose columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Channel' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Views' }).click()
    await table.getByRole('columnheader', { name: 'Views' }).waitFor()
    await check()
    await page.keyboard.press('Escape')
    const chosen = ['published', 'downloaded', 'duration', 'mediasize', 'height', 'views']
    await until(
      'the columns are saved',
      async () => (await app.as('admin').get('/api/config/user/')).body.table_columns,
      (columns) => columns?.join() === chosen.join(),
    )

    await page.setViewportSize({ width: 820, height: 1100 })
    await go('/')
    await table.waitFor()
    assert.deepEqual((await heads()).slice(1, -1), ['Title', 'Published', 'Archived', 'Length', 'Size'])
    await table.getByRole('button', { name: 'Choose columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Views (doesn’t fit here)' }).waitFor()
    await page.keyboard.press('Escape')
    await shot('table-narrow')
    await check()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)

    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('list', { name: 'All videos' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Show as a table' }).count(), 0)
  })

  test('supports keys; rows, or all of them, are selected, and have the actions of a card', async (t) => {
    const app = await testApp(t)
    await filled(app, 120)
    await app.as('admin').post('/api/config/user/', { view_style_home: 'table' })
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    const table = page.getByRole('table', { name: 'All videos' })
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    const row = (title: string) =>
      table.getByRole('row').filter({ has: page.getByRole('link', { name: title, exact: true }) })
    await go('/')
    await table.getByRole('link', { name: 'Film 0', exact: true }).focus()

    await page.keyboard.press('w')
    await row('Film 0').getByText('Watched').waitFor()
    await page.keyboard.press('x')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Shift+X')
    await bar.getByText('4 videos selected').waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Film 3')
    await shot('table-selection')
    await check()
    await page.keyboard.press('Escape')
    await row('Film 5').getByRole('button', { name: 'Select Film 5' }).click()
    await bar.getByText('1 video selected').waitFor()
    await row('Film 7').getByText('Harbour').click()
    await bar.getByText('2 videos selected').waitFor()

    await table.getByRole('button', { name: 'Select all' }).click()
    await bar.getByText('120 videos selected').waitFor()
    await bar.getByRole('button', { name: 'Watched', exact: true }).click()
    await page.getByText('120 videos marked as watched').waitFor()
    const watched = await app.as('admin').get('/api/video/?watch=watched')
    assert.equal(watched.body.paginate.total_hits, 120)

    await row('Film 1').getByRole('button', { name: 'More for Film 1' }).click()
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await row('Film 1').getByRole('link', { name: 'Film 1' }).click()
    await page.waitForURL('**/video/v1/')
  })

  test('the day of a download is in the time zone of the browser', async (t) => {
    const app = await testApp(t)
    const date_downloaded = Date.parse('2024-05-31T22:30:00Z') / 1000
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', title: 'Film 1', channelId: 'UC1', date_downloaded }))
    const { page, go } = await openPage(t, app.url, { as, options: { timezoneId: 'Europe/Berlin' } })
    await go('/')
    await page.getByRole('button', { name: 'Show as a table' }).click()

    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Film 1' }) })
    await row.getByText('1 Jun 2024').waitFor()
  })

  test('the selection of all videos does not replace one that was made meanwhile', async (t) => {
    const app = await testApp(t)
    await filled(app, 120)
    await app.as('admin').post('/api/config/user/', { view_style_home: 'table' })
    const { page, go } = await openPage(t, app.url, { as })
    await go('/')
    const table = page.getByRole('table', { name: 'All videos' })
    const bar = page.getByRole('toolbar', { name: 'Selected videos' })
    await table.getByRole('link', { name: 'Film 5', exact: true }).waitFor()
    const { asked, release } = await holdBack(page, /\/api\/video\/\?.*page=10$/)
    await table.getByRole('button', { name: 'Select all' }).click()
    await asked
    await table.getByRole('button', { name: 'Select Film 5' }).click()

    const answered = page.waitForResponse(/page=10$/)
    release()

    await answered
    await table.locator('[aria-busy]').waitFor({ state: 'detached' })
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    await bar.getByText('1 video selected').waitFor()
  })

  test('when many are marked, those whose request succeeded stay marked', async (t) => {
    const app = await testApp(t)
    await filled(app, 120)
    const { page, go } = await openPage(t, app.url, { as })
    await go('/')
    await page.getByRole('button', { name: 'Show as a table' }).click()
    const table = page.getByRole('table', { name: 'All videos' })
    await table.getByRole('button', { name: 'Select all' }).click()
    let requests = 0
    await page.route(/\/api\/watched\/bulk\/$/, (route) =>
      ++requests === 1 ? route.continue() : route.fulfill({ status: 500, json: {} }),
    )

    await page.getByRole('toolbar').getByRole('button', { name: 'Watched', exact: true }).click()

    await page.locator('.toast.error').waitFor()
    const row = (title: string) =>
      table.getByRole('row').filter({ has: page.getByRole('link', { name: title, exact: true }) })
    assert.equal(await row('Film 0').getByText('Watched').count(), 1)
    await page.keyboard.press('End')
    await row('Film 119').waitFor()
    assert.equal(await row('Film 119').getByText('Watched').count(), 0)
  })
})

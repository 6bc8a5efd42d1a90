/** The growth as far as it is known: no line before the first end of a span, and none that rises between two. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growthOf } from '../../../plugins/web/page/views/statistics/growth.ts'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const day = (epoch: number): string => new Date(epoch * 1000).toISOString().slice(0, 10)
/** `labelsOf(canvas)`: the texts drawn on the canvas since it was last cleared. */
const WATCH_CANVAS = `{
  const labels = new WeakMap()
  globalThis.labelsOf = (canvas) => labels.get(canvas) ?? []
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    labels.set(this.canvas, [])
    clearRect.apply(this, box)
  }
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    labels.set(this.canvas, [...labelsOf(this.canvas), text])
    fillText.call(this, text, ...rest)
  }
}`
/** The position of the bar in each plot, found by its color. */
const BARS = `[...document.querySelectorAll('.plot-canvas canvas')].map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, Math.round(canvas.height * 0.5), canvas.width, 1)
  const columns = Array.from({ length: canvas.width }, (_, x) => x).filter((x) => data[x * 4] > 150 && data[x * 4 + 1] < 120 && data[x * 4 + 3] > 200)
  return { from: columns[0], to: columns.at(-1), all: canvas.width }
})`
const span = (date: string, count: number) => ({ date, count, media_size: count * 10 })

test('each point is at the end of its span, the last one no later than today', () => {
  const months = growthOf([span('2025-11-01', 3), span('2025-12-01', 0), span('2026-01-01', 2)], 'month', '2026-01-20')
  assert.deepEqual(
    [months.ends.map(day), months.counts, months.sizes],
    [
      ['2025-11-30', '2025-12-31', '2026-01-20'],
      [3, 3, 5],
      [30, 30, 50],
    ],
  )
  assert.deepEqual(growthOf([span('2026-01-12', 1), span('2026-01-19', 4)], 'week', '2026-03-01').ends.map(day), [
    '2026-01-18',
    '2026-01-25',
  ])
  assert.deepEqual(growthOf([span('2026-01-20', 7)], 'day', '2025-01-01').ends.map(day), ['2026-01-20'])
  assert.deepEqual(growthOf([], 'day', '2026-01-20').ends, [])
})

test('an archive of one day has one day in the plot, with its name once', { skip: noBrowser }, async (t) => {
  const app = await testApp(t)
  const now = Math.floor(app.clock.now() / 1000)
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'v1', date_downloaded: now }),
    aVideo({ id: 'v2', date_downloaded: now }),
  )
  const { page, go, check, shot } = await openPage(t, app.url, { as: { username: 'admin', password: PASSWORD } })
  await page.addInitScript({ content: WATCH_CANVAS })
  /** Names of days below each plot, as last drawn. */
  const days = () =>
    page.evaluate(
      '[...document.querySelectorAll(".plot-canvas canvas")].map((canvas) => labelsOf(canvas).filter((label) => /[A-Z][a-z]{2}/.test(label)).length)',
    )
  await go('/statistics/')
  for (const by of ['Month', 'Week', 'Day']) {
    await page.getByRole('button', { name: by, exact: true }).click()
    await page.waitForFunction(
      (name) =>
        document.querySelector('[aria-pressed=true]')?.textContent === name &&
        document.querySelectorAll('.plot-canvas canvas').length === 3,
      by,
    )
    await page.waitForLoadState('networkidle')
    assert.deepEqual(await days(), [1, 1, 1], by)
    const bars = (await page.evaluate(BARS)) as Array<{ from: number; to: number; all: number }>
    for (const { from, to, all } of bars)
      assert.ok(to - from > 10 && from > all * 0.3 && to < all * 0.8, `${by}: from ${from} to ${to} of ${all}`)
  }
  await check()
  await shot('statistics-one-day')
})

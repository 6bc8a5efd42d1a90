/** Waits in tests of the page end, even if the page stands still. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser, openPage } from './support/browser.ts'

test('what never ends in the page fails after the limit, by name', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t, 'http://127.0.0.1/', { limitMs: 2000 })
  assert.equal(await page.evaluate('1 + 1'), 2)

  await assert.rejects(
    page.evaluate('new Promise(() => undefined)'),
    /^Error: page\.evaluate\(new Promise\(\(\) => undefined\)\) did not end within 2 s$/,
  )
  await page.evaluate('void addEventListener("keydown", () => { for (;;); })')
  await assert.rejects(page.keyboard.press('Enter'), /^Error: keyboard\.press\(Enter\) did not end within 2 s$/)
})

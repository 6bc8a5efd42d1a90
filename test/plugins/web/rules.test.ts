/** Rules on the page: created, ordered, previewed, run and undone, with mouse, finger and keys. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdUp, lateFrames, noBrowser, openPage } from '../../support/browser.ts'
import { until } from '../../support/server.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const TITLES = ['Harbour at dawn', 'Fog signals', 'Trailer: <b>tides</b>', 'Trailer: nets']

/** The error for a pattern that the server refuses. */
const REFUSED = [/400 \(Bad Request\).*\/api\/rule\//]

const given = (app: TestApp) =>
  app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    ...TITLES.map((title, at) => aVideo({ id: `v${at}`, channelId: 'UC1', title, media_size: 1_000_000 })),
  )

/** Adds rules that never delete videos of the channel. */
async function addRules(app: TestApp, names: readonly string[]): Promise<void> {
  const rule = { side: 'keep', scope: { kind: 'channel', id: 'UC1' }, conditions: {}, outcome: 'keep' }
  for (const name of names) await app.as('admin').post('/api/rule/', { ...rule, name })
}

describe('rules', { skip: noBrowser }, () => {
  test('a run lists all of its videos, also those after the first page', async (t) => {
    const app = await testApp(t)
    const admin = app.as('admin')
    const videos = Array.from({ length: 52 }, (_, at) =>
      aVideo({ id: `v${at}`, channelId: 'UC1', title: `Tide ${at}` }),
    )
    await app.given(aChannel({ id: 'UC1' }), ...videos)
    const conditions = { title: { words: ['tide'] } }
    await admin.post('/api/rule/', { side: 'keep', scope: { kind: 'all' }, outcome: 'remove', conditions })
    const preview = (await admin.post('/api/rule/preview/', {})).body.id
    await admin.post('/api/rule/run/', { preview, confirmed: true })
    await app.settled()
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/rules/')
    await page.getByText(/Done · 52 done/).waitFor()
    const shown = page.getByText(/^Tide \d+$/)

    await page.getByText('Videos', { exact: true }).click()
    await page.getByRole('button', { name: /^More: / }).click()

    await shown.nth(51).waitFor()
    assert.equal(await shown.count(), 52)
    await check()
    const list = page.getByText('Videos', { exact: true })
    await list.click()
    await list.click()
    await shown.nth(51).waitFor({ state: 'detached' })
    assert.equal(await shown.count(), 50, 'it is read again')
  })

  for (const size of ['desktop', 'phone'] as const)
    test(`a rule is created with a preview of its changes, run and undone: ${size}`, async (t) => {
      const app = await testApp(t)
      await given(app)
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: ADMIN })

      await go('/settings/rules/')
      await page.getByRole('button', { name: 'Add a rule: What stays' }).click()
      const dialog = page.getByRole('dialog', { name: 'New rule' })
      await dialog.getByLabel('Add a condition').selectOption({ label: 'Title contains' })
      await dialog.getByLabel('Title contains', { exact: true }).fill('trailer, teaser')
      await dialog.getByText('Saved rules: 0 videos would be removed').waitFor()
      await dialog.getByText(/With this rule: 2 videos would be removed/).waitFor()
      await shot('rules-editor')
      await check()
      await dialog.getByLabel('Regular expression: Title contains').check()
      await dialog.getByLabel('Title contains', { exact: true }).fill('(?<!x)trailer')
      await dialog.getByText(/uses lookahead or lookbehind/).waitFor()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.locator('input[aria-invalid="true"]').waitFor()
      await dialog.getByLabel('Title contains', { exact: true }).fill('^Trailer')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByText('Remove: title matches ^Trailer').waitFor()

      await page.getByRole('button', { name: 'Show preview' }).click()
      await page.getByRole('link', { name: TITLES[2]! }).waitFor()
      await page.getByText(/^2 videos would be removed/).waitFor()
      await page.getByText('Frees nothing: its file is missing.').first().waitFor()
      await shot('rules-preview')
      await check(REFUSED)
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByText(/Done · 2 done/).waitFor()
      assert.deepEqual(await app.ids('video'), ['v0', 'v1'])

      await page.getByRole('button', { name: /^Undo: / }).click()
      await page.getByText(/Undone · 2 restored/).waitFor()
      assert.deepEqual(await app.ids('video'), ['v0', 'v1', 'v2', 'v3'])
      await page.locator('summary', { hasText: /^Videos$/ }).click()
      await page.getByText(`${TITLES[2]} restored`).waitFor()
      await check(REFUSED)
    })

  test('rules are moved by keys and by dragging, and a removed one is restored at its position', async (t) => {
    const app = await testApp(t)
    await given(app)
    await addRules(app, ['one', 'two', 'three'])
    const names = async () => (await app.as('admin').get('/api/rule/')).body.keep.map((rule: any) => rule.name)
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    const handle = (name: string) => page.getByRole('button', { name: new RegExp(`^Move ${name},`) })
    const order = () => page.locator('.rules strong').allInnerTexts()

    await go('/settings/rules/')
    await handle('three').focus()
    const isOrdered = () => page.waitForResponse((reply) => reply.url().endsWith('/api/rule/order/'))
    const movedByKey = isOrdered()
    await page.keyboard.press('Home')
    await page.getByText('three is now at position 1 of 3').waitFor({ state: 'attached' })
    await movedByKey
    assert.deepEqual(await names(), ['three', 'one', 'two'])
    assert.equal(await handle('three').evaluate((one) => one === document.activeElement), true)

    const from = (await handle('three').boundingBox())!
    const to = (await handle('two').boundingBox())!
    const ordered = isOrdered()
    await page.mouse.move(from.x + 10, from.y + 10)
    await page.mouse.down()
    await page.mouse.move(to.x + 10, to.y + 10, { steps: 5 })
    await page.waitForFunction(() => document.querySelectorAll('.rules strong')[2]?.textContent === 'three')
    await page.mouse.up()
    await ordered
    assert.deepEqual(await names(), ['one', 'two', 'three'])

    await page.getByRole('button', { name: 'Remove rule: two' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.waitForFunction(() => document.querySelectorAll('.rules strong').length === 3)
    assert.deepEqual(await order(), ['one', 'two', 'three'])
    await check()
  })

  test('a rule stays where it was moved while earlier moves are being sent, and further moves build on it', async (t) => {
    const app = await testApp(t)
    await given(app)
    await addRules(app, ['one', 'two', 'three'])
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const handle = (name: string) => page.getByRole('button', { name: new RegExp(`^Move ${name},`) })
    const order = () => page.locator('.rules strong').allInnerTexts()
    await go('/settings/rules/')
    await handle('three').waitFor()
    const sendSecond = await holdUp(page, /\/rule\/order\/$/)
    const sendFirst = await holdUp(page, /\/rule\/order\/$/)
    await handle('three').press('Home')
    await handle('one').press('End')

    const isRead = page.waitForResponse((reply) => reply.url().endsWith('/api/rule/'))
    await sendFirst()
    await isRead
    await handle('three').press('End')
    await sendSecond()

    const names = async () => (await app.as('admin').get('/api/rule/')).body.keep.map((rule: any) => rule.name)
    await until('all moves are sent', names, (now) => now.join() === 'two,one,three')
    assert.deepEqual(await order(), ['two', 'one', 'three'])
  })

  test('a handle has the focus at its new position before the next key is handled', async (t) => {
    const app = await testApp(t)
    await given(app)
    await addRules(app, ['one', 'two', 'three'])
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    // As in browsers that take the focus from an element that is moved.
    await page.addInitScript('delete Element.prototype.moveBefore')
    await go('/settings/rules/')
    const focused = page.locator('.handle:focus')
    await page.getByRole('button', { name: /^Move one,/ }).waitFor()
    await lateFrames(page)

    for (const [name, keys, position] of [
      ['one', ['End', 'ArrowUp'], 2],
      ['three', ['Home', 'ArrowDown'], 2],
    ] as const) {
      await page.getByRole('button', { name: new RegExp(`^Move ${name},`) }).focus()
      for (const key of keys) await page.keyboard.press(key)
      await focused.and(page.getByRole('button', { name: `Move ${name}, position ${position} of 3` })).waitFor()
    }
  })

  test('a failed switch or move of a rule is undone and reported', async (t) => {
    const app = await testApp(t)
    await given(app)
    await addRules(app, ['one', 'two'])
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/rules/')
    const rule = page.getByRole('switch', { name: 'Apply one' })
    await rule.waitFor()
    for (const [path, message] of [
      [/\/api\/rule\/\d+\/$/, 'A restore is running'],
      [/\/api\/rule\/order\/$/, 'The index is away'],
    ] as const)
      await page.route(path, (route) => route.fulfill({ status: 503, json: { message } }))

    await rule.click()

    await page.locator('.toast.error', { hasText: 'A restore is running' }).waitFor()
    assert.equal(await rule.isChecked(), true)
    await page.getByRole('button', { name: /^Move one,/ }).press('End')
    await page.locator('.toast.error', { hasText: 'The index is away' }).waitFor()
    assert.deepEqual(await page.locator('.rules strong').allInnerTexts(), ['one', 'two'])
    await check([/503/])
  })

  test('a late reply to one rule does not close the editor of another', async (t) => {
    const app = await testApp(t)
    await given(app)
    await addRules(app, ['one', 'two'])
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const dialog = page.getByRole('dialog', { name: 'Edit rule' })
    await go('/settings/rules/')
    await page.getByRole('button', { name: 'Edit rule: one' }).click()
    await dialog.getByLabel('Name').fill('first')
    const send = await holdUp(page, /\/rule\/\d+\/$/)
    await dialog.getByRole('button', { name: 'Save' }).click()

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit rule: two' }).click()
    await dialog.getByLabel('Name').fill('second')
    await send()
    await page.locator('.rules strong', { hasText: 'first' }).waitFor()

    assert.equal(await dialog.getByLabel('Name').inputValue(), 'second')
  })

  test('a number keeps its form while it is typed, also with zeros', async (t) => {
    const app = await testApp(t)
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/rules/')
    await page.getByRole('button', { name: 'Add a rule: What stays' }).click()
    const dialog = page.getByRole('dialog', { name: 'New rule' })
    await dialog.getByLabel('Add a condition').selectOption({ label: 'Smaller than (GB)' })
    const field = dialog.getByLabel('Smaller than (GB)', { exact: true })
    await field.fill('')

    await field.pressSequentially('0.05')

    assert.equal(await field.inputValue(), '0.05')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body } = await app.as('admin').get('/api/rule/')
    assert.deepEqual(body.keep[0].conditions, { smaller_than: 50_000_000 })
  })

  test('an account that may download sees the rules, and changes only those of subscriptions', async (t) => {
    const app = await testApp(t)
    await given(app)
    await app.app.channels.change('UC1', { channel_subscribed: true })
    const body = { side: 'take', scope: { kind: 'all' }, conditions: { kinds: ['shorts'] }, outcome: 'skip' }
    await app.as('admin').post('/api/rule/', body)
    await app.as('admin').post('/api/user/2/', { may_download: true })
    const as = { username: 'user', password: PASSWORD }
    const { page, go, check } = await openPage(t, app.url, { as })

    await go('/settings/rules/')
    await page.getByText('Skip: Shorts').waitFor()
    assert.equal(await page.getByText('What stays').count(), 0)
    assert.equal(await page.getByRole('button', { name: /Remove rule/ }).count(), 0)
    await page.getByRole('button', { name: 'Add a rule: What is downloaded' }).click()
    await page.getByLabel('Applies to').selectOption({ label: 'A channel' })
    await page.getByRole('button', { name: 'Harbour' }).click()
    await page.getByLabel('Add a condition').selectOption({ label: 'Shorter than (minutes)' })
    await page.getByRole('dialog', { name: 'New rule' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Skip: shorter than 1 min').waitFor()
    await check()
  })
})

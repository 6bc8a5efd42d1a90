/** Groups on the page: created, ordered, chosen with one tap on Home and Channels, removed and restored. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeAnswer, holdBack, holdUp, measureShifts, noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const WORDS = {
  en: { add: 'Add a group', name: 'Name', save: 'Save', choose: 'Choose channels', done: 'Done', undo: 'Undo' },
  de: {
    ...{ add: 'Gruppe hinzufügen', name: 'Name', save: 'Speichern', choose: 'Kanäle auswählen', done: 'Fertig' },
    undo: 'Rückgängig',
  },
}

describe('groups', { skip: noBrowser }, () => {
  for (const [size, language] of [
    ['desktop', 'en'],
    ['phone', 'de'],
  ] as const)
    test(`a group is created, and shows only its own videos and channels: ${size}, ${language}`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Harbour' }),
        aChannel({ id: 'UC2', channel_name: 'Bakery' }),
        aPlaylist({ id: 'PL1', playlist_name: 'Bread list' }),
        aVideo({ id: 'v1', channelId: 'UC1', title: 'Fog signals' }),
        aVideo({ id: 'v2', channelId: 'UC2', title: 'Bread' }),
        aVideo({ id: 'v3', channelId: 'UC2', title: 'Rolls for sailors', playlist: ['PL1'] }),
      )
      const admin = app.as('admin')
      await admin.post('/api/config/user/', { language })
      await admin.post('/api/group/', { name: 'Food', members: [{ kind: 'channel', id: 'UC2' }] })
      const words = WORDS[language]
      const { page, go, check, shot } = await openPage(t, app.url, { size, as: ADMIN })
      const cards = () => page.locator('.card-title').allInnerTexts()
      const list = async () => (await admin.get('/api/group/')).body

      await go('/settings/groups/')
      await page.getByRole('button', { name: words.add }).click()
      const dialog = page.getByRole('dialog').first()
      await dialog.getByLabel(words.name, { exact: true }).fill('Sea')
      await dialog.locator('input[type="color"]').fill('#0a7d55')
      await dialog.getByRole('button', { name: words.choose }).click()
      await page.getByRole('button', { name: 'Harbour' }).click()
      await page.getByRole('button', { name: words.done }).click()
      await shot(`groups-editor-${size}`)
      await dialog.getByRole('button', { name: words.save }).click()
      await dialog.waitFor({ state: 'detached' })
      const [, sea] = await list()
      assert.deepEqual([sea.name, sea.color, sea.members], ['Sea', '#0a7d55', [{ kind: 'channel', id: 'UC1' }]])
      await admin.post(`/api/group/${sea.id}/`, { members: [...sea.members, { kind: 'playlist', id: 'PL1' }] })

      await page.locator('.handle').nth(1).focus()
      const placed = page.waitForResponse((reply) => reply.url().endsWith(`/api/group/${sea.id}/`))
      await page.keyboard.press('ArrowUp')
      await placed
      assert.deepEqual(
        (await list()).map(({ name }: { name: string }) => name),
        ['Sea', 'Food'],
      )
      await check()

      await go('/')
      await page.locator('.chips.groups').getByRole('button', { name: 'Sea' }).click()
      await page.getByText('Bread', { exact: true }).waitFor({ state: 'detached' })
      await page.getByText('Fog signals', { exact: true }).waitFor()
      assert.deepEqual((await cards()).sort(), ['Fog signals', 'Rolls for sailors'])
      await shot(`groups-home-${size}`)
      await check()
      await page.locator('.chips.groups').getByRole('button', { name: 'Sea' }).click()
      await page.getByText('Bread', { exact: true }).first().waitFor()

      await go('/channels/')
      await page.locator('.chips.groups').getByRole('button', { name: 'Food' }).click()
      await page.getByRole('link', { name: 'Harbour' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Bakery' }).waitFor()
      await check()

      await go('/settings/groups/')
      await page.getByRole('button', { name: /Sea$/ }).last().click()
      await page.getByRole('button', { name: words.undo }).click()
      await page.waitForFunction(() => document.querySelectorAll('.settings-rows strong').length === 2)
      const [back, other] = await list()
      assert.deepEqual([back.name, other.name, back.members.length], ['Sea', 'Food', 2])
    })

  test('a late reply to one group does not close the editor of another', async (t) => {
    const app = await testApp(t)
    for (const name of ['Food', 'Sea']) await app.as('admin').post('/api/group/', { name, members: [] })
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const dialog = page.getByRole('dialog')
    const name = dialog.getByLabel('Name', { exact: true })
    await go('/settings/groups/')
    await page.getByRole('button', { name: /^Edit.*Food$/ }).click()
    await name.fill('Meals')
    const send = await holdUp(page, /\/group\/\d+\/$/)
    await dialog.getByRole('button', { name: 'Save' }).click()

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Edit.*Sea$/ }).click()
    await name.fill('Harbour')
    await send()
    await page.locator('.settings-rows strong', { hasText: 'Meals' }).waitFor()

    assert.equal(await name.inputValue(), 'Harbour')
  })

  test('a chosen group does not count as removed before the groups are known', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1', title: 'Fog signals' }))
    const members = [{ kind: 'channel', id: 'UC1' }]
    const { id } = (await app.as('admin').post('/api/group/', { name: 'Sea', members })).body
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    // The session contains the groups only at the first load.
    await changeAnswer(page, /\/api\/session\/$/, ({ groups: _, ...session }) => session)
    const { asked, release } = await holdBack(page, /\/api\/group\/$/)

    await go(`/?group=${id}`)
    await asked
    await page.getByRole('link', { name: 'Fog signals' }).first().waitFor()
    const early = await page.getByText('Removed group').count()
    release()

    await page.getByRole('button', { name: 'Sea', pressed: true }).waitFor()
    assert.equal(early, 0)
  })

  test('groups have their space at once, at the first visit and before they are loaded at the next one', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1', channel_name: 'Harbour' }))
    await app.as('admin').post('/api/group/', { name: 'Sea', members: [{ kind: 'channel', id: 'UC1' }] })
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const moved = await measureShifts(page)
    const group = page.getByRole('button', { name: 'Sea' })
    await go('/channels/')
    await group.waitFor()
    await page.getByRole('link', { name: 'Harbour' }).first().waitFor()
    const atFirst = await moved()
    await holdBack(page, /\/api\/(session|group)\/$/)

    await page.reload()

    await group.waitFor()
    assert.ok(atFirst < 0.01, `${atFirst}`)
  })
})

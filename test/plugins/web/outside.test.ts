/** Tasks and preferences of an external plugin are on the page like built-in ones. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { definePlugin, defineRoute, defineTask, Type } from 'archivolt'
import { aChannel, PASSWORD, testApp } from 'archivolt/testing'
import { noBrowser, openPage } from '../../support/browser.ts'
import { until } from '../../support/server.ts'

const as = { username: 'admin', password: PASSWORD }

const sweep = defineTask({
  name: 'tide.sweep',
  title: 'Sweep the beach',
  description: 'Takes away what the sea has brought.',
  payload: Type.Object({ shells: Type.Optional(Type.Integer()) }),
  lane: 'light',
  apiStart: true,
  outgoing: true,
  schedule: {
    auto: '0 6 *',
    config: Type.Object({
      shells: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 9, title: 'Leave', description: 'So many stay.', 'x-unit': 'shells' }),
      ),
    }),
  },
  run: () => Promise.resolve('The beach is clean'),
})

const attempt = defineRoute({
  ...{ method: 'POST', path: '/api/tide/try/', access: 'admin', summary: 'x' },
  reply: Type.Object({ message: Type.String() }),
  handle(_input, { preferences }) {
    const { levels } = preferences.section('tide' as never) as { levels: object }
    return { message: `${Object.keys(levels).length} levels are known` }
  },
})

const tide = definePlugin({
  name: 'tide',
  tasks: [sweep],
  routes: [attempt],
  preferences: {
    tide: {
      colour: Type.Enum(['red', 'blue'], {
        ...{ default: 'red', title: 'Colour of the flag', 'x-labels': { blue: 'Sea' }, 'x-per-channel': true },
      }),
      height: Type.Union([Type.Integer({ minimum: 1, maximum: 9 }), Type.Literal(false)], {
        default: false,
        title: 'Highest tide',
        description: 'Empty: any.',
        'x-unit': 'metres',
        'x-per-channel': true,
      }),
      beaches: Type.Array(Type.String({ maxLength: 20 }), { default: ['North'], title: 'Beaches' }),
      levels: Type.Record(Type.String(), Type.Integer(), {
        default: { low: 1 },
        title: 'Levels',
        'x-try': '/api/tide/try/',
      }),
      secret: Type.Boolean({ default: true }),
      key: Type.String({ default: '', title: 'Key of the buoy', 'x-secret': 'whole' }),
    },
    downloads: { shells: Type.Boolean({ default: false, title: 'Shells along with videos', 'x-group': 'quality' }) },
  },
})

describe('an external plugin', { skip: noBrowser }, () => {
  test('its task is started, scheduled with its own setting, and shown in notifications', async (t) => {
    const app = await testApp(t, { outside: [tide] })
    const { page, go, check } = await openPage(t, app.url, { as })

    await go('/settings/tasks/')
    await page.getByText('Takes away what the sea has brought.').waitFor()
    await page.getByRole('button', { name: 'Start: Sweep the beach' }).click()
    await page.locator('.tasks li', { hasText: 'The beach is clean' }).getByText('Sweep the beach').waitFor()

    await go('/settings/schedules/')
    const group = page.locator('.schedules tbody', { hasText: 'Sweep the beach' })
    await group.getByRole('button', { name: 'Change schedule: Sweep the beach' }).click()
    await group.getByLabel('How often').selectOption('Every day')
    await group.getByLabel('Leave').fill('3')
    await page.keyboard.press('Tab')
    const stored = async () => app.app.schedules.get('tide.sweep')?.config
    await until('it is saved', stored, (config) => config?.['shells'] === 3)
    await group.getByText('shells', { exact: true }).waitFor()
    await group.getByLabel('Leave').fill('12')
    await page.keyboard.press('Tab')
    await group.getByRole('alert').waitFor()
    assert.deepEqual(await stored(), { shells: 3 })
    await check()

    await go('/settings/notifications/')
    await page.getByLabel('When').selectOption('Sweep the beach')
  })

  test('its preferences are in the settings, with others of their group, and can be changed there', async (t) => {
    const app = await testApp(t, { outside: [tide] })
    const { page, go, check } = await openPage(t, app.url, { as })
    const stored = async () => (await app.as('admin').get('/api/config/')).body

    await go('/settings/plugins/')
    await page.getByLabel('Colour of the flag').selectOption('Sea')
    await page.getByLabel('Highest tide').fill('4')
    await page.keyboard.press('Tab')
    await until('both are saved', stored, ({ tide: { colour, height } }) => colour === 'blue' && height === 4)
    await page.getByLabel('Highest tide').fill('')
    await page.keyboard.press('Tab')
    await until('none again', stored, ({ tide: { height } }) => height === false)
    assert.equal(await page.getByLabel(/secret/).count(), 0, 'what has no title is not shown')
    const beaches = page.getByLabel('Beaches')
    assert.equal(await beaches.inputValue(), 'North')
    await beaches.fill('North\n\n South = 1 ')
    await page.keyboard.press('Tab')
    await until('the list is saved', stored, ({ tide: { beaches: now } }) => now.join() === 'North,South = 1')
    const levels = page.getByRole('textbox', { name: 'Levels' })
    assert.equal(await levels.inputValue(), 'low = 1')
    await levels.fill('low = 1\nhigh = much')
    await page.keyboard.press('Tab')
    await page.getByText('“much” is not a number').waitFor()
    await levels.fill('low = 1\nhigh = 4')
    await page.keyboard.press('Tab')
    await until('the map is saved', stored, ({ tide: { levels: now } }) => now.high === 4)
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('2 levels are known').waitFor()
    const key = page.getByLabel('Key of the buoy')
    assert.deepEqual([await key.getAttribute('type'), await key.inputValue()], ['password', ''])
    await key.fill('k-123')
    await page.keyboard.press('Tab')
    await until('it is set', stored, ({ tide: { key } }) => key === '***')
    assert.equal((app.app.preferences.section('tide' as never) as { key: string }).key, 'k-123')
    await go('/settings/downloads/')
    await go('/settings/plugins/')
    assert.equal(await key.inputValue(), '***')
    await key.fill('')
    await page.keyboard.press('Tab')
    await until('it is removed', stored, ({ tide: { key } }) => key === '')
    await check()

    await go('/settings/downloads/')
    const group = page.locator('.settings-group', { hasText: 'Video and file' })
    await group.getByLabel('Shells along with videos').check()
    await until('it is saved', stored, ({ downloads: { shells } }) => shells === true)
  })

  test('a preference for which a channel may have its own value is in the settings of the channel', async (t) => {
    const app = await testApp(t, { outside: [tide] })
    await app.given(aChannel({ id: 'UC1' }))
    const { page, go, check } = await openPage(t, app.url, { as })
    const own = async () => (await app.as('admin').get('/api/channel/UC1/preference/')).body

    await go('/channel/UC1/?show=settings')
    await page.getByLabel('Highest tide').fill('4')
    await page.keyboard.press('Tab')
    await page.getByLabel('Colour of the flag').selectOption('Sea')
    await until('both are its own', own, ({ tide: now }) => now?.height === 4 && now.colour === 'blue')
    await page.getByLabel('Colour of the flag').selectOption({ index: 0 })
    await until('one holds as everywhere', own, ({ tide: now }) => now.colour === undefined)

    assert.deepEqual(await own(), { tide: { height: 4 } })
    assert.equal(await page.getByLabel('Beaches').count(), 0)
    await check()
  })
})

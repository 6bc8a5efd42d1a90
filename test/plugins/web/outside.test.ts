/** What a plugin from outside declares is on the page like what came along: its tasks. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { definePlugin, defineTask, Type } from 'archivolt'
import { PASSWORD, testApp } from 'archivolt/testing'
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

const tide = definePlugin({ name: 'tide', tasks: [sweep] })

describe('a plugin from outside', { skip: noBrowser }, () => {
  test('its task is started, scheduled with its own setting, and told of', async (t) => {
    const app = await testApp(t, { outside: [tide] })
    const { page, go, check } = await openPage(t, app.url, { as })

    await go('/settings/tasks/')
    await page.getByText('Takes away what the sea has brought.').waitFor()
    await page.getByRole('button', { name: 'Start: Sweep the beach' }).click()
    await page.locator('.tasks li', { hasText: 'The beach is clean' }).getByText('Sweep the beach').waitFor()

    await go('/settings/schedules/')
    const group = page.locator('.settings-group', { hasText: 'Sweep the beach' })
    await group.getByLabel('How often').selectOption('Every day')
    await group.getByLabel('Leave').fill('3')
    await page.keyboard.press('Tab')
    const stored = async () => app.app.schedules.get('tide.sweep')?.config
    await until('it is kept', stored, (config) => config?.['shells'] === 3)
    await group.getByText('shells', { exact: true }).waitFor()
    await group.getByLabel('Leave').fill('12')
    await page.keyboard.press('Tab')
    await group.getByRole('alert').waitFor()
    assert.deepEqual(await stored(), { shells: 3 })
    await check()

    await go('/settings/notifications/')
    await page.getByLabel('When').selectOption('Sweep the beach')
  })
})

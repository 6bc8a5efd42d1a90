/** Pages of plugins: in the navigation, in a frame of their own, and isolated from the page if they fail. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { definePlugin } from 'archivolt'
import { aChannel, aVideo, PASSWORD, testApp } from 'archivolt/testing'
import { findOutside } from '../../../config/cli/find-plugins.ts'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { testApp as authorsApp } from '../../support/plugin-testing.ts'
import { ROOT } from '../../support/sources.ts'

const as = { username: 'admin', password: PASSWORD }
const asUser = { username: 'user', password: PASSWORD }

async function recipe(t: TestContext, name: string) {
  const [found] = await findOutside([join(ROOT, 'test/data/plugins', name)], await temporaryFolder(t))
  return found!.plugin
}

/** A plugin whose page has this code. */
async function withPage(t: TestContext, name: string, code: string, more: object = {}) {
  const file = join(await temporaryFolder(t), 'page.ts')
  await writeFile(file, code)
  return definePlugin({ name, api: 1, page: { title: `Page of ${name}`, module: pathToFileURL(file), ...more } })
}

/** Presses a key that removes the frame, so the press may never be answered. */
const pressAway = (page: Page, key: string): void => void page.keyboard.press(key).catch(() => undefined)

describe('a page of a plugin', { skip: noBrowser }, () => {
  for (const [size, colorScheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const) {
    test(`is in the navigation, shows what it requests, and works by keyboard: ${size}, ${colorScheme}`, async (t) => {
      const app = await testApp(t, { outside: [await recipe(t, 'twins')] })
      await app.given(aChannel(), aVideo({ id: 'v1', title: 'Fog' }), aVideo({ id: 'v2', title: 'Fog' }))
      await app.as('admin').post('/api/task-name/twins.find/')
      await app.settled()
      const { page, go, check, shot } = await openPage(t, app.url, { as, size, colorScheme })
      await go('/')
      if (size === 'phone') {
        await page.getByRole('button', { name: 'Account: admin' }).click()
        await page.getByRole('menuitem', { name: 'Twins' }).click()
      } else await page.getByRole('link', { name: 'Twins' }).click()

      await page.getByRole('heading', { level: 1, name: 'Twins' }).waitFor()
      const inside = page.frameLocator('iframe')
      await inside.getByRole('heading', { name: 'Fog' }).waitFor()
      await inside.locator('img[src^="blob:"]').first().waitFor()
      assert.equal(await inside.getByRole('link', { name: 'Fog' }).count(), 2)
      const colours = [page.locator('body'), inside.locator('body')].map((body) =>
        body.evaluate((element) => getComputedStyle(element).backgroundColor),
      )
      assert.equal(await colours[0], await colours[1], 'it has the colours of the page around it')
      await check()
      await shot('plugin-page')

      await inside.getByRole('link', { name: 'Fog' }).first().focus()
      await page.keyboard.press('Tab')
      pressAway(page, 'Enter')
      await page.waitForURL('**/video/v2/')
      await page.goBack()
      await inside.getByRole('button', { name: 'Look again' }).press('Enter')
      await inside.getByText('Looking. Come back in a moment.').waitFor()
      await inside.getByRole('button', { name: 'Look again' }).focus()
      await page.keyboard.press('g')
      pressAway(page, 'c')
      await page.waitForURL('**/channels/')
    })
  }

  test('that throws shows the error in its place; one that loops freezes nothing and is closed; one that floods is closed', async (t) => {
    const late = `export default ({ root, components }) => root.append(components.button('Break', () => { throw new Error('out of tea') }))`
    const app = await testApp(t, {
      outside: [
        await withPage(t, 'throws', `throw new Error('no tea at all')`),
        await withPage(t, 'breaks', late),
        await withPage(t, 'nothing', `export const start = 1`),
        await withPage(t, 'loops', `for (;;);`),
        await withPage(
          t,
          'floods',
          `export default () => { for (let count = 0; count < 1000; count++) parent.postMessage('x', '*') }`,
        ),
      ],
    })
    const { page, go } = await openPage(t, app.url, { as })
    const link = (name: string) => page.getByRole('link', { name: `Page of ${name}` })
    const alert = page.getByRole('alert')
    await go('/plugin/throws/')

    await alert.getByText('Something went wrong on this page: no tea at all').waitFor()
    await link('breaks').click()
    await page.frameLocator('iframe').getByRole('button', { name: 'Break' }).click()
    await alert.getByText('out of tea').waitFor()
    await alert.getByRole('button', { name: 'Open it again' }).click()
    await page.frameLocator('iframe').getByRole('button', { name: 'Break' }).waitFor()
    assert.equal(await alert.count(), 0)
    await link('nothing').click()
    await alert.getByText('Something went wrong').waitFor()

    await link('loops').click()
    await page.getByRole('link', { name: 'Channels' }).click()
    await page.waitForURL('**/channels/')
    await link('loops').click()
    await alert.getByText('This page is not responding').waitFor()
    await alert.getByRole('button', { name: 'Close' }).click()
    await alert.getByText('This page is closed.').waitFor()
    assert.equal(await page.locator('iframe').count(), 0)

    await link('floods').click()
    await alert.getByText('it sent too many requests at once').waitFor()
    assert.equal(await page.locator('iframe').count(), 0)
    await page.getByRole('link', { name: 'Channels' }).click()
    await page.waitForURL('**/channels/')
  })

  test('that requests what it or its user may not is refused, and has no other way out of its frame', async (t) => {
    const greedy = `
      export default async ({ root, api, components }) => {
        const tries = {
          admin: () => api.get('/api/plugin/'),
          unnamed: () => api.get('/api/user/'),
          steps: () => api.get('/api/ping/../user/'),
          encoded: () => api.get('/api/ping/%2e%2e/user/'),
          method: () => api.post('/api/ping/'),
          elsewhere: () => api.get('//example.org/api/ping/'),
          fetch: () => fetch('/api/user/'),
          cookie: async () => document.cookie,
          storage: async () => localStorage.length,
          around: async () => parent.document.title,
          door: () => new Promise((resolve, reject) => {
            const image = new Image()
            image.onload = resolve
            image.onerror = () => reject(new Error('no picture'))
            image.src = '/icons/mark.svg'
          }),
        }
        for (const [name, work] of Object.entries(tries))
          root.append(components.text(name + ': ' + (await work().then(() => 'let in', ({ status }) => 'refused ' + (status ?? '')))))
        const { user } = await api.get('/api/ping/')
        root.append(components.text('own: ' + typeof user), components.text('done'))
      }`
    const asks = ['GET /api/ping/', 'GET /api/plugin/']
    const app = await testApp(t, {
      outside: [
        await withPage(t, 'greedy', greedy, { asks }),
        await withPage(t, 'admins', `export default () => undefined`, { access: 'admin' }),
      ],
    })
    const { page, go, check } = await openPage(t, app.url, { as: asUser })
    await go('/plugin/greedy/')
    const inside = page.frameLocator('iframe')
    await inside.getByText('done').waitFor()

    assert.deepEqual(await inside.locator('main p').allTextContents(), [
      'admin: refused 403',
      ...['unnamed', 'steps', 'encoded', 'method', 'elsewhere'].map((name) => `${name}: refused 403`),
      ...['fetch', 'cookie', 'storage', 'around'].map(
        (name) =>
          // Errors of the browser have no status, but DOM errors have a numeric code.
          `${name}: refused `,
      ),
      'door: refused ',
      'own: number',
      'done',
    ])
    await go('/plugin/admins/')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Page of admins' }).count(), 0)
    await check([/Content Security Policy/, /Failed to load resource/])
  })

  test('a button of the player works with the rights of its user, shows its result, and breaks nothing if it fails', async (t) => {
    const button = async (name: string, code: string) => {
      const { page, ...rest } = await withPage(t, name, code)
      return { ...rest, playerButton: { ...page!, title: name } }
    }
    const greedy = `export default async ({ api, jump, say }) => {
      const status = await api.get('/api/plugin/').catch(({ status }) => status)
      jump(NaN); jump(1e9); jump(0.5)
      say('refused ' + status)
      say('<b>' + 'x'.repeat(1000))
    }`
    const app = await authorsApp(t, {
      plugins: [
        await recipe(t, 'moments'),
        await button('broken', `export default () => { throw new Error('no tea') }`),
        await button('loops', `export default () => { for (;;); }`),
        await button('greedy', greedy),
      ],
    })
    await app.download(aVideo({ id: 'v1', title: 'Fog' }))
    const { page, go, check, shot } = await openPage(t, app.url, { as: asUser })
    const press = async (name: string) => {
      await page.getByRole('button', { name: 'More for this video' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    const notes = page.locator('.player-notes')
    await go('/video/v1/')

    await press('Keep this moment')
    await notes.getByText(/^Kept: 0:0[01]$/).waitFor()
    await shot('player-button')
    await page.locator('iframe').waitFor({ state: 'detached' })
    await press('broken')
    await notes.getByText('broken: no tea').waitFor()
    await press('greedy')
    await notes.getByText(`<b>${'x'.repeat(297)}`, { exact: true }).waitFor()
    await press('loops')
    await notes.getByText('loops was stopped because it is not responding.').waitFor()
    assert.equal(await page.locator('iframe').count(), 0)

    await page.getByRole('link', { name: 'Moments' }).click()
    const inside = page.frameLocator('iframe')
    await inside.getByRole('link', { name: 'Fog' }).focus()
    pressAway(page, 'Enter')
    await page.waitForURL('**/video/v1/?t=*')
    await check([/no tea/, /Failed to load resource/])
  })
})

/** An account's own picture: chosen in the settings, shown in place of the initials, refused with a reason, removed. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import '../../support/ffmpeg.ts'
import { PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const MENU = 'Account: admin'

const aPicture = (): Buffer => {
  const input = ['-v', 'error', '-f', 'lavfi', '-i', 'mandelbrot=s=640x360', '-frames:v', '1']
  return execFileSync('ffmpeg', [...input, '-c:v', 'png', '-f', 'image2pipe', 'pipe:1'])
}

/** The width of the picture in an element, once the browser has loaded it. */
const widthIn = (page: Page, part: string): Promise<number> =>
  page
    .locator(`${part} .avatar img`)
    .first()
    .evaluate(async (image) => {
      await (image as HTMLImageElement).decode()
      return (image as HTMLImageElement).naturalWidth
    })

describe('own picture', { skip: noBrowser }, () => {
  test('is chosen, shown in the menu, in the list of users and at the sign-in, and removed', async (t) => {
    const app = await testApp(t)
    await app.as('admin').post('/api/user/1/', { pin: '4711', current_password: PASSWORD })
    const { page, go, check, shot } = await openPage(t, app.url, { as })
    await page.context().request.post(`${app.url}login/`, { data: { ...as, remember_me: 'on' } })
    await go('/settings/account/')
    const group = page.locator('.settings-group', { has: page.locator('.own-picture') })
    const choose = (name: string, buffer: Buffer) =>
      group.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/png', buffer })
    assert.equal(await group.locator('.avatar').innerText(), 'A')

    await choose('words.png', Buffer.from('no picture'))
    await group.getByRole('alert').getByText('This file is not a readable picture').waitFor()
    await choose('large.png', Buffer.alloc((10 << 20) + 1))
    await group.getByRole('alert').getByText('A picture may be at most 10 MB in size').waitFor()
    await check([/422/])
    await shot('picture-wrong')

    await choose('own.png', aPicture())
    await page.getByText('Saved').waitFor()
    assert.equal(await group.getByRole('alert').count(), 0)
    assert.deepEqual([await widthIn(page, '.own-picture'), await widthIn(page, '.top')], [256, 256])
    await check([/422/])
    await shot('picture-chosen')

    // The next document shows it at once, because the stored session names it.
    await go('/settings/users/')
    assert.equal(await widthIn(page, '.settings-rows'), 256)
    await shot('picture-users')
    await page.getByRole('button', { name: MENU }).click()
    await page.getByRole('menuitem', { name: 'Switch account' }).click()
    await page.getByRole('button', { name: 'admin', exact: true }).waitFor()
    assert.equal(await widthIn(page, '.who-one'), 256)
    await shot('picture-who')
    await page.getByRole('button', { name: 'admin', exact: true }).click()
    assert.equal(await widthIn(page, '.who'), 256)
    await page.keyboard.type('4711')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: MENU }).waitFor()

    await go('/settings/account/')
    await group.getByRole('button', { name: 'Remove picture' }).click()
    await page.getByText('Picture removed').waitFor()
    assert.equal(await page.locator('.avatar img').count(), 0)
    assert.equal((await app.as('admin').get('/api/user/1/')).body.picture, null)
    await check([/401/, /422/])
  })
})

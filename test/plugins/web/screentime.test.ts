/**
 * A parent gives a child a daily limit; the child sees the time left, is stopped at the end, and gets five more minutes.
 */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { holdBack, noBrowser, openPage } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const MIA = { username: 'mia', password: PASSWORD }
const PIN = '4711'
const FILM = ['-vf', 'tpad=stop_duration=299:stop_mode=clone', '-af', 'apad=pad_dur=299', '-c:v', 'libx264', '-g', '10']

async function household(t: TestContext) {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Bear stories' }),
    ...['one', 'two'].map((id) =>
      aVideo({ id, channelId: 'UC1', title: `The bear, part ${id}`, player: { duration: 300 } }),
    ),
  )
  const folder = join(app.dataDir, 'media/UC1')
  await mkdir(folder, { recursive: true })
  for (const id of ['one', 'two']) await makeFilm(join(folder, `${id}.mp4`), FILM)
  await app.as('admin').post('/api/user/', { ...MIA, view: { channel: ['UC1'] } })
  await app.as('admin').post('/api/user/1/', { pin: PIN, current_password: PASSWORD })
  /** Plays on another device, which does not report that. */
  const load = async () => {
    await app
      .as('mia')
      .get('/media/UC1/two.mp4')
      .catch(() => undefined) // ends when the time is used up
    await app.clock.advance(61_000)
  }
  return { app, load }
}

describe('daily limit on the page', { skip: noBrowser }, () => {
  test('an answer from before the extra minutes does not stop the film again', async (t) => {
    const { app, load } = await household(t)
    const mia = (await app.as('admin').get('/api/user/')).body.find(
      ({ username }: { username: string }) => username === 'mia',
    )
    await app.as('admin').post(`/api/screentime/${mia.id}/`, { minutes: 5 })
    const { page, go } = await openPage(t, app.url, { as: MIA })
    const isPlaying = () => {
      const film = document.querySelector('video')
      return film !== null && !film.paused && film.currentTime > 1
    }
    await go('/video/one/')
    await page.waitForFunction(isPlaying)
    await load()
    const over = page.getByRole('dialog', { name: 'That’s all for today' })
    await over.getByRole('button', { name: 'Five more minutes' }).click()
    await over.getByLabel('PIN of a parent').fill(PIN)
    const { asked, release } = await holdBack(page, /\/api\/screentime\/own\/$/, 'GET')
    await asked

    await over.getByRole('button', { name: 'Five more minutes' }).click()
    await over.waitFor({ state: 'detached' })
    release()

    await page.getByText('5 minutes left today').waitFor()
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    // If the server has refused the film meanwhile, the document is reloaded first. A stopped film would stay stopped.
    await page.waitForFunction(isPlaying)
  })

  test('a child on a phone and a parent at a desktop', { timeout: 170_000 }, async (t) => {
    const { app, load } = await household(t)
    const parent = await openPage(t, app.url, { as: ADMIN })
    await parent.go('/settings/users/')
    await parent.page.getByRole('button', { name: 'More for mia' }).click()
    await parent.page.getByRole('menuitem', { name: 'Change what they can do' }).click()
    const minutes = parent.page.getByLabel('Minutes a day')
    await minutes.fill('2000')
    await parent.page.getByRole('button', { name: 'Save' }).click()
    await parent.page.getByText('0 to 1440 minutes, or empty').waitFor()
    await minutes.fill('9')
    await parent.check()
    await parent.shot('screentime-rights')
    await parent.page.getByRole('button', { name: 'Save' }).click()
    await parent.page.getByText('9 minutes a day, 9 left today').waitFor()
    await parent.shot('screentime-users')

    const child = await openPage(t, app.url, { size: 'phone', colorScheme: 'dark', as: MIA })
    await child.go('/')
    await child.page.getByText('9 minutes left today').waitFor()
    await child.check()
    await child.shot('screentime-home')
    await load()
    await child.go('/video/one/')
    await child.page.getByText('4 minutes left for today').waitFor()
    await child.page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 1)
    await child.shot('screentime-soon')
    await load()
    const over = child.page.getByRole('dialog', { name: 'That’s all for today' })
    await over.waitFor()
    assert.equal(await child.page.evaluate(() => document.querySelector('video')?.paused), true)
    assert.equal((await app.as('mia').get('/media/UC1/one.mp4')).status, 403)
    await child.check([/403/])
    await child.shot('screentime-over')

    await over.getByRole('button', { name: 'Five more minutes' }).click()
    await over.getByLabel('PIN of a parent').fill('0000')
    await over.getByRole('button', { name: 'Five more minutes' }).click()
    await over.getByText('That’s not the PIN of a parent').waitFor()
    await child.check([/40[03]/])
    await child.shot('screentime-pin')
    await over.getByLabel('PIN of a parent').fill(PIN)
    await over.getByRole('button', { name: 'Five more minutes' }).click()
    await over.waitFor({ state: 'detached' })
    await child.page.waitForFunction(() => document.querySelector('video')?.paused === false)
    assert.equal((await app.as('mia').get('/media/UC1/one.mp4')).status, 200)

    await load()
    await over.waitFor()
    await over.getByRole('button', { name: 'Back to Home' }).click()
    await over.waitFor({ state: 'detached' })
    await child.page.getByText('0 minutes left today').waitFor()
    await parent.go('/settings/users/')
    await parent.page.getByText('9 minutes a day, 0 left today').waitFor()
    await parent.page.getByRole('button', { name: 'More for mia' }).click()
    await parent.page.getByRole('menuitem', { name: 'Five more minutes today' }).click()
    await parent.page.getByText('9 minutes a day, 5 left today').waitFor()
    await parent.check()
    await child.go('/video/one/')
    await child.page.getByText('5 minutes left today').waitFor()
    assert.equal(await over.count(), 0)
  })

  test('a daily limit that arrives while rights are open stays when they are saved', async (t) => {
    const app = await testApp(t)
    const { body: mia } = await app.as('admin').post('/api/user/', { ...MIA, view: { channel: [] } })
    await app.as('admin').post(`/api/screentime/${mia.id}/`, { minutes: 60 })
    const { page, go } = await openPage(t, app.url, { as: ADMIN })
    const { release } = await holdBack(page, /\/api\/screentime\/$/)
    await go('/settings/users/')
    await page.getByRole('button', { name: 'More for mia' }).click()
    await page.getByRole('menuitem', { name: 'Change what they can do' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Minutes a day').waitFor()

    release()
    await page.getByText('60 minutes a day').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })

    const limits = (await app.as('admin').get('/api/screentime/')).body
    assert.deepEqual(
      limits.map(({ minutes }: { minutes: number | null }) => minutes),
      [60],
    )
  })
})

/** The steps of somebody who imports a library once: at each step the main button is visible. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage, type Page, PHONE } from '../../support/browser.ts'
import { makePicture } from '../../support/ffmpeg.ts'
import { placesApp } from '../../support/places.ts'
import { PASSWORD } from '../../support/testing.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
const WIDE = { width: 1440, height: 900 }
/** More rows than fit on a screen, so that the element below them must stay visible. */
const FILMS = 40

/** Checks that the element is visible without scrolling, as a whole, and not covered. */
async function inSight(page: Page, role: 'button' | 'link', name: string | RegExp): Promise<void> {
  const button = page.getByRole(role, { name, exact: typeof name === 'string' }).first()
  await button.waitFor()
  const isSeen = await button.evaluate((element) => {
    const { left, top, right, bottom, width, height } = element.getBoundingClientRect()
    if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return false
    const seen = document.elementFromPoint(left + width / 2, top + height / 2)
    return seen !== null && element.contains(seen)
  })
  assert.ok(isSeen, `${String(name)} is in sight`)
}

describe('a single import', { skip: noBrowser }, () => {
  for (const [kind, viewport] of Object.entries({ phone: PHONE, wide: WIDE }))
    test(`from the found library to the videos, ${kind}`, async (t) => {
      const app = await placesApp(t)
      for (let at = 10; at < 10 + FILMS; at++) {
        const base = `youtarr/data/Harbour/A film about the sea number ${at} [aaaaaaaaa${at}]`
        await layFilm(app, `${base}.mp4`, infoOf(`aaaaaaaaa${at}`))
        await makePicture(join(app.root, `${base}.jpg`))
      }
      await layFilm(app, 'youtarr/data/Harbour/No name.mp4')
      await app.lay('youtarr/data/archive.txt', 'youtube bbbbbbbbbbb\n')
      const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN, options: { viewport } })
      await go('/settings/import/')

      await page.getByText('yt-dlp', { exact: true }).waitFor()
      await inSight(page, 'button', /^Scan \//)
      await shot(`import-1-found-${kind}`)
      await page.getByRole('button', { name: /^Scan \// }).click()

      await page
        .getByRole('status')
        .getByText(`The plan for youtarr/data is ready: ${FILMS} videos can be imported`)
        .waitFor()
      const heading = page.getByRole('heading', { name: 'yt-dlp library in youtarr/data' })
      assert.ok(await heading.evaluate((element) => element === document.activeElement), 'the plan has the focus')
      await page.getByRole('img', { name: 'Title of aaaaaaaaa10' }).waitFor()
      await inSight(page, 'button', 'Import')
      await shot(`import-2-plan-${kind}`)
      await page.getByText(`${FILMS} videos to import`).click()
      await page.getByText('ID aaaaaaaaa10', { exact: false }).waitFor()
      await inSight(page, 'button', 'Import')
      await shot(`import-3-rows-${kind}`)
      await check()

      await page.getByText('1 file or folder skipped').click()
      await page.getByRole('button', { name: 'Correct Harbour/No name.mp4' }).click()
      await page.getByLabel('Video in Harbour/No name.mp4').fill('no video')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('“no video” is not a video on YouTube').waitFor()
      await page.getByLabel('Video in Harbour/No name.mp4').fill('https://youtu.be/aaaaaaaaaaA')
      await shot(`import-4-correct-${kind}`)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('1 video to identify on YouTube').waitFor()
      await inSight(page, 'button', 'Import')

      await page.getByRole('button', { name: 'Import', exact: true }).click()
      await page.getByRole('status').getByText(`${FILMS} videos from youtarr/data were imported`).waitFor()
      await inSight(page, 'link', 'Go to your videos')
      await page.getByText(`${FILMS} videos were imported`, { exact: true }).waitFor()
      assert.equal(await page.getByText('videos to import').count(), 0)
      await shot(`import-5-done-${kind}`)
      await check([/status of 400/])
      await page.getByRole('link', { name: 'Go to your videos' }).click()
      await page.getByText('Title of aaaaaaaaa10').first().waitFor()
    })
})

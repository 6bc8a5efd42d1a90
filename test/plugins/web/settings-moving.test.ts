/** Moving in on the page: a folder is named, looked through, moves in, plays, and leaves again. */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { makeFilm } from '../../support/film.ts'
import { listing, placesApp } from '../../support/places.ts'
import { PASSWORD } from '../../support/testing.ts'
import { infoOf } from '../../support/ytdlp-folder.ts'

const ADMIN = { username: 'admin', password: PASSWORD }

describe('moving in', { skip: noBrowser }, () => {
  test('a folder is named, looked through, moves in, plays, and leaves again', async (t) => {
    const app = await placesApp(t)
    const folder = join(app.root, 'Old films')
    await mkdir(folder)
    for (const [id, ending] of [
      ['aaaaaaaaaaa', 'webm'],
      ['bbbbbbbbbbb', 'mkv'],
    ] as const) {
      await makeFilm(join(folder, `A film [${id}].${ending}`), ['-c:v', 'libvpx', '-b:v', '200k', '-c:a', 'libopus'])
      await app.lay(`Old films/A film [${id}].info.json`, JSON.stringify(infoOf(id, { ext: ending })))
    }
    await app.lay('Old films/No film.mp4', '#EXTM3U')
    const before = await listing(app.root)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/moving/')

    await page.getByLabel('Folder on the server').fill('/etc')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText(`Set AV_LIBRARY_ROOTS=${app.root},/etc where the server is started`).waitFor()
    await page.getByLabel('Folder on the server').fill(folder)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Look through Old films' }).click()
    await page.getByText('2 videos to move in').waitFor()
    await page.getByText('Not every browser plays mkv (1).').waitFor()
    await page.getByRole('button', { name: 'What is left alone, and why' }).click()
    await page.getByText('No film.mp4: it is no film, whatever its name says').waitFor()
    await check([/status of 422/])
    await shot('settings-moving')

    await page.getByRole('button', { name: 'Move in' }).click()
    await page.getByText('Moved in').waitFor()
    for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) {
      await go(`/video/${id}/`)
      await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.1)
    }
    await page.getByText('File and streams').click()
    await page.getByText('Old films (its files are only read)').waitFor()

    await go('/settings/moving/')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone').waitFor()
    assert.deepEqual(await app.ids('video'), [])
    assert.deepEqual(await listing(app.root), before)
  })
})

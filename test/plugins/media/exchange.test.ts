/** Replacing a film by one of another kind: interrupted at any step, the next start leaves one complete film. */
import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type VideoApp, videoApp } from '../video/scripted-platform.ts'

async function withFilms(t: Parameters<typeof videoApp>[0], ...endings: string[]): Promise<VideoApp> {
  const app = await videoApp(t)
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  for (const ending of endings) await writeFile(app.inLibrary('UC1', `v1.${ending}`), ending)
  return app
}

const films = (app: VideoApp) => readdir(app.inLibrary('UC1'))
const isAt = async (app: VideoApp) => (await app.app.media.filmPath('UC1', 'v1')).split('.').at(-1)
const note = ({ app: { ledger } }: VideoApp, ending: string, other: string) =>
  ledger.write(() => ledger.sql(`INSERT INTO media_own VALUES ('v1', 'UC1', ?, ?)`).run(ending, other))

test('the old film is deleted once the new one is in place, and both kinds are one film of the video', async (t) => {
  const app = await withFilms(t, 'mp4')
  for (const ending of ['m4a', 'mp4']) {
    const mediaPath = join(await app.app.media.staging('v1'), `v1.${ending}`)
    await writeFile(mediaPath, 'new')

    await app.app.media.adopt('UC1', 'v1', { mediaPath, subtitles: [] })

    assert.deepEqual([await films(app), await isAt(app)], [[`v1.${ending}`], ending])
  }
})

for (const [when, there, ending, other, left] of [
  ['before the new film lay there', ['mp4'], 'mp4', 'm4a', 'mp4'],
  ['before the new film counted', ['mp4', 'm4a'], 'mp4', 'm4a', 'mp4'],
  ['before the old film went', ['mp4', 'm4a'], 'm4a', 'mp4', 'm4a'],
  ['after the old film went', ['m4a'], 'm4a', 'mp4', 'm4a'],
  ['where there was no old film', ['m4a'], 'mp4', 'm4a', 'm4a'],
] as const) {
  test(`interrupted ${when}, one film remains`, async (t) => {
    const app = await withFilms(t, ...there)
    await note(app, ending, other)

    await app.restart()
    await app.app.media.absence()

    assert.deepEqual([await films(app), await isAt(app)], [[`v1.${left}`], left])
    assert.equal(app.app.media.mediaUrl('UC1', 'v1'), `/media/UC1/v1.${left}`)
  })
}

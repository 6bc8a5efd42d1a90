/** Names in another case, or in another Unicode normalization form, count as the same names. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { FILM_FILE } from '../../support/film.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { foldingDisk } from '../../support/folding-disk.ts'
import { listing, type PlannedRow, withPlaces } from '../../support/places.ts'
import { infoOf } from '../../support/ytdlp-folder.ts'

const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nherring at dawn\n'
const IDS = ['aaaaaaaaaaa', 'bbbbbbbbbbb']

for (const [disk, open] of [
  ['a disk that tells cases apart', temporaryFolder],
  ['a disk that folds them', foldingDisk],
] as Array<[string, (t: TestContext) => Promise<string | undefined>]>)
  test(`on ${disk} names in another case or normalization form are found, and files are opened by their actual name`, async (t) => {
    const root = await open(t)
    if (root === undefined) return
    const app = withPlaces(await testApp(t, { settings: { libraryRoots: [root] } }), root)
    const film = await readFile(FILM_FILE)
    // The form that a Mac writes; the sidecar files have the other form.
    const [composed, apart] = ['Öl oder Lack'.normalize('NFC'), 'Öl oder Lack'.normalize('NFD')]
    await app.lay(`old/Werkstatt/${apart} [${IDS[0]}].mp4`, film)
    await app.lay(`old/Werkstatt/${composed} [${IDS[0]}].info.json`, JSON.stringify(infoOf(IDS[0]!)))
    await app.lay(`old/Werkstatt/${composed} [${IDS[0]}].de.vtt`, VTT)
    await app.lay('old/Werkstatt/A quiet film.MP4', film)
    await app.lay('old/Werkstatt/A quiet film.info.json', JSON.stringify(infoOf(IDS[1]!)))
    const files = [`Werkstatt/${composed} [${IDS[0]}].mp4`, 'werkstatt/A QUIET FILM.mp4'].map((path, at) => ({
      path,
      url: `https://youtu.be/${IDS[at]}`,
    }))
    await app.lay('old/appdata/local_db.json', JSON.stringify({ files, subscriptions: [] }))
    const before = await listing(root)
    const place = await app.place('old')
    const admin = app.as('admin')
    const { body } = await admin.post('/api/adoption/', { place })
    await app.app.jobs.ended(body.task_id)

    const rows: PlannedRow[] = (await admin.get(`/api/adoption/${body.id}/item/`)).body.data
    assert.deepEqual(rows.map(({ outcome, platform_id: id }) => [outcome, id].join(' ')).sort(), [
      `new ${IDS[0]}`,
      `new ${IDS[1]}`,
    ])
    const run = await admin.post(`/api/adoption/${body.id}/`, { command: 'adopt' })
    await app.app.jobs.ended(run.body.task_id)
    await app.settled()

    for (const id of IDS) assert.equal((await app.as('user').get(`/media/${CHANNEL}/${id}.mp4`)).status, 200, id)
    const { subtitles } = (await app.as('user').get(`/api/video/${IDS[0]}/`)).body.data
    assert.deepEqual(
      subtitles.map(({ lang }: { lang: string }) => lang),
      ['de'],
    )
    const again = await admin.post('/api/adoption/', { place })
    await app.app.jobs.ended(again.body.task_id)
    assert.equal((await admin.get(`/api/adoption/${again.body.id}/`)).body.unchanged, 2)
    assert.deepEqual(await listing(root), before)
  })

test('on a case-insensitive disk the library is not accepted as import folder under another spelling', async (t) => {
  const root = await foldingDisk(t)
  if (root === undefined) return
  const [mediaDir, importDir] = [join(root, 'Films'), join(root, 'FILMS')]
  const app = await testApp(t, { settings: { mediaDir, importDir } })

  const { body } = await app.as('admin').post('/api/library/import/', {})

  const { state, result } = await app.app.jobs.ended(body.task_id)
  assert.deepEqual([state, /overlap/.test(result ?? '')], ['FAILURE', true], result ?? '')
})

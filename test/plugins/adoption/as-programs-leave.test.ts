/**
 * Folders as other programs leave them: ids at different positions in names, parts of films, older and compressed
 * information files.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { commanded, scanned } from '../../support/adopting.ts'
import '../../support/ffmpeg.ts'
import { FILM_FILE } from '../../support/film.ts'
import { lastFirst } from '../../support/last-first.ts'
import { type PlacesApp, type PlannedRow, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const CHANNEL = 'UCzwZWdfRLgxL-Z1bvxbT7Wr'

const rowsOf = async (app: PlacesApp, id: number): Promise<PlannedRow[]> =>
  (await app.as('admin').get(`/api/adoption/${id}/item/`)).body.data

async function planned(t: TestContext, lay: (app: PlacesApp) => Promise<void>, settings: object = {}) {
  const app = await placesApp(t, { settings: { pageSize: 100, ...settings } })
  await lay(app)
  const place = await app.place('old')
  return { app, place, rows: await rowsOf(app, await scanned(app, place)) }
}

test('an id is found where programs put it, as a guess, and ordinary words of eleven letters are not ids', async (t) => {
  const names = {
    'Title (3yzWh6qQQ5w)': '3yzWh6qQQ5w',
    'Title {aWugaj7wX98}': 'aWugaj7wX98',
    'Title [youtube qVJe6BOq_Jo]': 'qVJe6BOq_Jo',
    'Title [youtube-pAjBo0hVRGw]': 'pAjBo0hVRGw',
    'CGrdlU4H1dY - Title': 'CGrdlU4H1dY',
    '20240115_H-VijuJZWtI_Title': 'H-VijuJZWtI',
    Title_vOQRTLEwVtc: 'vOQRTLEwVtc',
    'Channel - 2024-01-15 - Title - nUrGr3YnWOQ': 'nUrGr3YnWOQ',
    'Title.fBdwMe4KUV4': 'fBdwMe4KUV4',
    'Title-XgoFyCmUQBk': 'XgoFyCmUQBk',
    '2024-01-15_a-channel_a-film_DEfyv_RksTE_1080p-vp9-opus': 'DEfyv_RksTE',
    '2024-01-17_a-channel_a-film_t0hm9AWDgdU_opus': 't0hm9AWDgdU',
    'A folder - gQdtJd3SArw/film': 'gQdtJd3SArw',
    'Wedding-grandmother': '',
    'Holiday - photographs': '',
    'Our trip (Switzerland)': '',
    'Birthday_2024-01-15k': '',
    'Notes-IMPORTANTES': '',
  }
  const { rows } = await planned(t, async (app) => {
    for (const name of Object.keys(names)) await layFilm(app, `old/${name}.mp4`)
  })

  for (const [name, id] of Object.entries(names)) {
    const row = rows.find(({ file }) => file === `${name}.mp4`)
    assert.deepEqual([row?.platform_id, row?.outcome], [id, id === '' ? 'problem' : 'ask'], name)
  }
})

test('the channel is read from each key that was ever used, and information may be compressed', async (t) => {
  const older = { channel_id: undefined, uploader_id: undefined }
  const address = `https://www.youtube.com/channel/${CHANNEL}`
  const { settings } = await startTestPlatform(t)
  const { app, place, rows } = await planned(
    t,
    async (app) => {
      await layFilm(app, 'old/a [oQ0Y2CCPpbY].mp4', infoOf('oQ0Y2CCPpbY', { ...older, channel_url: address }))
      await layFilm(app, 'old/b [qNB3kXRkW1M].mp4', infoOf('qNB3kXRkW1M', { ...older, uploader_url: address }))
      await layFilm(app, 'old/c [3yzWh6qQQ5w].mp4', infoOf('3yzWh6qQQ5w', { ...older, uploader_id: CHANNEL }))
      await layFilm(app, 'old/d [aWugaj7wX98].mp4', undefined, {
        'info.json.gz': gzipSync(JSON.stringify(infoOf('aWugaj7wX98', { channel_id: CHANNEL }))),
      })
      await layFilm(app, 'old/e [xaIj6-rKCGI].mp4', infoOf('xaIj6-rKCGI', { ...older, uploader_id: '@somebody' }))
      await layFilm(app, 'old/f [vCk_42peNkw].mp4', undefined, { 'info.json.gz': Buffer.from('1f8b08', 'hex') })
    },
    settings,
  )
  assert.deepEqual(rows.map(({ file, outcome, code }) => [file[0], code || outcome]).sort(), [
    ...['a', 'b', 'c', 'd'].map((file) => [file, 'new']),
    ['e', 'ask'],
    ['f', 'ask'],
    ['f', 'unreadable_sidecar'],
  ])

  await commanded(app, (await app.as('admin').get('/api/adoption/')).body.adoptions[0].id, { command: 'adopt' })

  assert.equal(place, 1)
  assert.deepEqual(await app.ids('channel'), [CHANNEL])
})

test('a part is never taken for the whole film, nor is one stream of an interrupted download', async (t) => {
  const { rows } = await planned(t, async (app) => {
    for (const name of [
      'A concert [iLXEvz4dnck]',
      'A concert - 001 One [iLXEvz4dnck]',
      'A concert - 002 Two [iLXEvz4dnck]',
      'Only parts - 001 X [Gobfxl4K41g]',
      'Only parts - 002 Y [Gobfxl4K41g]',
      'A list - 001 Its first [Elp9Qg3l0Uk]',
      'Fog [sEIWVGBX6GW].f140-drc',
      'Nets [KsEjESzrR6k].fhls-1080p',
      'A title.final [4BCWOkQi6tN]',
    ])
      await layFilm(app, `old/${name}.mp4`)
  })

  const told = Object.fromEntries(rows.map(({ file, outcome, code }) => [file.replace(/ ?\[.*/, ''), code || outcome]))
  assert.deepEqual(told, {
    'A concert': 'ask',
    'A concert - 001 One': 'part_of_film',
    'A concert - 002 Two': 'part_of_film',
    'Only parts - 001 X': 'part_of_film',
    'Only parts - 002 Y': 'part_of_film',
    'A list - 001 Its first': 'ask',
    Fog: 'unfinished',
    Nets: 'unfinished',
    'A title.final': 'ask',
  })
})

test('a platform that fails for two videos delays no other, and is asked for these two again', async (t) => {
  const scope = lastFirst(t)
  const { platform, settings } = await startTestPlatform(scope)
  const { fog, nets, ferry, charts } = VIDEO
  const app = await placesApp(scope, { settings })
  for (const id of [fog, nets, ferry, charts]) await layFilm(app, `old/A film [${id}].mp4`)
  for (const id of [fog, nets]) platform.faults.set(id, { name: 'api_status', status: 500 })
  const plan = await scanned(app, await app.place('old'))

  await commanded(app, plan, { command: 'adopt' })

  assert.deepEqual(await app.ids('video'), [ferry, charts].toSorted())
  const left = (await rowsOf(app, plan)).filter(({ state }) => state === 'left')
  assert.deepEqual(left.map((row) => row.platform_id).sort(), [fog, nets].toSorted())

  platform.faults.clear()
  await commanded(app, plan, { command: 'ask' })

  assert.deepEqual(await app.ids('video'), [fog, nets, ferry, charts].toSorted())
  assert.equal((await app.as('admin').post(`/api/adoption/${plan}/`, { command: 'ask' })).status, 409)
})

test('a film that is much shorter than its video is left out, and says so', async (t) => {
  const scope = lastFirst(t)
  const { settings } = await startTestPlatform(scope)
  const app = await placesApp(scope, { settings })
  for (const id of [VIDEO.fog, VIDEO.nets]) await layFilm(app, `old/A film [${id}].mp4`)
  const { platform } = app.app
  const ask = platform.video
  platform.video = async (id, ...how) => ({
    ...(await ask(id, ...how)),
    ...(id === VIDEO.fog && { durationSeconds: 600 }),
  })
  const plan = await scanned(app, await app.place('old'))

  await commanded(app, plan, { command: 'adopt' })

  assert.deepEqual(await app.ids('video'), [VIDEO.nets])
  const left = (await rowsOf(app, plan)).find(({ platform_id: id }) => id === VIDEO.fog)!
  assert.deepEqual([left.state, left.code], ['left', 'part_of_film'])
})

test('a film whose metadata lacks a duration is measured', async (t) => {
  const app = await placesApp(t)
  await app.lay('old/L [FL8ozFiA2as].mp4', await readFile(FILM_FILE))
  const live = infoOf('FL8ozFiA2as', { duration: null, live_status: 'is_live' })
  await app.lay('old/L [FL8ozFiA2as].info.json', JSON.stringify(live))

  await commanded(app, await scanned(app, await app.place('old')), { command: 'adopt' })

  assert.equal((await app.doc('video', 'FL8ozFiA2as')).player.duration, 1)
})

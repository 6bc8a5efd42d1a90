/** Media servers' files about a film (`<base>.nfo`): they contain the video's id and its title. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { nfoOf } from '../../../plugins/film-kit/nfo.ts'
import { scanned } from '../../support/adopting.ts'
import { listing, type PlacesApp, type PlannedRow, placesApp } from '../../support/places.ts'
import '../../support/ffmpeg.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const run = promisify(execFile)

const nfo = (id: string, more = '') =>
  `<?xml version="1.0" encoding="UTF-8"?>
<movie>
  <title>Title of ${id}</title>
  <plot><![CDATA[About <b> & more]]></plot>
  <uniqueid type="imdb">tt0000001</uniqueid>
  <uniqueid type="YouTube" default="true">${id}</uniqueid>
  <premiered>2023-07-15</premiered>${more}
</movie>`

test('a file about a film contains the id, the title, the text and the date; any other file contains nothing', () => {
  assert.deepEqual(nfoOf(nfo('aaaaaaaaaaa')), {
    ids: { imdb: 'tt0000001', youtube: 'aaaaaaaaaaa' },
    info: { title: 'Title of aaaaaaaaaaa', description: 'About <b> & more', upload_date: '20230715' },
  })
  const episode = `\uFEFF<episodedetails><actor><name>x</name><title>no</title></actor><title>Tom & Jerry &amp; I</title>
    <aired>2023-07-15 00:00:00Z</aired></episodedetails>\nhttps://www.themoviedb.org/movie/1`
  assert.deepEqual(nfoOf(episode), { ids: {}, info: { title: 'Tom & Jerry & I', upload_date: '20230715' } })
  for (const other of ['', 'plain text', '<tvshow><title>Show</title></tvshow>', '<movie/>', '<movie><title/></movie>'])
    assert.equal(nfoOf(other), undefined, other)
})

test('entities that such a file declares are never expanded, and its nesting is limited', () => {
  const laughs = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('')
  const bomb = `<!DOCTYPE x [<!ENTITY l0 "ha">${laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>
    <movie><title>&l9;</title><plot>&f;</plot></movie>`
  assert.deepEqual(nfoOf(bomb)?.info, { title: '&l9;', description: '&f;' })
  assert.throws(() => nfoOf('<movie>'.repeat(10_000)), /nested too deep/)
})

async function scan(app: PlacesApp, place: number): Promise<Array<PlannedRow & { title: string }>> {
  const id = await scanned(app, place)
  return (await app.as('admin').get(`/api/adoption/${id}/item/`)).body.data
}
const lineOf = ({ code, outcome, platform_id: id, file, title }: PlannedRow & { title: string }) =>
  [code || outcome, id, file, title].join('|')

test('a film without an information file is the video that this file names, which is no guess', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await layFilm(app, 'old/By mark.mp4', undefined, { nfo: nfo('aaaaaaaaaaa') })
  await layFilm(app, 'old/By address.mp4', undefined, {
    nfo: '<episodedetails><title>15 - Ferry</title><plot>https://youtu.be/bbbbbbbbbbb\n\nIt sails</plot></episodedetails>',
  })
  await layFilm(app, 'old/Another [ccccccccccc].mp4', undefined, { nfo: nfo('ddddddddddd') })
  await layFilm(app, 'old/Damaged.mp4', undefined, { 'info.json': '{"id": ', nfo: nfo('eeeeeeeeeee') })
  await layFilm(app, 'old/Told.mp4', infoOf('fffffffffff'), { nfo: nfo('ggggggggggg') })
  await layFilm(app, 'old/None.mp4', undefined, { nfo: nfo('../../../x') })
  await layFilm(app, 'old/Long.mp4', undefined, { nfo: nfo('hhhhhhhhhhh', ' '.repeat(1 << 20)) })
  await layFilm(app, 'old/Deep.mp4', undefined, { nfo: `<movie>${'<a>'.repeat(100_000)}` })
  await layFilm(app, 'old/Piped.mp4')
  await run('mkfifo', [join(app.root, 'old', 'Piped.nfo')])
  const before = await listing(app.root)

  const rows = await scan(app, place)

  assert.deepEqual(rows.map(lineOf).sort(), [
    'ask|aaaaaaaaaaa|By mark.mp4|Title of aaaaaaaaaaa',
    'ask|bbbbbbbbbbb|By address.mp4|15 - Ferry',
    'ask|ccccccccccc|Another [ccccccccccc].mp4|Another [ccccccccccc]',
    'ask|eeeeeeeeeee|Damaged.mp4|Title of eeeeeeeeeee',
    'foreign_sidecar|ccccccccccc|Another [ccccccccccc].nfo|',
    'new|fffffffffff|Told.mp4|Title of fffffffffff',
    'no_id||Deep.mp4|',
    'no_id||Long.mp4|',
    'no_id||None.mp4|',
    'no_id||Piped.mp4|',
    'unreadable_sidecar|eeeeeeeeeee|Damaged.info.json|',
  ])
  assert.deepEqual(await listing(app.root), before)
})

test('if a database has the channel but no title, this file’s title is used', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('subs/downloads')
  await layFilm(app, 'subs/downloads/tv/Episode.mp4', undefined, { nfo: nfo('aaaaaaaaaaa') })
  const video = {
    ...{ youtube_id: 'aaaaaaaaaaa', media_file: 'tv/Episode.mp4', key: 'aaaaaaaaaaa', downloaded: true },
    ...{ source: 's', metadata: '', title: '' },
  }
  const source = { source_type: 'i', key: 'UCaaaaaaaaaaaaaaaaaaaaaa', name: 'Harbour', index_schedule: 0 }
  await app.lay(
    'subs/tubesync.json',
    JSON.stringify([
      { model: 'sync.source', pk: 's', fields: source },
      { model: 'sync.media', pk: 'm', fields: video },
    ]),
  )

  const [row] = await scan(app, place)
  assert.deepEqual([row?.outcome, row?.title], ['new', 'Title of aaaaaaaaaaa'])

  const { body } = await app.as('admin').get('/api/adoption/')
  const { body: moving } = await app.as('admin').post(`/api/adoption/${body.adoptions[0].id}/`, { command: 'adopt' })
  await app.app.jobs.ended(moving.task_id)
  const { data } = (await app.as('user').get('/api/video/aaaaaaaaaaa/')).body
  assert.deepEqual(
    [data.title, data.description, data.published],
    ['Title of aaaaaaaaaaa', 'About <b> & more', '2023-07-15'],
  )
})

/** Videos that another program names and whose files are gone: left, downloaded or ignored, as the user chooses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GONE, VIDEO } from '../../platform/seed.mjs'
import { commanded, scanned } from '../../support/adopting.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type LibraryApp, libraryApp } from '../../support/library-app.ts'
import { type PlacesApp, withPlaces } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const [listed, named, here] = [VIDEO.gull, VIDEO.knot, 'aaaaaaaaaaa']

async function scan(app: PlacesApp, place: number) {
  const id = await scanned(app, place)
  return (await app.as('admin').get(`/api/adoption/${id}/`)).body
}
async function command(app: PlacesApp, id: number, body: object): Promise<void> {
  await commanded(app, id, body)
  await app.settled()
}
const queued = async (app: PlacesApp) => {
  const rows = (await app.as('admin').get('/api/download/')).body.data
  return rows
    .map(({ youtube_id: id, platform_id: own, status }: Record<string, string>) => [own ?? id, status].join(' '))
    .sort()
}

for (const [gone, status] of [
  ['queue', 'pending'],
  ['ignore', 'ignore'],
  [undefined, undefined],
] as const)
  test(`videos whose files are gone: ${gone ?? 'left'}; an undo removes those that have not arrived since`, async (t) => {
    const root = await temporaryFolder(t)
    const app = withPlaces<LibraryApp>(await libraryApp(t, { settings: { libraryRoots: [root] } }), root)
    const place = await app.place('old')
    await layFilm(app, `old/A film [${here}].mp4`, infoOf(here))
    await app.lay('old/archive.txt', `youtube ${here}\nyoutube ${listed}\n`)
    const files = [here, named].map((id) => ({ path: `A film [${id}].mp4`, url: `https://youtu.be/${id}` }))
    await app.lay('old/appdata/local_db.json', JSON.stringify({ files, subscriptions: [] }))
    const plan = await scan(app, place)
    assert.deepEqual(plan.problems, { in_archive_only: 1, missing_file: 1 })

    await command(app, plan.id, { command: 'adopt', along: { kinds: [], ...(gone && { gone }) } })

    const rows = status ? [listed, named].map((id) => `${id} ${status}`).sort() : []
    assert.deepEqual(await queued(app), rows)
    assert.deepEqual((await scan(app, place)).problems, gone ? {} : plan.problems, 'what is decided is not told again')

    // Somebody requests one of them now.
    if (gone)
      await app.as('admin').post(`/api/download/${listed}/`, { status: gone === 'queue' ? 'ignore' : 'pending' })
    await command(app, plan.id, { command: 'undo' })

    assert.deepEqual(await queued(app), gone ? [`${listed} ${gone === 'queue' ? 'ignore' : 'pending'}`] : [])
    assert.deepEqual(await app.ids('video'), [])
  })

test('a film that the platform no longer has is imported by the file that youtube-dl wrote, also with a byte-order mark or NaN', async (t) => {
  const root = await temporaryFolder(t)
  const app = withPlaces<LibraryApp>(await libraryApp(t, { settings: { libraryRoots: [root] } }), root)
  const place = await app.place('old')
  const old = { channel_id: undefined, channel: undefined, uploader: 'Some User', uploader_id: 'someuser' }
  await layFilm(app, `old/Old [${GONE.deleted}].mp4`, infoOf(GONE.deleted, old))
  const marked = `\ufeff${JSON.stringify(infoOf('aaaaaaaaaaa'))}`
  const wide = Buffer.from(`\ufeff${JSON.stringify(infoOf('bbbbbbbbbbb'))}`, 'utf16le')
  const odd = JSON.stringify(infoOf('ccccccccccc', { title: 'NaN, -Infinity', average_rating: 7, view_count: 8 }))
  await layFilm(app, 'old/A [aaaaaaaaaaa].mp4', undefined, { 'info.json': marked })
  await layFilm(app, 'old/B [bbbbbbbbbbb].mp4', undefined, { 'info.json': wide })
  const numbers = odd.replace(':7,', ':NaN,').replace(':8,', ':-Infinity,')
  await layFilm(app, 'old/C [ccccccccccc].mp4', undefined, { 'info.json': numbers })
  const plan = await scan(app, place)
  assert.deepEqual([plan.outcomes.new.count, plan.outcomes.ask.count, plan.problems], [3, 1, {}])

  await command(app, plan.id, { command: 'adopt' })

  assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc', GONE.deleted].sort())
  const videos = await app.app.videos.collection.getMany([GONE.deleted, 'ccccccccccc'])
  const { channel_id, active, title } = videos.get(GONE.deleted)!
  assert.deepEqual([channel_id, active, title], ['someuser', false, `Title of ${GONE.deleted}`])
  const rated = videos.get('ccccccccccc')!
  assert.deepEqual([rated.title, rated.stats.view_count], ['NaN, -Infinity', 0])
})

/**
 * Seek previews that the platform itself has: downloaded through the real yt-dlp after a video has arrived, else drawn.
 */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { aChannel } from 'archivolt/testing'
import { storyboardOf } from '../../../plugins/platform/storyboard.ts'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { type LibraryApp, libraryApp } from '../../support/library-app.ts'
import '../../support/long.ts'

const { fog } = VIDEO
const asks = (app: LibraryApp) => app.platform.requests.filter(({ path }) => path.startsWith('/storyboard/'))
const preview = async (app: LibraryApp) => (await app.as('user').get(`/api/video/${fog}/preview/`)).body

async function downloaded(t: TestContext, before: (app: LibraryApp) => unknown = () => {}): Promise<LibraryApp> {
  const app = await libraryApp(t)
  await app.as('admin').post('/api/config/', { playback: { seek_previews: true } })
  await app.given(aChannel({ id: CHANNEL.harbour }))
  await before(app)
  await app.as('admin').post('/api/download/?autostart=true', { data: [{ platform_id: fog }] })
  await app.settled()
  assert.equal((await app.as('user').get(`/api/video/${fog}/`)).status, 200)
  return app
}

test('the platform’s previews exist before anybody has played the video, in our own size', async (t) => {
  const app = await downloaded(t)

  const { state, sheets, count, ...shape } = await preview(app)

  assert.deepEqual([state, sheets.length], ['there', 3])
  const { body } = await app.as('user').get(`/api/video/${fog}/`)
  const { duration } = body.data.player
  assert.deepEqual(shape, {
    interval: Math.round((duration / 12) * 1000) / 1000,
    columns: 2,
    rows: 2,
    width: 160,
    height: 90,
  })
  assert.ok(count >= 11 && count <= 12)
  for (const url of sheets) {
    const sheet = await app.as('user').get(url)
    assert.deepEqual([sheet.status, sheet.headers.get('content-type')], [200, 'image/jpeg'])
    assert.deepEqual([...sheet.bytes.subarray(0, 2)], [0xff, 0xd8])
  }
  assert.deepEqual(
    asks(app).map(({ path }) => path),
    [0, 1, 2].map((at) => `/storyboard/${fog}/sb1/M${at}.jpg`),
  )
})

test('for the platform’s previews, the film is not read once more', async (t) => {
  const probed: string[] = []
  const app = await downloaded(t, ({ app: { media } }) => {
    const { probe } = media
    t.mock.method(media, 'probe', (path: string) => {
      probed.push(path)
      return probe(path)
    })
  })

  assert.equal((await preview(app)).state, 'there')
  assert.equal(probed.length, 1, 'when it was added to the library')
})

const REFUSALS: Array<[why: string, fault: object]> = [
  ['they are not given', { name: 'storyboard_status', status: 403 }],
  ['they are of another size than was said', { name: 'storyboard_size', thumbnail: 'hqdefault' }],
  ['they are no pictures of that video', { name: 'storyboard_size', thumbnail: 'none' }],
]
for (const [why, fault] of REFUSALS)
  test(`if ${why} nothing incomplete is left, and they are drawn once somebody plays it`, async (t) => {
    const app = await downloaded(t, ({ platform }) => platform.faults.set(fog, fault))
    assert.equal((await preview(app)).state, 'none')
    assert.deepEqual(await readdir(app.at('cache', 'previews')), [])
    const before = asks(app).length
    assert.ok(before > 0)

    await app.as('user').post(`/api/video/${fog}/preview/`)
    await app.settled()

    const { state, columns, width } = await preview(app)
    assert.deepEqual([state, columns, width], ['there', 5, 160])
    assert.equal(asks(app).length, before)
  })

test('if they are switched off, none is requested', async (t) => {
  const app = await downloaded(t, (one) => one.as('admin').post('/api/config/', { playback: { seek_previews: false } }))

  assert.deepEqual([asks(app).length, (await preview(app)).state], [0, 'none'])
})

const BOARD = { width: 160, height: 90, columns: 5, rows: 5, fps: 0.5, sheets: ['https://i.ytimg.com/a.jpg'] }
const WRONG: object[] = [
  { width: 0 },
  { height: 90.5 },
  { columns: 21 },
  { rows: '5' },
  { fps: 0 },
  { fps: 1e-9 },
  { sheets: [] },
  { sheets: Array(61).fill(BOARD.sheets[0]) },
  { sheets: ['ftp://i.ytimg.com/a.jpg'] },
  { sheets: [`https://i.ytimg.com/${'a'.repeat(5000)}`] },
  { sheets: 'https://i.ytimg.com/a.jpg' },
  { width: 48, height: 27 },
  { width: 1280, height: 720 },
]
test('of the offered ones the size closest to ours is used, and none that is incomplete', () => {
  for (const wrong of WRONG) assert.equal(storyboardOf([{ ...BOARD, ...wrong }]), undefined, JSON.stringify(wrong))
  for (const nothing of [undefined, null, 'x', {}, [null, 7]]) assert.equal(storyboardOf(nothing), undefined)
  const others = [{ ...BOARD, width: 80, height: 45 }, BOARD, { ...BOARD, width: 320, height: 180 }]
  assert.deepEqual(storyboardOf(others), {
    ...{ interval: 2, width: 160, height: 90, columns: 5, rows: 5 },
    sheets: BOARD.sheets,
  })
})

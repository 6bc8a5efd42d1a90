/** What fills the disk, and what is suggested for removal: only what can be downloaded again, and frees space. */
import assert from 'node:assert/strict'
import { link, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'

const MB = 1_000_000
const DAY_SECONDS = 86_400

async function aFilm(app: TestApp, id: string): Promise<string> {
  const path = app.app.media.pathOf('UC1', id)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `the film ${id}`)
  return path
}

for (const { index, skip } of INDEXES)
  test(`storage on ${index}`, { skip }, async (t) => {
    const scope = lastFirst(t)
    const app = await testApp(scope, { settings: await indexSettings(scope, index, 'storage') })
    const now = Math.floor(app.clock.now() / 1000)
    const video = (id: string, more: object = {}) =>
      aVideo({ id, channelId: 'UC1', media_size: 30 * MB, date_downloaded: now - 40 * DAY_SECONDS, ...more })
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Harbour' }),
      aChannel({ id: 'UC2', channel_name: 'Pier' }),
      video('small', { media_size: 10 * MB }),
      video('large', { media_size: 90 * MB }),
      video('kept', { keep: true }),
      video('onlyhere', { active: false }),
      video('unwatched'),
      video('linked'),
      video('lost'),
      aVideo({ id: 'fresh', channelId: 'UC2', media_size: 60 * MB, date_downloaded: now - DAY_SECONDS }),
    )
    const watched = ['small', 'large', 'kept', 'onlyhere', 'linked', 'lost']
    for (const id of [...watched.slice(0, -1), 'unwatched']) await aFilm(app, id)
    const film = await aFilm(app, 'linked')
    await link(film, `${film}.elsewhere`)
    for (const id of watched) await app.as('user').post('/api/watched/', { id, is_watched: true })
    t.mock.method(app.app.media, 'space', async () => ({ free: 100 * MB, total: 1000 * MB }))
    await app.as('admin').delete('/api/video/lost/')

    const { body } = await app.as('admin').get('/api/storage/')
    const proposals = await app.as('admin').get('/api/storage/proposal/')

    assert.deepEqual(body, {
      total: 1000 * MB,
      free: 100 * MB,
      videos: 280 * MB,
      bin: 30 * MB,
      per_day: 2 * MB,
      days_until_full: 50,
      channels: [
        { id: 'UC1', name: 'Harbour', media_size: 220 * MB, doc_count: 6 },
        { id: 'UC2', name: 'Pier', media_size: 60 * MB, doc_count: 1 },
      ],
    })
    assert.deepEqual(
      proposals.body.map((one: Record<string, unknown>) => [one['platform_id'], one['media_size'], one['watched']]),
      [
        ['large', 90 * MB, now],
        ['small', 10 * MB, now],
      ],
    )
    assert.equal((await app.as('admin').get('/api/storage/proposal/?limit=1')).body.length, 1)
    assert.equal((await app.as('user').get('/api/storage/')).status, 403)
    assert.equal((await app.as('user').get('/api/storage/proposal/')).status, 403)
  })

/** A damaged document is left out and named, and restored from a snapshot. Other documents are not affected. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { checkIndexFile } from '../../../plugins/sqlite/check-index.ts'
import { garble } from '../../support/garble.ts'
import { aChannel, aPlaylist, aVideo, someComments, type TestApp, testApp } from '../../support/testing.ts'
import { documentsOf } from '../backup/zips.ts'

const STORED = { platform_id: 'v1', youtube_id: 'v1' }
const GIVEN = [
  aChannel({ id: 'UC1' }),
  aVideo({ id: 'v1', channelId: 'UC1', playlist: ['PL1'] }),
  aVideo({ id: 'v2', channelId: 'UC1', keep: true }),
  aPlaylist({ id: 'PL1', entries: [STORED] }),
  someComments('v2', [{ comment_id: 'c1', comment_replies: [] }]),
]
const LISTS = [
  '/api/video/',
  '/api/channel/',
  '/api/playlist/',
  '/api/download/',
  '/api/channel/UC1/video/',
  '/api/search/?query=video',
]
const messagesOf = async (app: TestApp): Promise<string> => (await app.as('admin').get('/api/notification/')).text

/** Checks all documents first; the damaged ones are repaired by the time that no job runs any more. */
async function snapshot(app: TestApp): Promise<void> {
  assert.equal((await app.as('admin').post('/api/snapshot/')).status, 200)
  await app.settled()
}

test('a list, a record and a search leave out a damaged document of each kind, and are valid JSON', async (t) => {
  const app = await testApp(t)
  await app.settled()
  await app.given(...GIVEN)
  for (const { index, id } of GIVEN.filter(({ id }) => id !== 'v1')) garble(app, index, id)

  const replies = await Promise.all(
    [...LISTS, '/api/video/v1/', '/api/video/v2/comment/', '/api/video/v1/similar/'].map((path) =>
      app.as('admin').get(path),
    ),
  )

  for (const { status, text } of replies) {
    assert.equal(status, 200, text)
    JSON.parse(text)
  }
  assert.deepEqual(
    replies[0]!.body.data.map(({ platform_id }: { platform_id: string }) => platform_id),
    ['v1'],
  )
  assert.equal((await app.as('admin').get('/api/video/v2/')).status, 404)
  assert.deepEqual(await app.app.videos.known(['v1', 'v2']), new Set(['v1', 'v2']), 'nothing forgets that it is there')
})

test('a damaged document is restored from the newest snapshot that has it, and admins are told', async (t) => {
  const app = await testApp(t)
  await app.settled()
  await app.given(...GIVEN)
  const before = await Promise.all(GIVEN.map(({ index, id }) => app.doc(index, id)))
  await snapshot(app)
  for (const { index, id } of GIVEN) garble(app, index, id)

  await snapshot(app)

  assert.deepEqual(await Promise.all(GIVEN.map(({ index, id }) => app.doc(index, id))), before)
  assert.match(await messagesOf(app), /\d damaged documents were repaired from a snapshot/)
  assert.doesNotMatch(await messagesOf(app), /in no snapshot/)
})

test('one that no snapshot has is named to admins and by the check, and stops no backup and no scan', async (t) => {
  // It would ask the platform for the comments.
  const app = await testApp(t, { settings: { pluginsOff: ['refresh'] } })
  await app.settled()
  await app.given(...GIVEN)
  garble(app, 'comment', 'v2')
  garble(app, 'video', 'v2')

  const [, documents] = await checkIndexFile({ settings: app.app.settings } as never)
  await app.as('admin').post('/api/backup/')
  await app.settled()

  assert.equal(documents?.isRight, false)
  assert.match(documents.said, /2 are damaged \(.*video v2.*\)/)
  assert.match(await messagesOf(app), /documents are damaged and in no snapshot: .*(comment|video) v2/)
  const zip = (await app.as('admin').get('/api/backup/av_backup-20260115-auto.zip/download/')).bytes
  assert.deepEqual(Object.keys((await documentsOf(zip))['video']!), ['v1'])
})

test('a damaged document that arrives again is replaced', async (t) => {
  const app = await testApp(t)
  await app.settled()
  await app.given(...GIVEN)
  garble(app, 'video', 'v2')
  const { collection } = app.app.videos
  const fresh = aVideo({ id: 'v2', channelId: 'UC1', title: 'Once more' }).doc as never

  assert.equal(await collection.patch('v2', { set: { title: 'x' } }), false)
  assert.equal(await collection.create('v2', fresh), true)
  assert.equal(await collection.create('v2', fresh), false)

  assert.equal((await app.doc('video', 'v2')).title, 'Once more')
})

test('a document with damaged keys is left out of lists and backups alone', async (t) => {
  const app = await testApp(t)
  await app.settled()
  await app.given(...GIVEN)
  garble(app, 'video', 'v2', '"player":', '"plaver":')
  garble(app, 'video', 'v1', '"subtitles":', '"subtitlex":')

  const { status, body } = await app.as('admin').get('/api/video/')
  await app.as('admin').post('/api/backup/')
  await app.settled()

  assert.equal(status, 200)
  assert.deepEqual(
    body.data.map(({ platform_id }: { platform_id: string }) => platform_id),
    ['v1'],
  )
  const task = (await app.as('admin').get('/api/task-name/run_backup/')).body[0]
  assert.equal(task.status, 'SUCCESS', task.traceback)
})

test('a migration of the index keeps a damaged document unchanged, so that it can be repaired later', async (t) => {
  const app = await testApp(t)
  await app.settled()
  await app.given(...GIVEN)
  const before = await app.doc('video', 'v2')
  await snapshot(app)
  await app.close()
  garble(app, 'video', 'v2')
  const db = new Database(join(app.dataDir, 'index.sqlite'))
  db.prepare("UPDATE index_collections SET form = 'another' WHERE name = 'video'").run()
  db.close()

  await app.restart()
  await app.settled()
  assert.deepEqual(await app.app.videos.known(['v2']), new Set(['v2']))
  await snapshot(app)

  assert.deepEqual(await app.doc('video', 'v2'), before)
})

/**
 * An earlier version stored shared playlists in the index, and moved them between it and the ledger: an update converts
 * them.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { TestApp } from 'archivolt/testing'
import { assertTaken, leftByOlder } from './before-one-home.ts'
import { anApp, entriesOf, made, membershipOf, rowsOf } from './own-suite.ts'

async function updated(t: TestContext): Promise<TestApp> {
  const app = await leftByOlder(t)
  await app.restart()
  return app
}

test('an update converts shared and private playlists and those being moved, each with its owner and order', async (t) => {
  const app = await updated(t)

  await app.settled()

  await assertTaken(app)
  assert.equal((await app.as('user').get('/api/playlist/ours/')).body.data.playlist_name, 'Document of ours')
  assert.deepEqual(await membershipOf(app, 'a'), ['being-shared'])
  assert.deepEqual(app.app.jobs.open('playlist.share'), [])
})

test('a conversion that was interrupted within a playlist starts that one again', async (t) => {
  const app = await updated(t)
  await app.settled()
  const { sql, write } = app.app.ledger
  await write(() => {
    sql("DELETE FROM playlist_custom_entry WHERE playlist_id = 'once-private' AND video_id = 'e'").run()
    sql("INSERT INTO playlist_unsettled (playlist_id, truth) VALUES ('once-private', 'index'), ('*', 'index')").run()
    sql("DELETE FROM playlist_custom WHERE playlist_id = 'nobodys'").run()
  })

  await app.restart()
  await app.settled()

  await assertTaken(app)
})

test('a playlist that is changed before its turn is converted first', async (t) => {
  const app = await anApp(t)
  const id = await made(app.as('user'), 'Ours', { playlist_visibility: 'shared' }, ['a', 'b'])
  const { sql, write } = app.app.ledger
  await write(() => {
    sql('DELETE FROM playlist_custom_entry').run()
    sql("INSERT INTO playlist_unsettled (playlist_id, truth) VALUES (?, 'index')").run(id)
  })

  assert.equal((await app.as('user').post(`/api/playlist/${id}/`, { action: 'create', video_id: 'c' })).status, 201)
  assert.equal((await app.as('admin').delete('/api/video/a/')).status, 200)

  assert.deepEqual([await entriesOf(app.as('admin'), id), rowsOf(app)[id]], ['bc', 'bc'])
})

test('a playlist that is removed after its document was read for the conversion stays removed', async (t) => {
  const app = await anApp(t)
  const id = await made(app.as('user'), 'Ours', { playlist_visibility: 'shared' }, ['a'])
  const { sql, write } = app.app.ledger
  await write(() => void sql("INSERT INTO playlist_unsettled (playlist_id, truth) VALUES (?, 'index')").run(id))
  const { collection } = app.app.playlists
  const { get } = collection
  let isRemoved = false
  t.mock.method(collection, 'get', async (asked: string) => {
    const doc = await get(asked)
    if (!isRemoved)
      await write(() => {
        sql('DELETE FROM playlist_custom').run()
        sql("INSERT OR REPLACE INTO playlist_unsettled (playlist_id, truth) VALUES (?, 'ledger')").run(id)
      })
    isRemoved = true
    return doc
  })

  await app.app.jobs.run('playlist.settle', {})

  assert.deepEqual([rowsOf(app), await app.ids('playlist'), await membershipOf(app, 'a')], [{}, ['PL1'], []])
})

/** Marks of two accounts on each index: separate, simultaneous, of a channel, after a restore, after a removal. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'

type Who = 'admin' | 'user'
const MANY = 450

const idOf = (app: TestApp, who: Who): number =>
  app.app.accounts.list().find(({ is_staff }) => is_staff === (who === 'admin'))!.id
const totals = async (app: TestApp, who: Who): Promise<number[]> => {
  const ask = async (path: string) => (await app.as(who).get(path)).body
  const [watched, unwatched] = [await ask('/api/video/?watch=watched'), await ask('/api/video/?watch=unwatched')]
  const { watched: counted } = await ask('/api/stats/watch/')
  return [watched.paginate.total_hits, unwatched.paginate.total_hits, counted.items]
}

async function assertAgreed(app: TestApp): Promise<void> {
  const rows = app.app.ledger.sql<{ mark: string }>(`SELECT user_id || ' ' || video_id AS mark FROM watch_mark`).all()
  const index: string[] = []
  for await (const batch of app.app.videos.collection.scan())
    for (const { id, doc } of batch) index.push(...(doc.watched_by ?? []).map((account) => `${account} ${id}`))
  assert.deepEqual(index.sort(), rows.map(({ mark }) => mark).sort())
  assert.deepEqual(app.app.ledger.sql('SELECT * FROM watch_unindexed').all(), [])
}

for (const { index, skip } of INDEXES) {
  describe(`on ${index}`, { skip }, () => {
    test('marks of two accounts are separate, and finally agree with the ledger', async (t) => {
      const scope = lastFirst(t)
      const app = await testApp(scope, { settings: await indexSettings(scope, index, 'marks') })
      const ids = Array.from({ length: MANY }, (_, number) => `v${number}`)
      await app.given(aChannel(), ...ids.map((id) => aVideo({ id })))
      const mark = (who: Who, id: string, is_watched = true) => app.as(who).post('/api/watched/', { id, is_watched })

      await mark('admin', 'v1')
      await mark('user', 'v1')
      await mark('user', 'v2')
      await mark('admin', 'v1', false)
      assert.deepEqual(await totals(app, 'admin'), [0, MANY, 0])
      assert.deepEqual(await totals(app, 'user'), [2, MANY - 2, 2])

      const some = ids.slice(0, 8)
      const replies = await Promise.all([
        mark('user', 'UC1'),
        ...some.flatMap((id) => [mark('admin', id), mark('user', id, false), mark('admin', id, false)]),
        mark('admin', 'UC1'),
        ...some.map((id) => mark('user', id)),
      ])
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
      await app.settled()
      await assertAgreed(app)

      await mark('user', 'UC1')
      await mark('admin', 'UC1', false)
      assert.deepEqual(await totals(app, 'admin'), [0, MANY, 0])
      assert.deepEqual(await totals(app, 'user'), [MANY, 0, MANY])

      // As a restore adds them: without marks of the ledger, and with marks that nobody has set.
      await app.given(aVideo({ id: 'v3' }), aVideo({ id: 'v4', watched_by: ['99', String(idOf(app, 'admin'))] }))
      await app.app.emit('index.replaced', {})
      await app.settled()
      await assertAgreed(app)

      assert.equal((await app.as('admin').delete(`/api/user/${idOf(app, 'user')}/`)).status, 200)
      await app.settled()
      await assertAgreed(app)
      assert.deepEqual(app.app.ledger.sql('SELECT * FROM watch_mark').all(), [])
    })
  })
}

/** Snapshots over HTTP, on each index. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'

for (const { index, skip } of INDEXES) {
  test(`a snapshot is listed from the moment its request is answered, on ${index}`, { skip }, async (t) => {
    const scope = lastFirst(t)
    const app = await testApp(scope, { settings: await indexSettings(scope, index) })
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
    await app.settled()
    await app.clock.advance(1000) // newer than the one of the first start
    const admin = app.as('admin')

    const { snapshot_name: id } = (await admin.post('/api/snapshot/')).body
    const [item, all] = await Promise.all([admin.get(`/api/snapshot/${id}/`), admin.get('/api/snapshot/')])
    await app.settled()
    const after = await admin.get(`/api/snapshot/${id}/`)

    assert.equal(item.status, 200)
    assert.ok(['IN_PROGRESS', 'SUCCESS'].includes(item.body.state), item.body.state)
    const listed = (reply: typeof all) => reply.body.snapshots.filter((one: { id: string }) => one.id === id).length
    assert.equal(listed(all), 1)
    assert.deepEqual([after.body.state, listed(await admin.get('/api/snapshot/'))], ['SUCCESS', 1])
    for (const { body } of [item, after])
      for (const version of [body.index_version, body.es_version]) assert.match(version, /^\d+\.\d+\.\d+$/)
  })
}

/** Changes of a rule by its route. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from 'archivolt/testing'

test('a rule that no longer takes loses its quality, which belongs to the former outcome', async (t) => {
  const admin = (await testApp(t)).as('admin')
  const conditions = { title: { words: ['podcast'] } }
  const quality = { quality_codec: 'sound' }
  const rule = { side: 'take', scope: { kind: 'all' }, outcome: 'take', conditions, quality }
  const { id } = (await admin.post('/api/rule/', rule)).body

  const { status, text } = await admin.post(`/api/rule/${id}/`, { outcome: 'skip' })

  assert.equal(status, 200, text)
  const [changed] = (await admin.get('/api/rule/')).body.take
  assert.deepEqual([changed.outcome, changed.quality], ['skip', undefined])
  const refused = await admin.post(`/api/rule/${id}/`, { quality })
  assert.deepEqual([refused.status, Object.keys(refused.body.fields)], [400, ['quality']])
})

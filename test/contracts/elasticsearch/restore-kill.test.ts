/** Elasticsearch is killed while it restores a snapshot: the restore completes, and writes continue. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ownElasticsearch, withoutElasticsearch } from '../../support/elasticsearch.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const VIDEOS = 400

test('a restore during which Elasticsearch is killed is repeated, and nothing is refused afterwards', {
  skip: withoutElasticsearch(),
}, async (t) => {
  const node = await ownElasticsearch(t)
  const app = await testApp(t, { settings: { elasticsearchUrl: node.url, elasticsearchRepository: node.repository } })
  const admin = app.as('admin')
  const videos = Array.from({ length: VIDEOS }, (_, at) =>
    aVideo({ id: `v${at}`, channelId: 'UC1', description: `words of ${at} `.repeat(100) }),
  )
  await app.given(aChannel({ id: 'UC1' }), ...videos)
  await app.settled()
  const { snapshot_name: snapshot } = (await admin.post('/api/snapshot/')).body
  await app.settled()
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${node.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const restoreAt = (speed: string) =>
    ask('PUT', '/_snapshot/av_snapshots', {
      type: 'fs',
      settings: { location: node.repository, compress: true, max_restore_bytes_per_sec: speed },
    })
  const besides = async () =>
    ((await (await ask('GET', '/_cat/indices/av_0restore_*?format=json')).json()) as object[]).length
  assert.equal((await restoreAt('1kb')).status, 200)

  await admin.post(`/api/snapshot/${snapshot}/`)
  while ((await besides()) === 0) await delay(20)
  await node.stop('SIGKILL')
  await node.start()
  assert.equal((await restoreAt('100mb')).status, 200)
  await app.settled()

  const [task] = (await admin.get('/api/task-name/restore_snapshot/')).body
  assert.equal(task.status, 'SUCCESS', task.traceback ?? JSON.stringify(task.result))
  assert.equal((await app.ids('video')).length, VIDEOS)
  assert.equal((await admin.post('/api/video/v1/', { keep: true })).status, 200)
  assert.equal(await besides(), 0)
})

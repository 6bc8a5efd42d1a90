/**
 * Collections that somebody has deleted from Elasticsearch are reported at once, and at each start; no good backup is
 * replaced by one of the empty index.
 */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inEnglish } from '../../../core/base/say.ts'
import { openLog } from '../../../core/log.ts'
import { videoIndex } from '../../../plugins/video/schema.ts'
import { testElasticsearch, withoutElasticsearch } from '../../support/elasticsearch.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'

test('missing indexes are reported, also after a restart, until a restore', {
  skip: withoutElasticsearch(),
}, async (t) => {
  const { url, prefix } = await testElasticsearch(t)
  const app = await testApp(t, { settings: { elasticsearchUrl: url, prefix } })
  const admin = app.as('admin')
  const lost = () => app.app.index.lost
  const backUp = async () => {
    await admin.post('/api/backup/')
    await app.settled()
    return (await readdir(join(app.dataDir, 'backups'))).toSorted()
  }
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const [good] = await backUp()
  await app.restart()
  assert.equal(lost(), undefined)

  await app.close()
  const [{ index }] = (await (await fetch(`${url}/_cat/aliases/${prefix}_video?format=json`)).json()) as [
    { index: string },
  ]
  assert.equal((await fetch(`${url}/${index}`, { method: 'DELETE' })).status, 200)
  for (let start = 0; start < 2; start++) {
    await app.restart()
    await app.settled()
    const reason = lost()?.reason ?? assert.fail('nothing is lost')
    assert.equal(inEnglish(reason), `Elasticsearch no longer has the index ${prefix}_video`)
    const said = (await admin.get('/api/notification/')).body
      .flatMap(({ messages }: { messages: string[] }) => messages)
      .join()
    assert.match(said, /no longer has the index .*: the archive has lost its videos, channels and playlists/)
    assert.deepEqual(await backUp(), [good, good!.replace('auto', 'lost')])
  }

  assert.equal((await admin.post(`/api/backup/${good}/`)).status, 200)
  await app.settled()
  await app.restart()
  assert.equal(lost(), undefined)
  assert.deepEqual(await app.ids('video'), ['v1'])
})

test('while an index is missing, requests that need it are told, and jobs wait; nothing else takes its place', {
  skip: withoutElasticsearch(),
}, async (t) => {
  const { url, prefix } = await testElasticsearch(t)
  const lines: Array<{ level: string; msg: string }> = []
  const log = openLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const app = await testApp(t, { settings: { elasticsearchUrl: url, prefix }, log })
  const admin = app.as('admin')
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${url}/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    assert.equal(reply.status, 200, path)
    return reply.json() as Promise<any>
  }
  await app.given(
    ...[aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' })],
    ...[aChannel({ id: 'UC2' }), aVideo({ id: 'v2', channelId: 'UC2' })],
  )
  const [index] = Object.keys(await ask('GET', `${prefix}_video`)) as [string]
  const alias = (action: 'add' | 'remove') =>
    ask('POST', '_aliases', { actions: [{ [action]: { index, alias: `${prefix}_video` } }] })
  const told = new RegExp(
    `^Elasticsearch no longer has the index ${prefix}_video: restore it there, or restart Archivolt,`,
  )
  const assertTold = async () => {
    for (const reply of [
      await admin.get('/api/video/'),
      await admin.get('/api/video/v1/'),
      await admin.get('/api/search/?query=x'),
      await admin.get('/api/stats/video/'),
      await admin.post('/api/watched/', { id: 'v1', is_watched: true }),
    ]) {
      assert.equal(reply.status, 503)
      assert.match(reply.body.message, told)
    }
    assert.equal((await admin.get('/api/channel/UC1/')).status, 200, 'what needs only other indexes is served')
  }
  const errors = () => lines.filter(({ level }) => level === 'error').map(({ msg }) => msg)

  await alias('remove')
  await assertTold()
  assert.equal((await admin.delete('/api/channel/UC2/')).status, 503)
  await alias('add')
  await app.settled()
  assert.deepEqual([await app.ids('channel'), await app.ids('video')], [['UC1'], ['v1']], 'the job has gone on')
  assert.equal(errors().length, 1, errors().join())

  await ask('DELETE', index)
  await assertTold()
  await assert.rejects(app.app.index.collection(videoIndex).remove('v1'), { code: 'unavailable', message: told })
  assert.equal((await fetch(`${url}/${prefix}_video`)).status, 404)
  await app.restart()
  assert.match(inEnglish(app.app.index.lost!.reason), /no longer has the index/)
  assert.equal((await admin.get('/api/video/')).status, 200)
})

test('the number that ledger and index share is never written into an index that Elasticsearch makes by itself', {
  skip: withoutElasticsearch(),
}, async (t) => {
  const { url, prefix } = await testElasticsearch(t)
  const app = await testApp(t, { settings: { elasticsearchUrl: url, prefix } })
  const mapping = async () => (await fetch(`${url}/${prefix}_0lock/_mapping`)).json()
  const before = await mapping()

  assert.equal((await fetch(`${url}/${prefix}_0lock`, { method: 'DELETE' })).status, 200)
  await app.app.index.generation!.keep(7)

  assert.equal(await app.app.index.generation!.read(), 7)
  assert.deepEqual(await mapping(), before)
})

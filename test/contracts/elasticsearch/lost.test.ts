/**
 * Collections that somebody has deleted from Elasticsearch are reported at each start, and no good backup is replaced
 * by one of the empty index.
 */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inEnglish } from '../../../core/base/say.ts'
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

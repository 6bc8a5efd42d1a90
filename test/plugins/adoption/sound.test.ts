/** An audio file is imported unchanged, and is listed and sent like a film. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFilm } from '../../support/ffmpeg.ts'
import { placesApp } from '../../support/places.ts'
import { infoOf } from '../../support/ytdlp-folder.ts'

const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'

test('imported sound keeps its container and its extension, is listed, found and sent in ranges', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const told = { vcodec: 'none', width: undefined, height: undefined, ext: 'm4a' }
  for (const [id, info] of [
    ['aaaaaaaaaaa', infoOf('aaaaaaaaaaa', told)],
    // Only the file contains its codecs.
    ['bbbbbbbbbbb', infoOf('bbbbbbbbbbb', { ...told, acodec: undefined, vcodec: undefined })],
  ] as const) {
    await makeFilm(join(app.root, 'old', `A song [${id}].m4a`), ['-vn', '-c:a', 'aac'])
    await app.lay(`old/A song [${id}].info.json`, JSON.stringify(info))
  }
  const admin = app.as('admin')
  const { body } = await admin.post('/api/adoption/', { place })
  await app.app.jobs.ended(body.task_id)
  const { task_id: adopting } = (await admin.post(`/api/adoption/${body.id}/`, { command: 'adopt' })).body
  await app.app.jobs.ended(adopting)
  await app.settled()

  const listed = (await app.as('user').get('/api/video/')).body.data
  assert.deepEqual(
    listed.map(({ platform_id: id, media_url: url }: Record<string, string>) => [id, url].join(' ')).sort(),
    ['aaaaaaaaaaa', 'bbbbbbbbbbb'].map((id) => `${id} /media/${CHANNEL}/${id}.m4a`),
  )
  for (const { platform_id: id, media_url: url, streams } of listed) {
    assert.deepEqual(
      streams.map(({ type, codec }: Record<string, string>) => [type, codec]),
      [['audio', 'aac']],
      id,
    )
    const part = await app.as('user').get(url, { range: 'bytes=4-11' })
    assert.deepEqual([part.status, part.headers.get('content-type'), part.text], [206, 'audio/mp4', 'ftypM4A '])
  }
})

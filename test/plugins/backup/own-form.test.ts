/** Backups in our own form, written and restored if no plugin adds another one. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { fromBufferPromise } from 'yauzl'
import { acceptDocuments } from '../../../plugins/backup/accept.ts'
import { fileOf, zipOf } from './zips.ts'

const WITHOUT_COMPAT = { settings: { pluginsOff: ['compat'] } }
const OURS = 'av_backup-20260115-auto.zip'
const UPLOADED = 'av_backup-20260110-manual.zip'
const REFERENCE = await readFile(new URL('../../data/recordings/ta_backup-small-auto.zip', import.meta.url))

const upload = (app: TestApp, zip: Buffer, name = UPLOADED) =>
  app.as('admin').put(`/api/backup/${name}/`, zip, { 'content-type': 'application/zip' })

async function restore(app: TestApp, name: string): Promise<string> {
  const { status, body, text } = await app.as('admin').post(`/api/backup/${name}/`)
  assert.equal(status, 200, text)
  await app.settled()
  return (await app.as('admin').get(`/api/task-id/${body.task_id}/`)).body.result
}

test('without the plugin compat a backup contains documents in their stored form, and is restored completely', async (t) => {
  const app = await testApp(t, WITHOUT_COMPAT)
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'v1', channelId: 'UC1', title: 'One' }),
    aPlaylist({ entries: ['v1'] }),
  )
  const before = await app.doc('video', 'v1')

  await app.as('admin').post('/api/backup/')
  await app.settled()
  const zip = (await app.as('admin').get(`/api/backup/${OURS}/download/`)).bytes
  await app.as('admin').delete('/api/video/v1/')
  const result = await restore(app, OURS)

  const names: string[] = []
  for await (const { fileName } of (await fromBufferPromise(Buffer.from(zip), { lazyEntries: true })).eachEntry())
    names.push(fileName)
  assert.ok(names.includes('av_video-20260115-0.json'), names.join())
  assert.match(result, /restored: 3 documents, 0 skipped/)
  assert.deepEqual(await app.doc('video', 'v1'), before)
})

test('without the plugin compat an archive in the reference’s form is refused with the reason', async (t) => {
  const app = await testApp(t, WITHOUT_COMPAT)

  const { status, body } = await upload(app, REFERENCE)

  assert.equal(status, 422)
  assert.match(body.detail, /No plugin can read the format of its files es_…\. .*turned off: compat/)
})

test('a backup in our own form is restored with the plugin compat, too, and its paths are not trusted', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const video = (await app.doc('video', 'v1')) as Record<string, unknown>
  const evil = { ...video, platform_id: 'v2', media_url: '/etc/passwd', vid_thumb_url: 'https://intern.example/x' }
  const sound = { ...video, platform_id: 'v6', media_url: '/etc/v6.m4a' }
  const broken = { ...video, subtitles: 'none' }
  const timeless = { ...video, refreshed_at: 1e13 }
  const file = fileOf(
    'video',
    { v2: evil, v6: sound, v3: broken, v4: timeless, '../v5': video },
    'av_video-20260110-0.json',
  )
  assert.equal((await upload(app, await zipOf(file))).status, 200)

  const result = await restore(app, UPLOADED)

  assert.match(result, /restored: 2 documents, 3 skipped/)
  const { data } = (await app.as('admin').get('/api/video/v2/')).body
  assert.equal((await app.doc('video', 'v6')).media_url, '/media/UC1/v6.m4a')
  assert.deepEqual(
    [data.platform_id, data.media_url, data.vid_thumb_url],
    ['v2', '/media/UC1/v2.mp4', '/cache/videos/v/v2.jpg'],
  )
})

test('the recomputed keys of a document in our own form are keys of its kind', async (t) => {
  const { app } = await testApp(t)
  const accept = acceptDocuments(app)
  const given = { channel_id: 'UC1', platform_id: 'v1', subtitles: [{ lang: 'en' }] }

  const wrong = app.index.definitions.flatMap(({ name, doc }) =>
    Object.keys(accept(name, 'v1', given))
      .filter((key) => !(key in given) && !(key in doc.properties))
      .map((key) => `${name}.${key}`),
  )

  assert.deepEqual(wrong, [])
  assert.ok('vid_thumb_url' in accept('video', 'v1', given))
})

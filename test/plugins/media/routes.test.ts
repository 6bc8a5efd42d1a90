/** Files over HTTP: for accounts only, generated names only, a placeholder for known documents. */
import assert from 'node:assert/strict'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aVideo } from 'archivolt/testing'
import { faultyDisk } from '../../support/faulty-disk.ts'
import { videoApp } from '../video/scripted-platform.ts'

test('a missing picture of a known document is a placeholder, of an unknown one 404', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'V1' }))

  for (const path of [
    'videos/v/V1.jpg',
    'videos/v/V1.jpg?size=small',
    'channels/UC1_thumb.jpg',
    'channels/UC1_banner.jpg',
    'channels/UC1_tvart.jpg',
  ]) {
    const { status, headers, bytes } = await app.as('user').get(`/cache/${path}`)
    assert.deepEqual(
      [status, headers.get('content-type'), bytes.subarray(0, 2).toString('hex')],
      [200, 'image/jpeg', 'ffd8'],
      path,
    )
  }
  for (const path of [
    'videos/V/V1.jpg',
    'videos/n/none.jpg',
    'channels/UC2_thumb.jpg',
    'channels/UC1.jpg',
    'playlists/PL1.jpg',
  ]) {
    assert.equal((await app.as('user').get(`/cache/${path}`)).status, 404, path)
  }
})

test('if the requested variant is missing, the full picture is sent', async (t) => {
  const app = await videoApp(t)
  await mkdir(join(app.dataDir, 'cache', 'playlists'), { recursive: true })
  await writeFile(join(app.dataDir, 'cache', 'playlists', 'PL1.jpg'), 'full')

  assert.equal((await app.as('user').get('/cache/playlists/PL1.jpg?size=small')).text, 'full')
  await writeFile(join(app.dataDir, 'cache', 'playlists', 'PL1.small.jpg'), 'small')
  assert.equal((await app.as('user').get('/cache/playlists/PL1.jpg?size=small')).text, 'small')
  assert.equal((await app.as('user').get('/cache/playlists/PL1.jpg?size=large')).text, 'full')
  await writeFile(join(app.dataDir, 'cache', 'playlists', 'PL1.large.jpg'), 'large')
  assert.equal((await app.as('user').get('/cache/playlists/PL1.jpg?size=large')).text, 'large')
  assert.equal((await app.as('user').get('/cache/playlists/PL1.jpg?size=huge')).status, 400)
  assert.equal((await app.as('user').get('/cache/playlists/PL1.jpg')).text, 'full')
})

test('a media file is sent in the requested ranges', async (t) => {
  const app = await videoApp(t)
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  await writeFile(app.inLibrary('UC1', 'v1.mp4'), '0123456789')
  const ask = async (range: string) => {
    const { status, text, headers } = await app.as('user').get('/media/UC1/v1.mp4', { range })
    return [status, text, headers.get('content-range')]
  }

  assert.deepEqual(await ask('bytes=2-4'), [206, '234', 'bytes 2-4/10'])
  assert.deepEqual(await ask('bytes=-3'), [206, '789', 'bytes 7-9/10'])
  assert.equal((await ask('bytes=10-'))[0], 416)
  assert.equal((await app.as('nobody').get('/media/UC1/v1.mp4')).status, 401)
})

test('a hostile path is 404 and reaches no file', async (t) => {
  const app = await videoApp(t)
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  await writeFile(app.inLibrary('UC1', 'v1.mp4'), 'film')
  await writeFile(app.inLibrary('UC1', 'notes.txt'), 'notes')
  await writeFile(app.inLibrary('v1.mp4'), 'outside')
  const paths = [
    '/media/UC1/..%2f..%2fledger.sqlite',
    '/media/%2e%2e/ledger.sqlite',
    '/media/..%2fUC1/v1.mp4',
    '/media/UC1/notes.txt',
    '/media/UC1/v1.mp4%00.vtt',
    '/media/UC1/%2e%2e%2fv1.mp4',
    '/media/.staging/v1.mp4',
    '/media/UC1/v1.en.vtt',
    '/media/UC2/v1.mp4',
    '/cache/videos/./v1.jpg',
    '/cache/videos/%2e/%2e%2e%2fx.jpg',
    '/cache/channels/..%2fUC1_thumb.jpg',
  ]
  for (const path of paths) assert.equal((await app.as('user').get(path)).status, 404, path)
})

test('an impossible path is 404: below a file, behind a link to itself, with a name that is too long', async (t) => {
  const app = await videoApp(t)
  await mkdir(app.inLibrary(), { recursive: true })
  await writeFile(app.inLibrary('README'), 'not a folder')
  await symlink('loop', app.inLibrary('loop'))
  await symlink('x'.repeat(300), app.inLibrary('long'))
  await mkdir(join(app.dataDir, 'cache', 'videos'), { recursive: true })
  await writeFile(join(app.dataDir, 'cache', 'videos', 'v'), 'not a folder')

  for (const path of [
    '/media/README/v1.mp4',
    '/media/README/v1.en.vtt',
    '/media/loop/v1.mp4',
    '/media/long/v1.mp4',
    '/cache/videos/v/v1.jpg',
  ]) {
    assert.equal((await app.as('user').get(path)).status, 404, path)
  }
})

test('a start deletes unused staging folders, and puts back files in the trash that belong to no removal', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  await app.app.media.staging('v9')
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  await writeFile(app.inLibrary('UC1', 'v1.mp4'), 'film')
  await app.app.media.trash('lost-job', { channelId: 'UC1', videoId: 'v1' })

  await app.restart()

  assert.deepEqual(await readdir(app.inLibrary('.staging')), [])
  assert.deepEqual([await readdir(app.inLibrary('UC1')), await readdir(app.inLibrary('.trash'))], [['v1.mp4'], []])
})

test('a start puts back files next to a file server’s folders, and continues after a trash that it cannot clear', async (t) => {
  const app = await videoApp(t)
  for (const [id, channelId] of [
    ['v1', 'UC1'],
    ['v2', 'UC2'],
  ] as const)
    await app.given(aChannel({ id: channelId }), aVideo({ id, channelId }))
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  await writeFile(app.inLibrary('UC1', 'v1.mp4'), 'film')
  await app.app.media.trash('lost-job', { channelId: 'UC1', videoId: 'v1' })
  await mkdir(app.inLibrary('.trash', 'lost-job', '@eaDir', 'v1.mp4'), { recursive: true })
  await writeFile(app.inLibrary('.trash', 'lost-job', '.DS_Store'), '')
  // A plain file occupies the path of the channel folder.
  await mkdir(app.inLibrary('.trash', 'a-stuck-job', 'UC2'), { recursive: true })
  await writeFile(app.inLibrary('.trash', 'a-stuck-job', 'UC2', 'v2.mp4'), 'film')
  await writeFile(app.inLibrary('UC2'), 'not a folder')

  await app.restart()

  assert.deepEqual(await readdir(app.inLibrary('UC1')), ['v1.mp4'])
  assert.deepEqual(await readdir(app.inLibrary('.trash')), ['a-stuck-job'])
  assert.deepEqual(await readdir(app.inLibrary('.trash', 'a-stuck-job', 'UC2')), ['v2.mp4'])
})

test('a film that its disk cannot read is 503 with the reason, until the disk answers again', async (t) => {
  const app = await videoApp(t)
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  await writeFile(app.inLibrary('UC1', 'v1.mp4'), '0123456789')
  const disk = faultyDisk(t, app.inLibrary('UC1', 'v1.mp4'), 'EIO')
  const ask = async (range: string) => {
    const { status, body, text } = await app.as('user').get('/media/UC1/v1.mp4', { range })
    return [status, body?.message ?? text]
  }

  disk.fail()
  for (const range of ['', 'bytes=4-'])
    assert.deepEqual(await ask(range), [503, 'v1.mp4 cannot be read (EIO): check its disk'])

  disk.mend()
  assert.deepEqual(await ask('bytes=4-'), [206, '456789'])
})

/** A library on several disks: folders of channels that are links to another file system, and broken links. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { aChannel, aVideo } from 'archivolt/testing'
import { noDisk, secondDisk } from '../../support/second-disk.ts'
import { anIngest, type VideoApp, videoApp } from '../video/scripted-platform.ts'

/** `<media>/UC1` is a link to `disk`, a folder on the other file system. */
async function spread(t: TestContext): Promise<VideoApp & { disk: string }> {
  const app = await videoApp(t)
  const disk = await secondDisk(t)
  await app.given(aChannel({ id: 'UC1' }))
  await symlink(disk, app.inLibrary('UC1'))
  return Object.assign(app, { disk })
}

describe('a channel on another disk', { skip: noDisk }, () => {
  test('a download is copied there; its removal moves the files from there', async (t) => {
    const app = await spread(t)

    await app.app.videos.ingest(await anIngest(app.app, 'v1', 'UC1'))

    assert.deepEqual((await readdir(app.disk)).sort(), ['v1.en.vtt', 'v1.mp4'])
    assert.deepEqual(await readdir(app.inLibrary('.staging', 'v1')), ['v1.webp'])
    assert.equal((await app.as('user').get('/media/UC1/v1.mp4')).status, 200)
    await writeFile(join(app.disk, 'v1x.mp4'), 'another')
    assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
    assert.deepEqual(await readdir(app.disk), ['v1x.mp4'])
  })

  test('a replaced film stays there for a day, on its own disk', async (t) => {
    const app = await spread(t)
    await writeFile(join(app.disk, 'v1.mp4'), 'old')

    await app.app.media.setAside('UC1', 'v1', process.execPath)

    const [trash] = await readdir(join(app.disk, '.trash'))
    assert.deepEqual(await readdir(join(app.disk, '.trash', trash!)), ['v1.mp4'])
    assert.deepEqual(await readdir(app.inLibrary('.trash')), [])
    await app.clock.advance(86_400_000)
    while (existsSync(join(app.disk, '.trash'))) await new Promise(setImmediate)
    assert.deepEqual(await readdir(app.disk), ['v1.mp4'])
  })

  test('the removal of the channel moves the linked files; the link stays for later ones', async (t) => {
    const app = await spread(t)
    for (const id of ['v1', 'v2']) await app.app.videos.ingest(await anIngest(app.app, id, 'UC1'))

    assert.equal((await app.as('admin').delete('/api/channel/UC1/')).status, 200)

    assert.deepEqual([await app.ids('video'), await app.ids('channel'), await readdir(app.disk)], [[], [], []])
    assert.ok((await lstat(app.inLibrary('UC1'))).isSymbolicLink())
    assert.deepEqual(await readdir(app.inLibrary('.trash')), [])
  })

  test('the next start puts back or deletes what an interruption has left there', async (t) => {
    const app = await spread(t)
    for (const id of ['v1', 'v2']) await writeFile(join(app.disk, `${id}.mp4`), id)
    const { media } = app.app
    await app.given(aVideo({ id: 'v1', channelId: 'UC1' }), aVideo({ id: 'v2', channelId: 'UC1' }))
    await media.trash('interrupted', { channelFolder: 'UC1' })
    assert.deepEqual(await readdir(app.disk), ['.trash'])
    await mkdir(join(app.disk, '.staging'))
    await writeFile(join(app.disk, '.staging', 'v3.mp4'), 'half of a')

    await app.restart()
    assert.deepEqual((await readdir(app.disk)).sort(), ['v1.mp4', 'v2.mp4'])
    assert.equal(await readFile(join(app.disk, 'v1.mp4'), 'utf8'), 'v1')

    // The removal has ended, but its trash could not be deleted.
    t.mock.method(app.app.media, 'emptyTrash', () => Promise.reject(new Error('busy')))
    await app.app.videos.remove('v1')
    assert.deepEqual((await readdir(app.disk)).sort(), ['.trash', 'v2.mp4'])
    await app.restart()
    assert.deepEqual(await readdir(app.disk), ['v2.mp4'])
  })

  test('a removal that is repeated after an interruption continues there', async (t) => {
    const app = await spread(t)
    for (const id of ['v1', 'v2']) await writeFile(join(app.disk, `${id}.mp4`), id)
    const { media } = app.app
    await media.trash('job', { channelId: 'UC1', videoId: 'v1' })
    await app.restart()
    await app.app.media.trash('job', { channelId: 'UC1', videoId: 'v1' })
    await app.app.media.trash('job', { channelFolder: 'UC1' })

    await app.app.media.emptyTrash('job')

    assert.deepEqual(await readdir(app.disk), [])
  })

  test('a film is moved there from another folder, with its own name and all of its bytes', async (t) => {
    const app = await spread(t)
    await mkdir(app.inLibrary('UC2'))
    await writeFile(app.inLibrary('UC2', 'v1.mp4'), Buffer.alloc(3_000_000, 'film'))

    await app.app.media.moveInto('UC1', app.inLibrary('UC2', 'v1.mp4'))

    assert.deepEqual([await readdir(app.disk), await readdir(app.inLibrary('UC2'))], [['v1.mp4'], []])
    assert.ok(Buffer.alloc(3_000_000, 'film').equals(await readFile(join(app.disk, 'v1.mp4'))))
  })

  test('the free space is that of the channel’s disk', async (t) => {
    const app = await spread(t)

    const [own, others] = [await app.app.media.space('UC1'), await app.app.media.space('UC-none')]

    assert.notEqual(own.total, others.total)
    assert.equal(others.total, (await app.app.media.space()).total)
  })
})

/** What may be in place of a channel's folder. */
const DEAD_ENDS: Array<[what: string, make: (path: string) => Promise<void>, sentence: RegExp]> = [
  ['a broken link', (path) => symlink('/nowhere/at/all', path), /UC1 .* is a broken link: connect its disk/],
  ['a link to itself', (path) => symlink('UC1', path), /UC1 .* leads to itself: remove it/],
  [
    'a link to a file',
    async (path) => (await writeFile(`${path}.txt`, ''), symlink(`${path}.txt`, path)),
    /UC1 .* is a link to a file/,
  ],
  ['a file', (path) => writeFile(path, ''), /UC1 .* a file is in its place/],
]
for (const [what, make, sentence] of DEAD_ENDS) {
  test(`if a channel's folder is ${what}, nothing is lost, and the sentence says so`, async (t) => {
    const app = await videoApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
    const ingest = await anIngest(app.app, 'v2', 'UC1')
    await make(app.inLibrary('UC1'))

    for (const path of ['/api/video/v1/', '/api/channel/UC1/']) {
      const reply = await app.as('admin').delete(path)
      assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'], path)
      assert.match(reply.body.message, sentence)
    }
    await assert.rejects(app.app.videos.ingest(ingest), { code: 'unavailable', message: sentence })
    await assert.rejects(app.app.media.moveInto('UC1', ingest.downloaded.mediaPath), {
      code: 'unprocessable',
      message: sentence,
    })

    assert.deepEqual([await app.ids('video'), await app.ids('channel')], [['v1'], ['UC1']])
    assert.ok(existsSync(ingest.downloaded.mediaPath))
    await rm(app.inLibrary('UC1'))
    await app.app.videos.ingest(ingest)
    assert.deepEqual(await app.ids('video'), ['v1', 'v2'])
  })
}

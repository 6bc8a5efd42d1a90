/** A library whose disk is offline: nothing is written into the empty folder in its place, and nothing is removed. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aChannel, aVideo, type TestApp } from 'archivolt/testing'
import { inEnglish } from '../../../core/base/say.ts'
import { openLibraryLock } from '../../../plugins/media/library-lock.ts'
import { openPaths } from '../../../plugins/media/paths.ts'
import { openPresence } from '../../../plugins/media/presence.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { anIngest, type VideoApp, videoApp } from '../video/scripted-platform.ts'

const MARK = '.archivolt-library'

const markOf = (app: VideoApp): Promise<string> => readFile(app.inLibrary(MARK), 'utf8')
const absence = async (app: Pick<TestApp, 'app'>) => {
  const words = await app.app.media.absence()
  return words && inEnglish(words)
}

/**
 * Simulates `umount`, and `mount`.
 * @param isFolderLeft  whether the mount point stays
 */
async function unmount(app: TestApp, isFolderLeft = true): Promise<() => Promise<void>> {
  const [folder, disk] = [join(app.dataDir, 'media'), join(app.dataDir, 'disk')]
  await rename(folder, disk)
  if (isFolderLeft) await mkdir(folder)
  return async () => {
    await rm(folder, { recursive: true, force: true })
    await rename(disk, folder)
  }
}

async function filled(t: TestContext, options: Parameters<typeof videoApp>[1] = {}): Promise<VideoApp> {
  const app = await videoApp(t, options)
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'v1', channelId: 'UC1' }),
    aVideo({ id: 'v2', channelId: 'UC1' }),
  )
  await mkdir(app.inLibrary('UC1'))
  for (const id of ['v1', 'v2']) await writeFile(app.inLibrary('UC1', `${id}.mp4`), id)
  return app
}

/** The state of an installation before marks existed. */
async function withoutMark(app: VideoApp): Promise<void> {
  const { ledger } = app.app
  await ledger.write(() => ledger.sql('DELETE FROM media_library').run())
  await rm(app.inLibrary(MARK))
}

for (const isFolderLeft of [true, false]) {
  test(`while its disk is offline, deletes are 503, nothing is written in its place and reads work (${isFolderLeft ? 'the mount point is left' : 'nothing is left'})`, async (t) => {
    const app = await filled(t)
    const ingest = await anIngest(app.app, 'v3', 'UC1')
    const mount = await unmount(app, isFolderLeft)

    for (const path of ['/api/video/v1/', '/api/channel/UC1/']) {
      const reply = await app.as('admin').delete(path)
      assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'], path)
      assert.match(reply.body.message, /^The library can’t be found: .*disk/)
      assert.ok(!reply.text.includes(app.dataDir), 'no path of the machine')
    }
    await assert.rejects(app.app.media.staging('v4'), { code: 'unavailable' })
    await assert.rejects(app.app.videos.ingest(ingest), { code: 'unavailable' })
    await app.app.media.clearStaging('v3')

    assert.deepEqual(existsSync(app.inLibrary()) ? await readdir(app.inLibrary()) : [], [])
    assert.equal((await app.as('user').get('/api/video/v1/')).status, 200)
    assert.equal((await app.as('user').get('/media/UC1/v1.mp4')).status, 404)
    await mount()
    await app.app.videos.ingest(ingest)
    assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
    assert.deepEqual(await app.ids('video'), ['v2', 'v3'])
    assert.deepEqual((await readdir(app.inLibrary('UC1'))).sort(), ['v2.mp4', 'v3.en.vtt', 'v3.mp4'])
  })

  test(`a start without the library neither fails nor creates it again; once it is back, pending work is done (${isFolderLeft ? 'the mount point is left' : 'nothing is left'})`, async (t) => {
    const app = await filled(t)
    await app.app.media.trash('interrupted', { channelId: 'UC1', videoId: 'v2' })
    await app.close()
    const mount = await unmount(app, isFolderLeft)

    await app.restart()

    assert.match((await absence(app)) ?? '', /^The library can’t be found/)
    assert.deepEqual(existsSync(app.inLibrary()) ? await readdir(app.inLibrary()) : [], [])
    assert.equal((await app.as('user').get('/api/video/')).body.data.length, 2)
    await mount()
    assert.equal(await absence(app), undefined)
    assert.deepEqual((await readdir(app.inLibrary('UC1'))).sort(), ['v1.mp4', 'v2.mp4'])
  })
}

test('work during which the disk disappears fails, because it would look like work with nothing to do', async (t) => {
  const app = await filled(t)
  const paths = openPaths(app.inLibrary(), join(app.dataDir, 'cache'))
  const lock = openLibraryLock(await temporaryFolder(t), app.app.log)
  const presence = openPresence(app.app, paths, lock, async () => undefined)

  const removal = presence.whileThere(async () => void (await unmount(app)))

  await assert.rejects(removal(), { code: 'unavailable' })
})

test('a new installation marks its library; the mark is recognized after a restart, and by a data folder that was moved', async (t) => {
  const app = await filled(t)
  const mark = await markOf(app)
  const moved = await temporaryFolder(t)

  await app.restart()
  assert.equal(await absence(app), undefined)
  await app.close()
  await cp(app.dataDir, moved, { recursive: true })
  const other = await videoApp(t, { dataDir: moved })

  assert.equal(await absence(other), undefined)
  assert.equal(await markOf(other), mark)
})

test('a copy of the data folder does not start while the original uses the same library, and does afterwards', async (t) => {
  const app = await filled(t)
  const copy = await temporaryFolder(t)
  await cp(app.dataDir, copy, { recursive: true, filter: (path) => path !== app.inLibrary() })
  const start = () => videoApp(t, { dataDir: copy, settings: { mediaDir: app.inLibrary() } })

  await assert.rejects(start(), /Another Archivolt is using the library .*media: stop it, or .*\(AV_MEDIA_DIR\)/)
  assert.equal(await absence(app), undefined)

  await app.close()
  assert.equal(await absence(await start()), undefined)
})

test('a library that another server uses counts as offline until that one has ended', async (t) => {
  const app = await filled(t)
  const copy = await temporaryFolder(t)
  await cp(app.dataDir, copy, { recursive: true, filter: (path) => path !== app.inLibrary() })
  const [place, disk] = [join(copy, 'media'), app.inLibrary()]
  const other = await videoApp(t, { dataDir: copy })
  assert.match((await absence(other)) ?? '', /missing/)

  await symlink(disk, place)

  assert.match((await absence(other)) ?? '', /another Archivolt is using it/)
  await assert.rejects(other.app.media.staging('v4'), { code: 'unavailable' })
  await assert.rejects(other.app.media.accept(), { code: 'conflict' })
  await app.close()
  assert.equal(await absence(other), undefined)
})

test('an installation of a version without marks sets its own if one of its films is there, or if it has none', async (t) => {
  const app = await filled(t)
  await rm(app.inLibrary('UC1', 'v1.mp4'))
  await withoutMark(app)

  await app.restart()
  assert.equal(await absence(app), undefined)
  assert.ok(existsSync(app.inLibrary(MARK)))

  await withoutMark(app)
  await rm(app.inLibrary('UC1', 'v2.mp4'))
  await app.restart()
  assert.match((await absence(app)) ?? '', /none of the expected videos/)
  assert.ok(!existsSync(app.inLibrary(MARK)))

  await writeFile(app.inLibrary('UC1', 'v2.mp4'), 'v2')
  assert.match(
    (await absence(app)) ?? '',
    /none of the expected videos/,
    'hundreds of films are not looked for each time',
  )
  await app.clock.advance(60_000)
  assert.equal(await absence(app), undefined, 'its disk has come')
  assert.ok(existsSync(app.inLibrary(MARK)))
})

test('an installation of a version without marks, without its folder, does not count as new', async (t) => {
  const app = await filled(t)
  await withoutMark(app)
  await app.close()
  const mount = await unmount(app, false)

  await app.restart()

  assert.match((await absence(app)) ?? '', /folder is missing/)
  assert.ok(!existsSync(app.inLibrary()))
  await mount()
  assert.equal(await absence(app), undefined)
})

test('a crash between the ledger and the mark, on either side, does not make it another library', async (t) => {
  const app = await filled(t)
  const id = (await markOf(app)).split('\n')[0]
  const { ledger } = app.app
  await ledger.write(() => ledger.sql('UPDATE media_library SET mark = NULL, next_mark = ?').run(id))

  await app.restart()
  assert.equal(await absence(app), undefined)

  await app.app.ledger.write(() =>
    app.app.ledger.sql('UPDATE media_library SET next_mark = ?').run('00000000-0000-4000-8000-000000000000'),
  )
  await app.restart()
  assert.equal(await absence(app), undefined)
  assert.equal((await markOf(app)).split('\n')[0], id)
})

test('the library of another installation is refused, until that one has ended and it is accepted; then the other is refused', async (t) => {
  const app = await filled(t)
  const other = await videoApp(t, { settings: { mediaDir: app.inLibrary() } as never })

  assert.match((await absence(other)) ?? '', /belongs to another installation/)
  await assert.rejects(other.app.media.accept(), { code: 'conflict' })
  await app.close()
  await other.app.media.accept()
  assert.equal(await absence(other), undefined)
  await app.restart()
  assert.match((await absence(app)) ?? '', /belongs to another installation/)
})

/** Possible damages of the mark. */
const DAMAGES: Array<[what: string, damage: (path: string) => Promise<void>]> = [
  ['is empty', (path) => writeFile(path, '')],
  ['is no text', (path) => writeFile(path, Buffer.alloc(100_000, 7))],
  ['is a folder', (path) => mkdir(path)],
  ['is a link to itself', (path) => symlink(MARK, path)],
]
for (const [what, damage] of DAMAGES) {
  test(`if the mark ${what}, the library counts as missing until it is accepted`, async (t) => {
    const app = await filled(t)
    await rm(app.inLibrary(MARK))
    await damage(app.inLibrary(MARK))

    assert.match((await absence(app)) ?? '', /^The library can’t be found/)
    assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 503)
    if (what === 'is a folder') {
      await assert.rejects(app.app.media.accept(), { code: 'unavailable' })
      await rm(app.inLibrary(MARK), { recursive: true })
    }
    await app.app.media.accept()
    assert.equal(await absence(app), undefined)
  })
}

test('a missing folder cannot be accepted; an empty one can, and then the old disk is another library', async (t) => {
  const app = await filled(t)
  const mount = await unmount(app, false)

  await assert.rejects(app.app.media.accept(), { code: 'conflict' })
  assert.ok(!existsSync(app.inLibrary()))

  await mkdir(app.inLibrary())
  await app.app.media.accept()
  assert.equal(await absence(app), undefined)
  await mount()
  assert.match((await absence(app)) ?? '', /belongs to another installation/)
})

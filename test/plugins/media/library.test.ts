/** The library on disk: adding, trashing and restoring files, also after an interruption. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { openLibrary } from '../../../plugins/media/library.ts'
import { openPaths } from '../../../plugins/media/paths.ts'
import { lastFirst } from '../../support/last-first.ts'

const run = promisify(execFile)

async function aLibrary(t: TestContext, place = tmpdir()) {
  const folder = await mkdtemp(join(place, 'library-'))
  lastFirst(t).after(() => rm(folder, { recursive: true, force: true }))
  const paths = openPaths(join(folder, 'media'), join(folder, 'cache'))
  await mkdir(paths.mediaDir, { recursive: true })
  const library = openLibrary(paths)
  const put = async (channel: string, ...names: string[]) => {
    await mkdir(join(paths.mediaDir, channel), { recursive: true })
    for (const name of names) await writeFile(join(paths.mediaDir, channel, name), name)
  }
  const names = async (channel: string) => (await readdir(join(paths.mediaDir, channel))).sort()
  return { ...library, paths, put, names }
}

test('finished files are moved from staging into the library', async (t) => {
  const library = await aLibrary(t)
  const staging = await library.staging('v1')
  await writeFile(join(staging, 'v1.mp4'), 'film')
  await writeFile(join(staging, 'v1.en.vtt'), 'words')

  await library.adopt('UC1', 'v1', {
    mediaPath: join(staging, 'v1.mp4'),
    subtitles: [{ lang: 'en', path: join(staging, 'v1.en.vtt') }],
  })

  assert.deepEqual(await library.names('UC1'), ['v1.en.vtt', 'v1.mp4'])
  assert.deepEqual(await readdir(staging), [])
})

test('adding continues after an interruption, and replaces existing files', async (t) => {
  const library = await aLibrary(t)
  const staging = await library.staging('v1')
  await library.put('UC1', 'v1.mp4', 'v1.en.vtt')
  await writeFile(join(staging, 'v1.mp4'), 'new film')
  const files = { mediaPath: join(staging, 'v1.mp4'), subtitles: [{ lang: 'en', path: join(staging, 'v1.en.vtt') }] }

  await library.adopt('UC1', 'v1', files)
  await library.adopt('UC1', 'v1', files)

  assert.equal(await readFile(library.paths.pathOf('UC1', 'v1'), 'utf8'), 'new film')
})

test('the film is moved before its subtitles: an interruption leaves no subtitles without a film', async (t) => {
  const library = await aLibrary(t)
  const staging = await library.staging('v1')
  await writeFile(join(staging, 'v1.en.vtt'), 'words')

  await assert.rejects(
    library.adopt('UC1', 'v1', {
      mediaPath: join(staging, 'v1.mp4'),
      subtitles: [{ lang: 'en', path: join(staging, 'v1.en.vtt') }],
    }),
    { code: 'unprocessable' },
  )

  assert.deepEqual(await library.names('UC1'), [])
})

test('a file that is missing, or outside of the library’s folder, is not added', async (t) => {
  const library = await aLibrary(t)
  const staging = await library.staging('v1')
  const outside = join(library.paths.mediaDir, '..', 'secret.mp4')
  await writeFile(outside, 'secret')

  await assert.rejects(library.adopt('UC1', 'v1', { mediaPath: join(staging, 'v1.mp4'), subtitles: [] }), {
    code: 'unprocessable',
  })
  await assert.rejects(
    library.adopt('UC1', 'v1', { mediaPath: join(staging, '..', '..', '..', 'secret.mp4'), subtitles: [] }),
    /only files on the library’s disk/,
  )
})

test('trashing a video moves its files, and none of another video with the same prefix', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'v1.mp4', 'v1.en.vtt', 'v1x.mp4', 'other.mp4')

  await library.trash('job', { channelId: 'UC1', videoId: 'v1' })

  assert.deepEqual(await library.names('UC1'), ['other.mp4', 'v1x.mp4'])
  await library.emptyTrash('job')
  assert.deepEqual(await readdir(library.paths.trashDir), [])
})

test('trashing continues after an interruption, even if files have arrived meanwhile', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'a.mp4')
  await library.trash('job', { channelFolder: 'UC1' })
  await library.put('UC1', 'b.mp4')

  await library.trash('job', { channelFolder: 'UC1' })
  await library.trash('job', { channelFolder: 'UC1' })

  assert.deepEqual((await readdir(join(library.paths.trashOf('job'), 'UC1'))).sort(), ['a.mp4', 'b.mp4'])
  assert.ok(!(await readdir(library.paths.mediaDir)).includes('UC1'))
})

test('missing files are no error', async (t) => {
  const library = await aLibrary(t)

  await library.trash('job', { channelId: 'UC1', videoId: 'v1' })
  await library.trash('job', { channelFolder: 'UC2' })
  await library.emptyTrash('never')

  assert.deepEqual(await readdir(library.paths.mediaDir), ['.archivolt-room', '.trash'])
})

test('if one file cannot be moved, all are moved back and the caller is told to retry', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'v1.en.vtt', 'v1.mp4')
  // A folder occupies the target of the second file: its move fails after the first one has succeeded.
  await mkdir(join(library.paths.trashOf('job'), 'UC1', 'v1.mp4', 'inner'), { recursive: true })

  await assert.rejects(library.trash('job', { channelId: 'UC1', videoId: 'v1' }), { code: 'unavailable' })

  assert.deepEqual(await library.names('UC1'), ['v1.en.vtt', 'v1.mp4'])
  assert.equal(await readFile(library.paths.pathOf('UC1', 'v1'), 'utf8'), 'v1.mp4')
})

test('of videos of several channels none is moved if the folder of one cannot be used', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'v1.mp4', 'v2.mp4')
  await writeFile(join(library.paths.mediaDir, 'UC2'), 'a file in place of the folder')
  const videos = ['UC1', 'UC2'].map((channelId) => ({ channelId, videoId: 'v1' }))

  await assert.rejects(library.trash('job', { videos }), { code: 'unavailable', message: /a file is in its place/ })

  assert.deepEqual(await library.names('UC1'), ['v1.mp4', 'v2.mp4'])
})

test('of videos of several channels only their own files are moved', async (t) => {
  const library = await aLibrary(t)
  for (const channelId of ['UC1', 'UC2']) await library.put(channelId, 'v1.mp4', 'v2.mp4')

  await library.trash('job', {
    videos: [
      { channelId: 'UC1', videoId: 'v1' },
      { channelId: 'UC2', videoId: 'v2' },
    ],
  })

  assert.deepEqual([await library.names('UC1'), await library.names('UC2')], [['v2.mp4'], ['v1.mp4']])
})

test('a restore never overwrites a file that has arrived meanwhile', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'v1.mp4', 'v2.mp4')
  await library.trash('job', { channelFolder: 'UC1' })
  await mkdir(join(library.paths.mediaDir, 'UC1'))
  await writeFile(library.paths.pathOf('UC1', 'v1'), 'newer')

  await library.putBack('job')

  assert.equal(await readFile(library.paths.pathOf('UC1', 'v1'), 'utf8'), 'newer')
  assert.deepEqual(await library.names('UC1'), ['v1.mp4', 'v2.mp4'])
})

test('on a disk without space even for a folder, reserved space makes it possible to remove files', async (t) => {
  const disk = await smallExt4(t)
  if (!disk) return
  const library = await aLibrary(t, disk)
  await library.put('UC1', 'v1.mp4', 'v2.mp4')
  await library.reserveRoom()
  await fillUp(join(disk, 'filler'))

  await library.trash('job1', { channelId: 'UC1', videoId: 'v1' })
  await library.emptyTrash('job1')

  assert.deepEqual(await library.names('UC1'), ['v2.mp4'])
})

/**
 * A file system that needs blocks for its folders.
 * @returns undefined if this user may not mount one: the test is skipped with the reason
 */
async function smallExt4(t: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'av-ext4-'))
  const [image, mounted] = [join(folder, 'image'), join(folder, 'mounted')]
  lastFirst(t).after(() => rm(folder, { recursive: true, force: true }))
  try {
    await mkdir(mounted)
    await writeFile(image, '')
    await truncate(image, 8 << 20)
    await run('mkfs.ext4', ['-q', '-m', '0', image], {
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
    })
    await run('mount', ['-o', 'loop', image, mounted])
  } catch (error) {
    t.skip(`a small file system cannot be mounted: ${(error as Error).message.split('\n')[0]}`)
    return undefined
  }
  lastFirst(t).after(() => run('umount', ['-l', mounted]).then(() => undefined))
  return mounted
}

/** Fills it until neither a byte nor a folder fits. */
async function fillUp(place: string): Promise<void> {
  const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOSPC'
  const file = await open(place, 'w')
  for (let wasTaken = true; wasTaken; )
    wasTaken = await file
      .write(Buffer.alloc(1 << 16))
      .then(() => file.sync())
      .then(
        () => true,
        (error) => (assert.ok(isFull(error)), false),
      )
  await file.close().catch((error) => assert.ok(isFull(error)))
  for (let at = 0, wasTaken = true; wasTaken; at++)
    wasTaken = await mkdir(`${place}-${at}`).then(
      () => true,
      (error) => (assert.ok(isFull(error)), false),
    )
}

test('the free space on the disk is returned in bytes', async (t) => {
  const { free, total } = await (await aLibrary(t)).space()

  assert.ok(free > 0 && total >= free)
})

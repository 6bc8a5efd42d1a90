/** The library on disk: adopting, trashing, putting back, also after an interruption. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openLibrary } from '../../../plugins/media/library.ts'
import { openPaths } from '../../../plugins/media/paths.ts'

async function aLibrary(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'library-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
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

  await library.adopt('UC1', 'v1', { mediaPath: join(staging, 'v1.mp4'), subtitles: [{ lang: 'en', path: join(staging, 'v1.en.vtt') }] })

  assert.deepEqual(await library.names('UC1'), ['v1.en.vtt', 'v1.mp4'])
  assert.deepEqual(await readdir(staging), [])
})

test('adopting goes on where an interruption left it, and replaces what was there', async (t) => {
  const library = await aLibrary(t)
  const staging = await library.staging('v1')
  await library.put('UC1', 'v1.mp4', 'v1.en.vtt')
  await writeFile(join(staging, 'v1.mp4'), 'new film')
  const files = { mediaPath: join(staging, 'v1.mp4'), subtitles: [{ lang: 'en', path: join(staging, 'v1.en.vtt') }] }

  await library.adopt('UC1', 'v1', files)
  await library.adopt('UC1', 'v1', files)

  assert.equal(await readFile(library.paths.pathOf('UC1', 'v1'), 'utf8'), 'new film')
})

test('the film comes before its subtitles: cut off in between, no subtitles lie there without a film', async (t) => {
  const library = await aLibrary(t)
  const staging = await library.staging('v1')
  await writeFile(join(staging, 'v1.en.vtt'), 'words')

  await assert.rejects(library.adopt('UC1', 'v1', { mediaPath: join(staging, 'v1.mp4'), subtitles: [{ lang: 'en', path: join(staging, 'v1.en.vtt') }] }), { code: 'unprocessable' })

  assert.deepEqual(await library.names('UC1'), [])
})

test('a file that is nowhere, or lies outside staging, is not adopted', async (t) => {
  const library = await aLibrary(t)
  const staging = await library.staging('v1')
  const outside = join(library.paths.mediaDir, '..', 'secret.mp4')
  await writeFile(outside, 'secret')

  await assert.rejects(library.adopt('UC1', 'v1', { mediaPath: join(staging, 'v1.mp4'), subtitles: [] }), { code: 'unprocessable' })
  await assert.rejects(library.adopt('UC1', 'v1', { mediaPath: join(staging, '..', '..', '..', 'secret.mp4'), subtitles: [] }), /only staged files/)
})

test('trashing a video takes its files and no other video that begins alike', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'v1.mp4', 'v1.en.vtt', 'v1x.mp4', 'other.mp4')

  await library.trash('job', { channelId: 'UC1', videoId: 'v1' })

  assert.deepEqual(await library.names('UC1'), ['other.mp4', 'v1x.mp4'])
  await library.emptyTrash('job')
  assert.deepEqual(await readdir(library.paths.trashDir), [])
})

test('trashing goes on after an interruption, also where files have come meanwhile', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'a.mp4')
  await library.trash('job', { channelFolder: 'UC1' })
  await library.put('UC1', 'b.mp4')

  await library.trash('job', { channelFolder: 'UC1' })
  await library.trash('job', { channelFolder: 'UC1' })

  assert.deepEqual((await readdir(join(library.paths.trashOf('job'), 'UC1'))).sort(), ['a.mp4', 'b.mp4'])
  assert.ok(!(await readdir(library.paths.mediaDir)).includes('UC1'))
})

test('files that are not there are no error', async (t) => {
  const library = await aLibrary(t)

  await library.trash('job', { channelId: 'UC1', videoId: 'v1' })
  await library.trash('job', { channelFolder: 'UC2' })
  await library.emptyTrash('never')

  assert.deepEqual(await readdir(library.paths.mediaDir), ['.trash'])
})

test('where one file cannot be moved, all are back in their place and the caller is told to try again', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'v1.en.vtt', 'v1.mp4')
  // A folder stands where the second file would go: its move fails after the first one's went through.
  await mkdir(join(library.paths.trashOf('job'), 'UC1', 'v1.mp4', 'inner'), { recursive: true })

  await assert.rejects(library.trash('job', { channelId: 'UC1', videoId: 'v1' }), { code: 'unavailable' })

  assert.deepEqual(await library.names('UC1'), ['v1.en.vtt', 'v1.mp4'])
  assert.equal(await readFile(library.paths.pathOf('UC1', 'v1'), 'utf8'), 'v1.mp4')
})

test('putting back never overwrites a file that has come meanwhile', async (t) => {
  const library = await aLibrary(t)
  await library.put('UC1', 'v1.mp4', 'v2.mp4')
  await library.trash('job', { channelFolder: 'UC1' })
  await mkdir(join(library.paths.mediaDir, 'UC1'))
  await writeFile(library.paths.pathOf('UC1', 'v1'), 'newer')

  await library.putBack('job')

  assert.equal(await readFile(library.paths.pathOf('UC1', 'v1'), 'utf8'), 'newer')
  assert.deepEqual(await library.names('UC1'), ['v1.mp4', 'v2.mp4'])
})

test('the room on the disk is told in bytes', async (t) => {
  const { free, total } = await (await aLibrary(t)).space()

  assert.ok(free > 0 && total >= free)
})

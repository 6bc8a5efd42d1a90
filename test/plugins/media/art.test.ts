/** Pictures: any format becomes a JPEG in two sizes; invalid, too large or foreign ones are refused. */
import assert from 'node:assert/strict'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openLog } from '../../../core/log.ts'
import type { App } from '../../../plugins/media/app.ts'
import { openArt } from '../../../plugins/media/art.ts'
import { openPaths, type Variant, variantPath } from '../../../plugins/media/paths.ts'
import { jpegSize } from '../../../plugins/media/programs.ts'
import { fetchDirectly } from '../../../plugins/platform/fetch-picture.ts'
import { makePicture } from '../../support/ffmpeg.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { smallDisk } from '../../support/small-disk.ts'

async function anArtFolder(
  t: TestContext,
  isArtUrl: (url: string) => boolean = () => true,
  cacheDir?: string,
  ffmpeg = 'ffmpeg',
) {
  const folder = await temporaryFolder(t)
  const paths = openPaths(join(folder, 'media'), cacheDir ?? join(folder, 'cache'))
  const settings = { ffmpeg } as App['settings']
  const platform = { isArtUrl, fetchPicture: fetchDirectly } as App['platform']
  const app = { settings, platform, log: openLog('silent'), hook: () => [] }
  return { folder, paths, ...openArt(app, paths, async () => undefined) }
}

async function aPicture(folder: string, name: string): Promise<string> {
  const path = join(folder, name)
  await makePicture(path, '800x600')
  return path
}

async function aServer(
  t: TestContext,
  answer: (path: string) => { status?: number; body?: Buffer | string; headers?: Record<string, string> },
) {
  const server = createServer((request, response) => {
    const { status = 200, body = '', headers = {} } = answer(request.url ?? '')
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function all(ids: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const id of ids) found.push(id)
  return found
}

const fileNumbers = (...paths: string[]) => Promise.all(paths.map(async (path) => (await stat(path)).ino))

/** The size of a JPEG, and of nothing else. */
const sizeOf = (path: string) => jpegSize('ffprobe', path)

test('a picture of another format is stored as JPEG, in full size and narrower, but never enlarged', async (t) => {
  const art = await anArtFolder(t)

  for (const [kind, name] of [
    ['video', 'a.png'],
    ['channel_thumb', 'a.webp'],
    ['playlist', 'a.gif'],
  ] as const) {
    await art.keepArt(kind, 'X1', await aPicture(art.folder, name))

    const path = art.paths.artOf(kind, 'X1')
    assert.deepEqual(await sizeOf(path), { width: 800, height: 600 })
    const sizes: Array<[Variant, number, number]> = [['small', 320, 240]]
    if (kind !== 'channel_thumb') sizes.push(['medium', 640, 480], ['large', 800, 600])
    for (const [variant, width, height] of sizes)
      assert.deepEqual(await sizeOf(variantPath(path, variant)), { width, height }, variant)
    assert.equal(await art.hasArt(kind, 'X1'), true)
  }
  assert.deepEqual(await readdir(art.paths.incomingDir), [])
})

test('a picture that is there already is not written again; a size that is lost or damaged is', async (t) => {
  const art = await anArtFolder(t)
  const picture = await aPicture(art.folder, 'a.png')
  await art.keepArt('video', 'v1', picture)
  const full = art.paths.artOf('video', 'v1')
  const [small, medium, large] = (['small', 'medium', 'large'] as const).map((variant) => variantPath(full, variant))
  const [before, written] = [await readFile(medium!), await fileNumbers(full, small!)]
  await rm(large!)
  await writeFile(medium!, 'damaged')

  await art.keepArt('video', 'v1', picture)

  assert.deepEqual(await fileNumbers(full, small!), written)
  assert.deepEqual(await readFile(medium!), before)
  assert.deepEqual(await sizeOf(large!), { width: 800, height: 600 })
})

test('an invalid picture is refused and leaves the existing one', async (t) => {
  const art = await anArtFolder(t)
  await art.keepArt('video', 'v1', await aPicture(art.folder, 'good.png'))
  const before = await readFile(art.paths.artOf('video', 'v1'))
  const hostile = join(art.folder, 'list.jpg')

  for (const content of ['', 'text', `#EXTM3U\n#EXTINF:1,\nfile://${join(art.folder, 'good.png')}\n`, '<svg/>']) {
    await writeFile(hostile, content)
    await assert.rejects(art.keepArt('video', 'v1', hostile), { code: 'unprocessable' })
  }

  assert.deepEqual(await readFile(art.paths.artOf('video', 'v1')), before)
  assert.deepEqual(await readdir(art.paths.incomingDir), [])
})

test('art is fetched only from permitted hosts', async (t) => {
  const art = await anArtFolder(t, (url) => !url.includes('elsewhere'))
  const picture = await readFile(await aPicture(art.folder, 'a.jpg'))
  const base = await aServer(t, () => ({ body: picture }))

  assert.equal(await art.fetchArt('video', 'v1', `${base}/a.jpg`), true)
  assert.equal(await art.fetchArt('video', 'v2', `${base}/elsewhere.jpg`), false)

  assert.deepEqual(await all(art.artIds('video')), ['v1'])
})

test('a redirect, an error page, an invalid picture and one of more than 10 MB count as unavailable', async (t) => {
  const art = await anArtFolder(t)
  const base = await aServer(t, (path) => {
    if (path === '/moved') return { status: 302, headers: { location: '/page' } }
    if (path === '/missing') return { status: 404 }
    return path === '/large' ? { body: Buffer.alloc(10 * 1024 * 1024 + 1) } : { body: '<html>' }
  })

  for (const path of ['/moved', '/missing', '/page', '/large'])
    assert.equal(await art.fetchArt('playlist', 'PL1', base + path), false, path)
  assert.equal(await art.fetchArt('playlist', 'PL1', 'http://127.0.0.1:1/refused'), false)

  assert.equal(await art.hasArt('playlist', 'PL1'), false)
  assert.deepEqual(await readdir(art.paths.incomingDir), [])
})

test('several pictures are converted by one process, and none if one of them is not available', async (t) => {
  const folder = await temporaryFolder(t)
  const [starts, counting] = [join(folder, 'starts'), join(folder, 'ffmpeg')]
  await writeFile(counting, `#!/bin/sh\necho started >> '${starts}'\nexec ffmpeg "$@"\n`, { mode: 0o755 })
  const art = await anArtFolder(t, undefined, undefined, counting)
  const names = ['a.png', 'b.webp', 'c.jpg']
  for (const [at, name] of names.entries()) await makePicture(join(folder, name), `${160 * (at + 1)}x90`)
  const bodies = new Map<string, Buffer>(
    await Promise.all(names.map(async (name) => [`/${name}`, await readFile(join(folder, name))] as const)),
  )
  const base = await aServer(t, (path) => ({ body: bodies.get(path) ?? '', status: bodies.has(path) ? 200 : 404 }))
  const wanted = names.map((name) => ({ url: `${base}/${name}`, to: join(folder, `${name}.made.jpg`) }))

  const isMade = await art.fetchJpegs('v1', wanted)
  const isPartMade = await art.fetchJpegs('v1', [...wanted, { url: `${base}/d.jpg`, to: join(folder, 'd.jpg') }])

  assert.deepEqual([isMade, isPartMade, await readFile(starts, 'utf8')], [true, false, 'started\n'])
  assert.deepEqual(
    (await Promise.all(wanted.map(({ to }) => sizeOf(to)))).map(({ width }) => width),
    [160, 320, 480],
  )
  assert.deepEqual(await readdir(art.paths.incomingDir), [])
})

test('a fetch ends with its signal', async (t) => {
  const art = await anArtFolder(t)
  const stop = new AbortController()
  const base = await aServer(t, () => {
    stop.abort(new Error('enough'))
    return {}
  })

  await assert.rejects(art.fetchArt('video', 'v1', base, stop.signal), /enough/)
})

test('ids are listed by kind, and a removal deletes all sizes', async (t) => {
  const art = await anArtFolder(t)
  const picture = await aPicture(art.folder, 'a.jpg')
  for (const kind of ['channel_thumb', 'channel_banner'] as const) await art.keepArt(kind, 'UC1', picture)
  await art.keepArt('channel_thumb', 'UC2', picture)

  await art.removeArt('channel_thumb', 'UC2')

  assert.deepEqual(await all(art.artIds('channel_thumb')), ['UC1'])
  assert.deepEqual((await readdir(join(art.paths.cacheDir, 'channels'))).sort(), [
    'UC1_banner.jpg',
    'UC1_banner.small.jpg',
    'UC1_thumb.jpg',
    'UC1_thumb.small.jpg',
  ])

  await art.keepArt('video', 'v1', picture)
  await art.removeArt('video', 'v1')
  assert.deepEqual(await readdir(join(art.paths.cacheDir, 'videos', 'v')), [])
})

test('on a full disk a picture is not bad, and the platform does not lack it', async (t) => {
  const disk = await smallDisk(t, 16 << 10)
  if (!disk) return
  const art = await anArtFolder(t, () => true, disk.path)
  const path = await aPicture(art.folder, 'a.png')
  const url = await aServer(t, () => ({ body: Buffer.alloc(1 << 20) }))

  await assert.rejects(art.keepArt('video', 'X1', path), {
    code: 'unavailable',
    message: 'A disk of the server is full: free some space on it',
  })
  await assert.rejects(art.fetchArt('video', 'X1', `${url}/large`), { code: 'ENOSPC' })

  assert.deepEqual([await art.hasArt('video', 'X1'), await readdir(art.paths.incomingDir)], [false, []])
})

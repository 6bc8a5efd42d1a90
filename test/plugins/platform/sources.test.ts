/** Additional platforms from plugins: only their own ids are sent to them, and their answers are checked. */
import assert from 'node:assert/strict'
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { errors, type WholeApp } from 'archivolt'
import { testClock } from 'archivolt/testing'
import { openLookUps } from '../../../plugins/platform/look-ups.ts'
import { checkSources, type Source } from '../../../plugins/platform/source.ts'
import { withSources } from '../../../plugins/platform/sources.ts'
import type { Platform } from '../../../plugins/platform/types.ts'
import { openLanes } from '../../../plugins/plugin-kit/lanes.ts'
import '../../support/ffmpeg.ts'
import { FILM_FILE } from '../../support/film.ts'
import { temporaryFolder } from '../../support/folder.ts'

const ID = 'quay-film-0001'
const FILM = {
  ...{ id: ID, title: 'Fog', channelId: 'quay-channel-1', channelName: 'The quay' },
  ...{ published: '2024-03-01', durationSeconds: 1 },
}
const asked = { asker: 'test' }

const aSource = (more: Partial<Source> = {}): Source => ({
  name: 'Quay',
  prefix: 'quay-',
  target: (word) => (word.startsWith('quay-') ? { type: 'video', id: word } : undefined),
  watchUrl: (id) => `https://quay.example/${id}`,
  video: async () => FILM,
  channel: async (id) => ({ id, name: 'The quay' }),
  list: async () => [],
  download: async () => undefined,
  ...more,
})

const FIRST = { platform_name: 'First', platform_url: 'https://first.example/' }

/** The first platform answers with its name. */
function platformWith(more: Partial<Source> = {}, fetch?: WholeApp['fetch']): Platform {
  const clock = testClock()
  const first = {
    targets: () => [{ type: 'video', id: 'first' }],
    targetsIn: () => [],
    video: async (id: string) => ({ id, title: 'of the first' }),
    watchUrl: (id: string) => `https://first.example/${id}`,
    original: () => FIRST,
    isArtUrl: () => false,
    fetchPicture: () => Promise.reject(new Error('of the first')),
  } as unknown as Platform
  const settings = { dataDir: process.cwd(), ffprobe: 'ffprobe' }
  const lanes = openLanes({ clock, lanes: ['platform', 'lookup', 'download'] })
  return withSources(first, {
    clock,
    lanes,
    lookUps: openLookUps(clock),
    settings,
    sources: () => [aSource(more)],
    fetch,
  })
}

test('only ids with its prefix and more than eleven characters are sent to it', async () => {
  const platform = platformWith()

  assert.equal((await platform.video(ID, asked)).title, 'Fog')
  for (const other of ['quay-abcdef', 'dQw4w9WgXcQ', 'harbour-film-1'])
    assert.equal((await platform.video(other, asked)).title, 'of the first', other)
  assert.equal(platform.watchUrl(ID), `https://quay.example/${ID}`)
  assert.deepEqual(platform.targets(`${ID} other`), [
    { type: 'video', id: ID },
    { type: 'video', id: 'first' },
  ])
})

test('one that fails to parse a word blocks nobody, and claims no id of others', () => {
  const broken = platformWith({
    target() {
      throw new Error('out of tea')
    },
  })
  const greedy = platformWith({ target: () => ({ type: 'video', id: 'dQw4w9WgXcQ' }) })

  for (const platform of [broken, greedy]) assert.deepEqual(platform.targets('word'), [{ type: 'video', id: 'first' }])
})

const WRONG: Array<[what: string, said: object, message: RegExp]> = [
  ['another video', { ...FILM, id: 'quay-film-0002' }, /was asked for quay-film-0001 but returned quay-film-0002/],
  ['a channel that is not its own', { ...FILM, channelId: '../../etc' }, /must begin with quay-/],
  ['no title', { ...FILM, title: undefined }, /returned an invalid value/],
  ['a day that is none', { ...FILM, published: 'yesterday' }, /returned an invalid value: published must be/],
  ['a title without end', { ...FILM, title: 'x'.repeat(5000) }, /returned an invalid value: title must have at most/],
]

for (const [what, said, message] of WRONG) {
  test(`an answer with ${what} is a failure, not a video`, async () => {
    const platform = platformWith({ video: async () => said as typeof FILM })

    await assert.rejects(platform.video(ID, asked), { name: 'PlatformFailure', failure: 'unknown', message })
  })
}

test('what it no longer has is gone; any other error may be retried', async () => {
  const throwing = (error: Error) => platformWith({ video: () => Promise.reject(error) }).video(ID, asked)

  await assert.rejects(throwing(errors.notFound('film')), { failure: 'gone' })
  await assert.rejects(throwing(new Error('out of tea')), { failure: 'unknown', message: 'Quay: out of tea' })
})

test('a missing, truncated or invalid film is a failure, and its remains are deleted', async (t) => {
  const folder = await temporaryFolder(t)
  const film = join(folder, `${ID}.mp4`)
  const download = (put: () => Promise<void>, durationSeconds = 1) =>
    platformWith({
      video: async () => ({ ...FILM, durationSeconds }),
      download: async () => (await put(), undefined),
    }).download(ID, { folder }, asked)
  const whole = async () => copyFile(FILM_FILE, film)

  await assert.rejects(
    download(async () => undefined),
    { message: /did not write quay-film-0001.mp4 to the folder/ },
  )
  await assert.rejects(download(whole, 90), { message: /not complete: the \w+ ends after 1\.\d of 90 s/ })
  await assert.rejects(
    download(() => writeFile(film, 'no film')),
    { failure: 'unknown' },
  )
  const { receipt, mediaPath } = await download(whole)
  assert.deepEqual([mediaPath, receipt.downloader, receipt.got.height], [film, 'Quay', 180])
  assert.deepEqual(await readdir(folder), [`${ID}.mp4`])
})

test('a prefix that other ids may have, too, stops the start', () => {
  assert.throws(() => checkSources([aSource({ prefix: 'UC' })]), { message: /must be lower-case letters/ })
  assert.throws(() => checkSources([aSource(), aSource()]), { message: /Two platforms have ids that begin with quay-/ })
})

test('the link to its page is the address that it returns, if it is http or https', () => {
  const page = (more: Partial<Source> = {}, id = ID) => platformWith(more).original('video', id)?.platform_url
  const thrown = () => {
    throw new Error('out of tea')
  }

  assert.deepEqual(platformWith().original('video', ID), {
    platform_name: 'Quay',
    platform_url: `https://quay.example/${ID}`,
  })
  assert.equal(page({}, 'v1'), FIRST.platform_url)
  for (const watchUrl of [
    () => 'javascript:alert(1)',
    () => '/etc/passwd',
    thrown,
    async () => 'https://quay.example/',
  ])
    assert.equal(page({ watchUrl: watchUrl as Source['watchUrl'] }), undefined)
  assert.equal(platformWith().original('channel', 'quay-channel-1'), undefined)
  assert.equal(
    platformWith({ channelUrl: (id) => `https://quay.example/c/${id}` }).original('channel', 'quay-channel-1')
      ?.platform_url,
    'https://quay.example/c/quay-channel-1',
  )
})

test('its pictures are fetched like all requests of plugins, and an unavailable picture is no failure of the server', async (t) => {
  const to = join(await temporaryFolder(t), 'picture')
  const asked: string[] = []
  const platform = platformWith({}, async (url) => {
    asked.push(url)
    if (url.endsWith('/away')) throw errors.unavailable('no answer')
    return new Response('a picture', { status: url.endsWith('/none') ? 404 : 200 })
  })
  const fetched = (url: string, of = ID) => platform.fetchPicture(url, to, new AbortController().signal, of)

  await fetched('https://quay.example/picture')
  assert.equal(await readFile(to, 'utf8'), 'a picture')
  await assert.rejects(fetched('https://quay.example/none'), { message: 'the answer has status 404' })
  await assert.rejects(fetched('https://quay.example/away'), (error: Error) => !('code' in error))
  await assert.rejects(fetched('https://first.example/picture', 'v1'), { message: 'of the first' })
  assert.equal(asked.length, 3)
  assert.deepEqual(
    ['https://a.example/b', 'file:///etc/passwd', 'x'].map((url) => platform.isArtUrl(url, ID)),
    [true, false, false],
  )
  assert.equal(platform.isArtUrl('https://a.example/b'), false)
})

test('a picture with another kind of address is refused', async () => {
  const wrong = { ...FILM, thumbnail: 'file:///etc/passwd' }

  await assert.rejects(platformWith({ video: async () => wrong }).video(ID, asked), { message: /thumbnail must be/ })
  const { thumbnails } = await platformWith({
    video: async () => ({ ...FILM, thumbnail: 'https://quay.example/1.jpg' }),
  }).video(ID, asked)
  assert.deepEqual(thumbnails, [{ url: 'https://quay.example/1.jpg' }])
})

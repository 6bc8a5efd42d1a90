/** The preview of a link before anything is queued, with the real yt-dlp: name, picture, number, size. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addLargeChannel, CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'

const look = (q: string) => `/api/resolve/look/?q=${encodeURIComponent(q)}`
const JPEG = /^data:image\/jpeg;base64,\/9j\//

test('a video, a playlist and a channel are described by name, picture, number, length and size', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings })

  const video = (await app.as('admin').get(look(VIDEO.breakwater))).body
  const playlist = (await app.as('admin').get(look(`https://www.youtube.com/playlist?list=${PLAYLIST.coast}`))).body
  const channel = (await app.as('admin').get(look(CHANNEL.harbour))).body

  for (const { picture } of [video, playlist, channel]) assert.match(picture, JPEG)
  const { picture: _, ...film } = video
  assert.deepEqual(film, {
    type: 'video',
    id: VIDEO.breakwater,
    title: 'Rebuilding the breakwater, stone by stone',
    channel_name: video.channel_name,
    count: 1,
    duration: 12,
    bytes: 12 * 312_500,
  })
  assert.deepEqual([playlist.type, playlist.id, playlist.count], ['playlist', PLAYLIST.coast, 5])
  assert.ok(playlist.title && playlist.duration > 12 && playlist.bytes === playlist.duration * 312_500)
  assert.deepEqual([channel.type, channel.id, channel.count], ['channel', CHANNEL.harbour, 12])
  assert.ok(channel.title && channel.duration > 60)
})

test('the size is estimated from archived videos, by the second', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  await app.given(
    aChannel({ id: 'UC1' }),
    ...Array.from({ length: 5 }, (_, at) =>
      aVideo({ id: `v${at}`, channelId: 'UC1', media_size: 1_000_000, player: { duration: 10 } }),
    ),
  )

  const { body } = await app.as('admin').get(look(VIDEO.breakwater))

  assert.deepEqual([body.duration, body.bytes], [12, 1_200_000])
})

test('it requires the right to download, is rate-limited like the search of channels, and is requested once', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  const asked = () => platform.requests.length

  assert.equal((await app.as('user').get(look(VIDEO.fog))).status, 403)
  for (const wrong of ['', '   ', 'no link at all', `${VIDEO.fog} ${VIDEO.ferry}`]) {
    const { status, body } = await app.as('admin').get(look(wrong))
    assert.deepEqual([status, body.code], [400, 'bad_request'], wrong)
  }
  assert.equal(asked(), 0, 'nobody was asked')

  await app.as('admin').post('/api/user/2/', { may_download: true })
  assert.equal((await app.as('user').get(look(VIDEO.fog))).status, 200)
  const once = asked()
  assert.equal((await app.as('admin').get(look(VIDEO.fog))).body.title, 'Fog signals explained')
  assert.equal(asked(), once, 'what was looked at is known for a while')

  const gone = await app.as('admin').get(look('goneDelete1'))
  assert.deepEqual([gone.status, gone.body.code], [422, 'unprocessable'])
  const replies = []
  for (let number = 0; number < 11; number++) replies.push(await app.as('user').get(look(`@nobody-${number}`)))
  assert.deepEqual([replies[0]!.status, replies.at(-1)!.status], [422, 429])
  assert.ok(Number(replies.at(-1)!.headers.get('retry-after')) > 0)
})

test('requests may use half of the videos that an hour allows, and none while everything is paused', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  await app.as('admin').post('/api/user/2/', { may_download: true })
  await app.as('admin').post('/api/config/', { platform: { videos_per_hour: 10 } })
  for (const id of Object.values(VIDEO).slice(0, 5)) assert.equal((await app.as('admin').get(look(id))).status, 200, id)
  const before = platform.requests.length

  const spent = await app.as('user').get(look(VIDEO.eclipse))
  await app.as('admin').post('/api/platform/', { command: 'pause' })
  const paused = await app.as('user').get(look(PLAYLIST.coast))

  assert.deepEqual([spent.status, paused.status, platform.requests.length], [503, 503, before])
  assert.match(spent.body.detail, /hour/)
})

test('a long list is read partly, and the reply says that there is more', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  const channelId = addLargeChannel(platform.catalogue, { videos: 5000, hasPictures: false })
  const listed = Object.values(VIDEO)
  const id = `PL${'long'.repeat(8)}`
  platform.catalogue.put('playlists', id, {
    ...{
      channelId: CHANNEL.harbour,
      title: 'All of it',
      description: '',
      availability: 'public',
      modified: '20240610',
    },
    videoIds: Array.from({ length: 900 }, (_, at) => listed[at % listed.length]),
  })

  const channel = (await app.as('admin').get(look(channelId))).body
  const before = platform.requests.length
  const playlist = (await app.as('admin').get(look(id))).body
  const pages = platform.requests.slice(before).filter(({ path }: { path: string }) => /browse|playlist/.test(path))

  assert.deepEqual([channel.count, channel.is_more], [30, true])
  assert.deepEqual([playlist.count, playlist.is_more], [900, undefined])
  assert.ok(playlist.duration > 900 * 3 && playlist.bytes === playlist.duration * 312_500)
  assert.ok(pages.length > 0 && pages.length <= 3, `${pages.length} requests`)
})

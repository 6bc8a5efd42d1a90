/** Removing a video or a channel removes all of it or nothing, even if it is interrupted. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aChannel, aVideo } from 'archivolt/testing'
import { temporaryFolder } from '../../support/folder.ts'
import { anIngest, type VideoApp, videoApp } from './scripted-platform.ts'

async function putFiles(app: VideoApp, channelId: string, ...names: string[]): Promise<void> {
  await mkdir(app.inLibrary(channelId), { recursive: true })
  for (const name of names) await writeFile(app.inLibrary(channelId, name), name)
}

const others = (removed: string[], fails: { times: number } = { times: 0 }) =>
  definePlugin({
    name: 'others',
    needs: ['video'],
    implements: {
      'video.remove':
        () =>
        async ({ id, channelId }) => {
          if (fails.times-- > 0) throw new Error('others cannot now')
          removed.push(`${channelId}/${id}`)
        },
    },
  })

test('removing a video removes its files, subtitles, comments and picture, and other accounts’ data about it', async (t) => {
  const removed: string[] = []
  const app = await videoApp(t, { plugins: [others(removed)] })
  await app.given(aVideo({ id: 'v2', channelId: 'UC1' }))
  await app.app.videos.ingest(await anIngest(app.app, 'v1', 'UC1'))
  const picture = app.app.media.artPathOf('video', 'v1')
  await mkdir(dirname(picture), { recursive: true })
  await writeFile(picture, 'a picture')
  await app.app.videos.setComments('v1', [])
  await putFiles(app, 'UC1', 'v2.mp4')

  const reply = await app.as('admin').delete('/api/video/v1/')

  assert.deepEqual([reply.status, reply.body], [200, { video: 'v1', state: 'delete' }])
  assert.deepEqual(
    [await app.ids('video'), await app.ids('subtitle'), await app.ids('comment'), await app.ids('channel')],
    [['v2'], [], [], ['UC1']],
  )
  assert.deepEqual(await readdir(app.inLibrary('UC1')), ['v2.mp4'])
  assert.deepEqual(await readdir(app.inLibrary('.trash')), [])
  assert.deepEqual(removed, ['UC1/v1'])
  assert.ok(!existsSync(picture))
  assert.equal((await app.as('user').get('/cache/videos/v/v1.jpg')).status, 404)
})

test('comments that arrive while their video is removed are not left behind', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel(), aVideo())
  const { comments } = app.app.videos
  const remove = comments.remove
  let coming: Promise<unknown> | undefined
  // Between the comments and the document, when the video still exists.
  comments.remove = async (...args) => {
    const removed = await remove(...args)
    coming = app.app.videos.setComments('v1', []).catch((error: unknown) => error)
    return removed
  }

  await app.app.videos.remove('v1')

  assert.equal(((await coming) as { code: string }).code, 'not_found')
  assert.deepEqual([await app.ids('video'), await app.ids('comment')], [[], []])
})

test('only an admin removes', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel(), aVideo())

  assert.equal((await app.as('user').delete('/api/video/v1/')).status, 403)
  assert.equal((await app.as('user').delete('/api/channel/UC1/')).status, 403)

  assert.deepEqual(await app.ids('video'), ['v1'])
})

test('removing a channel removes its videos and leaves other channels alone', async (t) => {
  const removed: string[] = []
  const app = await videoApp(t, { plugins: [others(removed)] })
  await app.given(
    aChannel({ id: 'UC1' }),
    aChannel({ id: 'UC2' }),
    aVideo({ id: 'v1', channelId: 'UC1' }),
    aVideo({ id: 'v2', channelId: 'UC2' }),
    aVideo({ id: 'v3', channelId: 'UC1' }),
  )
  await putFiles(app, 'UC1', 'v1.mp4', 'v3.mp4', 'stray.txt')
  await putFiles(app, 'UC2', 'v2.mp4')

  const reply = await app.as('admin').delete('/api/channel/UC1/')

  assert.deepEqual([reply.status, reply.body], [200, { channel: 'UC1', state: 'delete' }])
  assert.deepEqual([await app.ids('video'), await app.ids('channel')], [['v2'], ['UC2']])
  assert.deepEqual((await readdir(app.inLibrary())).sort(), [
    '.archivolt-library',
    '.archivolt-lock',
    '.archivolt-room',
    '.trash',
    'UC2',
  ])
  assert.deepEqual(removed.sort(), ['UC1/v1', 'UC1/v3'])
})

test('a channel that is removed while one of its videos is added is removed with that video', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const ingest = await anIngest(app.app, 'v2', 'UC1')
  const { media, videos } = app.app
  const adopt = media.adopt
  let removing: Promise<{ status: number }> | undefined
  t.mock.method(media, 'adopt', async (...given: Parameters<typeof adopt>) => {
    removing = app.as('admin').delete('/api/channel/UC1/')
    for (let times = 0; times < 20; times++) await app.clock.advance(0)
    return adopt(...given)
  })

  await videos.ingest(ingest)

  assert.equal((await removing)?.status, 200)
  assert.deepEqual(
    [await app.ids('video'), await app.ids('channel'), (await readdir(app.inLibrary())).sort()],
    [[], [], ['.archivolt-library', '.archivolt-lock', '.archivolt-room', '.staging', '.trash']],
  )
})

test('a video that arrives while its channel is removed is added afterwards, with the channel by its name', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1', channel_name: 'Mill' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const ingest = await anIngest(app.app, 'v2', 'UC1')
  const { media, channels, videos } = app.app
  const { trash } = media
  let ingesting: Promise<unknown> | undefined
  const arrived: string[] = []
  t.mock.method(media, 'trash', async (...given: Parameters<typeof trash>) => {
    ingesting = videos.ingest(ingest)
    for (let times = 0; times < 20; times++) await app.clock.advance(0)
    arrived.push(...(await app.ids('video')))
    await trash(...given)
  })

  await channels.remove('UC1')
  await ingesting

  assert.deepEqual(
    [arrived, await app.ids('video'), (await app.doc('channel', 'UC1'))?.channel_name],
    [['v1'], ['v2'], 'Channel UC1'],
  )
  assert.deepEqual((await readdir(app.inLibrary('UC1'))).sort(), ['v2.en.vtt', 'v2.mp4'])
})

test('if a file cannot be moved the answer is 503 and nothing is removed', async (t) => {
  const removed: string[] = []
  const app = await videoApp(t, { plugins: [others(removed)] })
  await app.given(aChannel(), aVideo())
  await putFiles(app, 'UC1', 'v1.mp4')
  await writeFile(app.inLibrary('.trash'), 'a file stands where the trash would be')

  for (const path of ['/api/video/v1/', '/api/channel/UC1/']) {
    const reply = await app.as('admin').delete(path)
    assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'], path)
  }

  assert.deepEqual(
    [await app.ids('video'), await app.ids('channel'), await readdir(app.inLibrary('UC1')), removed],
    [['v1'], ['UC1'], ['v1.mp4'], []],
  )
  await rm(app.inLibrary('.trash'))
  assert.equal((await app.as('admin').delete('/api/channel/UC1/')).status, 200)
})

test('if others fail, the files are moved back and the next attempt succeeds', async (t) => {
  const removed: string[] = []
  const app = await videoApp(t, { plugins: [others(removed, { times: 1 })] })
  await app.given(aChannel(), aVideo())
  await putFiles(app, 'UC1', 'v1.mp4')

  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 500)
  assert.deepEqual([await app.ids('video'), await readdir(app.inLibrary('UC1'))], [['v1'], ['v1.mp4']])

  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
  assert.deepEqual([await app.ids('video'), await readdir(app.inLibrary('UC1'))], [[], []])
})

test('a second removal of the same video waits for the first', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel(), aVideo())
  await putFiles(app, 'UC1', 'v1.mp4')

  const replies = await Promise.all([
    app.as('admin').delete('/api/video/v1/'),
    app.as('admin').delete('/api/video/v1/'),
  ])

  assert.ok(replies.every(({ status }) => status === 200 || status === 404))
  assert.deepEqual(await app.ids('video'), [])
})

test('a removal that a power failure interrupts is finished by the next start', async (t) => {
  const removed: string[] = []
  let isPowered = true
  let reached = (): void => undefined
  let goOn = (): void => undefined
  const isReached = new Promise<void>((done) => (reached = done))
  const mayGoOn = new Promise<void>((done) => (goOn = done))
  const slow = definePlugin({
    name: 'slow',
    needs: ['video'],
    implements: {
      'video.remove':
        () =>
        async ({ id }) => {
          reached()
          if (isPowered) await mayGoOn
          removed.push(id)
        },
    },
  })
  const before = await videoApp(t, { plugins: [slow] })
  await before.given(aChannel(), aVideo())
  await putFiles(before, 'UC1', 'v1.mp4')
  const request = before.as('admin').delete('/api/video/v1/')
  await isReached
  // The disk at this moment is what a power failure leaves: a row that has begun, files in the trash.
  const dataDir = await temporaryFolder(t)
  await cp(before.dataDir, dataDir, { recursive: true })
  isPowered = false

  const after = await videoApp(t, { plugins: [slow], dataDir })
  await after.settled()

  assert.deepEqual([removed, await after.ids('video'), await readdir(after.inLibrary('.trash'))], [['v1'], [], []])
  goOn()
  await request
})

const hearsOfRemovals = (heard: string[]) =>
  definePlugin({
    name: 'listener',
    needs: ['video'],
    on: {
      'video.removed':
        ({ videos }) =>
        async ({ id, channelId, path }) => {
          assert.ok(path === '' || path.endsWith(`/${channelId}/${id}.mp4`), path)
          heard.push(`${channelId}/${id}${(await videos.has(id)) ? ' is there' : ''}`)
        },
    },
  })

test('each removed video is announced after its removal, also with its channel', async (t) => {
  const heard: string[] = []
  const app = await videoApp(t, { plugins: [hearsOfRemovals(heard)] })
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }), aVideo({ id: 'v3' }))

  await app.app.videos.remove('v1')
  await app.settled()
  assert.deepEqual(heard, ['UC1/v1'])
  await app.as('admin').delete('/api/channel/UC1/')
  await app.settled()

  assert.deepEqual(heard.toSorted(), ['UC1/v1', 'UC1/v2', 'UC1/v3'])
})

test('one job announces videos of several channels, each with its channel', async (t) => {
  const heard: string[] = []
  const app = await videoApp(t, { plugins: [hearsOfRemovals(heard)] })
  await app.given(
    ...['UC1', 'UC2', 'UC3'].flatMap((channelId) => [
      aChannel({ id: channelId }),
      aVideo({ id: `v${channelId}`, channelId }),
    ]),
  )

  await app.app.videos.removeMany(['vUC1', 'vUC2', 'vUC3'], { why: 'removed' })
  await app.settled()

  const jobs = app.app.ledger.sql("SELECT 1 FROM jobs WHERE task = 'video.tellRemoved'").all()
  assert.deepEqual([jobs.length, heard.toSorted()], [1, ['UC1/vUC1', 'UC2/vUC2', 'UC3/vUC3']])
})

test('a failed removal announces nothing, although the announcement is on disk before the documents are removed', async (t) => {
  const heard: string[] = []
  const app = await videoApp(t, { plugins: [hearsOfRemovals(heard)] })
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const rows = () => app.app.ledger.sql("SELECT payload FROM jobs WHERE task = 'video.tellRemoved'").all().length
  let before = 0
  app.app.videos.dropAll = async () => {
    before = rows()
    throw new Error('the index cannot now')
  }

  await assert.rejects(app.app.videos.remove('v1'))
  await app.settled()

  assert.deepEqual([before, heard, await app.ids('video')], [1, [], ['v1']])
})

test('after an interrupted removal, the removed videos are announced', async (t) => {
  const heard: string[] = []
  const app = await videoApp(t, { plugins: [hearsOfRemovals(heard)] })
  await app.given(aChannel(), aVideo({ id: 'v1' }))

  await app.app.jobs.start('video.tellRemoved', {
    videos: ['gone', 'v1'].map((id) => ({ id, channelId: 'UC1' })),
  })
  await app.app.jobs.start('video.tellRemoved', { channelId: 'UC1', ids: ['gone before an upgrade', 'v1'] })
  await app.settled()

  assert.deepEqual(heard, ['UC1/gone', 'UC1/gone before an upgrade'])
})

/** A replaced film goes to the bin, and can be exchanged back, on both indexes. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { type TestApp, testApp } from 'archivolt/testing'
import { DAY_MS } from '../../../core/base/clock.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { anIngest } from '../video/scripted-platform.ts'

const [SMALL, LARGE] = [180, 720] as const

/** The result of a download with this height; the film is its own text. */
async function aFilm(app: TestApp, height: number) {
  const input = await anIngest(app.app, 'v1', 'UC1')
  await writeFile(input.downloaded.mediaPath, `a film of ${height}`)
  const streams = [{ ...input.probe.streams[0]!, width: height * 2, height }]
  return { ...input, probe: { ...input.probe, streams, sizeBytes: height, durationSeconds: height / 10 } }
}

const film = (app: TestApp) => readFile(app.app.media.pathOf('UC1', 'v1'), 'utf8')
const entries = async (app: TestApp) => (await app.as('admin').get('/api/bin/')).body.data
const restore = (app: TestApp, body: object) => app.as('admin').post('/api/bin/restore/', body)
const inTrash = async (app: TestApp) =>
  (await readdir(join(app.app.settings.mediaDir, '.trash'), { recursive: true }).catch(() => [])).filter((name) =>
    name.endsWith('.mp4'),
  )
async function shown(app: TestApp) {
  const { height, media_size, player } = await app.doc('video', 'v1')
  return [await film(app), height, media_size, player.duration]
}

for (const { index, skip } of INDEXES) {
  describe(`on ${index}`, { skip }, () => {
    async function exchanged(t: TestContext): Promise<TestApp> {
      const scope = lastFirst(t)
      const app = await testApp(scope, { settings: await indexSettings(scope, index, 'film') })
      await app.app.videos.ingest(await aFilm(app, SMALL))
      await app.app.videos.ingest(await aFilm(app, LARGE))
      await app.settled()
      return app
    }

    test('the earlier film is listed, restored with its part of the document, and replaced again', async (t) => {
      const app = await exchanged(t)
      const [entry, ...others] = await entries(app)
      assert.deepEqual(others, [])
      assert.deepEqual(
        [entry.kind, entry.why, entry.platform_id, entry.media_size, entry.active],
        ['film', 'replaced', 'v1', SMALL, true],
      )
      const large = await shown(app)
      assert.deepEqual(large, [`a film of ${LARGE}`, LARGE, LARGE, LARGE / 10])

      assert.deepEqual((await restore(app, { entries: [entry.id] })).body, { restored: 1, refused: [] })

      assert.deepEqual(await shown(app), [`a film of ${SMALL}`, SMALL, SMALL, SMALL / 10])
      const [newer, ...none] = await entries(app)
      assert.deepEqual([newer.kind, newer.media_size, none], ['film', LARGE, []])
      assert.equal((await restore(app, { removal: newer.removal })).body.restored, 1)
      assert.deepEqual(await shown(app), large)
      assert.equal((await entries(app)).length, 1)
    })

    test('it is deleted after its days or by hand, and its video and picture stay', async (t) => {
      const app = await exchanged(t)
      await app.app.videos.ingest(await aFilm(app, SMALL))
      assert.equal((await inTrash(app)).length, 2)
      const [newest] = await entries(app)

      await app.as('admin').post('/api/bin/empty/', { entries: [newest.id] })
      assert.deepEqual([(await inTrash(app)).length, (await entries(app)).length], [1, 1])
      await app.clock.advance(30 * DAY_MS + 3_600_000)
      await app.settled()

      assert.deepEqual([await inTrash(app), await entries(app)], [[], []])
      assert.equal(await film(app), `a film of ${SMALL}`)
      assert.deepEqual(await app.ids('video'), ['v1'])
    })

    test('it waits for its video, which is removed and restored independently', async (t) => {
      const app = await exchanged(t)
      const [{ id }] = await entries(app)
      await app.as('admin').delete('/api/video/v1/')

      const { status, body } = await restore(app, { entries: [id] })
      assert.deepEqual([status, body.message], [409, 'Its video is not in the archive: restore or add the video first'])

      assert.equal((await restore(app, { all: true })).body.restored, 1)
      assert.equal(await film(app), `a film of ${LARGE}`, 'whoever restores all wants no film exchanged')
      assert.equal((await restore(app, { entries: [id] })).body.restored, 1)
      assert.equal(await film(app), `a film of ${SMALL}`)
    })

    test('an ingest that is interrupted and repeated keeps it once, and one with the same file keeps nothing', async (t) => {
      const app = await exchanged(t)
      const before = await entries(app)
      const again = await aFilm(app, SMALL)
      for (const at of ['video.aside', 'video.adopt', 'video.document'])
        await assert.rejects(
          app.app.videos.ingest(again, async (name, work) => {
            const done = await work()
            if (name === at) throw new Error('the power went')
            return done
          }),
          /the power went/,
        )
      await app.app.videos.ingest(again)
      assert.equal((await entries(app)).length, before.length + 1)

      const mediaPath = app.app.media.pathOf('UC1', 'v1')
      await app.app.videos.ingest({ ...again, downloaded: { ...again.downloaded, mediaPath, subtitles: [] } })
      assert.equal((await entries(app)).length, before.length + 1)
    })

    for (const at of ['setAside', 'adopt', 'emptyTrash'] as const)
      test(`a restore that is interrupted after ${at} ends like an uninterrupted one`, async (t) => {
        const app = await exchanged(t)
        const [{ id }] = await entries(app)
        const { media } = app.app
        const work = media[at] as (...args: unknown[]) => Promise<unknown>
        const cut = t.mock.method(media, at, async (...args: unknown[]) => {
          const done = await work.apply(media, args)
          cut.mock.restore()
          throw Object.assign(new Error(`the power went after ${at}`), { done })
        })
        assert.equal((await restore(app, { entries: [id] })).status, 500, at)

        const { text, body } = await restore(app, { entries: [id] })
        assert.equal(body.restored, 1, `${at}: ${text}`)

        assert.equal(await film(app), `a film of ${SMALL}`, at)
        assert.deepEqual(
          (await entries(app)).map(({ media_size: bytes }: { media_size: number }) => bytes),
          [LARGE],
          at,
        )
        assert.equal((await inTrash(app)).length, 1, at)
      })

    test('for a video that has moved to another channel, the film in the former folder is kept and can be restored', async (t) => {
      const app = await exchanged(t)
      const input = await aFilm(app, SMALL)
      const { metadata } = input.downloaded
      await app.app.videos.ingest({
        ...input,
        downloaded: { ...input.downloaded, metadata: { ...metadata, channelId: 'UC2' } },
      })
      assert.deepEqual(await readdir(join(app.app.settings.mediaDir, 'UC1')), [])
      const [{ id, channel_id: channelId }] = await entries(app)
      assert.equal(channelId, 'UC1')

      assert.equal((await restore(app, { entries: [id] })).body.restored, 1)

      assert.equal(await readFile(app.app.media.pathOf('UC2', 'v1'), 'utf8'), `a film of ${LARGE}`)
      const doc = await app.doc('video', 'v1')
      assert.deepEqual([doc.channel_id, doc.media_url, doc.height], ['UC2', '/media/UC2/v1.mp4', LARGE])
    })
  })
}

/** Sound only, with the real yt-dlp: a valid m4a on the disk, and its later life, on either index. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { testApp, testClock } from 'archivolt/testing'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { INDEXES, type IndexPlace, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import '../../support/long.ts'

const fog = VIDEO.fog as string
const url = `/media/${CHANNEL.harbour}/${fog}`

async function openSoundApp(t: Parameters<typeof testApp>[0], index: IndexPlace = 'the embedded index') {
  const scope = lastFirst(t)
  const { platform, settings } = await startTestPlatform(scope)
  const more = await indexSettings(scope, index)
  const app = await testApp(scope, { settings: { ...settings, ...more } as never, clock: testClock(Date.now()) })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0, quality_codec: 'sound' } })
  const wish = async (quality_codec: 'sound' | 'best' | null) => {
    const channel_overwrites = { quality_codec }
    const { status } = await app.as('admin').post(`/api/channel/${CHANNEL.harbour}/`, { channel_overwrites })
    assert.equal(status, 200)
  }
  const download = async () => {
    await app.as('admin').post('/api/download/?autostart=true&force=true', { data: [{ platform_id: fog }] })
    await app.settled()
    return (await app.as('user').get(`/api/video/${fog}/`)).body.data
  }
  const run = async (task: string) => {
    await app.as('admin').post(`/api/task-name/${task}/`)
    await app.settled()
  }
  const folder = join(app.dataDir, 'media', CHANNEL.harbour as string)
  const files = async () => (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted()
  /** Deletes the ledger's data about extensions, as with a new ledger. */
  const forget = () => app.app.ledger.write(() => app.app.ledger.sql('DELETE FROM media_own').run())
  const shown = async () => (await app.as('user').get('/api/video/')).body.data[0]
  return { app, platform, wish, download, run, files, folder, forget, shown }
}

type SoundApp = Awaited<ReturnType<typeof openSoundApp>>

async function streamsOf({ folder }: SoundApp): Promise<{ format_name: string; streams: string[] }> {
  const args = ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', join(folder, `${fog}.m4a`)]
  const { format, streams } = JSON.parse((await promisify(execFile)('ffprobe', args)).stdout)
  return {
    format_name: format.format_name,
    streams: streams.map((one: Record<string, string>) => `${one.codec_type} ${one.codec_name}`),
  }
}

async function assertServed({ app, shown }: SoundApp, ending: string, type: string): Promise<void> {
  assert.equal((await shown()).media_url, `${url}.${ending}`)
  const part = await app.as('user').get(`${url}.${ending}`, { range: 'bytes=4-7' })
  assert.deepEqual([part.status, part.text, part.headers.get('content-type')], [206, 'ftyp', type])
  const other = ending === 'm4a' ? 'mp4' : 'm4a'
  assert.equal((await app.as('user').get(`${url}.${other}`)).status, 404)
}

for (const { index, skip } of INDEXES) {
  describe(`sound only on ${index}`, { skip }, () => {
    test('is an m4a that is listed, served, exchanged for the video and back, and removed', async (t) => {
      const sound = await openSoundApp(t, index)
      const { app, download, wish, files } = sound

      const first = await download()
      assert.deepEqual(await streamsOf(sound), { format_name: 'mov,mp4,m4a,3gp,3g2,mj2', streams: ['audio aac'] })
      assert.deepEqual(
        first.streams.map(({ type }: { type: string }) => type),
        ['audio'],
      )
      await assertServed(sound, 'm4a', 'audio/mp4')

      await wish('best')
      assert.equal((await download()).receipt.got.height, 720)
      assert.deepEqual(await files(), [`${fog}.mp4`])
      await assertServed(sound, 'mp4', 'video/mp4')

      await wish(null)
      await download()
      assert.deepEqual(await files(), [`${fog}.m4a`])
      await app.restart()
      await assertServed(sound, 'm4a', 'audio/mp4')

      assert.equal((await app.as('admin').delete(`/api/video/${fog}/`)).status, 200)
      await app.settled()
      assert.deepEqual([await files(), await app.ids('video')], [[], []])
    })

    test('is found by a rescan, and by a restore, when its extension is unknown', async (t) => {
      const sound = await openSoundApp(t, index)
      const { app, download, run, files, forget, folder, shown } = sound
      await download()

      await run('run_backup')
      const [{ filename }] = (await app.as('admin').get('/api/backup/')).body
      await forget()
      await app.as('admin').post(`/api/backup/${filename}/`)
      await app.settled()
      await assertServed(sound, 'm4a', 'audio/mp4')

      await forget()
      await app.app.videos.change(fog, { set: { media_url: `${url}.mp4` } })
      await rename(folder, join(folder, '../UC_elsewhere'))
      await run('rescan_filesystem')
      assert.deepEqual(await files(), [`${fog}.m4a`])
      await assertServed(sound, 'm4a', 'audio/mp4')

      await forget()
      await app.app.videos.collection.remove([fog], { visible: true })
      await run('rescan_filesystem')
      assert.equal((await shown()).streams.length, 1)
      await assertServed(sound, 'm4a', 'audio/mp4')
    })
  })
}

for (const [what, only] of [
  ['Opus alone', ['251']],
  ['a film alone', ['18']],
] as const) {
  test(`if the platform offers ${what}, it is converted to AAC`, async (t) => {
    const sound = await openSoundApp(t)
    sound.platform.faults.set('global', { name: 'formats_withheld', only: [...only] })

    await sound.download()

    assert.deepEqual((await streamsOf(sound)).streams, ['audio aac'])
    assert.deepEqual(await sound.files(), [`${fog}.m4a`])
  })
}

test('title and thumbnail are embedded in the m4a, and the thumbnail does not count as a video stream', async (t) => {
  const sound = await openSoundApp(t)
  await sound.app.as('admin').post('/api/config/', { downloads: { add_metadata: true, add_thumbnail: true } })

  const { title, streams } = await sound.download()

  const path = join(sound.folder, `${fog}.m4a`)
  assert.equal((await sound.app.app.media.tagsIn(path, AbortSignal.timeout(60_000))).get('title'), title)
  assert.ok((await streamsOf(sound)).streams.includes('video mjpeg'))
  assert.deepEqual(
    streams.map(({ type }: { type: string }) => type),
    ['audio'],
  )
})

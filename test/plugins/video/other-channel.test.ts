/** A video that the platform has moved to another channel is downloaded again: its old film does not stay for ever. */
import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { anIngest, type VideoApp, videoApp } from './scripted-platform.ts'

const filesOf = async (app: VideoApp, channelId: string) => (await readdir(app.inLibrary(channelId))).sort()

async function withFilm(t: Parameters<typeof videoApp>[0]): Promise<VideoApp> {
  const app = await videoApp(t)
  const first = await anIngest(app.app, 'v1', 'UC1')
  const german = { ...first.downloaded.subtitles[0]!, lang: 'de', path: app.inLibrary('.staging', 'v1', 'v1.de.vtt') }
  await writeFile(german.path, 'WEBVTT\n\n00:00.000 --> 00:01.000\nkalt\n')
  first.downloaded.subtitles.push(german)
  await app.app.videos.ingest(first)
  await app.app.videos.ingest(await anIngest(app.app, 'v2', 'UC1'))
  return app
}

test('the new film is in the new channel, with the subtitles that did not arrive again; the old one is gone', async (t) => {
  const app = await withFilm(t)

  await app.app.videos.ingest(await anIngest(app.app, 'v1', 'UC2'))

  assert.deepEqual(await filesOf(app, 'UC1'), ['v2.en.vtt', 'v2.mp4'])
  assert.deepEqual(await filesOf(app, 'UC2'), ['v1.de.vtt', 'v1.en.vtt', 'v1.mp4'])
  const doc = await app.doc('video', 'v1')
  assert.deepEqual([doc.channel_id, doc.media_url], ['UC2', '/media/UC2/v1.mp4'])
  const urls = doc.subtitles.map(({ media_url: url }: { media_url: string }) => url).sort()
  assert.deepEqual(urls, ['/media/UC2/v1.de.vtt', '/media/UC2/v1.en.vtt'])
  assert.deepEqual(await readdir(app.inLibrary('.trash')).catch(() => []), [])
})

test('interrupted at any step and repeated, it ends the same; the archive has the film at every step', async (t) => {
  const steps: string[] = []
  const plain = await withFilm(t)
  await plain.app.videos.ingest(await anIngest(plain.app, 'v1', 'UC2'), async (name, work) => {
    steps.push(name)
    return work()
  })
  assert.ok(steps.includes('video.leave'))

  for (const at of steps) {
    const app = await withFilm(t)
    const input = await anIngest(app.app, 'v1', 'UC2')
    const cut = app.app.videos.ingest(input, async (name, work) => {
      const done = await work()
      if (name === at) throw new Error('the power went')
      return done
    })
    await assert.rejects(cut, /the power went/)
    const films = [...(await filesOf(app, 'UC1')), ...(await filesOf(app, 'UC2').catch(() => []))]
    assert.ok(films.includes('v1.mp4'), at)

    await app.app.videos.ingest(input)

    assert.deepEqual(await filesOf(app, 'UC1'), ['v2.en.vtt', 'v2.mp4'], at)
    assert.equal((await app.doc('video', 'v1')).channel_id, 'UC2', at)
  }
})

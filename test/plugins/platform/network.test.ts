/**
 * Nothing in the platform's answers leads yt-dlp into the local network, and no bad subtitle fails a video: the real
 * yt-dlp on the loopback platform.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { ROOT } from '../../support/sources.ts'
import { testApp } from '../../support/testing.ts'
import { TOOLS } from '../../support/tools.ts'
import { givenPlatform } from './given.ts'

const asker = 'test'
const failsAs = (failure: string, words: RegExp) => (error: unknown) =>
  (error as { failure?: string }).failure === failure && words.test((error as Error).message)
const CUES = 'WEBVTT\n\n00:00.000 --> 00:01.000\nsecret of the router\n'

/** A server in the local network that has exactly what is requested. */
async function aNeighbour(t: TestContext): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.end(CUES)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise((resolve) => server.close(resolve)))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked }
}

test('a redirect into the local network is not followed: subtitles and thumbnails are left out, the video is kept', async (t) => {
  const { service, platform, folder } = await givenPlatform(t)
  const { url, asked } = await aNeighbour(t)
  const byName = url.replace('127.0.0.1', 'localhost')
  platform.faults.set(VIDEO.breakwater, { name: 'thumbnail_redirect', to: url })
  platform.faults.set(`${VIDEO.breakwater}/en`, { name: 'captions_redirect', to: byName })

  const got = await service.download(
    VIDEO.breakwater,
    { folder, subtitleLanguages: 'en,de', embedThumbnail: true },
    { asker },
  )
  const { subtitles: again } = await service.subtitles(
    VIDEO.breakwater,
    { folder, languages: 'en,de', source: 'user' },
    { asker },
  )

  assert.deepEqual(asked, [])
  assert.deepEqual(
    [got.subtitles.map(({ lang }) => lang), got.subtitlesLeftOut, got.thumbnailPath],
    [['de'], ['en'], undefined],
  )
  assert.deepEqual(
    again.map(({ lang }) => lang),
    ['de'],
  )
})

test('the same holds for media and pages: they fail with the reason, and the gate stays open', async (t) => {
  const { service, platform, folder } = await givenPlatform(t)
  const { url, asked } = await aNeighbour(t)
  const refused = failsAs('unknown', /refers to 127\.0\.0\.1, which is not a public address/)
  platform.faults.set(VIDEO.breakwater, { name: 'media_redirect', to: url })
  platform.faults.set(VIDEO.fog, { name: 'api_redirect', to: url })
  platform.catalogue.put('videos', VIDEO.nets, {
    info: { formats: [{ format_id: '1', ext: 'mp4', protocol: 'm3u8_native', url: `${url}list.m3u8` }] },
  })
  platform.catalogue.put('videos', VIDEO.ferry, {
    info: { formats: [{ format_id: '1', ext: 'mp4', protocol: 'rtsp', url: url.replace('http', 'rtsp') }] },
  })

  await assert.rejects(service.download(VIDEO.breakwater, { folder }, { asker }), refused)
  await assert.rejects(service.video(VIDEO.fog, { asker }), refused)
  await assert.rejects(service.download(VIDEO.nets, { folder }, { asker }), refused)
  await assert.rejects(service.download(VIDEO.ferry, { folder }, { asker }), failsAs('restricted', /./))

  assert.deepEqual(asked, [])
  assert.equal(service.state().state, 'open')
})

test('subtitles and thumbnails on other hosts are not requested', async (t) => {
  const { service, platform, folder } = await givenPlatform(t)
  const elsewhere = 'https://192.0.2.1/x'
  platform.catalogue.put('videos', VIDEO.fog, {
    info: {
      subtitles: { en: [{ ext: 'vtt', url: elsewhere }] },
      thumbnails: [{ url: elsewhere, id: '1' }],
      thumbnail: elsewhere,
    },
  })

  const got = await service.download(VIDEO.fog, { folder, subtitleLanguages: 'en' }, { asker })

  assert.deepEqual([got.subtitles, got.subtitlesLeftOut, got.thumbnailPath], [[], ['en'], undefined])
})

test('a subtitle that cannot be converted is left out, and the job says so', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  const id = VIDEO.breakwater
  const formats = (lang: string) => [{ ext: 'srt', url: `${platform.baseUrl}/captions/${id}/${lang}.srt` }]
  platform.catalogue.put('videos', id, { info: { subtitles: { en: formats('en'), de: formats('de') } } })
  platform.faults.set(`${id}/en`, 'captions_garbage')
  await app.as('admin').post('/api/config/', { downloads: { subtitle: 'en,de' } })
  await app.as('admin').post('/api/download/', { data: [{ youtube_id: id, status: 'pending' }] })
  await app.settled()

  const { body: started } = await app.as('admin').post('/api/task-name/download_pending/', {})
  await app.settled()

  const { body: job } = await app.as('admin').get(`/api/task-id/${started.task_id}/`)
  assert.equal(job.result, `1 video downloaded; these subtitles could not be fetched or converted: ${id} en`)
  const { body: video } = await app.as('admin').get(`/api/video/${id}/`)
  assert.deepEqual(
    video.data.subtitles.map(({ lang }: { lang: string }) => lang),
    ['de'],
  )
  assert.match(
    await readFile(join(app.dataDir, 'media', video.data.channel.channel_id, `${id}.de.vtt`), 'utf8'),
    /^WEBVTT/,
  )
})

test('public addresses are distinguished', async () => {
  const run = promisify(execFile)
  const refused = [
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1%eth0',
    'fd00::1',
    'fec0::1',
    'ff02::1',
    '::ffff:192.168.1.1',
    '::127.0.0.1',
    '64:ff9b::10.0.0.1',
    '2002:c0a8:0101::',
    'router.lan',
    '',
  ]
  const taken = [
    '142.250.74.206',
    '2a00:1450:4001:82a::200e',
    '::ffff:142.250.74.206',
    '64:ff9b::142.250.74.206',
    '198.18.0.7',
  ]
  const program = `import sys, json; sys.path.insert(0, sys.argv[1]); from worker_network import is_public; print(json.dumps([is_public(one) for one in json.loads(sys.argv[2])]))`

  const { stdout } = await run(join(TOOLS, 'bin/python'), [
    '-c',
    program,
    join(ROOT, 'plugins/platform'),
    JSON.stringify([...refused, ...taken]),
  ])

  assert.deepEqual(JSON.parse(stdout), [...refused.map(() => false), ...taken.map(() => true)])
})

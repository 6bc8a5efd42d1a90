/** ffmpeg and ffprobe never open files that a media file names, whatever its format. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { findFault } from '../../../plugins/platform/verify.ts'
import { filmInput, inputOf } from '../../../plugins/plugin-kit/hostile-media.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { temporaryFolder } from '../../support/folder.ts'

/** A server that must not get any request. */
async function listener(t: TestContext): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

/** A film of somebody else, and scripts that include it if they are opened as scripts. */
async function given(t: TestContext) {
  const folder = await temporaryFolder(t)
  const web = await listener(t)
  const secret = join(folder, 'secret.mp4')
  await makeFilm(secret)
  await makeFilm(join(folder, 'secret.ts'))
  const list = (uri: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${uri}\n#EXT-X-ENDLIST\n`
  const dash = (uri: string) =>
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>${uri}</BaseURL></Representation></AdaptationSet></Period></MPD>`
  const texts: Record<string, string> = {
    'concat.mp4': 'ffconcat version 1.0\nfile secret.mp4\n',
    'list.mp4': list('secret.ts'),
    'absolute.m3u8': list(`file://${join(folder, 'secret.ts')}`),
    'web.m3u8': list(`${web.url}/list`),
    'web.mp4': `ffconcat version 1.0\nfile '${web.url}/concat'\n`,
    'dash.mp4': dash('secret.mp4'),
    'web.mpd': dash(`${web.url}/dash`),
    'session.mp4': `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n`,
  }
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text)
  return { folder, web, secret, hostile: Object.keys(texts).map((name) => join(folder, name)) }
}

const ffprobe = (args: string[]): Promise<{ failed: boolean; output: string }> =>
  new Promise((resolve) =>
    execFile(
      'ffprobe',
      ['-v', 'error', '-show_streams', '-of', 'json', ...args],
      { timeout: 20_000 },
      (cause, output) => resolve({ failed: cause !== null, output }),
    ),
  )

test('without guards, a script that names another file includes it, so the test would notice', async (t) => {
  const { folder } = await given(t)

  const opened = await Promise.all(
    ['concat.mp4', 'list.mp4'].map((name) => ffprobe(['-i', `file:${join(folder, name)}`])),
  )

  assert.ok(opened.some(({ failed, output }) => !failed && output.includes('codec_name')))
})

test('a playlist or script with the name of a film is refused everywhere, and nothing else is opened', async (t) => {
  const { web, hostile, secret } = await given(t)
  const { app } = await testApp(t)

  for (const path of hostile) {
    await assert.rejects(app.media.probe(path), { code: 'unprocessable' }, path)
    await assert.rejects(app.media.streamsIn(path, new AbortController().signal), { code: 'unprocessable' }, path)
    assert.equal((await app.media.tagsIn(path, new AbortController().signal)).size, 0, path)
    assert.equal(await app.media.isCutOff(path, 1), true, path)
    await assert.rejects(findFault('ffprobe', path, [], 1), path)
    assert.equal((await ffprobe(inputOf('srt', path))).output.includes('h264'), false, path)
  }

  assert.deepEqual(web.asked, [])
  assert.ok((await app.media.probe(secret)).streams.length > 0, 'a film is one')
  assert.equal((await ffprobe(filmInput(secret))).failed, false)
})

test('all our programs start ffmpeg and ffprobe with these guards', async () => {
  const root = new URL('../../../', import.meta.url).pathname
  const sources = (
    await Promise.all(
      ['core', 'plugins'].map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })),
    )
  )
    .flat()
    .filter((entry) => entry.isFile() && /\.(ts|py)$/.test(entry.name) && !entry.parentPath.includes('/web/page'))
    .map((entry) => join(entry.parentPath, entry.name))

  const own = await Promise.all(
    sources.map(
      async (path) =>
        [path.slice(root.length), /'-i'|_whitelist|`file:\$\{/.test(await readFile(path, 'utf8'))] as const,
    ),
  )

  const OUTPUTS = [
    'plugins/dearrow/pictures.ts',
    'plugins/faces/write-files.ts',
    'plugins/film-kit/subtitles.ts',
    'plugins/media/ffmpeg.ts',
    'plugins/playable/film.ts',
    'plugins/podcast/squares.ts',
    'plugins/said/cut-task.ts',
  ]
  const inputs = own.flatMap(([path, opens]) => (opens ? [path] : []))
  assert.deepEqual(
    inputs.toSorted(),
    ['plugins/plugin-kit/hostile-media.ts', ...OUTPUTS, 'plugins/platform/worker.py'].toSorted(),
  )
  // Here `file:` names their outputs.
  for (const path of OUTPUTS) assert.doesNotMatch(await readFile(join(root, path), 'utf8'), /'-i'|_whitelist/)
})

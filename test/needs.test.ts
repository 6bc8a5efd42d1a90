/** The needs of tests (yt-dlp, ffmpeg, Chromium, Elasticsearch or the built program) are known before they run. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from './support/folder.ts'
import { chooseTests, findTests, isLight, type Need, STARTS, saidOf } from './support/needs.ts'
import { refusePrograms } from './support/refused.ts'
import { ROOT, readSources } from './support/sources.ts'

const needsOf = (place: string): Need[] => findTests([place]).flatMap(({ needs }) => [...needs])

test('a path is a folder or a file, of the tests or of the code that they test', () => {
  const [folder, file] = ['plugins/playlist', 'core/http/pagination.ts'].map((place) =>
    findTests([place]).map(({ path }) => path),
  )

  assert.deepEqual(file, ['test/core/http/pagination.test.ts'])
  assert.ok(folder!.length > 0 && folder!.every((path) => path.startsWith('test/plugins/playlist/')))
  assert.deepEqual(findTests(['test/plugins/playlist/', 'plugins/playlist']), findTests(['plugins/playlist']))
  assert.throws(() => findTests(['plugins/sundial']), /plugins\/sundial: there are no tests of that/)
})

test('the needs of a test are found through all its imports', () => {
  assert.deepEqual(needsOf('core/http/pagination.ts'), [])
  assert.ok(needsOf('flows/kill.test.ts').includes('ytdlp'))
  assert.ok(needsOf('plugins/web').includes('chromium'))
  assert.ok(needsOf('contracts/index-elastic').includes('elasticsearch'))
  const light = findTests().filter(isLight)
  assert.ok(light.length > 60 && light.every(({ needs }) => needs.size === 0))
})

test('a run leaves out tests with needs that have to be fetched, and says so; a named file always runs', () => {
  const pathsOf = (...words: string[]) => chooseTests(words).files.map(({ path }) => path)
  const { files, leftOut } = chooseTests([])

  assert.deepEqual(pathsOf('--all').length, files.length + leftOut.length)
  assert.ok(files.some(({ needs }) => needs.has('ytdlp')) && !files.some(({ needs }) => needs.has('chromium')))
  assert.ok(!chooseTests(['plugins/playlist']).files.some(({ needs }) => needs.has('elasticsearch')))
  assert.ok(pathsOf('flows').includes('test/flows/main-job.test.ts'), 'on the embedded index')
  assert.ok(
    leftOut.some(({ path }) => path === 'test/flows/kill.test.ts') &&
      pathsOf('flows').includes('test/flows/kill.test.ts'),
  )
  assert.deepEqual(pathsOf('plugins/web/pin.test.ts'), ['test/plugins/web/pin.test.ts'])
  assert.match(
    saidOf(leftOut),
    /^Left out: \d+ files of tests, which take twenty seconds or more or need chromium, .*make test ALL=1$/,
  )
})

/** Texts in a file that start a real program, and the need that the file must have then. */
const SIGNS: Array<[sign: RegExp, need: Need]> = [
  [/from 'playwright-core'/, 'chromium'],
  [/\bmakeNode\(|\b(own|test)Elasticsearch\(/, 'elasticsearch'],
  [/\bstartPlatform\(|\bstartTestPlatform\(/, 'ytdlp'],
  [/\bROOT, 'tools|\bTOOLS\b/, 'ytdlp'],
  [/dist\/main\.js/, 'build'],
  [/\(\s*'ff(mpeg|probe)',/, 'ffmpeg'],
]

test('no test starts a real program without the helper that declares it', () => {
  for (const path of Object.keys(STARTS)) assert.ok(existsSync(join(ROOT, path)), path)
  const texts = new Map(readSources('test').map(({ path, code }) => [path, code]))

  const unknown = findTests()
    .filter(({ path }) => path !== 'test/needs.test.ts')
    .flatMap(({ path, needs }) => {
      const text = texts.get(path)!
      const isSkipped = (need: Need) => text.includes(`missingHere('${need}'`)
      return SIGNS.filter(([sign, need]) => sign.test(text) && !needs.has(need) && !isSkipped(need)).map(
        ([, need]) => `${path} uses ${need}`,
      )
    })

  assert.deepEqual(unknown, [])
})

test('starting a refused program fails with the reason, and is reported at the end', async (t) => {
  const { env, started } = await refusePrograms(await temporaryFolder(t))
  const start = (program: string, ...args: string[]) => promisify(execFile)(program, args, { env })

  assert.deepEqual(await started(), [])
  await assert.rejects(start('ffmpeg', '-i', 'a film.mp4'), /a light test has started it; it imports/)
  await assert.rejects(start('ffprobe', '-version'))
  await assert.rejects(start(join(env.TEST_YTDLP, 'bin/python'), '-I', 'worker.py'))
  assert.deepEqual(await started(), ['ffmpeg -i a film.mp4', 'ffprobe -version', 'python -I worker.py'])
})

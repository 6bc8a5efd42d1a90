/** yt-dlp updated on probation: pip is a script here that lays a given version in the folder that it is told. */
import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../core/clock.ts'
import { openLog } from '../../../core/log.ts'
import { Tools } from '../../../plugins/platform/tools.ts'
import { isNewer, updateDownloader } from '../../../plugins/platform/update.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { TOOLS } from '../../support/tools.ts'

const log = openLog('silent')

async function givenTools(
  t: TestContext,
  offered: { version: string; isBroken?: boolean; lacksExtractor?: boolean } | undefined,
): Promise<{ tools: () => Tools }> {
  const folder = await temporaryFolder(t)
  const [library] = await readdir(join(TOOLS, 'lib'))
  const real = join(TOOLS, 'lib', library!, 'site-packages/yt_dlp')
  const offer = join(folder, 'offer/yt_dlp')
  await mkdir(offer, { recursive: true })
  for (const name of await readdir(real))
    if (name !== 'version.py' && name !== '__pycache__') await symlink(join(real, name), join(offer, name))
  await writeFile(
    join(offer, 'version.py'),
    offered?.isBroken
      ? 'raise RuntimeError("broken")'
      : `__version__ = '${offered?.version}'\nCHANNEL = 'stable'\nORIGIN = 'yt-dlp/yt-dlp'\nRELEASE_GIT_HEAD = VARIANT = UPDATE_HINT = None\n_pkg_version = __version__\n`,
  )
  const program = join(folder, 'venv/bin/python')
  await mkdir(join(folder, 'venv/bin'), { recursive: true })
  const pip = offered
    ? `for word in "$@"; do [ "$before" = --target ] && cp -a "${folder}/offer" "$word"; before="$word"; done; exit 0`
    : 'exit 1'
  await writeFile(program, `#!/bin/sh\ncase "$*" in *"-m pip "*) ${pip};; esac\nexec "${TOOLS}/bin/python" "$@"\n`)
  await chmod(program, 0o700)
  const settings = {
    dataDir: join(folder, 'data'),
    platformUrl: offered?.lacksExtractor ? 'http://127.0.0.1:2' : 'https://www.youtube.com',
    ytdlp: join(folder, 'venv'),
    ytdlpPlugins: null,
    ffmpeg: 'ffmpeg',
    ffprobe: 'ffprobe',
  }
  return { tools: () => new Tools(settings, { retryPause: 1, socketTimeout: 1 }, systemClock, log) }
}

let told: string[] = []

const versionAfter = async (tools: Tools): Promise<string | undefined> => {
  told = []
  await updateDownloader(tools, 'stable', log, async (sentence) => void told.push(sentence))
  return (await tools.versionOf())?.version
}

test('a newer one that loads is used, now and after the next start', async (t) => {
  const { tools } = await givenTools(t, { version: '2099.01.02' })

  assert.equal(await versionAfter(tools()), '2099.01.02')
  assert.equal(await versionAfter(tools()), '2099.01.02')
})

test('one that does not load, does not know the platform, is older, or cannot be had leaves the old one in place, and people are told', async (t) => {
  const own = await new Tools(
    { dataDir: tmpdir(), platformUrl: 'http://127.0.0.1:1', ytdlp: TOOLS, ytdlpPlugins: null, ffmpeg: '', ffprobe: '' },
    { retryPause: 1, socketTimeout: 1 },
    systemClock,
    log,
  ).versionOf()
  assert.ok(own)

  for (const [offered, isTold] of [
    [{ version: '2099.01.02', isBroken: true }, true],
    [{ version: '2099.01.02', lacksExtractor: true }, true],
    [{ version: '2001.01.01' }, false],
    [undefined, true],
  ] as const) {
    const { tools } = await givenTools(t, offered)
    assert.equal(await versionAfter(tools()), own.version)
    assert.equal(told.length, isTold ? 1 : 0)
    for (const sentence of told) {
      assert.match(sentence, /^[^\n]+ stays in use$/)
      assert.ok(!sentence.includes(tmpdir()), sentence)
    }
  }
})

test('versions are compared as numbers', () => {
  assert.deepEqual(
    [
      isNewer('2026.10.3', '2026.9.30'),
      isNewer('2026.10.3', '2026.10.3'),
      isNewer('2026.10.3.1', '2026.10.3'),
      isNewer('2025.12.1', '2026.1.1'),
    ],
    [true, false, true, false],
  )
})

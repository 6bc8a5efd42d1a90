/**
 * The platform's challenges, solved by yt-dlp's own scripts and a real JavaScript runtime, and the messages if they are
 * not.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../core/base/clock.ts'
import { openLog } from '../../../core/log.ts'
import { type ChallengeReport, missingIn } from '../../../plugins/platform/challenge.ts'
import { openTools } from '../../../plugins/platform/tools.ts'
import { VIDEO } from '../../platform/seed.mjs'
import { NO_PLATFORM } from '../../platform/start.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { TOOLS } from '../../support/tools.ts'
import { givenVenv } from '../../support/venv.ts'
import { givenPlatform } from './given.ts'

const asker = 'test'
const DENO = join(TOOLS, 'bin/deno')
const saysItIsDeno = '[ "$1" = --version ] && echo "deno 2.9.8" && exit'
const PLAYER = '/s/player/0a1b2c3d/player.js'

interface Report {
  challenge: ChallengeReport
  missing: string[]
}

/** The report for a venv with this program as deno, in place of all runtimes. */
async function reportWith(
  t: TestContext,
  { without = [], deno, timeout }: { without?: string[]; deno: string; timeout?: number },
): Promise<Report> {
  const ytdlp = await givenVenv(t, { without, programs: { deno } })
  const settings = { dataDir: await temporaryFolder(t), ...NO_PLATFORM, ytdlp, ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' }
  const pace = { retryPause: 1, socketTimeout: 1, ...(timeout && { runtimeTimeout: timeout }) }
  const challenge = await openTools(settings, pace, systemClock, openLog('silent'), { deno: {} }).challenge()
  assert.ok(challenge)
  return { challenge, missing: missingIn(challenge) }
}

test('the best picture is downloaded if its address must be solved with the player script', async (t) => {
  const { service, platform, folder } = await givenPlatform(t)
  platform.faults.set('global', 'challenge')

  await service.download(VIDEO.nets, { folder, format: '136+140' }, { asker })

  const [player, ...again] = platform.requests.filter(({ path }) => path === PLAYER)
  assert.ok(player)
  assert.deepEqual(again, [])
  const media = platform.requests.filter(({ path }) => path.startsWith('/media/'))
  assert.deepEqual(
    media.map(({ path, query, status }) => [path.split('/').at(-1), /[?&]sig=/.test(query), status]),
    [
      ['136.mp4', true, 206],
      ['140.m4a', false, 206],
    ],
  )
})

test('a new video needs one solution: its metadata, comments and subtitles need none', async (t) => {
  const { service, platform, folder } = await givenPlatform(t)
  platform.faults.set('global', { name: 'challenge', isTotal: true })

  const metadata = await service.video(VIDEO.breakwater, { asker })
  await service.download(VIDEO.breakwater, { folder, subtitleLanguages: 'en' }, { asker })
  const comments = await service.comments(VIDEO.breakwater, { max: 'all', sort: 'new' }, { asker })
  const wanted = { folder, languages: 'de', source: 'user' } as const
  const { subtitles } = await service.subtitles(VIDEO.breakwater, wanted, { asker })

  assert.deepEqual([metadata.unavailable, comments.length > 0, subtitles.length], [undefined, true, 1])
  assert.equal(platform.requests.filter(({ path }) => path === PLAYER).length, 1)
})

test('a refused video is reported as such, although nothing is solved for it', async (t) => {
  const { service, platform } = await givenPlatform(t)
  platform.faults.set('global', { name: 'challenge', isTotal: true })
  for (const [fault, failure] of [
    ['members_only', 'members_only'],
    ['geo_blocked', 'restricted'],
    ['drm', 'restricted'],
    ['age_restricted', 'age'],
    ['upcoming_premiere', 'upcoming'],
  ] as const) {
    platform.faults.set(VIDEO.nets, fault)
    const { unavailable } = await service.video(VIDEO.nets, { asker })
    assert.equal(unavailable?.failure, failure, fault)
  }
  platform.faults.set(VIDEO.nets, 'private')
  await assert.rejects(service.video(VIDEO.nets, { asker }), { failure: 'gone' })
})

test('an unsolved address is refused', async (t) => {
  const { platform } = await givenPlatform(t)
  platform.faults.set('global', 'challenge')

  const reply = await fetch(`${platform.baseUrl}/api/video/${VIDEO.nets}`)
  const { info } = (await reply.json()) as { info: { formats: Array<{ url: string }> } }
  const unsolved = info.formats.filter(({ url }) => url.includes('n='))

  assert.equal(unsolved.length, 6)
  for (const { url } of unsolved) assert.equal((await fetch(url)).status, 403)
})

test('without the scripts, or with a runtime that fails, only the old format is available', async (t) => {
  for (const [without, deno] of [
    [['yt_dlp_ejs'], `exec "${DENO}" "$@"`],
    [[], `${saysItIsDeno}; echo "Illegal instruction" >&2; exit 132`],
  ] as const) {
    const ytdlp = await givenVenv(t, { without: [...without], programs: { deno } })
    const { service, platform, folder } = await givenPlatform(t, { settings: { ytdlp }, runtimes: { deno: {} } })
    platform.faults.set('global', 'challenge')

    await service.download(VIDEO.nets, { folder }, { asker })

    const media = platform.requests.filter(({ path }) => path.startsWith('/media/'))
    assert.deepEqual([...new Set(media.map(({ path }) => path.split('/').at(-1)))], ['18.mp4'])
  }
})

test('the stored player is solved, and the solver is reported with its version and duration', async (t) => {
  const { challenge, missing } = await reportWith(t, { deno: `exec "${DENO}" "$@"` })

  const { state, name, version, milliseconds } = challenge.runtime
  assert.deepEqual([state, name, challenge.solver.state, missing], ['works', 'deno', 'works', []])
  assert.match(version, /^2\.\d/)
  assert.ok(milliseconds > 0)
  assert.equal(challenge.solver.version, challenge.solver.wanted)
})

test('missing scripts, and a missing, failing, hanging or lying runtime, are each reported as such', async (t) => {
  const wrong = JSON.stringify({
    type: 'result',
    responses: ['aBcDeFgH12345', '0123456789abcdef'].map((challenge) => ({
      type: 'result',
      data: { [challenge]: 'made up' },
    })),
  })
  const told: Array<[string, Report]> = [
    ['no scripts', await reportWith(t, { without: ['yt_dlp_ejs'], deno: `exec "${DENO}" "$@"` })],
    ['too old', await reportWith(t, { deno: 'echo "deno 1.46.3"' })],
    ['fails', await reportWith(t, { deno: `${saysItIsDeno}; echo "Illegal instruction" >&2; exit 132` })],
    ['hangs', await reportWith(t, { deno: `${saysItIsDeno}; exec tail -f /dev/null`, timeout: 0.2 })],
    ['lies', await reportWith(t, { deno: `${saysItIsDeno}; cat >/dev/null; echo '${wrong}'` })],
    ['says nonsense', await reportWith(t, { deno: `${saysItIsDeno}; cat >/dev/null; echo nonsense` })],
  ]

  assert.deepEqual(
    told.map(([what, { challenge, missing }]) => [what, challenge.runtime.state, challenge.solver.state, missing]),
    [
      ['no scripts', 'untried', 'missing', ['yt-dlp-ejs']],
      ['too old', 'missing', 'works', ['javascript']],
      ['fails', 'failed', 'works', []],
      ['hangs', 'failed', 'works', []],
      ['lies', 'wrong_answer', 'works', []],
      ['says nonsense', 'failed', 'works', []],
    ],
  )
  const messageOf = (at: number) => told[at]![1].challenge.runtime.message
  assert.match(messageOf(2), /returncode: 132.*Illegal instruction/)
  assert.match(messageOf(3), /no answer within 0\.2 s/)
})

test('a player with another structure is reported in the words of the scripts', async (t) => {
  const { service, platform, folder } = await givenPlatform(t)
  platform.faults.set('global', { name: 'challenge', isUnexpected: true })

  await assert.rejects(service.download(VIDEO.nets, { folder, format: '136+140' }, { asker }), (error: unknown) => {
    const { warnings } = (error as { cause: { evidence: { warnings: string[] } } }).cause.evidence
    return warnings.some((warning) => warning.includes('unexpected structure'))
  })
})

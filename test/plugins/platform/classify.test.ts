/** Every known failure and its class. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { classify, commonText, type Evidence, forPeople } from '../../../plugins/platform/classify.ts'
import type { FailureClass } from '../../../plugins/platform/failure-classes.ts'
import { missingHere } from '../../support/required.ts'

const PLATFORM = new URL('../../platform/', import.meta.url)
const NOW = 1_700_000_000

interface Fixture {
  case: string
  exitCode: number
  stderr: string
}

const fixtures = JSON.parse(readFileSync(new URL('stderr-fixtures.json', PLATFORM), 'utf8')) as Fixture[]

const EXPECTED: Record<string, FailureClass> = {
  private: 'gone',
  removed: 'gone',
  terminated: 'gone',
  policy_removed: 'gone',
  copyright: 'gone',
  copyright_blocked: 'restricted',
  unavailable: 'gone',
  geo_blocked: 'restricted',
  members_only: 'members_only',
  members_level: 'members_only',
  payment_required: 'restricted',
  drm: 'restricted',
  age_restricted: 'age',
  login_required: 'login_required',
  cookie_required: 'login_required',
  bot_check: 'blocked',
  captcha: 'blocked',
  session_rate_limited: 'blocked',
  upcoming_premiere: 'upcoming',
  upcoming_live: 'upcoming',
  live_ended: 'upcoming',
  live_processing: 'upcoming',
  live_not_recorded: 'gone',
  channel_missing: 'gone',
  channel_terminated: 'gone',
  channel_unavailable: 'gone',
  playlist_missing: 'gone',
  playlist_unviewable: 'restricted',
  'unknown video': 'gone',
  'unknown channel': 'gone',
  'unknown handle': 'gone',
  'unknown playlist': 'gone',
  'channel without that tab': 'restricted',
  'not a page of the platform': 'unknown',
  'no plugin (AV_PLATFORM_URL unset)': 'restricted',
  'api_status 429': 'blocked',
  'api_status 403': 'blocked',
  'api_status 500': 'network',
  'api_status 429 on a channel': 'blocked',
  api_garbage: 'unknown',
  'media_status 403': 'blocked',
  'media_status 404': 'unknown',
  'media_status 429': 'blocked',
  'media_status 503': 'network',
  'media_cut at once, each time': 'network',
  'media_cut after 200 kB, --retries 1': 'network',
  'media_stall, --socket-timeout 2 --retries 1': 'network',
  'no such format (-f 999)': 'restricted',
}

/** The worker's report: errors with their continuation lines, and earlier warnings. */
function evidenceOf(stderr: string): Evidence {
  const at = stderr.indexOf('ERROR:')
  const warnings = stderr
    .slice(0, at)
    .split('\n')
    .filter((line) => line.startsWith('WARNING:'))
  return { kinds: ['DownloadError'], message: stderr.slice(at), warnings }
}

test('every recorded failure has the class that the policy requires', () => {
  const failed = fixtures.filter(({ exitCode }) => exitCode !== 0)

  const found = Object.fromEntries(
    failed.map((fixture) => [fixture.case, classify(evidenceOf(fixture.stderr), NOW).failure]),
  )

  assert.deepEqual(found, EXPECTED)
})

test('failures that need an update or a repair of the machine are recognized by class and text together', () => {
  const cases: Array<[Partial<Evidence>, FailureClass]> = [
    [{ message: 'Unable to download video: [Errno 28]', errnos: [28] }, 'disk_full'],
    [{ message: 'ffmpeg exited with code 1: No space left on device' }, 'disk_full'],
    [{ message: 'You have requested merging of multiple formats but ffmpeg is not installed' }, 'missing_tool'],
    [{ message: 'spawn ENOENT', kinds: ['MissingTool'] }, 'missing_tool'],
    [
      { message: 'Requested format is not available', warnings: ['No supported JavaScript runtime could be found'] },
      'missing_tool',
    ],
    [
      {
        message: 'Requested format is not available',
        warnings: ['Some formats have been skipped as they are missing a URL'],
      },
      'unknown',
    ],
    [{ message: 'Unable to recognize tab page; please report this issue on https://…' }, 'unknown'],
    [{ message: 'Not known here', isTransport: true }, 'network'],
    [{ message: 'Not known here', status: 502 }, 'network'],
    [{ message: 'Not known here' }, 'unknown'],
    [{ message: 'No answer within 120 s', kinds: ['Timeout'] }, 'network'],
    [
      {
        message: 'Sign in to confirm your age',
        warnings: ['The provided YouTube account cookies are no longer valid'],
      },
      'login_required',
    ],
    [
      { message: 'Private video', warnings: ['The provided YouTube account cookies are no longer valid'] },
      'login_required',
    ],
    [{ message: 'Video unavailable', warnings: ['Unable to download video subtitles: HTTP Error 429'] }, 'gone'],
    [{ message: 'no formats', liveStatus: 'is_upcoming' }, 'upcoming'],
  ]

  for (const [evidence, failure] of cases) {
    assert.equal(classify({ kinds: [], message: '', ...evidence }, NOW).failure, failure, JSON.stringify(evidence))
  }
})

test('an upcoming video has a time: the reported one, one computed from the text, or an hour', () => {
  const at = (evidence: Partial<Evidence>) => classify({ kinds: [], message: '', ...evidence }, NOW).availableAt

  assert.equal(at({ message: 'Premieres in 3 hours' }), NOW + 3 * 3600)
  assert.equal(at({ message: 'This live event will begin in 5 days.', availableAt: NOW + 60 }), NOW + 60)
  assert.equal(at({ message: 'Premieres in 3 hours', availableAt: NOW - 60 }), NOW + 3 * 3600)
  assert.equal(at({ message: 'We’re processing this video.' }), NOW + 3600)
  assert.equal(at({ message: 'This live event has ended.', availableAt: NOW - 3 * 86_400 }), NOW + 86_400)
  assert.equal(
    at({ message: 'Premieres in 3 hours', availableAt: 1e16 }),
    NOW + 3 * 3600,
    'no time that the index takes',
  )
})

test('messages for people have no prefixes, options or control characters', () => {
  assert.equal(
    forPeople(
      'ERROR: [youtube] abc: Private video. Sign in if you have been granted access. Use --cookies-from-browser or …',
    ),
    'Private video. Sign in if you have been granted access.',
  )
  assert.equal(
    forPeople('ERROR: \r[download] Got error: HTTP Error 503: Service Unavailable. Giving up after 10 retries'),
    'HTTP Error 503: Service Unavailable. Giving up after 10 retries',
  )
  assert.equal(
    forPeople('ERROR: [youtube:tab] UC1: YouTube said: This channel does not exist.'),
    'This channel does not exist.',
  )
  assert.equal(forPeople('a\u001b[2Jb\u0000c'), 'a [2Jb c')
  assert.equal(forPeople(''), 'Unknown error')
})

test('texts that differ only by the item count as the same text', () => {
  assert.equal(
    commonText('ERROR: [youtube] abc: Failed to parse JSON in line 3'),
    commonText('ERROR: [youtube] xyz: Failed to parse JSON in line 14'),
  )
})

test('the installed version still contains yt-dlp’s own texts', (t) => {
  const library = new URL('../../../tools/lib/', import.meta.url)
  const python = existsSync(library) ? readdirSync(library).find((name) => name.startsWith('python')) : undefined
  if (!python) return t.skip(missingHere('ytdlp', 'yt-dlp is not installed in tools/'))
  const rows = [
    ...readFileSync(new URL('errors.md', PLATFORM), 'utf8').matchAll(/^\| [^|]+ \| `([^`]+)` \| yt-dlp: `([^`]+)`/gm),
  ]

  const missing = rows.filter(([, text, file]) => {
    const source = readFileSync(new URL(`${python}/site-packages/yt_dlp/${file}`, library), 'utf8')
    return !source.includes(text as string) && !source.replace(/'\s*\n\s*f?'/g, '').includes(text as string)
  })

  assert.ok(rows.length > 20)
  assert.deepEqual(
    missing.map(([, text]) => text),
    [],
  )
})

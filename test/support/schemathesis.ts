/**
 * Runs Schemathesis, from PyPI: sends requests that our API description allows or forbids, and compares the answers
 * with it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CHANNEL,
  CUSTOM,
  FAILED,
  IGNORED,
  PENDING,
  PLAYLIST,
  PRIORITY,
  SECOND,
  VIDEO,
} from '../contracts/api/archive.ts'
import { installPython, run } from './installed.ts'
import { ROOT } from './sources.ts'

const FOLDER = join(ROOT, '.cache/schemathesis')
const REQUIREMENTS = join(ROOT, 'test/soak/requirements.txt')

/** Values for path variables, so that requests reach documents. */
const IDS = {
  videoId: [VIDEO, SECOND, PENDING, IGNORED, PRIORITY, FAILED],
  channelId: [CHANNEL],
  playlistId: [PLAYLIST, CUSTOM],
  taskName: ['run_backup', 'update_subscribed', 'rescan_filesystem', 'check_reindex'],
}

/**
 * Left out: requests that revoke the client's own credentials, and an answer without an end. (roles.test.ts and
 * user.test.ts cover them.)
 */
const LEFT_OUT = [
  'DELETE /api/token/',
  'POST /api/user/{userId}/',
  'DELETE /api/user/{userId}/',
  'GET /api/events/',
  'POST /logout/',
]

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
]

export interface FuzzOptions {
  url: string
  /** The account that sends the requests; default: anonymous. */
  token?: string | undefined
  /**
   * The account that reads the description, which anonymous clients may not; default: the account that sends the
   * requests.
   */
  readerToken?: string
  examples: number
  seed: number
  /** Default: generated requests only. `coverage`: also the bounds of every value, some 3,000 requests. */
  phases?: string
  maxSeconds?: number
}

/** @returns the reason why it cannot be installed; undefined if it is */
export const installSchemathesis = (): Promise<string | undefined> =>
  installPython(FOLDER, REQUIREMENTS, 'schemathesis')

export interface Fuzzed {
  /** Number of generated and sent requests. */
  cases: number
  /** Its report if it found something, else undefined. */
  report: string | undefined
}

/** @throws if it sent no request at all */
export async function fuzz({
  url,
  token,
  readerToken = token,
  examples,
  seed,
  phases = 'fuzzing',
  maxSeconds,
}: FuzzOptions): Promise<Fuzzed> {
  const folder = await mkdtemp(join(tmpdir(), 'av-fuzz-'))
  try {
    const description = join(folder, 'schema.json')
    const { status, body } = await fetch(new URL('api/schema/', url), {
      headers: { Authorization: `Token ${readerToken}` },
    }).then(async (answer) => ({ status: answer.status, body: await answer.text() }))
    if (status !== 200) throw new Error(`the description cannot be read: ${status} ${body}`)
    await writeFile(description, body)
    const left = LEFT_OUT.flatMap((operation) => ['--exclude-name', operation])
    const args = [
      '--config-file',
      join(ROOT, 'test/soak/schemathesis.toml'),
      'run',
      description,
      '--url',
      url,
      ...(token ? ['--header', `Authorization:Token ${token}`] : []),
      '--checks',
      CHECKS.join(','),
      '--max-examples',
      String(examples),
      '--seed',
      String(seed),
    ]
    const more = [
      '--phases',
      phases,
      '--request-timeout',
      '30',
      '--suppress-health-check',
      'all',
      '--continue-on-failure',
      '--no-color',
      '--warnings',
      'off',
      '--generation-database',
      'none',
    ]
    const { code, output } = await run(
      join(FOLDER, 'bin/schemathesis'),
      [...args, ...more, ...left, ...(maxSeconds ? ['--max-time', String(maxSeconds)] : [])],
      {
        cwd: folder,
        env: {
          ...process.env,
          SCHEMATHESIS_HOOKS: 'fuzz_hooks',
          PYTHONPATH: join(ROOT, 'test/soak'),
          PYTHONDONTWRITEBYTECODE: '1',
          AV_FUZZ_IDS: JSON.stringify(IDS),
        },
      },
    )
    const cases = Number(/^\s+(\d+) generated/m.exec(output)?.[1] ?? 0)
    if (cases === 0) throw new Error(`schemathesis asked nothing:\n${output}`)
    return { cases, report: code === 0 ? undefined : output }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

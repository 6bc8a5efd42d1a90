/**
 * Schemathesis, from PyPI: asks whatever our own API description allows, and whatever it does not, and compares the
 * answers with it.
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

/** What a path's variables may be, so that requests reach documents. */
const IDS = {
  videoId: [VIDEO, SECOND, PENDING, IGNORED, PRIORITY, FAILED],
  channelId: [CHANNEL],
  playlistId: [PLAYLIST, CUSTOM],
  taskName: ['run_backup', 'update_subscribed', 'rescan_filesystem', 'check_reindex'],
}

/**
 * Not asked: what takes the asker's own credentials away, and an answer without an end.
 * (roles.test.ts and user.test.ts ask them.)
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
  /** Whose requests they are; none: nobody's. */
  token?: string | undefined
  /** Who reads the description, which nobody may; default: who asks. */
  readerToken?: string
  examples: number
  seed: number
  /** Default: made-up requests only. `coverage`: every bound of every value too, some 3,000 requests. */
  phases?: string
  maxSeconds?: number
}

/** @returns why it cannot be installed, or undefined: it is there */
export const installSchemathesis = (): Promise<string | undefined> =>
  installPython(FOLDER, REQUIREMENTS, 'schemathesis')

export interface Fuzzed {
  /** So many requests were made up and asked. */
  cases: number
  /** What it said where something was found, else undefined. */
  report: string | undefined
}

/** @throws where it asked nothing at all */
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

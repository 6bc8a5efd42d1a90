/**
 * Finds and installs the newest yt-dlp and the packages that its metadata pins, from pip's configured package index,
 * with the sha256 of each file from the index.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { childEnvironment, inEnglish, say, sentenceOf, type Words } from 'archivolt'
import { run } from './verify.ts'

/** Why the index offers no usable release, for people. */
export class IndexError extends Error {
  override readonly name = 'IndexError'
  readonly words: Words
  constructor(words: Words, options?: ErrorOptions) {
    super(inEnglish(words), options)
    this.words = words
  }
}

/** Packages that a release of yt-dlp may require; a release that requires others is refused. */
const KNOWN_PACKAGES = new Set(
  'yt-dlp yt-dlp-ejs deno brotli brotlicffi certifi mutagen pycryptodomex requests urllib3 websockets'.split(' '),
)

export interface Package {
  name: string
  version: string
}

export interface Release extends Package {
  /** The exact version of the solver scripts. */
  solver: Package
  /** The JavaScript runtime, if the metadata of yt-dlp pins one. */
  runtime: Package | undefined
}

interface IndexedFile extends Package {
  sha256: string
}

interface Reported {
  download_info?: { archive_info?: { hashes?: Record<string, string> } }
  metadata: { name: string; version: string; requires_dist?: string[] }
}

/**
 * Temporary files go to the folder in the first argument. The process ends with the server, because nothing would
 * remove the files that an orphaned pip continues to write.
 */
const PIP = `
import os, runpy, sys, threading
def end():
    os.read(0, 1)
    os._exit(1)
threading.Thread(target=end, daemon=True).start()
os.environ['TMPDIR'] = sys.argv.pop(1)
sys.argv[0] = 'pip'
runpy.run_module('pip', run_name='__main__', alter_sys=True)
`

const REPORT_MS = 120_000
const INSTALL_MS = 600_000
/** Patterns in pip's output, without its options, → reason for people. */
const REASONS: Array<[RegExp, Words]> = [
  [/no space left on device/i, say`the disk is full`],
  [/do not match the hashes|expected sha256/i, say`the SHA-256 of a file differs from the one in the package index`],
  [/no module named pip/i, say`this Python has no pip`],
  [/connection|timed out|retrying|temporary failure/i, say`the package index cannot be reached`],
  [/no matching distribution/i, say`the package index has no version for this machine`],
]

export type PackageIndex = ReturnType<typeof openPackageIndex>

/**
 * @param url  of the index; null: pip's own setting
 * @param scratch  folder for pip's temporary files
 */
export function openPackageIndex(python: () => Promise<string>, url: string | null, scratch: string) {
  /**
   * Finds the newest release of yt-dlp for this machine, and the versions it pins.
   * @param wanted.before  only older versions than this. @param wanted.not  versions to exclude
   * @throws IndexError
   */
  async function newest(
    wanted: { channel: 'stable' | 'nightly'; before?: string; not: string[] },
    signal: AbortSignal,
  ): Promise<Release> {
    const limits = [...(wanted.before ? [`<${wanted.before}`] : []), ...wanted.not.map((version) => `!=${version}`)]
    const [found] = await report([`yt-dlp${limits.join(',')}`], signal, wanted.channel === 'nightly' ? ['--pre'] : [])
    if (!found || nameOf(found) !== 'yt-dlp') throw new IndexError(say`the package index sent an unexpected answer`)
    return toRelease(found)
  }

  /** Finds the files of exactly these packages. @throws IndexError */
  async function files(packages: readonly Package[], signal: AbortSignal): Promise<IndexedFile[]> {
    const reported = await report(
      packages.map(({ name, version }) => `${name}==${version}`),
      signal,
    )
    return packages.map((wanted) => {
      const found = reported.find((one) => nameOf(one) === wanted.name)
      const sha256 = found?.download_info?.archive_info?.hashes?.sha256
      if (!sha256)
        throw new IndexError(
          say`the package index has no SHA-256 for ${{ name: wanted.name }} ${{ version: wanted.version }}`,
        )
      return { ...wanted, sha256 }
    })
  }

  /** Installs exactly these files in a new folder. @throws IndexError */
  async function install(files: readonly IndexedFile[], folder: string, signal: AbortSignal): Promise<void> {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    const list = `${folder}.txt`
    const lines = files.map(({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`)
    await writeFile(list, lines.join(''))
    try {
      await pip(['--require-hashes', '--no-compile', '--target', folder, '-r', list], INSTALL_MS, signal)
    } finally {
      await rm(list, { force: true })
    }
  }

  async function report(specifiers: string[], signal: AbortSignal, options: string[] = []): Promise<Reported[]> {
    const text = await pip(
      ['--dry-run', '--ignore-installed', '--report', '-', ...options, ...specifiers],
      REPORT_MS,
      signal,
    )
    const { install } = JSON.parse(text) as { install: Reported[] }
    return install
  }

  async function pip(more: string[], timeoutMs: number, signal: AbortSignal): Promise<string> {
    const fixed = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-cache-dir', '--retries', '1']
    const files = ['--no-deps', '--only-binary', ':all:', ...(url ? ['--index-url', url] : [])]
    try {
      await mkdir(scratch, { recursive: true })
      const all = ['-I', '-c', PIP, scratch, 'install', ...fixed, ...files, ...more]
      // The user's settings for pip apply here too: another certificate, another index.
      const env = childEnvironment({ isOnline: true, also: /^PIP_\w+$/ })
      return await run(await python(), all, timeoutMs, signal, env)
    } catch (cause) {
      // pip's own message has several lines with paths of this machine, which accounts must not see.
      const said = (cause as Error).message
      throw new IndexError(REASONS.find(([words]) => words.test(said))?.[1] ?? say`pip has failed; the log says why`, {
        cause,
      })
    }
  }

  return { newest, files, install }
}

const nameOf = ({ metadata }: Reported): string => metadata.name.toLowerCase().replaceAll(/[-_.]+/g, '-')

/** `yt-dlp-ejs==0.8.0; extra == 'default'` */
const REQUIREMENT = /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\][]*\])?\(?([^;()[\]]*)\)?(?:;(.*))?$/
const EXACT = /^==\s*(\d[\w.]*)$/

/** @throws IndexError: the release requires an unknown package, or does not pin its scripts */
function toRelease(found: Reported): Release {
  const { version } = found.metadata
  const pinned = new Map<string, string>()
  for (const line of found.metadata.requires_dist ?? []) {
    const [, name = '', range = '', marker = ''] = REQUIREMENT.exec(line.replaceAll(/\s/g, '')) ?? []
    const extra = /extra\s*==\s*['"]([\w-]+)['"]/.exec(marker)?.[1]
    if (extra !== undefined && extra !== 'default' && extra !== 'pin-deno') continue
    if (!KNOWN_PACKAGES.has(name.toLowerCase()))
      throw new IndexError(
        say`yt-dlp ${{ version }} requires ${{ name: name || sentenceOf(say`something`) }}, which is not on the list of known packages`,
      )
    const exact = EXACT.exec(range)?.[1]
    if (exact !== undefined) pinned.set(name.toLowerCase(), exact)
  }
  const solver = pinned.get('yt-dlp-ejs')
  if (solver === undefined)
    throw new IndexError(say`yt-dlp ${{ version }} does not name its version of the challenge scripts`)
  const deno = pinned.get('deno')
  return {
    name: 'yt-dlp',
    version,
    solver: { name: 'yt-dlp-ejs', version: solver },
    // The index has an empty 0.0.0, which is not a runtime.
    runtime: deno === undefined || /^[0.]+$/.test(deno) ? undefined : { name: 'deno', version: deno },
  }
}

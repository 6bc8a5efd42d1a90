/** The external programs: their paths, presence and versions. */
import { existsSync } from 'node:fs'
import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Clock, DOWNLOADED_FORMATS, epochSeconds, type Log, type Settings } from 'archivolt'
import { type ChallengeReport, toChallengeReport } from './challenge.ts'
import { type Child, ChildError, type Launch, openChild, withChild } from './child.ts'
import { FILE_HOSTS } from './hosts.ts'
import type { Route } from './network-route.ts'
import { run } from './verify.ts'

type ToolSettings = Pick<Settings, 'dataDir' | 'platformUrl' | 'ytdlp' | 'ytdlpPlugins' | 'ffmpeg' | 'ffprobe'>

export interface ToolReport {
  downloader: Version
  /** Tool → version, for the tools that are present. */
  tools: Record<string, string>
  missing: string[]
}

/** A folder with yt-dlp and its pinned packages. */
export interface Build {
  path: string
}

/** The result of one check of the tools. */
interface Check {
  report: Promise<ToolReport>
  challenge: Promise<ChallengeReport | undefined>
}

interface Version {
  version: string
  channel: string
}

/** Time limits of yt-dlp in seconds, which tests shorten. */
export interface Pace {
  retryPause: number
  socketTimeout: number
  /** Time limit of a JavaScript runtime; default: a minute. */
  runtimeTimeout?: number
}

export type Runtimes = Launch['setup']['jsRuntimes']

export const DEFAULT_PLATFORM_URL = 'https://www.youtube.com'

const METADATA_MEMORY_BYTES = 512 << 20
const DOWNLOAD_MEMORY_BYTES = 1024 << 20
const VERSION_TIMEOUT_MS = 10_000
const REPORT_AGE_MS = 10 * 60_000
const NODE_FOR_CHALLENGES = 22
const PROBE_MS = 60_000
/** Longer than any runtime may take. */
const SOLVE_MS = 180_000

export type Tools = ReturnType<typeof openTools>

/** @param runtimes  JavaScript runtimes by yt-dlp's names; it uses the first one present */
export function openTools(settings: ToolSettings, pace: Pace, clock: Clock, log: Log, runtimes = knownRuntimes()) {
  let lastCheck: ({ atMs: number } & Check) | undefined
  const root = projectRoot()
  const cacheDir = join(settings.dataDir, 'yt-dlp')

  /**
   * @param jar    text of the cookie jar for this child
   * @param build  default: the one in use; null: the one installed by `make`
   */
  async function launch(
    use: 'metadata' | 'download',
    jar: string | null,
    build: Build | null = tools.updated ?? null,
  ): Promise<Launch> {
    const { ytdlp, ytdlpPlugins, ffmpeg, platformUrl } = settings
    // A missing path is treated as a venv, so that the error says that it has no Python.
    const isZip = ytdlp !== null && (await isFile(ytdlp))
    const venv = isZip ? undefined : (ytdlp ?? join(root, 'tools'))
    const cache = join(cacheDir, 'cache')
    await mkdir(cache, { recursive: true })
    return {
      python: venv ? join(resolve(venv), 'bin', 'python') : await anyPython(),
      worker: join(root, 'plugins/platform/worker.py'),
      setup: {
        platformUrl,
        fileHosts: FILE_HOSTS,
        paths: [
          ...(build ? [build.path] : []),
          ...(isZip ? [resolve(ytdlp)] : []),
          ...(ytdlpPlugins ? [resolve(ytdlpPlugins)] : []),
        ],
        jsRuntimes: build ? await withOwnDeno(runtimes, build) : runtimes,
        ffmpeg: isAbsolute(ffmpeg) ? ffmpeg : null,
        inputFormats: DOWNLOADED_FORMATS,
        cacheDir: cache,
        jar,
        route: tools.route(),
        ...pace,
      },
      memoryLimitBytes: use === 'download' ? DOWNLOAD_MEMORY_BYTES : METADATA_MEMORY_BYTES,
    }
  }

  /** The Python to run an official zip, which contains none: that of our own tools, otherwise the system's. */
  async function anyPython(): Promise<string> {
    const own = join(root, 'tools/bin/python')
    return (await isProgram(own)) ? own : 'python3'
  }

  /** The versions of all tools, read at most every ten minutes. */
  function report(): Promise<ToolReport> {
    return recent().report
  }

  /** Whether challenges were solved at the time of the report; undefined: unknown. */
  function challenge(): Promise<ChallengeReport | undefined> {
    return recent().challenge
  }

  /** Makes the next report read the versions again. */
  function forget(): void {
    lastCheck = undefined
  }

  function recent(): Check {
    const now = clock.steady()
    if (!lastCheck || now - lastCheck.atMs > REPORT_AGE_MS) lastCheck = { atMs: now, ...check() }
    return lastCheck
  }

  /** Starts one child that first reports its version and then solves challenges, which takes longer. */
  function check(): Check {
    const child = launch('metadata', null).then((launch) => openChild(launch, clock, log))
    const challenge = child.then((started) => solvedBy(started).finally(() => started.end()))
    const lacking = (error: unknown): undefined =>
      void log.error({ err: error }, 'yt-dlp, or whether it solves challenges, could not be checked')
    return { report: reportOf(child.then(versionOf).catch(lacking)), challenge: challenge.catch(lacking) }
  }

  async function reportOf(asked: Promise<Version | undefined>): Promise<ToolReport> {
    const { ffmpeg, ffprobe } = settings
    const [ytdlp, ffmpegVersion, ffprobeVersion] = await Promise.all([
      asked,
      programVersion(ffmpeg),
      programVersion(ffprobe),
    ])
    const found = { 'yt-dlp': ytdlp?.version, ffmpeg: ffmpegVersion, ffprobe: ffprobeVersion }
    const tools = Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
    return {
      downloader: ytdlp ?? { version: '', channel: '' },
      tools,
      missing: Object.keys(found).filter((name) => !(name in tools)),
    }
  }

  /** undefined: yt-dlp does not start. */
  async function solvedBy(child: Child): Promise<ChallengeReport | undefined> {
    if ((await versionOf(child)) === undefined) return undefined
    const { result } = await child.ask({ op: 'solve' }, { quietMs: SOLVE_MS })
    return toChallengeReport(result, epochSeconds(clock))
  }

  /** Version and channel of the yt-dlp that children load; undefined: no child can be started. */
  async function versionOfBuild(build?: Build | null): Promise<Version | undefined> {
    return withChild(await launch('metadata', null, build), clock, log, versionOf)
  }

  /** Tests that a build loads, accepts our options and knows the platform's pages. @throws ChildError */
  async function probe(build: Build): Promise<void> {
    await withChild(await launch('metadata', null, build), clock, log, (child) =>
      child.ask({ op: 'probe' }, { quietMs: PROBE_MS }),
    )
  }

  /** Whether a build solves challenges; undefined: it does not start. */
  async function solve(build?: Build | null): Promise<ChallengeReport | undefined> {
    return withChild(await launch('metadata', null, build), clock, log, solvedBy)
  }

  /** Whether all tools for a download are installed. */
  async function areThere(): Promise<boolean> {
    forget()
    const { missing } = await report()
    return missing.length === 0
  }

  const tools = {
    /** A tested yt-dlp newer than the one installed by `make`. */
    updated: undefined as Build | undefined,
    /** The network route of each child. */
    route: (): Route => ({}),
    cacheDir,
    /** The folder of newer builds, and of unfinished ones. */
    updatesDir: join(cacheDir, 'updates'),
    ...{ launch, report, challenge, forget, probe, solve, areThere },
    versionOf: versionOfBuild,
  }
  return tools
}

/** @returns undefined: it does not start */
async function versionOf(child: Child): Promise<Version | undefined> {
  try {
    const { version, channel } = await child.ready
    return { version, channel } // drops the other fields of the worker's answer
  } catch (error) {
    if (!(error instanceof ChildError)) throw error
    return undefined
  }
}

/** The runtimes that yt-dlp may use. It searches for them next to Python and on PATH, and skips outdated ones. */
function knownRuntimes(): Runtimes {
  const isNodeNewEnough = Number.parseInt(process.versions.node, 10) >= NODE_FOR_CHALLENGES
  return { deno: {}, node: isNodeNewEnough ? { path: process.execPath } : {}, quickjs: {} }
}

/** Uses the deno of the build, if it has one. */
async function withOwnDeno(runtimes: Runtimes, { path }: Build): Promise<Runtimes> {
  const deno = join(path, 'bin/deno')
  return (await isProgram(deno)) ? { ...runtimes, deno: { path: deno } } : runtimes
}

export async function programVersion(program: string): Promise<string | undefined> {
  const output = await run(program, ['-version'], VERSION_TIMEOUT_MS).catch(() => undefined)
  return output === undefined ? undefined : (/(?:version |deno )(\S{1,60})/.exec(output)?.[1] ?? 'unknown')
}

export const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false

export const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

/** The project folder: this file runs from its source folder or bundled from dist/. */
function projectRoot(): string {
  const isRoot = (folder: string): boolean => existsSync(join(folder, 'package.json'))
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!isRoot(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** A child process with yt-dlp: JSON lines over pipes, one request at a time; its process group is killed with it. */
import {
  abortable,
  type Clock,
  childEnvironment,
  epochSeconds,
  giveWay,
  killGroup,
  type Log,
  rssBytesOf,
  startChild,
  type Timer,
} from 'archivolt'
import type { Evidence } from './classify.ts'
import type { Route } from './network-route.ts'

/** How a child is started: the program and its first input line. Neither contains external input. */
export interface Launch {
  python: string
  worker: string
  setup: {
    platformUrl: string
    /** Further hosts for subtitles and thumbnails. */
    fileHosts: string[]
    /** Prepended to Python's path: an official zip, an updated yt-dlp, a folder of plugins. */
    paths: string[]
    jsRuntimes: Record<string, { path?: string }>
    ffmpeg: string | null
    /** The input formats that ffmpeg may detect. */
    inputFormats: string
    cacheDir: string | null
    jar: string | null
    /** The configured network route. */
    route: Route
    /** Seconds before the first retry; doubled for each further one. */
    retryPause: number
    /** Seconds without a response before a connection is dropped. */
    socketTimeout: number
    /** The same for a JavaScript runtime. */
    runtimeTimeout?: number
  }
  memoryLimitBytes: number
}

export interface ChildRequest {
  op: string
  [key: string]: unknown
}

export interface ChildAskOptions {
  signal?: AbortSignal | undefined
  /** Kills the child after this long without output. */
  quietMs: number
  /** Whether to use the cookie, if there is one; default: yes. */
  isSignedIn?: boolean | undefined
  /** A person waits for the answer, so a missing item is not requested again. */
  isHasty?: boolean
  /** Waits before a further request to the platform, or before a subtitle; default: no wait. */
  pause?: ((kind: PauseKind) => Promise<void>) | undefined
  /** Called when all streams of a download have arrived; the rest is local work. */
  onFetched?: ((told: Fetched) => void) | undefined
  onPart?: (part: unknown[]) => void
  /** Called with the cookie jar when the platform has renewed cookies in it. */
  onJar?: (jar: string) => void
  onTokenNews?: (news: TokenNews) => void
  onProgress?: (progress: { downloaded: number; total: number; speed: number | null; eta: number | null }) => void
}

export interface Fetched {
  areSubtitlesRefused: boolean
}

export type PauseKind = 'request' | 'subtitle'

/** The outcome of requesting a proof-of-origin token; `failed`: why there was none. */
export interface TokenNews {
  failed?: string
  /** The provider does not respond at all. */
  isAway?: boolean
}

export interface ChildAnswer {
  result: Record<string, unknown>
  warnings: string[]
}

/** The error of a failed request, with the evidence that is not classified yet. */
export class ChildError extends Error {
  override readonly name = 'ChildError'
  readonly evidence: Evidence
  constructor(evidence: Evidence) {
    super(evidence.message)
    this.evidence = evidence
  }
}

const MAX_LINE_BYTES = 1 << 22
const MAX_STDERR_BYTES = 4000
const START_MS = 60_000
const MEMORY_CHECK_MS = 2000

interface Pending {
  id: number
  options: ChildAskOptions
  resolve: (answer: ChildAnswer) => void
  reject: (error: unknown) => void
  timer: Timer
}

export type Child = ReturnType<typeof openChild>

export function openChild(launch: Launch, clock: Clock, log: Log) {
  let pending: Pending | undefined
  let count = 0
  let partial: Buffer[] = []
  let partialBytes = 0
  let stderr = ''
  let isEnded = false
  let reason: Evidence | undefined
  let memoryTimer: Timer | undefined
  let onReady!: (ready: { version: string; channel: string }) => void
  let onFailed!: (error: ChildError) => void
  const ready = new Promise<{ version: string; channel: string }>((resolve, reject) => {
    onReady = resolve
    onFailed = reject
  })
  ready.catch(() => undefined) // the first request reports the error too
  // -I: no PYTHONPATH, no user packages. A separate process group, so that ffmpeg is killed with it.
  const program = startChild(launch.python, ['-I', '-B', launch.worker], {
    env: childEnvironment({ isOnline: true }),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  giveWay(program)
  const startTimer = clock.after(START_MS, () =>
    kill({ kinds: ['StartTimeout'], message: 'yt-dlp did not start within a minute' }),
  )
  ready.then(
    () => startTimer.cancel(),
    () => startTimer.cancel(),
  )
  const ended = new Promise<void>((resolve) => {
    program.once('error', (error: NodeJS.ErrnoException) => {
      finish({
        kinds: ['MissingTool'],
        message: `Python with yt-dlp cannot be started (${error.code ?? error.message}); run \`make ytdlp\`, or correct AV_YTDLP`,
      })
      resolve()
    })
    program.once('close', (code, signal) => {
      finish({ kinds: ['ChildDied'], message: `yt-dlp ended unexpectedly (${signal ?? `code ${code}`})` })
      resolve()
    })
  })
  program.stdin?.on('error', () => undefined) // EPIPE: 'close' reports the end
  program.stdout?.on('data', read)
  program.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-MAX_STDERR_BYTES)
  })
  send(launch.setup)
  watchMemory()

  /**
   * Sends one request; the caller ensures that no other is running. @throws ChildError, or the signal's reason after
   * the child has been killed
   */
  async function ask(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    const { signal } = options
    try {
      return await abortable<ChildAnswer>(signal, (resolve, reject) => {
        askWhenReady(request, options).then(resolve, reject)
      })
    } catch (error) {
      if (!signal?.aborted) throw error
      kill({ kinds: ['Aborted'], message: 'Aborted' })
      await ended
      throw signal.reason
    }
  }

  async function askWhenReady(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    await ready
    if (isEnded) throw new ChildError(reason ?? { kinds: ['ChildDied'], message: 'yt-dlp has ended' })
    return new Promise((resolve, reject) => {
      const id = ++count
      pending = { id, options, resolve, reject, timer: quietTimer(options.quietMs) }
      const { isSignedIn, isHasty, pause } = options
      send({
        id,
        ...request,
        now: epochSeconds(clock),
        isSignedIn,
        ...(isHasty && { isHasty }),
        ...(pause && { pauses: true }),
      })
    })
  }

  /** Kills the process and its children; a pending request fails with this reason. */
  function kill(why: Evidence): void {
    if (isEnded) return
    reason ??= why
    killGroup(program)
  }

  /** Ends an idle child. */
  function end(): Promise<void> {
    reason ??= { kinds: ['ChildDied'], message: 'yt-dlp was ended' }
    program.stdin?.end() // the worker ends its group at the end of its input
    return ended
  }

  function send(line: object): void {
    if (!isEnded) program.stdin?.write(`${JSON.stringify(line)}\n`)
  }

  function quietTimer(quietMs: number): Timer {
    return clock.after(quietMs, () =>
      kill({ kinds: ['Timeout'], message: `No answer within ${Math.round(quietMs / 1000)} s`, isTransport: true }),
    )
  }

  function finish(evidence: Evidence): void {
    if (isEnded) return
    isEnded = true
    memoryTimer?.cancel()
    reason ??= { ...evidence, warnings: stderr ? [stderr] : [] }
    const error = new ChildError(reason)
    onFailed(error)
    pending?.timer.cancel()
    pending?.reject(error)
    pending = undefined
  }

  function read(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...partial, chunk.subarray(from, at)])
      partial = []
      partialBytes = 0
      from = at + 1
      take(line)
    }
    if (from === chunk.length) return
    partial.push(chunk.subarray(from))
    partialBytes += chunk.length - from
    if (partialBytes > MAX_LINE_BYTES) kill({ kinds: ['TooLong'], message: 'The answer of yt-dlp is too long' })
  }

  function take(line: Buffer): void {
    let answer: Record<string, unknown>
    try {
      answer = JSON.parse(line.toString('utf8')) as Record<string, unknown>
    } catch {
      return kill({ kinds: ['BadLine'], message: 'yt-dlp sent an answer that cannot be read' })
    }
    if ('ready' in answer) return onReady(answer.ready as { version: string; channel: string })
    if ('failed' in answer)
      return kill({
        kinds: ['MissingTool'],
        message: `yt-dlp cannot be loaded (${String(answer.failed).slice(0, 300)})`,
      })
    const asked = pending
    if (!asked || answer.id !== asked.id) return
    asked.timer.cancel()
    if ('part' in answer || 'progress' in answer || 'fetched' in answer) {
      asked.timer = quietTimer(asked.options.quietMs)
      if ('fetched' in answer) asked.options.onFetched?.(answer.fetched as Fetched)
      else if ('part' in answer) asked.options.onPart?.(answer.part as unknown[])
      // Not checked, because the worker is our own code: the form of the progress follows from the request.
      else asked.options.onProgress?.(answer.progress as never)
      return
    }
    if ('pause' in answer) return pause(asked, answer.pause as PauseKind)
    pending = undefined
    if (typeof answer.jar === 'string') asked.options.onJar?.(answer.jar)
    if ('token' in answer) asked.options.onTokenNews?.(answer.token as TokenNews)
    if ('error' in answer) return asked.reject(new ChildError(answer.error as Evidence))
    asked.resolve({
      result: (answer.result ?? {}) as Record<string, unknown>,
      warnings: (answer.warnings ?? []) as string[],
    })
  }

  function pause({ id, options }: Pending, kind: PauseKind): void {
    const go = () => {
      if (pending?.id !== id) return
      pending.timer = quietTimer(options.quietMs)
      send({ go: id })
    }
    // Aborting the ask also ends its pause, and kills this child.
    Promise.resolve(options.pause?.(kind)).then(go, () => undefined)
  }

  function watchMemory(): void {
    memoryTimer = clock.after(MEMORY_CHECK_MS, () => {
      void checkMemory().then(() => {
        if (!isEnded) watchMemory()
      })
    })
  }

  async function checkMemory(): Promise<void> {
    const used = await rssBytes()
    const limit = launch.memoryLimitBytes
    if (used === undefined || used <= limit) return
    log.warn({ used, limit }, 'yt-dlp uses too much memory and is killed')
    kill({ kinds: ['Memory'], message: 'yt-dlp used too much memory' })
  }

  /** Memory of the process; undefined: unknown. */
  const rssBytes = (): Promise<number | undefined> => rssBytesOf(program.pid)

  return {
    ended,
    /** Version and channel of yt-dlp, once the child is up. @throws ChildError */
    ready,
    pid: program.pid,
    get isEnded() {
      return isEnded
    },
    ask,
    kill,
    end,
    rssBytes,
  }
}

/** Runs work with a child of its own, which ends with the work. */
export async function withChild<Result>(
  launch: Launch,
  clock: Clock,
  log: Log,
  work: (child: Child) => Promise<Result>,
): Promise<Result> {
  const child = openChild(launch, clock, log)
  try {
    return await work(child)
  } finally {
    await child.end()
  }
}

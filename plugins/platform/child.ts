/** A child process with yt-dlp: JSON lines over pipes, one request at a time; its process group is killed with it. */
import type { ChildProcess } from 'node:child_process'
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

export class Child {
  readonly ended: Promise<void>
  /** Version and channel of yt-dlp, once the child is up. @throws ChildError */
  readonly ready: Promise<{ version: string; channel: string }>
  /** Called with the cookie jar when the platform has renewed cookies in it. */
  onJar: ((jar: string) => void) | undefined
  onToken: ((news: TokenNews) => void) | undefined
  #process: ChildProcess
  #clock: Clock
  #log: Log
  #limitBytes: number
  #pending: Pending | undefined
  #count = 0
  #partial: Buffer[] = []
  #partialBytes = 0
  #stderr = ''
  #isEnded = false
  #reason: Evidence | undefined
  #memoryTimer: Timer | undefined
  #onReady!: (ready: { version: string; channel: string }) => void
  #onFailed!: (error: ChildError) => void

  constructor(launch: Launch, clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
    this.#limitBytes = launch.memoryLimitBytes
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve
      this.#onFailed = reject
    })
    this.ready.catch(() => undefined) // the first request reports the error too
    // -I: no PYTHONPATH, no user packages. A separate process group, so that ffmpeg is killed with it.
    this.#process = startChild(launch.python, ['-I', '-B', launch.worker], {
      env: childEnvironment({ isOnline: true }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    giveWay(this.#process)
    const timer = clock.after(START_MS, () =>
      this.kill({ kinds: ['StartTimeout'], message: 'yt-dlp did not start within a minute' }),
    )
    this.ready.then(
      () => timer.cancel(),
      () => timer.cancel(),
    )
    this.ended = new Promise((resolve) => {
      this.#process.once('error', (error: NodeJS.ErrnoException) => {
        this.#finish({
          kinds: ['MissingTool'],
          message: `Python with yt-dlp cannot be started (${error.code ?? error.message}); run \`make ytdlp\`, or correct AV_YTDLP`,
        })
        resolve()
      })
      this.#process.once('close', (code, signal) => {
        this.#finish({ kinds: ['ChildDied'], message: `yt-dlp ended unexpectedly (${signal ?? `code ${code}`})` })
        resolve()
      })
    })
    this.#process.stdin?.on('error', () => undefined) // EPIPE: 'close' reports the end
    this.#process.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-MAX_STDERR_BYTES)
    })
    this.#send(launch.setup)
    this.#watchMemory()
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /**
   * Sends one request; the caller ensures that no other is running. @throws ChildError, or the signal's reason after
   * the child has been killed
   */
  async ask(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    const { signal } = options
    try {
      return await abortable<ChildAnswer>(signal, (resolve, reject) => {
        this.#askWhenReady(request, options).then(resolve, reject)
      })
    } catch (error) {
      if (!signal?.aborted) throw error
      this.kill({ kinds: ['Aborted'], message: 'Aborted' })
      await this.ended
      throw signal.reason
    }
  }

  async #askWhenReady(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    await this.ready
    if (this.#isEnded) throw new ChildError(this.#reason ?? { kinds: ['ChildDied'], message: 'yt-dlp has ended' })
    return new Promise((resolve, reject) => {
      const id = ++this.#count
      this.#pending = { id, options, resolve, reject, timer: this.#quietTimer(options.quietMs) }
      const { isSignedIn, isHasty, pause } = options
      this.#send({
        id,
        ...request,
        now: epochSeconds(this.#clock),
        isSignedIn,
        ...(isHasty && { isHasty }),
        ...(pause && { pauses: true }),
      })
    })
  }

  /** Kills the process and its children; a pending request fails with this reason. */
  kill(reason: Evidence): void {
    if (this.#isEnded) return
    this.#reason ??= reason
    killGroup(this.#process)
  }

  /** Ends an idle child. */
  end(): Promise<void> {
    this.#reason ??= { kinds: ['ChildDied'], message: 'yt-dlp was ended' }
    this.#process.stdin?.end() // the worker ends its group at the end of its input
    return this.ended
  }

  #send(line: object): void {
    if (!this.#isEnded) this.#process.stdin?.write(`${JSON.stringify(line)}\n`)
  }

  #quietTimer(quietMs: number): Timer {
    return this.#clock.after(quietMs, () =>
      this.kill({ kinds: ['Timeout'], message: `No answer within ${Math.round(quietMs / 1000)} s`, isTransport: true }),
    )
  }

  #finish(evidence: Evidence): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#memoryTimer?.cancel()
    this.#reason ??= { ...evidence, warnings: this.#stderr ? [this.#stderr] : [] }
    const error = new ChildError(this.#reason)
    this.#onFailed(error)
    this.#pending?.timer.cancel()
    this.#pending?.reject(error)
    this.#pending = undefined
  }

  #read(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...this.#partial, chunk.subarray(from, at)])
      this.#partial = []
      this.#partialBytes = 0
      from = at + 1
      this.#take(line)
    }
    if (from === chunk.length) return
    this.#partial.push(chunk.subarray(from))
    this.#partialBytes += chunk.length - from
    if (this.#partialBytes > MAX_LINE_BYTES)
      this.kill({ kinds: ['TooLong'], message: 'The answer of yt-dlp was too long' })
  }

  #take(line: Buffer): void {
    let answer: Record<string, unknown>
    try {
      answer = JSON.parse(line.toString('utf8')) as Record<string, unknown>
    } catch {
      return this.kill({ kinds: ['BadLine'], message: 'yt-dlp gave an answer that cannot be read' })
    }
    if ('ready' in answer) return this.#onReady(answer.ready as { version: string; channel: string })
    if ('failed' in answer)
      return this.kill({
        kinds: ['MissingTool'],
        message: `yt-dlp cannot be loaded (${String(answer.failed).slice(0, 300)})`,
      })
    const pending = this.#pending
    if (!pending || answer.id !== pending.id) return
    pending.timer.cancel()
    if ('part' in answer || 'progress' in answer || 'fetched' in answer) {
      pending.timer = this.#quietTimer(pending.options.quietMs)
      if ('fetched' in answer) pending.options.onFetched?.(answer.fetched as Fetched)
      else if ('part' in answer) pending.options.onPart?.(answer.part as unknown[])
      // Not checked, because the worker is our own code: the form of the progress follows from the request.
      else pending.options.onProgress?.(answer.progress as never)
      return
    }
    if ('pause' in answer) return this.#pause(pending, answer.pause as PauseKind)
    this.#pending = undefined
    if (typeof answer.jar === 'string') this.onJar?.(answer.jar)
    if ('token' in answer) this.onToken?.(answer.token as TokenNews)
    if ('error' in answer) return pending.reject(new ChildError(answer.error as Evidence))
    pending.resolve({
      result: (answer.result ?? {}) as Record<string, unknown>,
      warnings: (answer.warnings ?? []) as string[],
    })
  }

  #pause({ id, options }: Pending, kind: PauseKind): void {
    const go = () => {
      if (this.#pending?.id !== id) return
      this.#pending.timer = this.#quietTimer(options.quietMs)
      this.#send({ go: id })
    }
    // Aborting the ask also ends its pause, and kills this child.
    Promise.resolve(options.pause?.(kind)).then(go, () => undefined)
  }

  #watchMemory(): void {
    this.#memoryTimer = this.#clock.after(MEMORY_CHECK_MS, () => {
      void this.#checkMemory().then(() => {
        if (!this.#isEnded) this.#watchMemory()
      })
    })
  }

  async #checkMemory(): Promise<void> {
    const used = await this.rssBytes()
    if (used === undefined || used <= this.#limitBytes) return
    this.#log.warn({ used, limit: this.#limitBytes }, 'yt-dlp needs too much memory and is ended')
    this.kill({ kinds: ['Memory'], message: 'yt-dlp needed too much memory' })
  }

  /** Memory of the process; undefined: unknown. */
  rssBytes(): Promise<number | undefined> {
    return rssBytesOf(this.#process.pid)
  }
}

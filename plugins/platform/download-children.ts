/**
 * Child processes for downloads: one per running download, reused for a while. Starting one takes longer than all our
 * other work for a download.
 */
import type { Clock, Log, Timer } from 'archivolt'
import {
  type Child,
  type ChildAnswer,
  type ChildAskOptions,
  ChildError,
  type ChildRequest,
  openChild,
} from './child.ts'
import type { SharedChildParts } from './shared-child.ts'

/** Longer than the default pause between two videos. */
const IDLE_MS = 30_000
const DOWNLOADS_UNTIL_REPLACED = 20
/** Errors of yt-dlp for a refusal by the platform. */
const REFUSALS = ['ExtractorError', 'GeoRestrictedError', 'UserNotLive']

interface Idle {
  child: Child
  /** The launch parameters as JSON, with the child's current jar. */
  launch: string
  downloads: number
  timer: Timer
}

interface Parts {
  clock: Clock
  log: Log
  launch: SharedChildParts['launch']
}

export function openDownloadChildren({ clock, log, launch: launchNow }: Parts) {
  const idleChildren = new Set<Idle>()

  /**
   * Runs one download. After a failure, a child is reused only if the platform refused before a file was begun:
   * otherwise the child may have cached that this machine lacks something, or have left a part of a file.
   */
  async function ask(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    const { launch, onJar, onTokenNews } = await launchNow()
    const reused = await take(JSON.stringify(launch))
    const child = reused?.child ?? openChild(launch, clock, log)
    let { jar } = launch.setup
    const keepChild = (): void => {
      const next = JSON.stringify({ ...launch, setup: { ...launch.setup, jar } })
      addIdle(child, next, (reused?.downloads ?? 0) + 1)
    }
    let isBegun = false
    const asked: ChildAskOptions = {
      ...options,
      onTokenNews,
      onJar(renewed) {
        jar = renewed
        onJar(renewed)
      },
      onProgress(progress) {
        isBegun = true
        options.onProgress?.(progress)
      },
    }
    try {
      const answer = await child.ask(request, asked)
      keepChild()
      return answer
    } catch (error) {
      if (isRefusal(error) && !isBegun && !child.isEnded) keepChild()
      else await child.end()
      throw error
    }
  }

  /** Takes an idle child with the same launch parameters; ends those with other parameters. */
  async function take(launch: string): Promise<Idle | undefined> {
    const idle = [...idleChildren].filter(({ child }) => !child.isEnded)
    const found = idle.find((one) => one.launch === launch)
    if (found) forget(found)
    const outdated = idle.filter((one) => one.launch !== launch)
    await Promise.all(outdated.map((one) => dismiss(one)))
    return found
  }

  function addIdle(child: Child, launch: string, downloads: number): void {
    if (downloads >= DOWNLOADS_UNTIL_REPLACED) return void child.end()
    const timer = clock.after(IDLE_MS, () => void dismiss(idle))
    const idle: Idle = { child, launch, downloads, timer }
    idleChildren.add(idle)
  }

  function forget(idle: Idle): void {
    idle.timer.cancel()
    idleChildren.delete(idle)
  }

  function dismiss(idle: Idle): Promise<void> {
    forget(idle)
    return idle.child.end()
  }

  /** Ends idle children; a busy one ends when its download is aborted. */
  async function end(): Promise<void> {
    await Promise.all([...idleChildren].map(dismiss))
  }

  return { ask, end }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ChildError && error.evidence.kinds.some((kind) => REFUSALS.includes(kind))

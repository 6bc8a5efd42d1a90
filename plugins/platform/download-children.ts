/**
 * Children that download: one for each download under way, kept a while for the next one. To start one takes longer
 * than all else that is ours of a download.
 */
import type { Clock, Log, Timer } from 'archivolt'
import { Child, type ChildAnswer, type ChildAskOptions, ChildError, type ChildRequest } from './child.ts'
import type { KeptChildParts } from './kept-child.ts'

/** Longer than the pause between two videos. */
const IDLE_MS = 30_000
const DOWNLOADS_UNTIL_REPLACED = 20
/** What yt-dlp throws where the platform has answered, and with no. */
const REFUSALS = ['ExtractorError', 'GeoRestrictedError', 'UserNotLive']

interface Idle {
  child: Child
  /** What it was started with, and the jar that it has now. */
  launch: string
  downloads: number
  timer: Timer
}

interface Parts {
  clock: Clock
  log: Log
  launch: KeptChildParts['launch']
}

export type DownloadChildren = ReturnType<typeof openDownloadChildren>

export function openDownloadChildren({ clock, log, launch: launchNow }: Parts) {
  const waiting = new Set<Idle>()

  /**
   * One download. A child that has failed at it is used again only where the platform has refused before a file was
   * begun: what is missing on this machine it would remember, and of a file something may be left.
   */
  async function ask(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    const { launch, onJar, onToken } = await launchNow()
    const kept = await take(JSON.stringify(launch))
    const child = kept?.child ?? new Child(launch, clock, log)
    let { jar } = launch.setup
    child.onJar = (renewed) => {
      jar = renewed
      onJar(renewed)
    }
    child.onToken = onToken
    const keepIt = (): void => {
      const next = JSON.stringify({ ...launch, setup: { ...launch.setup, jar } })
      keep(child, next, (kept?.downloads ?? 0) + 1)
    }
    let isBegun = false
    const onProgress: ChildAskOptions['onProgress'] = (progress) => {
      isBegun = true
      options.onProgress?.(progress)
    }
    try {
      const answer = await child.ask(request, { ...options, onProgress })
      keepIt()
      return answer
    } catch (error) {
      if (isRefusal(error) && !isBegun && !child.isEnded) keepIt()
      else await child.end()
      throw error
    }
  }

  /** One that would be started just so now; those that would not are of no use any more. */
  async function take(launch: string): Promise<Idle | undefined> {
    const idle = [...waiting].filter(({ child }) => !child.isEnded)
    const found = idle.find((one) => one.launch === launch)
    if (found) forget(found)
    const outdated = idle.filter((one) => one.launch !== launch)
    await Promise.all(outdated.map((one) => dismiss(one)))
    return found
  }

  function keep(child: Child, launch: string, downloads: number): void {
    if (downloads >= DOWNLOADS_UNTIL_REPLACED) return void child.end()
    const timer = clock.after(IDLE_MS, () => void dismiss(idle))
    const idle: Idle = { child, launch, downloads, timer }
    waiting.add(idle)
  }

  function forget(idle: Idle): void {
    idle.timer.cancel()
    waiting.delete(idle)
  }

  function dismiss(idle: Idle): Promise<void> {
    forget(idle)
    return idle.child.end()
  }

  /** Ends those that wait; those at work end with their downloads. */
  async function end(): Promise<void> {
    await Promise.all([...waiting].map(dismiss))
  }

  return { ask, end }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ChildError && error.evidence.kinds.some((kind) => REFUSALS.includes(kind))

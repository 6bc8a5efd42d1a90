/**
 * The server that is measured, and what can be observed of a process from outside: memory, children, processor time.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Server, startServer, until } from '../../support/server.ts'
import { ROOT } from '../../support/sources.ts'
import { copyOfLibrary } from './library.ts'
import type { Scope } from './report.ts'

export interface Delays {
  p50: number
  p99: number
  max: number
}

export interface Archive extends Server {
  dataDir: string
  token: string
  pid: number
  /** Time of its first answer, by this process's clock. The sign-in, which is slow by design, comes later. */
  answeredAt: number
}

/** @param from.videos  the size of the generated library; or `dataDir`, an existing folder */
export async function startArchive(
  scope: Scope,
  from: { videos: number } | { dataDir: string },
  { isWatched = false, env = {} }: { isWatched?: boolean; env?: Record<string, string> } = {},
): Promise<Archive> {
  const dataDir = 'dataDir' in from ? from.dataDir : await copyOfLibrary(scope, from.videos)
  const server = await startServer(scope, dataDir, {
    AV_LOG_LEVEL: 'warn',
    ...env,
    ...(isWatched && { AV_PLUGINS_DIR: `${ROOT}test/data/plugins/loopdelay` }),
  })
  await answers(server.baseUrl)
  const answeredAt = performance.now()
  const { body } = await server.api('GET', '/api/token/')
  return { ...server, dataDir, token: body.token, pid: server.child.pid!, answeredAt }
}

/** Waits for the first snapshot of a folder, which later starts do not take. */
export async function firstSnapshotTaken(server: Archive): Promise<void> {
  await until(
    'the first snapshot is taken',
    () => server.api('GET', '/api/snapshot/'),
    ({ body }) => body.snapshots.some(({ state }: { state: string }) => state === 'SUCCESS'),
    1_800_000,
  )
}

/**
 * Waits for the server: until the index is ready, it answers every path with 503; then it answers this one, without a
 * token, with 401.
 */
async function answers(baseUrl: string): Promise<void> {
  while ((await fetch(`${baseUrl}/api/ping/`)).status === 503) await delay(5)
}

/** Starts a file of this folder in its own process and exchanges messages with it. */
export interface Peer {
  child: ChildProcess
  ask<Answer>(message: object): Promise<Answer>
}

export function startPeer(scope: Scope, name: string, args: string[] = []): Peer {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), args, {
    execArgv: ['--import', 'tsx', '--conditions=source'],
  })
  const ended = once(child, 'exit')
  const isLost = ended.then(() => {
    throw new Error(`${name} has ended`)
  })
  isLost.catch(() => undefined) // matters only to those who wait for an answer
  scope.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    async ask(message) {
      child.send(message)
      const [answer] = await Promise.race([once(child, 'message'), isLost])
      return answer
    },
  }
}

/**
 * Delays of the server's event loop during some work, and those of an idle process at the same time: what the second
 * one shows as well is other work on this machine.
 */
export async function delaysDuring<Result>(
  scope: Scope,
  server: Archive,
  work: () => Promise<Result>,
): Promise<{ result: Result; own: Delays; idle: Delays; tookMs: number }> {
  const idle = startPeer(scope, 'idle.ts')
  await idle.ask({})
  await server.api('GET', '/api/loop-delay/')
  const started = performance.now()
  const result = await work()
  const tookMs = performance.now() - started
  const [{ body: own }, idleDelays] = await Promise.all([server.api('GET', '/api/loop-delay/'), idle.ask<Delays>({})])
  idle.child.kill('SIGKILL')
  return { result, own, idle: idleDelays, tookMs }
}

export const rssMb = (pid: number): Promise<number> => statusMb(pid, /VmRSS:\s+(\d+)/)
/** Peak since its start. */
export const mostMb = (pid: number): Promise<number> => statusMb(pid, /VmHWM:\s+(\d+)/)

async function statusMb(pid: number, line: RegExp): Promise<number> {
  return Number(line.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024
}

/** All descendants of a process. */
export async function descendants(pid: number): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') // it has just ended
    if (stat) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const found = [pid]
  for (const parent of found) for (const [child, its] of parents) if (its === parent) found.push(child)
  return found.slice(1)
}

const TICKS_PER_SECOND = 100

/**
 * Processor time of all threads, in seconds.
 * @param ofChildren  adds the children that have ended
 */
export async function cpuSeconds(pid: number, { ofChildren = false } = {}): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, ofChildren ? 15 : 13).map(Number)
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND
}

/**
 * Processor time of the current threads in seconds, exact to the nanosecond: for work of a few ticks in which no thread
 * ends.
 */
export async function threadSeconds(pid: number): Promise<number> {
  const tasks = `/proc/${pid}/task`
  const each = (await readdir(tasks)).map((task) => readFile(join(tasks, task, 'schedstat'), 'utf8'))
  return (await Promise.all(each)).reduce((sum, stat) => sum + Number(stat.split(' ')[0]), 0) / 1e9
}

/** Peak memory while work runs. */
export async function peakWhile<Result>(
  measure: () => Promise<number>,
  work: () => Promise<Result>,
  everyMs = 50,
): Promise<{ peak: number; result: Result }> {
  let peak = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, await measure().catch(() => 0)) // the child has just ended
      await delay(everyMs)
    }
  })()
  try {
    return {
      result: await work(),
      get peak() {
        return peak
      },
    }
  } finally {
    isOver = true
    await watching
  }
}

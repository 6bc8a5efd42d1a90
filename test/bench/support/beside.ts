/**
 * Measures long work over a library while lists are read: duration, processor time, delays of the event loop, memory.
 */
import { openLoad } from './load.ts'
import { type Archive, cpuSeconds, delaysDuring, peakWhile, rssMb } from './processes.ts'
import type { openReport, Scope } from './report.ts'

export interface Beside {
  scope: Scope
  server: Archive
  report: ReturnType<typeof openReport>
  /** The number of films that the work handles. */
  films: number
}

/**
 * @returns measures a piece of work.
 * @param atMost  limit in seconds
 */
export async function besideLists({ scope, server, report, films }: Beside) {
  const port = Number(new URL(server.baseUrl).port)
  const reading = openLoad(scope)
  const readLists = () =>
    reading.run({
      port,
      token: server.token,
      connections: 1,
      seconds: 1,
      requests: [{ path: '/api/video/' }, { path: '/api/channel/' }],
      limitMs: 1000,
    })
  // Reads lists before the measurement, so that what they cost by themselves is not counted.
  await readLists()
  const before = await rssMb(server.pid)

  return async <Result>(what: string, atMost: number | undefined, work: () => Promise<Result>): Promise<Result> => {
    let isOver = false
    const worked = await cpuSeconds(server.pid)
    const load = async () => {
      while (!isOver) await readLists()
    }
    let tookMs = 0
    const { own, idle, result } = await delaysDuring(scope, server, async () => {
      const loads = load()
      const began = performance.now()
      const done = await peakWhile(
        () => rssMb(server.pid),
        () => work().finally(() => (isOver = true)),
      )
      tookMs = performance.now() - began
      await loads
      return done
    })
    report(`${what}, ${films} films: took`, {
      unit: 's',
      value: tookMs / 1000,
      ...(atMost !== undefined && { atMost }),
    })
    report(`${what}: time on the processor for 10,000 films, lists read beside included`, {
      unit: 's',
      value: ((await cpuSeconds(server.pid)) - worked) / (films / 10_000),
    })
    report(`${what}: event loop delay p99`, {
      unit: 'ms',
      value: own.p99,
      beside: idle.p99,
      limits: 'value',
      atMost: 20,
    })
    report(`${what}: event loop delay, longest`, { unit: 'ms', value: own.max, beside: idle.max })
    report(`${what}: memory more than before`, { unit: 'MB', value: result.peak - before, atMost: 60 })
    return result.result
  }
}

/**
 * Counters, gauges and histograms: durations from the channels of `core/diagnostics.ts`, counts at the time of the
 * request. Until the first request, nothing is measured, and `prom-client` is not loaded.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type AnswerTold, answers, type QuestionTold, questions } from 'archivolt'
import type { App } from './app.ts'
import { listenAt } from './listener.ts'

interface Metrics {
  /** Returns the text format of Prometheus. Durations are measured from the first call on. */
  read(): Promise<string>
  /**
   * Serves metrics at the address of `AV_METRICS_LISTEN`, if set. @throws Error  it is in use or does not belong to
   * this machine
   */
  listen(): Promise<void>
  close(): Promise<void>
}

const ANSWER_SECONDS = [0.002, 0.01, 0.05, 0.2, 1, 5, 30]
const TYPES = ['videos', 'streams', 'shorts'] as const
const QUESTION_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

declare module 'archivolt' {
  interface Services {
    metrics: { metrics: Metrics }
  }
  interface Settings {
    /** Host and port where metrics are served without a token; '': none. */
    metricsListen: string
  }
}

export function openMetrics(app: App): Metrics {
  let opened: Promise<Opened> | undefined
  let unlisten: (() => Promise<void>) | undefined
  async function read(): Promise<string> {
    opened ??= open(app)
    return (await opened).text()
  }
  return {
    read,
    async listen() {
      const { metricsListen: address } = app.settings
      if (address !== '') unlisten = await listenAt(address, read, app.log)
    },
    async close() {
      await unlisten?.()
      ;(await opened)?.end()
    },
  }
}

interface Opened {
  text: () => Promise<string>
  end: () => void
}

async function open(app: App): Promise<Opened> {
  // It is a CommonJS package: in the bundle it only has a default export.
  const { default: client } = await import('prom-client')
  const { Gauge, Histogram, Registry, collectDefaultMetrics } = client
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const answerTimes = new Histogram({
    name: 'archivolt_http_request_duration_seconds',
    help: 'Duration of requests, by route',
    labelNames: ['method', 'route', 'status'],
    buckets: ANSWER_SECONDS,
    registers,
  })
  const questionTimes = new Histogram({
    name: 'archivolt_index_duration_seconds',
    help: 'Duration of reads and writes of the index, by collection',
    labelNames: ['collection', 'operation'],
    buckets: QUESTION_SECONDS,
    registers,
  })
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name: `archivolt_${name}`, help, labelNames, registers })
  gauge('info', 'The version', ['version']).set({ version: app.version }, 1)
  const jobs = gauge('jobs', 'Jobs of the last day, by task and state', ['task', 'state'])
  const queue = gauge('queue_items', 'Videos in the queue', ['status'])
  const platform = gauge('platform_state', 'The state of the platform: 1 for the current one', ['state'])
  const videos = gauge('videos', 'Archived videos', ['type'])
  const bytes = gauge('library_bytes', 'Size of the archived files')

  async function count(): Promise<void> {
    const [archived, { pending, ignore }] = await Promise.all([app.stats.video(), app.stats.download()])
    jobs.reset()
    for (const { task, state, count } of jobCounts(app)) jobs.set({ task, state }, count)
    queue.set({ status: 'pending' }, pending)
    queue.set({ status: 'ignore' }, ignore)
    platform.reset()
    platform.set({ state: app.platform.state().state }, 1)
    for (const type of TYPES) videos.set({ type }, archived[`type_${type}`].doc_count)
    bytes.set(archived.media_size)
  }

  const onAnswer = (message: unknown) => {
    const { settings, method, route, status, seconds } = message as AnswerTold
    if (settings === app.settings)
      answerTimes.observe({ method, route, status: `${Math.floor(status / 100)}xx` }, seconds)
  }
  const onQuestion = (message: unknown) => {
    const { settings, collection, operation, seconds } = message as QuestionTold
    if (settings === app.settings) questionTimes.observe({ collection, operation }, seconds)
  }
  subscribe(answers.name, onAnswer)
  subscribe(questions.name, onQuestion)
  return {
    async text() {
      await count()
      return registry.metrics()
    },
    end() {
      unsubscribe(answers.name, onAnswer)
      unsubscribe(questions.name, onQuestion)
      registry.clear()
    },
  }
}

const jobCounts = ({ ledger }: App): Array<{ task: string; state: string; count: number }> =>
  ledger
    .sql<{ task: string; state: string; count: number }>(
      'SELECT task, state, COUNT(*) AS count FROM jobs GROUP BY task, state',
    )
    .all()

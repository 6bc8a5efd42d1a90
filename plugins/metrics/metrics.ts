/**
 * Counters, gauges and histograms: times from the channels of `core/diagnostics.ts`, counts asked when they are read.
 * Nothing is measured before somebody has read them once, and the library for it is not loaded.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type AnswerTold, answers, type QuestionTold, questions } from 'archivolt'
import type { Gauge } from 'prom-client'
import type { App } from './app.ts'
import { listenAt } from './listener.ts'

export interface Metrics {
  /** In the text format of Prometheus. Times count from the first call on. */
  read(): Promise<string>
  /** At the address of `AV_METRICS_LISTEN`, if there is one. @throws Error  it is taken or not ours */
  listen(): Promise<void>
  close(): Promise<void>
}

const ANSWER_SECONDS = [0.002, 0.01, 0.05, 0.2, 1, 5, 30]
const QUESTION_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

declare module 'archivolt' {
  interface Services {
    metrics: { metrics: Metrics }
  }
  interface Settings {
    /** Host and port where metrics are served without a token; '': nowhere. */
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
  // Of CommonJS: bundled, it has its default alone.
  const { default: client } = await import('prom-client')
  const { Gauge, Histogram, Registry, collectDefaultMetrics } = client
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const answerTimes = new Histogram({
    name: 'archivolt_http_request_duration_seconds',
    help: 'Time to answer, by route',
    labelNames: ['method', 'route', 'status'],
    buckets: ANSWER_SECONDS,
    registers,
  })
  const questionTimes = new Histogram({
    name: 'archivolt_index_duration_seconds',
    help: 'Time of questions to the index and writes, by collection',
    labelNames: ['collection', 'operation'],
    buckets: QUESTION_SECONDS,
    registers,
  })
  const gauge = (name: string, help: string, labels: string[], fill: (gauge: Gauge) => Promise<void> | void) =>
    new Gauge({
      name: `archivolt_${name}`,
      help,
      labelNames: labels,
      registers,
      async collect() {
        this.reset()
        await fill(this)
      },
    })
  new Gauge({ name: 'archivolt_info', help: 'The version', labelNames: ['version'], registers }).set(
    { version: app.version },
    1,
  )
  gauge('jobs', 'Jobs of the last day, by task and state', ['task', 'state'], (jobs) => {
    for (const { task, state, count } of jobCounts(app)) jobs.set({ task, state }, count)
  })
  gauge('queue_items', 'Videos in the queue', ['status'], async (queue) => {
    for (const [status, count] of Object.entries(await queueCounts(app))) queue.set({ status }, count)
  })
  gauge('platform_state', 'The state of the platform: 1 for the one that holds', ['state'], (platform) =>
    platform.set({ state: app.platform.state().state }, 1),
  )
  gauge('videos', 'Archived videos', ['type'], async (videos) => {
    const { type_videos, type_streams, type_shorts } = await app.stats.video()
    for (const [type, { doc_count }] of Object.entries({ type_videos, type_streams, type_shorts }))
      videos.set({ type: type.slice('type_'.length) }, doc_count)
  })
  gauge('library_bytes', 'Size of the archived files', [], async (all) => all.set((await app.stats.video()).media_size))

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
    text: () => registry.metrics(),
    end() {
      unsubscribe(answers.name, onAnswer)
      unsubscribe(questions.name, onQuestion)
      registry.clear()
    },
  }
}

const jobCounts = ({ ledger }: App): Array<{ task: string; state: string; count: number }> =>
  ledger.sql('SELECT task, state, COUNT(*) AS count FROM jobs GROUP BY task, state').all() as never

async function queueCounts(app: App): Promise<Record<string, number>> {
  const { pending, ignore } = await app.stats.download()
  return { pending, ignore }
}

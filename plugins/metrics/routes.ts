/** The route for Prometheus. */
import { bytes, defineRoute, Type } from 'archivolt'
import type { App } from './app.ts'
import { METRICS_TYPE } from './text-format.ts'

export const showMetrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  access: 'admin',
  summary: 'Metrics in the text format of Prometheus',
  reply: Type.String(),
  replyType: 'text/plain',
  handle: async (_input, app: App) => bytes(await app.metrics.read(), METRICS_TYPE),
})

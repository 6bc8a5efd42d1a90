/** Metrics for Prometheus: with an admin's token, or without one at a separate address. */
import { definePlugin, Type } from 'archivolt'
import { openMetrics } from './metrics.ts'
import { showMetrics } from './routes.ts'

export default definePlugin({
  name: 'metrics',
  needs: ['stats', 'platform'],
  settings: {
    metricsListen: {
      env: 'AV_METRICS_LISTEN',
      schema: Type.String({
        pattern: '^$|^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9.-]+):\\d{1,5}$',
        description: 'an address and a port, such as 127.0.0.1:9100',
      }),
      default: '',
      meaning: 'where metrics are served without a token; empty: only at /metrics, with one',
    },
  },
  routes: [showMetrics],
  services: (app) => ({ metrics: openMetrics(app) }),
  setup: (app) => app.metrics.listen(),
  close: (app) => app.metrics.close(),
})

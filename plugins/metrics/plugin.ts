/** Metrics for Prometheus: with an admin's token, or without one at a separate address. */
import { definePlugin, Type } from 'archivolt'
import { openMetrics } from './metrics.ts'
import { showMetrics } from './routes.ts'

/** 1 to 65535. */
const PORT = '([1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])'

export default definePlugin({
  name: 'metrics',
  needs: ['stats', 'platform'],
  settings: {
    metricsListen: {
      env: 'AV_METRICS_LISTEN',
      schema: Type.String({
        pattern: `^$|^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9.-]+):${PORT}$`,
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

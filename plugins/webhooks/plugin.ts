/** Webhooks: sends chosen events to external addresses, signed and in order, with retries. */
import { definePlugin } from 'archivolt'
import { deliver } from './delivery-task.ts'
import {
  addWebhook,
  changeWebhook,
  listDeliveries,
  listWebhooks,
  removeWebhook,
  renewSecret,
  testWebhook,
} from './routes.ts'
import { secretColumns, webhookTables } from './tables.ts'
import { openWebhooks, type Webhooks } from './webhooks.ts'

export default definePlugin({
  name: 'webhooks',
  needs: ['fetch'],
  migrations: [webhookTables],
  secretColumns,
  lanes: { webhooks: 8 },
  routes: [listWebhooks, addWebhook, changeWebhook, removeWebhook, renewSecret, testWebhook, listDeliveries],
  tasks: [deliver],
  services: (app) => ({ webhooks: openWebhooks(app) }),
  onEvery: (app) => (event, told) => app.webhooks.hear(event, told),
  setup: (app) => app.webhooks.goOnAll(),
})

declare module 'archivolt' {
  interface Services {
    webhooks: {
      /** The webhooks with their events, and pending deliveries. */
      webhooks: Webhooks
    }
  }
}

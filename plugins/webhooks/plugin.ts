/** Webhooks: addresses outside are told of the events that they have chosen, signed, in order, until they take them. */
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
      /** Who outside is told of which events, and what is on its way to them. */
      webhooks: Webhooks
    }
  }
}

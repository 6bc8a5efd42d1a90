/** Delivers one message to one webhook; the next delivery starts after this one has ended. */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'
import { DELIVER, RETRIES } from './webhooks.ts'

export const deliver = defineTask({
  name: DELIVER,
  title: 'Send to a webhook',
  payload: Type.Object({ delivery: Type.Integer() }),
  lane: 'webhooks',
  unique: ({ delivery }) => String(delivery),
  internal: true,
  resumable: true,
  retries: RETRIES,
  run: ({ payload: { delivery }, signal }, app: App): Promise<void> => app.webhooks.deliver(delivery, signal),
})

/** Checks all requests whose outcome was not reported yet: after a start, and after many changes at once. */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'

export const checkRequests = defineTask({
  name: 'notification.lookAtRequests',
  title: 'Check download requests',
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  internal: true,
  resumable: true,
  run: ({ signal }, app: App): Promise<void> => app.requests.lookAtAll(signal),
})

/** Looks at all that was asked for and has not been told of: after a start, and where much has changed at once. */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'

export const lookAtRequests = defineTask({
  name: 'notification.lookAtRequests',
  title: 'Look at what was asked for',
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  internal: true,
  resumable: true,
  run: ({ signal }, app: App): Promise<void> => app.requests.lookAtAll(signal),
})

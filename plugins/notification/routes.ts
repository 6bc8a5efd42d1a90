/** Routes of messages and the event stream (contract 6.1, 8.4, B). */
import { defineRoute, events, Said, Type } from 'archivolt'
import type { App } from './app.ts'
import { messagesFor } from './live.ts'

const Message = Type.Object({
  id: Type.String(),
  task_name: Type.Union([Type.String(), Type.Null()]),
  title: Type.String(),
  group: Type.String(),
  'api-start': Type.Boolean(),
  'api-stop': Type.Boolean(),
  api_start: Type.Boolean(),
  api_stop: Type.Boolean(),
  level: Type.Enum(['info', 'error']),
  command: Type.Union([Type.Literal(false), Type.Literal('STOP'), Type.Literal('KILL')]),
  messages: Type.Array(Type.String()),
  said: Type.Optional(Said),
  progress: Type.Number(),
})

/** The groups of each filter; other groups (`reindex:`, `subscription:`) are sent only without a filter. */
const GROUPS = { download: 'download:', settings: 'setting:', channel: 'channel:' } as const

export const listNotifications = defineRoute({
  method: 'GET',
  path: '/api/notification/',
  access: 'viewer',
  summary:
    'Messages of tasks that are running or have just ended, oldest first, and the results of the account’s own requests',
  query: {
    filter: Type.Optional(
      Type.Enum(['download', 'settings', 'channel'], { description: 'only messages of these groups' }),
    ),
  },
  reply: Type.Array(Message),
  handle({ query, actor }, app: App) {
    const messages = messagesFor(actor, app)
    const prefix = query.filter && GROUPS[query.filter]
    return prefix ? messages.filter(({ group }) => group.startsWith(prefix)) : messages
  },
})

export const streamEvents = defineRoute({
  method: 'GET',
  path: '/api/events/',
  access: 'viewer',
  summary: 'Server-sent events: `notification` (the whole list), `queue` for those who may download, `job` for admins',
  reply: Type.String(),
  replyType: 'text/event-stream',
  handle: ({ actor }, app: App) => events((send) => app.live.join(actor, send)),
})

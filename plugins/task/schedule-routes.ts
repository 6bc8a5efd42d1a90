/** Routes of schedules and of outgoing messages of tasks. Values may be in the query or the body (contract 6.11). */
import { defineRoute, errors, Said, say, Type } from 'archivolt'

const Schedule = Type.Object({
  name: Type.String(),
  schedule: Type.String(),
  schedule_human: Type.String(),
  last_run_at: Type.Union([Type.String(), Type.Null()]),
  next_run_at: Type.Union([Type.String(), Type.Null()]),
  config: Type.Object({}, { additionalProperties: true }),
  last_status: Type.Union([Type.Enum(['SUCCESS', 'FAILURE', 'REVOKED', 'FAILED']), Type.Null()]),
  last_ended_at: Type.Union([Type.String(), Type.Null()]),
  last_result: Type.Union([Type.String(), Type.Null()]),
  said: Type.Optional(Said),
})
const Outgoing = Type.Record(Type.String(), Type.Object({ urls: Type.Array(Type.String()), title: Type.String() }))
const Success = Type.Object({ success: Type.Literal(true) })

const Name = Type.String({ minLength: 1, maxLength: 128 })
const Url = Type.String({ minLength: 1, maxLength: 2000 })

/**
 * A value from the query or the body; an empty one counts as omitted.
 * @throws bad_request  both are given and differ
 */
function either(key: string, query: string | undefined, body: string | undefined): string | undefined {
  if (query && body && query !== body)
    throw errors.badRequest(say`${{ key }} differs between query and body`, {
      fields: { [key]: 'must be the same in query and body' },
    })
  return query || body || undefined
}

function required(key: string, query: string | undefined, body: string | undefined): string {
  const value = either(key, query, body)
  if (value === undefined) throw errors.wrongField(key, 'is required')
  return value
}

export const listSchedules = defineRoute({
  method: 'GET',
  path: '/api/schedule/',
  access: 'admin',
  summary: 'Scheduled tasks, and when they run',
  reply: Type.Array(Schedule),
  handle: (_, app) => app.schedules.list(),
})

export const setSchedule = defineRoute({
  method: 'POST',
  path: '/api/schedule/',
  access: 'admin',
  summary: 'Schedule a task: `minute hour day_of_week`, or `auto`',
  body: Type.Object({
    task_name: Name,
    schedule: Type.String({ minLength: 1, maxLength: 200 }),
    config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
  reply: Schedule,
  errors: ['bad_request'],
  handle: ({ body }, app) => app.schedules.set(body.task_name, body.schedule, body.config),
})

export const removeSchedule = defineRoute({
  method: 'DELETE',
  path: '/api/schedule/',
  access: 'admin',
  summary: 'Remove a task from the schedule',
  query: { task_name: Type.Optional(Type.String({ maxLength: 128 })) },
  body: Type.Object({ task_name: Type.Optional(Type.String({ maxLength: 128 })) }),
  bodyOptional: true,
  reply: Success,
  errors: ['bad_request', 'not_found'],
  async handle({ query, body }, app) {
    await app.schedules.remove(required('task_name', query.task_name, body?.task_name))
    return { success: true }
  },
})

export const listNotifications = defineRoute({
  method: 'GET',
  path: '/api/schedule/notification/',
  access: 'admin',
  scope: 'admin',
  summary: 'URLs that are notified when a task ends',
  reply: Outgoing,
  handle: (_, app) => app.schedules.outgoing(),
})

const notificationQuery = {
  task_name: Type.Optional(Type.String({ maxLength: 128 })),
  url: Type.Optional(Type.String({ maxLength: 2000 })),
}
const NotificationBody = Type.Object({
  task_name: Type.Optional(Type.String({ maxLength: 128 })),
  url: Type.Optional(Url),
})

export const addNotification = defineRoute({
  method: 'POST',
  path: '/api/schedule/notification/',
  access: 'admin',
  summary: 'Add a URL that is notified when a task ends',
  query: notificationQuery,
  body: NotificationBody,
  bodyOptional: true,
  reply: Outgoing,
  errors: ['bad_request', 'conflict'],
  async handle({ query, body }, app) {
    const task = required('task_name', query.task_name, body?.task_name)
    await app.schedules.addOutgoing(task, required('url', query.url, body?.url))
    return app.schedules.outgoing()
  },
})

export const removeNotification = defineRoute({
  method: 'DELETE',
  path: '/api/schedule/notification/',
  access: 'admin',
  summary: 'Remove one notification URL of a task, or all',
  query: notificationQuery,
  body: NotificationBody,
  bodyOptional: true,
  reply: Success,
  errors: ['bad_request', 'not_found'],
  async handle({ query, body }, app) {
    await app.schedules.removeOutgoing(
      required('task_name', query.task_name, body?.task_name),
      either('url', query.url, body?.url),
    )
    return { success: true }
  },
})

/** The other routes of the reference's next line, for which we have no route of the same form. */
import { defineRoute, errors, Type } from 'archivolt'

const TaskName = Type.Object({ taskName: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,128}$' }) })
const Schedule = Type.Object({ name: Type.String(), schedule: Type.String() }, { additionalProperties: true })

export const showHealth = defineRoute({
  method: 'GET',
  path: '/api/health/',
  access: 'open',
  summary: 'Whether the server runs',
  reply: Type.Literal('OK'),
  // A plain JSON text, which none of our routes sends.
  handle: () => 'OK',
})

export const showSchedule = defineRoute({
  method: 'GET',
  path: '/api/task/schedule/:taskName/',
  access: 'admin',
  summary: 'The schedule of a task',
  params: TaskName,
  reply: Schedule,
  errors: ['not_found'],
  handle({ params: { taskName } }, { schedules }) {
    const schedule = schedules.get(taskName)
    if (!schedule) throw errors.notFound('schedule', taskName)
    return schedule
  },
})

export const setSchedule = defineRoute({
  method: 'POST',
  path: '/api/task/schedule/:taskName/',
  access: 'admin',
  summary: 'Schedule a task, or change the settings of its schedule',
  params: TaskName,
  body: Type.Object({
    schedule: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
  reply: Schedule,
  errors: ['bad_request'],
  handle({ params: { taskName }, body: { schedule, config } }, { schedules }) {
    if (schedule === undefined && config === undefined)
      throw errors.badRequest('schedule or config is required', { fields: { schedule: 'is required without config' } })
    return schedules.set(taskName, schedule ?? schedules.get(taskName)?.schedule ?? 'auto', config)
  },
})

export const removeSchedule = defineRoute({
  method: 'DELETE',
  path: '/api/task/schedule/:taskName/',
  access: 'admin',
  summary: 'Remove a task from the schedule',
  params: TaskName,
  reply: Type.Null(),
  status: 204,
  errors: ['not_found'],
  async handle({ params: { taskName } }, { schedules }) {
    await schedules.remove(taskName)
    return undefined
  },
})

const NOT_OFFERED = 'Membership is a service of the reference and not offered here'
const membership = '/api/appsettings/membership'

const showMembership = defineRoute({
  method: 'GET',
  path: `${membership}/token/`,
  access: 'admin',
  summary: 'Always null: membership is a service of the reference',
  reply: Type.Object({ token: Type.Null() }),
  handle: () => ({ token: null }),
})

const notOffered = (method: 'GET' | 'POST', path: string) =>
  defineRoute({
    method,
    path: `${membership}/${path}/`,
    access: 'admin',
    summary: 'Not offered: membership is a service of the reference',
    reply: Type.Null(),
    errors: ['bad_request'],
    handle(): never {
      throw errors.badRequest(NOT_OFFERED)
    },
  })

export const membershipRoutes = [
  showMembership,
  notOffered('POST', 'token'),
  notOffered('GET', 'profile'),
  notOffered('POST', 'sync'),
]

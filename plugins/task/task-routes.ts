/** Routes of tasks, by name and by id: list, start, stop, kill, log. */
import { defineRoute, errors, ID_PATTERN, say, type Task, Type } from 'archivolt'
import type { App } from './app.ts'
import { TaskResult, toTaskResult } from './record.ts'

/** External plugins name their tasks `noun.verb`. */
const TaskName = Type.Object({ taskName: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,128}$' }) })
const TaskId = Type.Object({ taskId: Type.String({ pattern: ID_PATTERN }) })

/** @throws not_found  also for internal tasks, which cannot be started by name */
function taskOfName(app: App, name: string): Task {
  const task = app.registry.tasks.get(name)
  if (!task || task.internal) throw errors.notFound('task', name)
  return task
}

const TaskKind = Type.Object({
  name: Type.String(),
  title: Type.String(),
  description: Type.String(),
  group: Type.String(),
  api_start: Type.Boolean(),
  api_stop: Type.Boolean(),
  outgoing: Type.Boolean(),
  schedule: Type.Union([
    Type.Object({
      auto: Type.String(),
      config: Type.Object(
        { type: Type.Literal('object'), properties: Type.Record(Type.String(), Type.Unknown()) },
        { additionalProperties: true, description: 'JSON Schema of the `config` of a schedule' },
      ),
    }),
    Type.Null(),
  ]),
})

const NO_CONFIG = Type.Object({})

export const listTaskKinds = defineRoute({
  method: 'GET',
  path: '/api/task/',
  access: 'admin',
  summary: 'All tasks: what each does, whether it can be started or scheduled, and whether it can send notifications',
  reply: Type.Array(TaskKind),
  handle: (_input, app) =>
    [...app.registry.tasks.values()]
      .filter(({ internal }) => !internal)
      .map(({ name, title, description = '', group = '', apiStart = false, apiStop = false, outgoing, schedule }) => ({
        ...{ name, title, description, group, api_start: apiStart, api_stop: apiStop, outgoing: Boolean(outgoing) },
        schedule: schedule ? { auto: schedule.auto, config: schedule.config ?? NO_CONFIG } : null,
      })),
})

export const listTasks = defineRoute({
  method: 'GET',
  path: '/api/task-name/',
  access: 'admin',
  summary: 'Tasks that are waiting, running, or ended within the last day, newest first',
  reply: Type.Array(TaskResult),
  handle: (_, app) => app.jobs.list().map((job) => toTaskResult(job, app.registry.tasks)),
})

export const listTasksOfName = defineRoute({
  method: 'GET',
  path: '/api/task-name/:taskName/',
  access: 'admin',
  summary: 'Runs of one task that are waiting, running, or ended within the last day, newest first',
  params: TaskName,
  reply: Type.Array(TaskResult),
  errors: ['not_found'],
  handle({ params }, app: App) {
    const { name } = taskOfName(app, params.taskName)
    return app.jobs.list({ task: name }).map((job) => toTaskResult(job, app.registry.tasks))
  },
})

const Started = Type.Object({ task_id: Type.String(), status: Type.Literal('PENDING'), task_name: Type.String() })

export const startTask = defineRoute({
  method: 'POST',
  path: '/api/task-name/:taskName/',
  access: 'admin',
  summary: 'Start a task that may be started by hand',
  params: TaskName,
  reply: Type.Object({ ...Started.properties, message: Started }),
  errors: ['not_found', 'bad_request'],
  async handle({ params }, app: App) {
    const task = taskOfName(app, params.taskName)
    if (!task.apiStart)
      throw errors.badRequest(
        say`${{ name: task.name }} cannot be started here: other requests or the schedule start it`,
      )
    const job = await app.jobs.start(task.name)
    const started = { task_id: job.id, status: 'PENDING', task_name: task.name } as const
    return { ...started, message: started }
  },
})

export const showTask = defineRoute({
  method: 'GET',
  path: '/api/task-id/:taskId/',
  access: 'admin',
  summary: 'One run of a task',
  params: TaskId,
  reply: TaskResult,
  errors: ['not_found'],
  handle({ params: { taskId } }, app) {
    const job = app.jobs.get(taskId)
    if (!job) throw errors.notFound('task', taskId)
    return toTaskResult(job, app.registry.tasks)
  },
})

const COMMANDS = { stop: 'STOP', kill: 'KILL' } as const

export const commandTask = defineRoute({
  method: 'POST',
  path: '/api/task-id/:taskId/',
  access: 'admin',
  summary: 'Stop a task after its current item, or end it at once',
  params: TaskId,
  body: Type.Object({ command: Type.Enum(['stop', 'kill']) }),
  reply: Type.Object({ message: Type.String() }),
  errors: ['bad_request', 'not_found', 'conflict'],
  async handle({ params: { taskId }, body }, app) {
    await app.jobs.command(taskId, COMMANDS[body.command])
    return { message: 'command sent' }
  },
})

export const showTaskLog = defineRoute({
  method: 'GET',
  path: '/api/task-id/:taskId/log/',
  access: 'admin',
  summary: 'The last 200 log lines of a task',
  params: TaskId,
  reply: Type.Array(Type.Object({ time: Type.String(), level: Type.String(), message: Type.String() })),
  errors: ['not_found'],
  handle({ params: { taskId } }, app) {
    if (!app.jobs.get(taskId)) throw errors.notFound('task', taskId)
    return app.jobs.logOf(taskId)
  },
})

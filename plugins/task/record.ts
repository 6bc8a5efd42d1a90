/** A job in the form of contract 5.10. */
import { type Job, maskCredentials, type Registry, Said, type Static, saidOf, Type } from 'archivolt'

export const TaskResult = Type.Object({
  task_id: Type.String(),
  /** Empty for internal tasks. */
  name: Type.String(),
  status: Type.Enum(['PENDING', 'RETRY', 'SUCCESS', 'FAILURE', 'REVOKED', 'FAILED']),
  result: Type.Union([Type.String(), Type.Null()]),
  said: Type.Optional(Said),
  traceback: Type.Union([Type.String(), Type.Null()]),
  date_done: Type.Union([Type.String(), Type.Null()]),
  date_start: Type.Union([Type.String(), Type.Null()]),
  command: Type.Union([Type.Literal(false), Type.Literal('STOP'), Type.Literal('KILL')]),
  args: Type.Array(Type.Unknown()),
  kwargs: Type.Object({}, { additionalProperties: true }),
  retries: Type.Integer(),
})

export function toTaskResult(job: Job, tasks: Registry['tasks']): Static<typeof TaskResult> {
  return {
    task_id: job.id,
    name: tasks.get(job.task)?.internal ? '' : job.task,
    status: job.state === 'STARTED' ? 'PENDING' : job.state,
    result: job.result,
    ...(job.said && { said: saidOf([job.said]).said }),
    traceback: job.traceback,
    date_done: isoOrNull(job.endedAt),
    date_start: isoOrNull(job.startedAt),
    command: job.command ?? false,
    args: [],
    kwargs: masked(job.payload),
    retries: job.retries,
  }
}

/** UTC with an explicit offset, as clients of the reference expect. */
const isoOrNull = (epochMs: number | null): string | null =>
  epochMs === null ? null : new Date(epochMs).toISOString().replace('Z', '+00:00')

const SECRET_IN_QUERY = /([?&](?=[^=&?#\s]*(?:token|key|secret|pass|auth|sig))[^=&?#\s]*=)[^&#\s"'<>]+/gi

/** Masks credentials in the URLs of all texts, at any depth. */
function masked<Value>(value: Value): Value {
  if (typeof value === 'string') return maskCredentials(value).replace(SECRET_IN_QUERY, '$1***') as Value
  if (Array.isArray(value)) return value.map(masked) as Value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)])) as Value
}

/** The payload of a start: checked against its task's schema, and merged with that of a waiting job. */
import { Value } from 'typebox/value'
import { errors } from '../base/error.ts'
import { say, sentenceOf } from '../base/say.ts'
import { firstFaultIn } from '../base/validation.ts'
import type { AnyTask } from './task-definition.ts'

type Payload = Record<string, unknown>
const LONGEST_PAYLOAD = 4 * 1024 * 1024

/** Fills in the schema's defaults and checks the result. @throws bad_request */
export function checkPayload(task: AnyTask, payload: Payload): Payload {
  const filled = Value.Default(task.payload, structuredClone(payload)) as Payload
  if (!Value.Check(task.payload, filled)) {
    const [path, rule] = firstFaultIn(task.payload, filled)!
    throw errors.badRequest(
      say`“${{ title: task.title }}” can’t start: ${{ place: path || 'it' }} ${{ rule: sentenceOf(rule) }}`,
    )
  }
  if (JSON.stringify(filled).length > LONGEST_PAYLOAD)
    throw errors.badRequest(say`“${{ title: task.title }}” can’t start: the request is too large; request less at once`)
  return filled
}

/** Only one job per task and key waits or runs; null: any number. */
export function keyOf(task: AnyTask, payload: Payload): string | null {
  if (task.unique === undefined) return null
  return task.unique === true ? '' : task.unique(payload)
}

export const mergedPayload = (task: AnyTask, before: Payload, asked: Payload): Payload =>
  task.merge ? (task.merge(before, asked) as Payload) : asked

/** Faults of values as plain sentences, for logs and errors. */
import type { TSchema } from 'typebox'
import { inEnglish } from '../../core/base/say.ts'
import { firstFaultIn } from '../../core/base/validation.ts'

/** The first fault as an English sentence; undefined: the value is valid. */
export function faultIn(schema: TSchema, value: unknown): string | undefined {
  const fault = firstFaultIn(schema, value)
  return fault && `${fault[0] || 'it'} ${inEnglish(fault[1])}`
}

/** Checks a part of a request that the schema of its route leaves open. */
import type { Static, TSchema } from 'typebox'
import { errors } from '../../core/base/error.ts'
import { firstFaultIn } from '../../core/base/validation.ts'

/** @param path  of the value in the request; '': the value is the request. @throws bad_request  names the wrong field */
export function checkValue<Schema extends TSchema>(schema: Schema, value: unknown, path = ''): Static<Schema> {
  const fault = firstFaultIn(schema, value)
  if (fault) throw errors.wrongField([path, fault[0]].filter(Boolean).join('.'), fault[1])
  return value as Static<Schema>
}

/** Checks path variables and bodies against their TypeBox schemas. */
import type { TSchema } from 'typebox'
import { errors } from '../base/error.ts'
import { atPath, say, sentenceOf, type Words } from '../base/say.ts'
import { faultsIn } from '../base/validation.ts'

/** Whether the schema limits the texts that it accepts. */
export const hasOwnForm = (schema: TSchema): boolean =>
  ['pattern', 'format', 'enum', 'const', 'anyOf'].some((keyword) => keyword in schema)

/** @throws bad_request  with a sentence for each wrong value */
export function checkBody(schema: TSchema, body: unknown): void {
  const wantsList = 'type' in schema && schema.type === 'array'
  if (!wantsList && (typeof body !== 'object' || body === null || Array.isArray(body)))
    throw errors.badRequest('The body must be a JSON object')
  const fields = faultsIn(schema, body)
  const [first] = Object.entries(fields)
  if (first) throw errors.badRequest(sentenceOfFault(...first), { fields })
}

const sentenceOfFault = (path: string, rule: Words): Words =>
  path === '' ? say`The body ${{ rule: sentenceOf(rule) }}` : atPath(path, rule)

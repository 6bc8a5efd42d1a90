/** Turns query texts into values, by the schemas that a route declares for its parameters. */
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { errors } from '../base/error.ts'
import { atPath, type Words } from '../base/say.ts'
import { faultsIn, isValid, mustBe } from '../base/validation.ts'

/** Parameters by name. Without `Type.Optional` and `default` they are required; without `type` they are texts. */
export type QueryShape = Record<string, TSchema>

export type QueryOf<Shape extends QueryShape> = Static<TObject<Shape>>

/** The last text of a key counts; an empty one is absent. @throws bad_request  malformed percent-encoding */
export function queryTexts(query: string): Map<string, string> {
  const texts = new Map<string, string>()
  if (query === '') return texts
  if (query.includes('%')) refuseMalformed(query)
  for (const [key, text] of new URLSearchParams(query)) {
    if (text === '') texts.delete(key)
    else texts.set(key, text)
  }
  return texts
}

function refuseMalformed(query: string): void {
  try {
    decodeURIComponent(query)
  } catch (cause) {
    throw errors.badRequest('The query is not properly percent-encoded', { cause })
  }
}

/** Drops keys that the shape does not have. @throws bad_request  `fields` names each wrong parameter */
export function readQuery(shape: QueryShape, texts: ReadonlyMap<string, string>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const fields: Record<string, Words> = {}
  for (const [key, schema] of Object.entries(shape)) {
    const text = texts.get(key)
    if (text === undefined || (isRequired(schema) && text.trim() === '')) {
      if (isRequired(schema)) fields[key] = 'is required'
      else if ('default' in schema) values[key] = schema.default
      continue
    }
    const value = valueOf(schema, text)
    if (isValid(schema, value)) values[key] = value
    else fields[key] = faultOf(schema, text)
  }
  const [first] = Object.entries(fields)
  if (first) throw errors.badRequest(atPath(...first), { fields })
  return values
}

export const isRequired = (schema: TSchema): boolean => !Type.IsOptional(schema) && !('default' in schema)

const WORDS = new Map([
  ...['true', '1', 'yes'].map((word) => [word, true] as const),
  ...['false', '0', 'no'].map((word) => [word, false] as const),
])

/** Returns the text itself if it is not a value of the schema's type; the check then fails. */
export function valueOf(schema: TSchema, text: string): unknown {
  switch (typeOf(schema)) {
    case 'integer':
      return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
    case 'number':
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
    case 'boolean':
      return WORDS.get(text.toLowerCase()) ?? text
    default:
      return text
  }
}

/** For numbers and booleans the full rule of the schema; for other texts the rule that the text breaks. */
const faultOf = (schema: TSchema, text: string): Words =>
  ['integer', 'number', 'boolean'].includes(typeOf(schema)) ? mustBe(schema) : faultsIn(schema, text)['']!

const typeOf = (schema: TSchema): string => ('type' in schema ? String(schema.type) : '')

/**
 * Query texts → values. A decoder knows the form it accepts (for the API description) and what is wrong with a text.
 */
import { type TSchema, Type } from 'typebox'
import { errors } from '../error.ts'
import { ID_PATTERN, isId } from '../id.ts'
import { atPlace, say, type Words } from '../say.ts'

export interface Decoder<Value> {
  schema: TSchema
  description?: string
  /** The value where the key is missing or its text is empty. */
  fallback: Value
  required?: boolean
  /** @throws DecodeFault: what the text must be */
  decode(text: string): Value
}

export type DecodedQuery<Shape extends Record<string, Decoder<unknown>>> = {
  [Key in keyof Shape]: Shape[Key] extends Decoder<infer Value> ? Value : never
}

const TRUE_WORDS = new Set(['true', '1', 'yes'])
const FALSE_WORDS = new Set(['false', '0', 'no'])

class DecodeFault {
  readonly rule: Words
  constructor(rule: Words) {
    this.rule = rule
  }
}

const refuse = (rule: Words): never => {
  throw new DecodeFault(rule)
}

interface Described {
  description?: string
}

export function queryInt<Fallback extends number | undefined = undefined>(
  limits: Described & { min?: number; max?: number; fallback?: Fallback } = {},
): Decoder<number | Fallback> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, description } = limits
  return {
    schema: Type.Integer({ minimum: min, ...(limits.max !== undefined && { maximum: max }) }),
    ...(description && { description }),
    fallback: limits.fallback as Fallback,
    decode(text) {
      const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
      if (!(value >= min && value <= max))
        refuse(
          limits.max === undefined && !(value > max)
            ? say`must be an integer of at least ${{ min }}`
            : say`must be an integer of at least ${{ min }} and at most ${{ max }}`,
        )
      return value
    },
  }
}

/** `true 1 yes` and `false 0 no`, in any case; a missing or empty one is the fallback. */
export function queryBool<Fallback extends boolean | undefined = undefined>(
  options: Described & { fallback?: Fallback } = {},
): Decoder<boolean | Fallback> {
  return {
    schema: Type.Boolean(),
    ...(options.description && { description: options.description }),
    fallback: options.fallback as Fallback,
    decode(text) {
      const word = text.toLowerCase()
      if (TRUE_WORDS.has(word)) return true
      return FALSE_WORDS.has(word) ? false : refuse('must be true or false')
    },
  }
}

export function queryEnum<
  const Values extends readonly string[],
  Fallback extends Values[number] | undefined = undefined,
>(
  values: Values,
  options: Described & { fallback?: Fallback; required?: boolean } = {},
): Decoder<Values[number] | Fallback> {
  return {
    schema: Type.Enum([...values]),
    ...(options.description && { description: options.description }),
    ...(options.required && { required: true }),
    fallback: options.fallback as Fallback,
    decode: (text) =>
      values.includes(text) ? (text as Values[number]) : refuse(say`must be one of ${{ values: values.join(', ') }}`),
  }
}

export function queryId(options: Described & { required?: boolean } = {}): Decoder<string | undefined> {
  return {
    schema: Type.String({ pattern: ID_PATTERN }),
    ...(options.description && { description: options.description }),
    ...(options.required && { required: true }),
    fallback: undefined,
    decode: (text) => (isId(text) ? text : refuse('must be an id of letters, digits, - and _')),
  }
}

/** Any text up to a length. `required`: blanks alone are refused too. */
export function queryText(
  options: Described & { required?: boolean; maxLength?: number } = {},
): Decoder<string | undefined> {
  const { maxLength = 1000 } = options
  return {
    schema: Type.String({ maxLength }),
    ...(options.description && { description: options.description }),
    ...(options.required && { required: true }),
    fallback: undefined,
    decode(text) {
      if (text.length > maxLength) refuse(say`must have at most ${{ count: maxLength }} characters`)
      return text
    },
  }
}

/** A day, `YYYY-MM-DD`, that exists. */
export function queryDay(options: Described = {}): Decoder<string | undefined> {
  return {
    schema: Type.String({ format: 'date' }),
    ...(options.description && { description: options.description }),
    fallback: undefined,
    decode(text) {
      const isDay =
        /^\d{4}-\d{2}-\d{2}$/.test(text) &&
        !Number.isNaN(Date.parse(text)) &&
        new Date(text).toISOString().startsWith(text)
      return isDay ? text : refuse('must be a day, YYYY-MM-DD')
    },
  }
}

/**
 * The query's texts by key: of a key given twice the last counts, an empty text is none.
 * @throws bad_request  malformed percent-encoding
 */
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

/**
 * Texts → values, each by its decoder. Keys that no decoder knows are left out.
 * @throws bad_request  `fields` names each wrong one
 */
export function decodeQuery(
  decoders: Record<string, Decoder<unknown>>,
  texts: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const fields: Record<string, Words> = {}
  for (const [key, decoder] of Object.entries(decoders)) {
    const text = texts.get(key)
    if (text === undefined || (decoder.required && text.trim() === '')) {
      if (decoder.required) fields[key] = 'is required'
      values[key] = decoder.fallback
      continue
    }
    try {
      values[key] = decoder.decode(text)
    } catch (fault) {
      if (!isDecodeFault(fault)) throw fault
      fields[key] = fault.rule
    }
  }
  const [first] = Object.entries(fields)
  if (first) throw errors.badRequest(atPlace(...first), { fields })
  return values
}

/** Told by its shape, as errors are: an outside plugin may bring decoders of its own copy. */
const isDecodeFault = (thrown: unknown): thrown is DecodeFault =>
  typeof thrown === 'object' && thrown !== null && 'rule' in thrown && ['string', 'object'].includes(typeof thrown.rule)

/** TypeBox: params and bodies. Compiled at first use (0.1 µs a value, not 3; 0.6 MB once bundled), nothing coerced. */
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { errors, MOST_FIELDS } from '../error.ts'
import { atPlace, inEnglish, say, sentenceOf, type Words } from '../say.ts'

const validators = new WeakMap<TSchema, Validator>()

function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema)
  if (!validator) {
    validator = Compile(schema) as Validator
    validators.set(schema, validator)
  }
  return validator
}

export const isValid = (schema: TSchema, value: unknown): boolean => validatorOf(schema).Check(value)

/** Whether the schema limits the texts that it accepts. */
export const hasOwnForm = (schema: TSchema): boolean =>
  ['pattern', 'format', 'enum', 'const', 'anyOf'].some((keyword) => keyword in schema)

type Problem = ReturnType<Validator['Errors']>[number]

/** @throws bad_request  with a sentence per place */
export function checkBody(schema: TSchema, body: unknown): void {
  const validator = validatorOf(schema)
  const wantsList = 'type' in schema && schema.type === 'array'
  if (!wantsList && (typeof body !== 'object' || body === null || Array.isArray(body)))
    throw errors.badRequest('The body must be a JSON object')
  if (validator.Check(body)) return
  const fields = faultsIn(schema, body)
  throw errors.badRequest(firstSentence(fields), { fields })
}

/** What is wrong with a value, by its place in it. */
export const faultsIn = (schema: TSchema, value: unknown): Record<string, Words> => toFields(problemsIn(schema, value))

/** So much of a wrong body is searched for every problem. */
const SEARCHED_PARTS = 2000
const KEPT_ENTRIES = 20

/**
 * Listing all problems takes far longer than finding that there is one, so of a large body only the first wrong part is
 * reported.
 */
function problemsIn(schema: TSchema, body: unknown): Problem[] {
  if (!isLarge(body)) return validatorOf(schema).Errors(body)
  const part = wrongPart(schema, body, '')
  const { maxItems = 0 } = part.schema as { maxItems?: number }
  return validatorOf(part.schema)
    .Errors(shortened(part.value, Math.max(KEPT_ENTRIES, maxItems + 1)))
    .map((problem) => ({ ...problem, instancePath: part.path + problem.instancePath }))
}

function isLarge(value: unknown): boolean {
  const open = [value]
  for (let count = 0; open.length > 0; count++) {
    const one = open.pop()
    if (typeof one !== 'object' || one === null) continue
    const parts = Object.values(one)
    if (count + open.length + parts.length > SEARCHED_PARTS) return true
    for (const part of parts) open.push(part)
  }
  return false
}

/** Descends to the first part that is wrong by itself. */
function wrongPart(schema: TSchema, value: unknown, path: string): { schema: TSchema; value: unknown; path: string } {
  const { items, properties = {} } = schema as { items?: TSchema; properties?: Record<string, TSchema> }
  if (Array.isArray(value)) {
    const at = items ? value.findIndex((item) => !isValid(items, item)) : -1
    return at < 0 ? { schema, value, path } : wrongPart(items!, value[at], `${path}/${at}`)
  }
  if (typeof value !== 'object' || value === null) return { schema, value, path }
  const wrong = Object.entries(properties).find(
    ([name, form]) => Object.hasOwn(value, name) && !isValid(form, Reflect.get(value, name)),
  )
  return wrong ? wrongPart(wrong[1], Reflect.get(value, wrong[0]), `${path}/${wrong[0]}`) : { schema, value, path }
}

/** A copy with short lists: the problem is known not to be in their entries. */
function shortened(value: unknown, entries: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, entries).map((entry) => shortened(entry, KEPT_ENTRIES))
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shortened(part, KEPT_ENTRIES)]))
}

/** `fields` as one sentence: the first of them. */
function firstSentence(fields: Record<string, Words>): Words {
  const [first] = Object.entries(fields)
  if (!first) return 'The body has a form that is not taken here'
  const [place, rule] = first
  return place === '' ? say`The body ${{ rule: sentenceOf(rule) }}` : atPlace(place, rule)
}

/** Place (`data.0.status`) → rule, the first at each place. The members of a union are told as one. */
function toFields(problems: Problem[]): Record<string, Words> {
  const fields = new Map<string, Words>()
  const unions = new Map<string, string[]>()
  const unionPlaces = problems
    .filter(({ keyword }) => keyword === 'anyOf')
    .map(({ instancePath, schemaPath }) => ({ instancePath, schemaPath }))
  for (const problem of problems) {
    const union = unionPlaces.find(({ schemaPath }) => problem.schemaPath.startsWith(`${schemaPath}/anyOf/`))
    if (union && problem.instancePath === union.instancePath) {
      const rules = unions.get(union.instancePath) ?? []
      unions.set(union.instancePath, [...rules, inEnglish(ruleOf(problem)).replace(/^must be /, '')])
      continue
    }
    if (problem.keyword === 'anyOf' || (problem.keyword === 'boolean' && !isUnknownKey(problem))) continue
    for (const name of namesIn(problem)) {
      if (fields.size >= MOST_FIELDS) break
      const place = toPlace(problem.instancePath, name)
      if (!fields.has(place)) fields.set(place, ruleOf(problem))
    }
  }
  for (const [path, rules] of unions) {
    const place = toPlace(path)
    if (!fields.has(place)) fields.set(place, say`must be ${{ values: [...new Set(rules)].join(' or ') }}`)
  }
  return Object.fromEntries(fields)
}

/**
 * Told at each such key, and after them at the object: where there are many, the package stops before it comes to that.
 */
const isUnknownKey = ({ keyword, schemaPath }: Problem): boolean =>
  keyword === 'boolean' && schemaPath.endsWith('/additionalProperties')

/** Some problems are told at the object, and are about its keys. */
function namesIn(problem: Problem): Array<string | undefined> {
  if (problem.keyword === 'required') return problem.params.requiredProperties
  if (problem.keyword === 'additionalProperties') return problem.params.additionalProperties
  return [undefined]
}

/** A hostile key may be long: no need to repeat all of it. */
const LONGEST_KEY = 100

function toPlace(instancePath: string, name?: string): string {
  const parts = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return [...parts, ...(name === undefined ? [] : [name])].map((part) => part.slice(0, LONGEST_KEY)).join('.')
}

function ruleOf(problem: Problem): Words {
  switch (problem.keyword) {
    case 'required':
      return say`is required`
    case 'additionalProperties':
    case 'boolean':
      return say`is not known here`
    case 'enum':
      return say`must be one of ${{ values: problem.params.allowedValues.join(', ') }}`
    case 'const':
      return say`must be ${{ values: JSON.stringify(problem.params.allowedValue) }}`
    case 'minLength':
      return problem.params.limit === 1
        ? say`must not be empty`
        : say`must have at least ${{ count: problem.params.limit }} characters`
    case 'maxLength':
      return say`must have at most ${{ count: problem.params.limit }} characters`
    case 'minimum':
      return say`must be at least ${{ limit: Number(problem.params.limit) }}`
    case 'maximum':
      return say`must be at most ${{ limit: Number(problem.params.limit) }}`
    case 'minItems':
      return say`must have at least ${{ count: problem.params.limit }} entries`
    case 'maxItems':
      return say`must have at most ${{ count: problem.params.limit }} entries`
    case 'pattern':
      return say`must match ${{ form: String(problem.params.pattern) }}`
    case 'format':
      return FORMATS[problem.params.format] ?? problem.message
    case 'type':
      return say`must be ${{ values: [problem.params.type].flat().map(withArticle).join(' or ') }}`
    default:
      return problem.message
  }
}

const FORMATS: Readonly<Record<string, Words>> = {
  date: say`must be a day, such as 2024-03-01`,
  'date-time': say`must be a moment, such as 2024-03-01T10:00:00Z`,
  email: say`must be an e-mail address`,
  time: say`must be a time of day, such as 10:00:00Z`,
  uri: say`must be an address, such as https://example.org/`,
}

const withArticle = (type: string): string => (type === 'null' ? 'null' : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`)

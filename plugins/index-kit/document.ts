/** Applies a mapping to documents: the values of fields, the internal values, and changes. Used by all adapters. */
import { errors } from '../../core/base/error.ts'
import { say } from '../../core/base/say.ts'
import type { Field, FieldType, IndexDefinition, Scalar } from '../../core/index/mapping.ts'
import type { Change } from '../../core/index/port.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** A field with all defaults filled in. */
export interface FieldPlan {
  name: string
  type: FieldType
  path: string[]
  isMulti: boolean
  isFilter: boolean
  isSort: boolean
  isParts: boolean
  /** Weight, 0: not searched. */
  weight: number
  isStemmed: boolean
  isInternal: boolean
  /** Every document has a value. */
  isAlways: boolean
}

/** The data of a definition, without functions, for another thread. */
export interface DefinitionData {
  name: string
  fields: Record<string, Field>
  lists: string[][]
  covers: string[][]
  newest: string | undefined
  lastKey: string | undefined
  form: string
  /** Top-level keys of the schema, in order: defines where a patch inserts a new key. */
  keys: string[]
  /** Names of the fields that the schema requires, along with all their parents. */
  always: string[]
  /** The types of all keys, if the schema requires each and all are texts or whole numbers. */
  scalars: Record<string, 'text' | 'integer'> | undefined
}

export function definitionData(definition: IndexDefinition): DefinitionData {
  const { name, doc, fields, lists = [], covers = [], newest, lastKey, form = '' } = definition
  const always = Object.entries<Field>(fields)
    .filter(([field, { path = field }]) => isRequired(doc, path.split('.')))
    .map(([field]) => field)
  const keys = Object.keys(doc.properties)
  return { name, fields, lists, covers, newest, lastKey, form, keys, always, scalars: scalarsOf(doc) }
}

const SCALARS: Readonly<Record<string, 'text' | 'integer'>> = { string: 'text', integer: 'integer' }

function scalarsOf({ properties, required }: IndexDefinition['doc']): DefinitionData['scalars'] {
  const scalars: Record<string, 'text' | 'integer'> = {}
  for (const [key, schema] of Object.entries<object>(properties)) {
    const scalar = 'type' in schema ? SCALARS[String(schema.type)] : undefined
    if (scalar === undefined || !required?.includes(key)) return undefined
    scalars[key] = scalar
  }
  return scalars
}

function isRequired(
  schema: { required?: string[]; properties?: Record<string, object> },
  [key, ...rest]: readonly string[],
): boolean {
  if (key === undefined) return true
  const inner = schema.properties?.[key]
  return inner !== undefined && (schema.required ?? []).includes(key) && isRequired(inner, rest)
}

export function fieldPlans(fields: Record<string, Field>, always: readonly string[] = []): FieldPlan[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    type: field.type,
    path: (field.path ?? name).split('.'),
    isMulti: field.multi ?? false,
    isFilter: field.filter ?? false,
    isSort: field.sort ?? false,
    isParts: field.parts ?? false,
    weight: field.search ?? 0,
    isStemmed: field.search !== undefined && field.stem !== false,
    isInternal: field.internal ?? false,
    isAlways: always.includes(name),
  }))
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** All values at a path, through arrays; null and missing are no value. */
function collect(value: Json | undefined, path: readonly string[], at: number, found: Json[]): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) for (const item of value) collect(item, path, at, found)
  else if (at === path.length) found.push(value)
  else if (isObject(value)) collect(own(value, path[at]!), path, at + 1, found)
}

/** Thrown before anything is written, so other changes in the same transaction remain valid. */
export class Refusal extends Error {}

/** A field's value has another type than its mapping. */
export class WrongType extends Refusal {
  readonly field: string
  constructor(field: string, expected: string) {
    super(`${field} must be ${expected}`)
    this.field = field
  }
}

/** Maximum length of an id, in bytes: the limit of a search server. */
const LONGEST_ID = 512
const CONTROL = /[\u0000-\u001f\u007f]/

/** @throws WrongType */
export function checkId(id: string): void {
  if (id === '' || Buffer.byteLength(id) > LONGEST_ID || CONTROL.test(id))
    throw new WrongType('its id', `1 to ${LONGEST_ID} bytes of text without control characters`)
}

const FORMS: Record<FieldType, [string, (value: Json) => boolean]> = {
  keyword: ['text', (value) => typeof value === 'string'],
  text: ['text', (value) => typeof value === 'string'],
  long: ['a whole number', Number.isSafeInteger],
  date: ['a whole number of seconds', Number.isSafeInteger],
  double: ['a number', Number.isFinite],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
}

export type OnWrong = (error: WrongType) => void

/**
 * The values of a field in a document, in order.
 * @param onWrong  called for a field with a wrong type, which then has no values
 * @throws WrongType  a wrong type, or several values in a single-value field
 */
export function valuesOf(plan: FieldPlan, doc: JsonObject, onWrong?: OnWrong): Scalar[] {
  try {
    return checkedValues(plan, doc)
  } catch (error) {
    if (!onWrong || !(error instanceof WrongType)) throw error
    onWrong(error)
    return []
  }
}

function checkedValues(plan: FieldPlan, doc: JsonObject): Scalar[] {
  const found: Json[] = []
  collect(doc, plan.path, 0, found)
  const [expected, isOfType] = FORMS[plan.type]
  if (found.length > 1 && !plan.isMulti) throw new WrongType(plan.name, `one value, not ${found.length}`)
  for (const value of found) if (!isOfType(value)) throw new WrongType(plan.name, expected)
  return found as Scalar[]
}

/**
 * Splits a document into the reply's part and the internal values by dotted path. The given document is not changed.
 */
export function splitInternal(
  plans: readonly FieldPlan[],
  doc: JsonObject,
): { reply: JsonObject; internal: JsonObject | undefined } {
  let reply = doc
  let internal: JsonObject | undefined
  for (const { path, isInternal } of plans) {
    if (!isInternal) continue
    const [value, without] = takeOut(reply, path, 0)
    if (value === undefined) continue
    internal ??= {}
    internal[path.join('.')] = value
    reply = without
  }
  return { reply, internal }
}

/** The stored form of a document. */
export interface StoredTexts {
  /** The part that replies contain, as JSON. */
  text: string
  /** The internal values, as JSON; undefined: none. */
  internal: string | undefined
}

/**
 * The stored form of a document in every adapter, with the order of keys that replies rely on.
 * @throws WrongType  the `lastKey` is missing, unless `onWrong` is given
 */
export function storedTexts(
  plans: readonly FieldPlan[],
  lastKey: string | undefined,
  doc: JsonObject,
  onWrong?: OnWrong,
): StoredTexts {
  const { reply, internal } = splitInternal(plans, doc)
  const ordered = lastKey === undefined ? reply : withLast(lastKey, reply, onWrong)
  return { text: JSON.stringify(ordered), internal: internal && JSON.stringify(internal) }
}

function withLast(key: string, reply: JsonObject, onWrong?: OnWrong): JsonObject {
  const { [key]: last, ...others } = reply
  if (typeof last !== 'object' || last === null) {
    const wrong = new WrongType(key, 'an object or a list')
    if (!onWrong) throw wrong
    onWrong(wrong)
    return reply
  }
  return Object.keys(reply).at(-1) === key ? reply : { ...others, [key]: last }
}

function takeOut(object: JsonObject, path: readonly string[], at: number): [Json | undefined, JsonObject] {
  const key = path[at]!
  const value = own(object, key)
  if (value === undefined) return [undefined, object]
  if (at === path.length - 1) {
    const { [key]: _taken, ...rest } = object
    return [value, rest]
  }
  if (!isObject(value)) return [undefined, object]
  const [taken, inner] = takeOut(value, path, at + 1)
  return taken === undefined ? [undefined, object] : [taken, { ...object, [key]: inner }]
}

/** The opposite of `splitInternal`; internal values come last. Changes and returns `reply`. */
export function joinInternal(reply: JsonObject, internal: JsonObject | undefined): JsonObject {
  for (const [dotted, value] of Object.entries(internal ?? {})) {
    if (!dotted.includes('.')) {
      reply[dotted] = value
      continue
    }
    const path = dotted.split('.')
    let target = reply
    for (const key of path.slice(0, -1)) {
      const next = own(target, key)
      target = isObject(next) ? next : ((target[key] = {}) as JsonObject)
    }
    target[path.at(-1)!] = value
  }
  return reply
}

/** The whole document, from the reply's text and the internal values as JSON. */
export const wholeDoc = (text: string, internal: string | null | undefined): JsonObject =>
  joinInternal(
    JSON.parse(text) as JsonObject,
    internal === null || internal === undefined ? undefined : (JSON.parse(internal) as JsonObject),
  )

/** The same for a text that may be damaged. undefined: not a document */
export function readDoc(text: string, internal: string | null | undefined): JsonObject | undefined {
  try {
    const doc: Json = wholeDoc(text, internal)
    return isObject(doc) ? doc : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

/** @throws unprocessable  not an object */
export function checkedDoc(name: string, id: string, doc: object): JsonObject {
  if (Array.isArray(doc)) throw errors.unprocessable(say`${{ name }} ${{ id }}: a document must be an object`)
  return doc as JsonObject
}

/** JSON Merge Patch (RFC 7396). Changes and returns `target`. */
function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  for (const [key, value] of Object.entries(patch)) {
    // Assigning `__proto__` would change the object's prototype. As in JSON, undefined is no value: only null removes.
    if (key === '__proto__' || value === undefined) continue
    if (value === null) delete target[key]
    else if (isObject(value)) {
      const before = own(target, key)
      target[key] = mergePatch(isObject(before) ? before : {}, value)
    } else target[key] = value
  }
  return target
}

function changeList(
  plan: FieldPlan | undefined,
  name: string,
  doc: JsonObject,
  change: (list: Json[]) => Json[],
): void {
  if (!plan?.isMulti) throw new WrongType(name, 'a field of several values')
  let target = doc
  for (const key of plan.path.slice(0, -1)) {
    const next = own(target, key)
    if (Array.isArray(next)) throw new WrongType(name, 'a plain list')
    target = isObject(next) ? next : ((target[key] = {}) as JsonObject)
  }
  const key = plan.path.at(-1)!
  const before = own(target, key) ?? []
  if (!Array.isArray(before)) throw new WrongType(name, 'a list')
  target[key] = change(before)
}

/**
 * Applies a change to a whole document (internal values included); the document is changed and returned. Keys keep
 * their positions; a new top-level key is inserted where the schema has it (first, if it does not), so that the last
 * key stays last.
 */
export function applyChange(
  plans: readonly FieldPlan[],
  keys: readonly string[],
  doc: JsonObject,
  change: Change<Record<string, unknown>>,
): JsonObject {
  const planOf = (name: string) => plans.find((plan) => plan.name === name)
  const before = new Set(Object.keys(doc))
  if (change.set) mergePatch(doc, change.set as JsonObject)
  for (const [name, values] of Object.entries(change.add ?? {})) {
    changeList(planOf(name), name, doc, (list) =>
      [...list, ...new Set(values)].filter(
        (value, at, all) => at < list.length || !all.slice(0, list.length).includes(value),
      ),
    )
  }
  for (const [name, values] of Object.entries(change.remove ?? {})) {
    const taken = new Set<Json>(values ?? [])
    changeList(planOf(name), name, doc, (list) => list.filter((value) => !taken.has(value)))
  }
  return Object.keys(doc).every((key) => before.has(key)) ? doc : inSchemaOrder(keys, before, doc)
}

function inSchemaOrder(keys: readonly string[], before: ReadonlySet<string>, doc: JsonObject): JsonObject {
  const order = Object.keys(doc).filter((key) => before.has(key))
  for (const key of Object.keys(doc)) {
    if (before.has(key)) continue
    const rank = keys.indexOf(key)
    const next = order.findIndex((other) => keys.indexOf(other) > rank)
    order.splice(next < 0 ? order.length : next, 0, key)
  }
  return Object.fromEntries(order.map((key) => [key, doc[key]!]))
}

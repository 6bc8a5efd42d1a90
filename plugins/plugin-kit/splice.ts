/**
 * Reads and changes the inside of stored JSON texts (`core/base/splice.ts`). The result is always the same as after
 * parsing; if the fast way is not safe, the text is parsed. A `lastKey` in the index definition guarantees the fast way.
 */
import { membersOf, type Texts, withKeys } from '../../core/base/splice.ts'

/**
 * Appends keys to a member of the object that is itself an object.
 * @param more   plain values appended to the outer object
 * @param texts  values that are already JSON; they come before `more`
 */
export function withKeysInside(
  object: string,
  key: string,
  values: object,
  more: object = {},
  texts: Texts = {},
): string {
  const opening = `${JSON.stringify(key)}:{`
  const at = object.lastIndexOf(opening)
  const end = object.length - 2
  // The last but one brace closes a member; it closes this member if no brace comes before it.
  if (at >= 0 && object.indexOf('}', at) === end) {
    const inner = membersOf(values, {})
    const outer = membersOf(more, texts)
    const comma = inner === '' || end === at + opening.length ? '' : ','
    return `${object.slice(0, end)}${comma}${inner}}${outer && ','}${outer}}`
  }
  const parsed = JSON.parse(object) as Record<string, unknown>
  const member = parsed[key]
  if (typeof member !== 'object' || member === null || Array.isArray(member))
    throw new Error(`A stored document has no object ${key}`)
  return withKeys(JSON.stringify({ ...parsed, [key]: { ...member, ...values } }), more, texts)
}

/** The text under a key of the object. */
export function textUnder(object: string, key: string): string | undefined {
  const opening = `${JSON.stringify(key)}:"`
  const from = object.indexOf(opening) + opening.length
  const text = object.slice(from, object.indexOf('"', from))
  // Safe if no earlier member is an object, so that the key belongs to the outer one, and nothing is escaped.
  if (from >= opening.length && !object.slice(1, from).includes('{') && !text.includes('\\')) return text
  const value = (JSON.parse(object) as Record<string, unknown>)[key]
  return typeof value === 'string' ? value : undefined
}

/** The list under the `lastKey` of the object's index, as JSON; an empty list if the key is missing. */
export function listUnder(object: string, lastKey: string): string {
  const opening = `${JSON.stringify(lastKey)}:[`
  const from = object.indexOf(opening) + opening.length - 1
  if (from >= opening.length - 1 && object.endsWith(']}') && !object.slice(1, from).includes('{'))
    return object.slice(from, -1)
  const value = (JSON.parse(object) as Record<string, unknown>)[lastKey]
  return JSON.stringify(Array.isArray(value) ? value : [])
}

const PLAIN = /^[A-Za-z0-9_-]*$/

/**
 * Duplicates a key under another name in every object of the text, if its value consists of letters, digits, _ and -.
 */
export function withTwins(text: string, key: string, twin: string): string {
  const opening = `${JSON.stringify(key)}:"`
  const between = `",${JSON.stringify(twin)}:"`
  let twinned = ''
  let copied = 0
  for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) {
    const from = at + opening.length
    const end = text.indexOf('"', from)
    const value = text.slice(from, end)
    if (!PLAIN.test(value)) continue
    twinned += text.slice(copied, end) + between + value
    copied = end
  }
  return twinned + text.slice(copied)
}

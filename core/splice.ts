/**
 * Assembles JSON from texts, so that stored documents are sent without being parsed. All texts have the form that
 * JSON.stringify writes: without white space, and with quotes escaped in strings, so that `"key":` can only be a key.
 * The result is always the same as after parsing; if the fast way is not safe, the text is parsed. A `lastKey` in the
 * index definition guarantees the fast way.
 */

/** JSON texts by key. The keys are ours and contain nothing to escape. */
type Texts = Readonly<Record<string, string>>

const NONE = {}

/** `[…]` of JSON texts. */
export function listOf(texts: readonly string[]): string {
  let members = ''
  // Unlike `join`, this copies nothing until the text is sent.
  for (const text of texts) members += members === '' ? text : `,${text}`
  return `[${members}]`
}

/** `{…}` of JSON texts by key. */
export const objectOf = (texts: Texts): string => `{${membersOf(NONE, texts)}}`

function membersOf(values: object, texts: Texts): string {
  let members = ''
  for (const key in texts) members += `${members && ','}"${key}":${texts[key]}`
  const last = JSON.stringify(values).slice(1, -1)
  return members && last ? `${members},${last}` : members + last
}

/**
 * Appends keys to the object. If it already has one of them, parsers see the new value.
 * @param values  plain values
 * @param texts   values that are already JSON; they come first
 */
export function withKeys(object: string, values: object, texts: Texts = NONE): string {
  const members = membersOf(values, texts)
  // Slicing copies nothing: the text is copied once, when it is sent.
  return members === '' ? object : `${object.slice(0, -1)}${object === '{}' ? '' : ','}${members}}`
}

/**
 * Appends keys to a member of the object that is itself an object.
 * @param more   plain values appended to the outer object
 * @param texts  values that are already JSON; they come before `more`
 */
export function withKeysInside(
  object: string,
  key: string,
  values: object,
  more: object = NONE,
  texts: Texts = NONE,
): string {
  const opening = `${JSON.stringify(key)}:{`
  const at = object.lastIndexOf(opening)
  const end = object.length - 2
  // The last but one brace closes a member; it closes this member if no brace comes before it.
  if (at >= 0 && object.indexOf('}', at) === end) {
    const inner = membersOf(values, NONE)
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

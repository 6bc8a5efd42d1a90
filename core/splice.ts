/**
 * JSON put together from texts, so that stored documents are sent without being parsed. All texts are such as
 * JSON.stringify writes them: without white space, and with quotes escaped in strings, so that `"key":` can only be a
 * key. Whatever a text holds, the result is what parsing would have given; where the quick way cannot tell, it is
 * parsed. Where an index definition has a `lastKey`, each write makes sure that the quick way can.
 */

/** JSON texts by keys of ours, in which nothing is escaped. */
type Texts = Readonly<Record<string, string>>

const NONE = {}

/** `[…]` of JSON texts. */
export function listOf(texts: readonly string[]): string {
  let members = ''
  // Unlike `join`, this copies nothing: all is copied once, when it is sent.
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
 * The object with further keys at its end. Where it has one of them already, readers see the new value.
 * @param values  plain values
 * @param texts   values that are JSON already; they come first
 */
export function withKeys(object: string, values: object, texts: Texts = NONE): string {
  const members = membersOf(values, texts)
  // What is stored is sliced, which copies nothing; all is copied once, when it is sent.
  return members === '' ? object : `${object.slice(0, -1)}${object === '{}' ? '' : ','}${members}}`
}

/**
 * The object with further keys in one of its members, which is an object too.
 * @param more   plain values at the end of the whole
 * @param texts  values that are JSON already; they come before `more`
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
  // A brace that is the last but one closes a member of the whole; and that is this one, if none comes before.
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
  // Before it no member is an object, so it is no key of one; and nothing is escaped in it.
  if (from >= opening.length && !object.slice(1, from).includes('{') && !text.includes('\\')) return text
  const value = (JSON.parse(object) as Record<string, unknown>)[key]
  return typeof value === 'string' ? value : undefined
}

/** The list under the `lastKey` of the object's index, as JSON; where it has none, an empty one. */
export function listUnder(object: string, lastKey: string): string {
  const opening = `${JSON.stringify(lastKey)}:[`
  const from = object.indexOf(opening) + opening.length - 1
  if (from >= opening.length - 1 && object.endsWith(']}') && !object.slice(1, from).includes('{'))
    return object.slice(from, -1)
  const value = (JSON.parse(object) as Record<string, unknown>)[lastKey]
  return JSON.stringify(Array.isArray(value) ? value : [])
}

/**
 * Wherever an object in the text has the key, with a text of letters, digits, _ and -, it gets the same under another.
 */
export function withTwins(text: string, key: string, twin: string): string {
  const member = new RegExp(`${JSON.stringify(key)}:"([A-Za-z0-9_-]*)"`, 'g')
  return text.replace(member, (whole, value: string) => `${whole},${JSON.stringify(twin)}:"${value}"`)
}

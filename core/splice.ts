/**
 * JSON put together from texts, so that stored documents are sent without being parsed. All texts are such as
 * JSON.stringify writes them: without white space, and with quotes escaped in strings, so that `"key":` can only be a
 * key. Whatever a text holds, the result is what parsing would have given; where the quick way cannot tell, it is
 * parsed. Where an index definition has a `lastKey`, each write makes sure that the quick way can.
 */

type Texts = Readonly<Record<string, string>>

/** `[…]` of JSON texts. */
export const listOf = (texts: readonly string[]): string => `[${texts.join(',')}]`

/** `{…}` of JSON texts by key. */
export const objectOf = (texts: Texts): string => `{${membersOf(texts)}}`

const membersOf = (texts: Texts): string =>
  Object.entries(texts)
    .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
    .join(',')

/**
 * The object with further keys at its end. Where it has one of them already, readers see the new value.
 * @param values  plain values
 * @param texts   values that are JSON already; they come first
 */
export function withKeys(object: string, values: object, texts: Texts = {}): string {
  const parts = [object.slice(1, -1), membersOf(texts), JSON.stringify(values).slice(1, -1)]
  return `{${parts.filter((part) => part !== '').join(',')}}`
}

/** The object with further keys in one of its members, which is an object too. */
export function withKeysInside(object: string, key: string, values: object): string {
  const opening = `${JSON.stringify(key)}:{`
  const at = object.lastIndexOf(opening)
  // A brace that is the last but one closes a member of the whole; and that is this one, if none comes before.
  if (at >= 0 && object.indexOf('}', at) === object.length - 2) {
    const from = at + opening.length - 1
    return `${object.slice(0, from)}${withKeys(object.slice(from, -1), values)}}`
  }
  const parsed = JSON.parse(object) as Record<string, unknown>
  const member = parsed[key]
  if (typeof member !== 'object' || member === null || Array.isArray(member))
    throw new Error(`A stored document has no object ${key}`)
  return JSON.stringify({ ...parsed, [key]: { ...member, ...values } })
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

/** Wherever an object in the text has the key, with a text of letters, digits, _ and -, it gets the same under another. */
export function withTwins(text: string, key: string, twin: string): string {
  const member = new RegExp(`${JSON.stringify(key)}:"([A-Za-z0-9_-]*)"`, 'g')
  return text.replace(member, (whole, value: string) => `${whole},${JSON.stringify(twin)}:"${value}"`)
}

/** Assembles JSON from texts of JSON.stringify: without spaces, and quotes escaped, so `"key":` can only be a key. */

/** JSON texts by key. The keys are ours and contain nothing to escape. */
export type Texts = Readonly<Record<string, string>>

/** `[…]` of JSON texts. */
export function listOf(texts: readonly string[]): string {
  let members = ''
  // Unlike `join`, this copies nothing until the text is sent.
  for (const text of texts) members += members === '' ? text : `,${text}`
  return `[${members}]`
}

/** `{…}` of JSON texts by key. */
export const objectOf = (texts: Texts): string => `{${membersOf({}, texts)}}`

/** The members of an object as text, without its braces. */
export function membersOf(values: object, texts: Texts): string {
  let members = ''
  for (const key in texts) members += `${members && ','}"${key}":${texts[key]}`
  const last = JSON.stringify(values).slice(1, -1)
  return members && last ? `${members},${last}` : members + last
}

/** Appends keys to an object, those of `texts` (JSON) first. Parsers take the new value of a key that is twice. */
export function withKeys(object: string, values: object, texts: Texts = {}): string {
  const members = membersOf(values, texts)
  // Slicing copies nothing: the text is copied once, when it is sent.
  return members === '' ? object : `${object.slice(0, -1)}${object === '{}' ? '' : ','}${members}}`
}

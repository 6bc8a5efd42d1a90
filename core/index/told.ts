/** The one rule for what comes from outside about something that is archived: no answer makes a document poorer. */

type Told<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined | null> }

/**
 * The fields of which an answer says something: undefined, null, an empty text, list or object say nothing. As a patch
 * they leave what was known of the others.
 */
export function told<Fields extends object>(fields: Fields): Told<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !saysNothing(value))) as Told<Fields>
}

function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

/** The one rule for external data about an archived document: a reply never removes known data. */

type Told<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined | null> }

/**
 * The fields that an answer fills: undefined, null, an empty text, list or object count as absent. Used as a patch, the
 * result leaves the other fields unchanged.
 */
export function told<Fields extends object>(fields: Fields): Told<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !saysNothing(value))) as Told<Fields>
}

function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

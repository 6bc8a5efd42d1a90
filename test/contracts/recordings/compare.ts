/**
 * Compares our answer with the recorded one as adapted by the contract: keys, types, values, order; for values
 * that differ in each run, only their form.
 */

/** Replaces a value of which only the form is known. */
export class Form {
  readonly says: string
  readonly fits: (value: unknown) => boolean
  constructor(says: string, fits: (value: unknown) => boolean) {
    this.says = says
    this.fits = fits
  }

  toJSON(): string {
    return `<${this.says}>`
  }
}

const matching = (says: string, pattern: RegExp) =>
  new Form(says, (value) => typeof value === 'string' && pattern.test(value))
export const aText = matching('text', /./s)
export const aUuid = matching('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
export const aToken = matching('token', /^[0-9a-f]{40}$/)
export const aVersion = matching('version', /^v[1-9]\d*\.\d+\.\d+$/)
export const anInstant = matching('ISO 8601, UTC', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/)
export const aMinute = matching('date text', /^\d{4}-\d\d-\d\d \d\d:\d\d$/)
export const aNumber = new Form('number', (value) => typeof value === 'number' && Number.isFinite(value))
export const anInteger = new Form('integer', Number.isInteger)
export const anything = new Form('anything', () => true)
export const aDate = matching('date', /^\d{4}-\d\d-\d\d$/)
export const listOf = (form: unknown) =>
  new Form('list', (value) => Array.isArray(value) && value.every((item) => differences(form, item).length === 0))
export const optional = (form: Form) =>
  new Form(`${form.says}, or nothing`, (value) => value === undefined || form.fits(value))
export const oneOf = (...values: unknown[]) =>
  new Form(`one of ${JSON.stringify(values)}`, (value) =>
    values.some((one) => (one instanceof Form ? one.fits(value) : one === value)),
  )

/** One line for each difference, up to a limit. */
export function differences(expected: unknown, ours: unknown, path = '', most = 12): string[] {
  const found: string[] = []
  compare(expected, ours, path, found)
  return found.length > most ? [...found.slice(0, most), `… and ${found.length - most} more`] : found
}

function compare(expected: unknown, ours: unknown, path: string, found: string[]): void {
  if (expected instanceof Form) {
    if (!expected.fits(ours)) found.push(`${path}: ${JSON.stringify(ours)} is no ${expected.says}`)
  } else if (Array.isArray(expected) && Array.isArray(ours)) {
    if (expected.length !== ours.length)
      found.push(
        `${path}: ${ours.length} entries, not ${expected.length}: ${shown(ours.map(nameOf))} instead of ${shown(expected.map(nameOf))}`,
      )
    else expected.forEach((value, index) => compare(value, ours[index], `${path}[${index}]`, found))
  } else if (isObject(expected) && isObject(ours)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(ours)])) {
      const form = expected[key]
      if (!(key in ours) && !(form instanceof Form && form.fits(undefined)))
        found.push(`${path}.${key} is missing (${shown(expected[key])})`)
      else if (!(key in expected)) found.push(`${path}.${key} is too much (${shown(ours[key])})`)
      else compare(expected[key], ours[key], `${path}.${key}`, found)
    }
  } else if (!Object.is(expected, ours)) found.push(`${path}: ${shown(ours)} instead of ${shown(expected)}`)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 300)

/** The name of a record in a list with differences. */
function nameOf(record: unknown): unknown {
  if (!isObject(record)) return record
  return (
    record['subtitle_fragment_id'] ??
    record['platform_id'] ??
    record['playlist_id'] ??
    record['channel_id'] ??
    record['id'] ??
    record
  )
}

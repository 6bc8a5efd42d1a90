/** Conditions of statements. */

/**
 * An SQL condition with one parameter: the column has one of these values. A single value is compared directly, in a
 * third of the time of a list.
 */
export function isAmong(column: string, values: readonly string[]): [condition: string, value: string] {
  const [first] = values
  return first !== undefined && values.length === 1
    ? [`${column} = ?`, first]
    : [`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values)]
}

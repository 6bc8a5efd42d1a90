/** Reads JSON of an export, limited to the number of values that fit into memory. */
import { overloadOf } from 'archivolt'
import { Unusable } from './found.ts'

/**
 * Maximum number of values: each video of a history has about fifteen, so every real upload fits; twice as many would
 * fill the reader's memory.
 */
const MOST_VALUES = 3_000_000

export type Fields = Readonly<Record<string, unknown>>
/** The fields of an object; none of any other value. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}
/** The entries of a list; none of any other value. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** @throws Unusable: it has too many values; SyntaxError */
export function jsonOf(text: string): unknown {
  refuseTooMany(text)
  return JSON.parse(text) as unknown
}

/** Applies the limit to lines of JSON together. @throws Unusable */
export function refuseTooMany(text: string): void {
  if (overloadOf(text, { values: MOST_VALUES })) throw new Unusable('It contains too many values')
}

/** Reads values of external answers: a value of an unexpected type counts as missing. */

export type Loose = Record<string, unknown>

export const objectIn = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {})

export const listIn = (value: unknown): Loose[] => (Array.isArray(value) ? value.map(objectIn) : [])

export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

export const countIn = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

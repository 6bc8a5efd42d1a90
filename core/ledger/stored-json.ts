/** Parses JSON in ledger rows: a damaged value is logged and replaced, so that it stops nothing else. */
import type { Log } from '../log.ts'

const MOST_NAMED = 1000

/** @param where  names the row in the log. @param otherwise  replaces a damaged value, or one of another kind */
export type ReadJson = <Value>(text: string, where: string, otherwise: Value) => Value

export function openStoredJson(log: Log): ReadJson {
  const named = new Set<string>()
  return <Value>(text: string, where: string, otherwise: Value): Value => {
    try {
      const value: unknown = JSON.parse(text)
      const kind = kindOf(otherwise)
      if (kind === undefined || kindOf(value) === kind) return value as Value
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
    if (!named.has(where) && named.size < MOST_NAMED) {
      named.add(where)
      log.error({ where }, 'a value in the ledger is damaged and left out: check the disk of the data folder')
    }
    return otherwise
  }
}

function kindOf(value: unknown): 'list' | 'object' | undefined {
  if (Array.isArray(value)) return 'list'
  return typeof value === 'object' && value !== null ? 'object' : undefined
}

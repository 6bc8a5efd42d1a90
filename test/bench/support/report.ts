/**
 * The rows of the benches: prints them as they come, and passes them to `run.ts`, which collects those of all benches
 * in one table and compares them with the previous run.
 */
import { appendFileSync } from 'node:fs'

export interface Row {
  bench: string
  what: string
  unit: string
  value: number
  /** The same measure for the peer. */
  beside?: number
  ratio?: number
  /** The limit as text; undefined if the figure is only informative. */
  reach?: string
  isReached?: boolean
  /** Further figures for the reader. */
  note?: string
  /** The value of this row in the previous run. */
  before?: number
}

export interface Measured {
  unit: string
  value: number
  beside?: number
  /** Replaces `value / beside` by the median of the ratios of several rounds. */
  ratio?: number
  atLeast?: number
  atMost?: number
  /** What the limit applies to. Default: the ratio if there is one, else the value. */
  limits?: 'value' | 'ratio'
  note?: string
}

const round = (value: number): number => Number(value.toPrecision(value >= 1000 ? 4 : 3))

export const rowsFile = process.env.BENCH_ROWS

export function openReport(bench: string) {
  return (what: string, measured: Measured): void => {
    const { unit, value, beside, atLeast, atMost } = measured
    const ratio = measured.ratio ?? (beside === undefined ? undefined : value / beside)
    const ofRatio = ratio !== undefined && measured.limits !== 'value'
    const limited = ofRatio ? ratio : value
    const reach = atLeast !== undefined ? `≥ ${atLeast}` : atMost !== undefined ? `≤ ${atMost}` : undefined
    const row: Row = {
      bench,
      what,
      unit,
      value: round(value),
      ...(beside !== undefined && { beside: round(beside) }),
      ...(ratio !== undefined && { ratio: round(ratio) }),
      ...(reach !== undefined && {
        reach: ofRatio ? `${reach} ×` : `${reach} ${unit}`,
        isReached: (atLeast === undefined || limited >= atLeast) && (atMost === undefined || limited <= atMost),
      }),
      ...(measured.note !== undefined && { note: measured.note }),
    }
    process.stdout.write(`${lineOf(row)}\n`)
    if (rowsFile !== undefined) appendFileSync(rowsFile, `${JSON.stringify(row)}\n`)
  }
}
export type Report = ReturnType<typeof openReport>

export function lineOf({ bench, what, unit, value, beside, ratio, reach, isReached, note }: Row): string {
  const compared = beside === undefined ? '' : `beside ${beside}`
  const verdict = reach === undefined ? '' : `${isReached ? 'ok ' : 'NO '} ${reach}`
  return [
    bench.padEnd(11),
    what.padEnd(62),
    `${value} ${unit}`.padStart(14),
    compared.padStart(16),
    (ratio === undefined ? '' : `${ratio} ×`).padStart(9),
    ` ${verdict.padEnd(12)}`,
    note ?? '',
  ]
    .join(' ')
    .trimEnd()
}

const keyOf = ({ bench, what }: Row): string => `${bench} ${what}`

/**
 * @param known  rows of earlier runs
 * @returns `rows`, each with its earlier value, and `kept`: the same with the known rows of benches that did not run
 */
export function compareRuns(rows: readonly Row[], known: readonly Row[]): { rows: Row[]; kept: Row[] } {
  const before = new Map(known.map((row) => [keyOf(row), row.value]))
  const ran = new Set(rows.map(({ bench }) => bench))
  const compared = rows.map((row) => {
    const value = before.get(keyOf(row))
    return value === undefined ? row : { ...row, before: value }
  })
  return { rows: compared, kept: [...known.filter(({ bench }) => !ran.has(bench)), ...compared] }
}

/** The rows that miss their limit, with their earlier values. */
export function missesOf(rows: readonly Row[]): string[] {
  return rows
    .filter(({ isReached }) => isReached === false)
    .map(
      (row) =>
        `${lineOf({ ...row, note: '' })}  ${row.before === undefined ? 'new' : `before ${row.before} ${row.unit}`}`,
    )
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('There is no median of nothing')
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

/** Shorter rounds and waits, for a quick check. */
export const isQuick = process.argv.includes('--quick')

/** Collects what stays open until the bench ends; closes it in reverse order. */
export function openScope() {
  const cleanUps: Array<() => Promise<void>> = []
  return {
    after: (cleanUp: () => Promise<void>) => void cleanUps.unshift(cleanUp),
    async close() {
      for (const cleanUp of cleanUps.splice(0)) await cleanUp()
    },
  }
}
export type Scope = ReturnType<typeof openScope>

/** Compares an index as it is with what is expected, and leaves it, adds to it, or rebuilds it beside and swaps. */
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'

/** What of a mapping decides how an adapter stores documents, as text values that can be compared. */
export interface Shape {
  /** May be added in place. */
  fields: Record<string, string>
  /** Any change rebuilds. */
  rest: Record<string, null | number | string | string[]>
}

type Verdict = { action: 'same' } | { action: 'add'; added: string[] } | { action: 'rebuild'; reasons: string[] }

function compareShapes(expected: Shape, inPlace: Shape): Verdict {
  const reasons: string[] = []
  for (const key of new Set([...Object.keys(expected.rest), ...Object.keys(inPlace.rest)])) {
    if (JSON.stringify(expected.rest[key]) !== JSON.stringify(inPlace.rest[key])) reasons.push(`${key} changed`)
  }
  for (const [name, value] of Object.entries(inPlace.fields)) {
    if (expected.fields[name] === undefined) reasons.push(`${name} is gone`)
    else if (expected.fields[name] !== value) reasons.push(`${name} changed`)
  }
  if (reasons.length > 0) return { action: 'rebuild', reasons }
  const added = Object.keys(expected.fields).filter((name) => inPlace.fields[name] === undefined)
  return added.length > 0 ? { action: 'add', added } : { action: 'same' }
}

/** One collection as the driver below sees it; each adapter has its own. Every step may be repeated. */
export interface Migration {
  name: string
  expected: Shape
  /** undefined: there is no such collection yet. */
  inPlace: Shape | undefined
  /** Makes the empty collection. */
  create(): Promise<void>
  /** Adds what `added` names and fills it from the documents, going on where an interruption left off. */
  add(added: string[], progress: Progress): Promise<void>
  /** Builds beside, going on where an interruption left off, and swaps at the end. */
  rebuild(progress: Progress): Promise<void>
  /** Removes what an interrupted rebuild has left that is not needed. */
  discard(): Promise<void>
}
export type Progress = (done: number, total: number) => void

/**
 * Brings all collections to what is expected, one after the other, with a log line per step and one every five seconds.
 * @param before  called once, before the first collection is rebuilt: the time for a snapshot
 */
export async function migrate(
  migrations: readonly Migration[],
  log: Log,
  clock: Clock,
  before?: () => Promise<void>,
): Promise<void> {
  let isSaved = false
  for (const migration of migrations) {
    const { name, expected, inPlace } = migration
    if (inPlace === undefined) {
      await migration.create()
      log.debug(`index ${name}: created`)
      continue
    }
    const verdict = compareShapes(expected, inPlace)
    if (verdict.action === 'same') {
      await migration.discard()
      continue
    }
    const what =
      verdict.action === 'add' ? `adding ${verdict.added.join(', ')}` : `rebuilding, as ${verdict.reasons.join(', ')}`
    if (verdict.action === 'rebuild' && !isSaved) {
      await before?.()
      isSaved = true
    }
    log.info(`index ${name}: ${what}`)
    let told = clock.steady()
    const progress: Progress = (done, total) => {
      if (clock.steady() - told < 5000) return
      told = clock.steady()
      log.info(`index ${name}: ${done} of ${total} documents`)
    }
    if (verdict.action === 'add') await migration.add(verdict.added, progress)
    else await migration.rebuild(progress)
    log.info(`index ${name}: done`)
  }
}

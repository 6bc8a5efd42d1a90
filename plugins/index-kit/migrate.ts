/** Compares a stored index with its definition, and keeps it, adds fields, or rebuilds it and swaps. */
import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/log.ts'

/** The parts of a mapping that decide how an adapter stores documents, as comparable values. */
export interface Shape {
  /** Fields can be added in place. */
  fields: Record<string, string>
  /** Any change here requires a rebuild. */
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

/** The migration of one collection, implemented by each adapter. Every step may be repeated. */
export interface Migration {
  name: string
  expected: Shape
  /** undefined: the collection does not exist yet. */
  inPlace: Shape | undefined
  /** Creates the empty collection. */
  create(): Promise<void>
  /** Adds the fields in `added` and fills them from the documents; continues after an interruption. */
  add(added: string[], progress: Progress): Promise<void>
  /** Builds a new version, continues after an interruption, and swaps at the end. */
  rebuild(progress: Progress): Promise<void>
  /** Removes leftovers of an interrupted rebuild that is no longer needed. */
  discard(): Promise<void>
}
export type Progress = (done: number, total: number) => void

/**
 * Migrates all collections, one after the other, with a log line per step and another every five seconds.
 * @param before  called once, before the first rebuild: takes a snapshot
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

/** The rules in their order: rows of the ledger, checked before they are written. */
import { errors, say } from 'archivolt'
import type { App } from './app.ts'
import { compileOne } from './decide.ts'
import {
  CONDITIONS_OF,
  type Conditions,
  OUTCOMES,
  type Outcome,
  type Quality,
  type Rule,
  type Scope,
  type Side,
} from './schema.ts'

const MOST_RULES = 300

interface Row {
  id: number
  side: Side
  scope: string
  conditions: string
  outcome: Outcome
  quality: string | null
  name: string
  is_on: 0 | 1
  setting: string | null
  account: number | null
}

/** The fields of a rule that a caller sends. */
export type Draft = Pick<Rule, 'side' | 'scope' | 'conditions' | 'outcome' | 'name' | 'isOn'> & {
  quality?: Quality | undefined
}

export interface RuleRows {
  /** The rules in their order; damaged rules are omitted and reported. */
  list(side: Side): Rule[]
  get(id: number): Rule | undefined
  /** A number that changes with each change of rules and groups. */
  version(): number
  /** Records a change. Call inside `ledger.write`. */
  changed(): void
  /** Adds the rule at the end, or before the rule `before`. */
  add(draft: Draft, by: { account?: number; setting?: string; before?: number | undefined }): Promise<Rule>
  /**
   * Omitted values keep their state at the time of the write, so that simultaneous changes all apply.
   * @returns false: the rule no longer exists. @throws bad_request: the values contradict the others
   */
  change(id: number, change: Partial<Omit<Draft, 'side'>>): Promise<boolean>
  remove(id: number): Promise<void>
  /** @throws bad_request: `ids` does not contain each rule of this side exactly once */
  order(side: Side, ids: readonly number[]): Promise<void>
}

export function openRuleRows({ ledger }: Pick<App, 'ledger'>): RuleRows {
  function toRule(row: Row): Rule[] {
    const of = `rules_rule ${row.id}`
    const scope = ledger.json<Scope | undefined>(row.scope, of, undefined)
    const conditions = ledger.json<Conditions | undefined>(row.conditions, of, undefined)
    const quality = row.quality === null ? undefined : ledger.json<Quality | undefined>(row.quality, of, undefined)
    // Without its condition, the rule would apply to more videos than its author wanted.
    if (!scope || !conditions) return []
    const { id, side, outcome, name, is_on, setting, account } = row
    return [
      {
        ...{ id, side, scope, conditions, outcome, name, isOn: is_on === 1 },
        ...(quality && { quality }),
        ...(setting !== null && { setting }),
        ...(account !== null && { account }),
      },
    ]
  }
  const list = (side: Side): Rule[] =>
    ledger.sql<Row>('SELECT * FROM rules_rule WHERE side = ? ORDER BY place, id').all(side).flatMap(toRule)
  const get = (id: number): Rule | undefined =>
    ledger.sql<Row>('SELECT * FROM rules_rule WHERE id = ?').all(id).flatMap(toRule)[0]
  const changed = () => void ledger.sql('UPDATE rules_version SET version = version + 1').run()

  const placed = (ids: readonly number[]) => {
    const put = ledger.sql('UPDATE rules_rule SET place = ? WHERE id = ?')
    for (const [position, id] of ids.entries()) put.run(position, id)
  }
  const valuesOf = ({ scope, conditions, outcome, quality, name, isOn }: Draft) => [
    ...[JSON.stringify(scope), JSON.stringify(conditions), outcome, quality ? JSON.stringify(quality) : null],
    ...[name, isOn ? 1 : 0],
  ]

  return {
    list,
    get,
    changed,
    version: () => ledger.sql<{ version: number }>('SELECT version FROM rules_version').get()!.version,

    async add(draft, { account, setting, before }) {
      check(draft)
      const id = await ledger.write(() => {
        const ids = list(draft.side).map((rule) => rule.id)
        if (ids.length >= MOST_RULES && setting === undefined)
          throw errors.conflict(say`There are already ${{ most: MOST_RULES }} rules: remove one first`)
        const { lastInsertRowid } = ledger
          .sql(
            `INSERT INTO rules_rule (scope, conditions, outcome, quality, name, is_on, side, place, setting, account)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(...valuesOf(draft), draft.side, ids.length, setting ?? null, account ?? null)
        const made = Number(lastInsertRowid)
        const at = before === undefined ? -1 : ids.indexOf(before)
        placed(ids.toSpliced(at < 0 ? ids.length : at, 0, made))
        changed()
        return made
      })
      return get(id)!
    },

    change: (id, change) =>
      ledger.write(() => {
        const rule = get(id)
        if (!rule) return false
        const draft = { ...rule, ...change }
        // It belongs to the former outcome.
        if (draft.outcome !== 'take' && change.quality === undefined) delete draft.quality
        check(draft)
        ledger
          .sql(
            'UPDATE rules_rule SET scope = ?, conditions = ?, outcome = ?, quality = ?, name = ?, is_on = ? WHERE id = ?',
          )
          .run(...valuesOf(draft), id)
        changed()
        return true
      }),

    remove: (id) =>
      ledger.write(() => {
        ledger.sql('DELETE FROM rules_rule WHERE id = ?').run(id)
        changed()
      }),

    order: (side, ids) =>
      ledger.write(() => {
        const known = list(side).map((rule) => rule.id)
        if (known.length !== ids.length || !known.every((id) => ids.includes(id)))
          throw errors.wrongField('order', 'must contain each rule of this side once')
        placed(ids)
        changed()
      }),
  }
}

/** Checks what a schema cannot express. @throws bad_request */
export function check(draft: Draft): void {
  const { side, outcome, conditions, quality } = draft
  if (!(OUTCOMES[side] as readonly string[]).includes(outcome))
    throw errors.wrongField('outcome', say`must be one of ${{ outcomes: OUTCOMES[side].join(', ') }}`)
  const foreign = Object.keys(conditions).find((name) => !CONDITIONS_OF[side].has(name))
  if (foreign !== undefined)
    throw errors.wrongField(
      `conditions.${foreign}`,
      side === 'take'
        ? 'is known only once a video is in the archive: use a keeping rule'
        : 'is not stored with a video: use a taking rule',
    )
  if (side === 'keep' && conditions.kinds?.includes('premieres'))
    throw errors.wrongField('conditions.kinds', 'must not include premieres: that is not stored with a video')
  if (quality && outcome !== 'take') throw errors.wrongField('quality', 'is possible only with the outcome take')
  if (side === 'keep' && outcome === 'remove' && Object.keys(conditions).length === 0 && draft.scope.kind === 'all')
    throw errors.wrongField('conditions', 'must not be empty: this rule would remove everything')
  if (conditions.newest && conditions.not_newest)
    throw errors.wrongField('conditions.not_newest', 'cannot be combined with newest: write two rules')
  compileOne({ ...draft, id: 0, quality: quality ?? {} } as Rule)
}

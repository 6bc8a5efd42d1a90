/** Converts the wishes of a new subscription, or of another program, into ordinary rules. */
import { isAppError, wordsOf } from 'archivolt'
import type { Wished, Wishes } from '../download/wishes.ts'
import type { Draft, RuleRows } from './rule-rows.ts'
import type { Conditions, Scope } from './schema.ts'

type Wish = keyof Wishes

/** The rules of wishes: first those that skip videos, then the quality of the others. */
function rulesOf(scope: Scope, wishes: Wishes): Array<[wish: Wish, draft: Draft]> {
  const rule = (side: Draft['side'], outcome: Draft['outcome'], conditions: Conditions): Draft => ({
    ...{ side, scope, conditions, outcome, name: '', isOn: true },
  })
  const skips: { [Name in Wish]?: (value: never) => Conditions } = {
    skip_kinds: (kinds: NonNullable<Conditions['kinds']>) => ({ kinds }),
    skip_shorter_than: (seconds: number) => ({ shorter_than: seconds }),
    skip_longer_than: (seconds: number) => ({ longer_than: seconds }),
    only_titles: (words: string[]) => ({ title_not: { words } }),
    skip_titles: (words: string[]) => ({ title: { words } }),
    only_pattern: (pattern: string) => ({ title_not: { pattern } }),
    skip_pattern: (pattern: string) => ({ title: { pattern } }),
    skip_published_before: (day: string) => ({ published_before_day: day }),
    skip_older_than: (days: number) => ({ published_before: days }),
  }
  const skipping = Object.entries(skips).flatMap(([wish, toConditions]): Array<[Wish, Draft]> => {
    const value = wishes[wish as Wish]
    return value === undefined ? [] : [[wish as Wish, rule('take', 'skip', toConditions(value as never))]]
  })
  const { quality, keep } = wishes
  return [
    ...skipping,
    ...(quality ? [['quality', { ...rule('take', 'take', {}), quality }] satisfies [Wish, Draft]] : []),
    ...(keep ? [['keep', rule('keep', 'remove', removalConditionsOf(keep))] satisfies [Wish, Draft]] : []),
  ]
}

function removalConditionsOf(keep: NonNullable<Wishes['keep']>): Conditions {
  if ('newest' in keep) return { not_newest: { count: keep.newest } }
  return 'days' in keep ? { added_before: keep.days } : { watched: { days: 0 } }
}

export const keyOf = ({ side, scope, conditions, outcome, quality }: Draft) =>
  JSON.stringify([side, scope, conditions, outcome, quality ?? null])

/** Adds rules that do not exist yet, because wishes may be repeated. */
export async function fulfil(rules: RuleRows, scope: Scope, wishes: Wishes): Promise<Wished> {
  const known = new Set([...rules.list('take'), ...rules.list('keep')].map(keyOf))
  const wished: Wished = { added: 0, refused: [] }
  for (const [wish, draft] of rulesOf(scope, wishes)) {
    if (known.has(keyOf(draft))) continue
    try {
      await rules.add(draft, {})
      wished.added++
    } catch (error) {
      if (!isAppError(error)) throw error
      wished.refused.push({ wish, reason: wordsOf(error) })
    }
  }
  return wished
}

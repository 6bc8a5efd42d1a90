/** Wishes of a new subscription are ordinary rules of it. */
import type { Wishes } from '../download/wishes.ts'
import type { Draft, RuleRows } from './rule-rows.ts'
import type { Conditions, Scope } from './schema.ts'

export function rulesOf(scope: Scope, wishes: Wishes): Draft[] {
  const { skip_kinds: kinds, skip_shorter_than: seconds, only_titles: only, skip_titles: without, keep } = wishes
  const rule = (side: Draft['side'], outcome: Draft['outcome'], conditions: Conditions): Draft => ({
    ...{ side, scope, conditions, outcome, name: '', isOn: true },
  })
  return [
    ...(kinds ? [rule('take', 'skip', { kinds })] : []),
    ...(seconds ? [rule('take', 'skip', { shorter_than: seconds })] : []),
    ...(only ? [rule('take', 'skip', { title_not: { words: only } })] : []),
    ...(without ? [rule('take', 'skip', { title: { words: without } })] : []),
    ...(keep ? [rule('keep', 'remove', keptOf(keep))] : []),
  ]
}

function keptOf(keep: NonNullable<Wishes['keep']>): Conditions {
  if ('newest' in keep) return { not_newest: { count: keep.newest } }
  return 'days' in keep ? { added_before: keep.days } : { watched: { days: 0 } }
}

/** Adds those that are not there yet: a subscription may be asked for twice. */
export async function addMissing(rules: RuleRows, drafts: readonly Draft[]): Promise<number> {
  const key = ({ side, scope, conditions, outcome, quality }: Draft) =>
    JSON.stringify([side, scope, conditions, outcome, quality ?? null])
  const known = new Set([...rules.list('take'), ...rules.list('keep')].map(key))
  const missing = drafts.filter((draft) => !known.has(key(draft)))
  for (const draft of missing) await rules.add(draft, {})
  return missing.length
}

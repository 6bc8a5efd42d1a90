/** A rule that is being edited. */
import type { Rule } from '../../../server/records.ts'

/** In the server's form; a new rule has no id. */
export type Draft = Pick<Rule, 'side' | 'scope' | 'conditions' | 'outcome' | 'quality' | 'name' | 'is_on'> & {
  id?: number
}

export const draftOf = (rule: Rule | undefined, side: Rule['side'] = 'take'): Draft =>
  rule
    ? {
        ...{ id: rule.id, side: rule.side, scope: rule.scope, conditions: rule.conditions, outcome: rule.outcome },
        ...{ name: rule.name, is_on: rule.is_on },
        ...(rule.quality && { quality: rule.quality }),
      }
    : {
        ...{ side, scope: { kind: 'all' }, conditions: {}, outcome: side === 'take' ? 'skip' : 'remove' },
        ...{ name: '', is_on: true },
      }

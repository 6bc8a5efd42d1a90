/** The rules of a channel, as records of it contain them. They outlive its removal, so only missing ones are added. */
import { faultIn, isAppError, type Static, Type } from 'archivolt'
import type { OwnChannelBelongings } from '../channel/belongings.ts'
import type { App } from './app.ts'
import { draftOf, RuleDraft } from './routes.ts'
import type { Rule } from './schema.ts'
import { keyOf } from './wishes.ts'

const Kept = Type.Array(RuleDraft, { maxItems: 1000 })

const isOf =
  (channelId: string) =>
  ({ scope, setting }: Pick<Rule, 'scope' | 'setting'>): boolean =>
    // Rules of settings are made from these.
    setting === undefined && scope.kind === 'channel' && scope.id === channelId

export function channelBelongings({ rules, log }: App): OwnChannelBelongings {
  const all = () => [...rules.list('take'), ...rules.list('keep')]

  return {
    of: 'rules',
    rows: [
      { table: 'rules_rule', id: (row) => `iif(${row}.scope ->> 'kind' = 'channel', ${row}.scope ->> 'id', NULL)` },
    ],

    async collect(channelId) {
      const own = all().filter(isOf(channelId))
      if (own.length === 0) return undefined
      return own.map(({ side, scope, conditions, outcome, quality, name, isOn }) => ({
        ...{ side, scope, conditions, outcome, name, is_on: isOn },
        ...(quality && { quality }),
      }))
    },

    async restore(channelId, kept) {
      if (faultIn(Kept, kept) !== undefined) return
      const known = new Set(all().map(keyOf))
      for (const draft of (kept as Static<typeof Kept>).map(draftOf)) {
        if (!isOf(channelId)(draft) || known.has(keyOf(draft))) continue
        try {
          await rules.add(draft, {})
        } catch (err) {
          if (!isAppError(err)) throw err
          log.warn({ err, channelId }, 'a rule of a channel could not be restored')
        }
      }
    },
  }
}

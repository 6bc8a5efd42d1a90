/**
 * This plugin's part of the records: rules and groups in the record of the archive, and the rules of a channel in the
 * channel's record. Rules outlive the removal of a channel, so a restore only adds missing ones.
 */
import { type ArchiveBelongings, errors, faultIn, isAppError, NOT, type Static, say, Type, type View } from 'archivolt'
import type { OwnChannelBelongings } from '../channel/belongings.ts'
import type { App } from './app.ts'
import { GroupRecord } from './group-routes.ts'
import { draftOf, RuleDraft } from './routes.ts'
import type { Rule } from './schema.ts'
import { keyOf } from './wishes.ts'

const Rules = Type.Array(RuleDraft, { maxItems: 1000 })
type Rules = Static<typeof Rules>

const ArchiveRecord = Type.Object({ groups: Type.Array(GroupRecord, { maxItems: 1000 }), rules: Rules })

/** All rules except those of settings, which are made from the settings. */
const allOf = ({ rules }: Pick<App, 'rules'>): Rule[] =>
  [...rules.list('take'), ...rules.list('keep')].filter(({ setting }) => setting === undefined)

const toDraft = ({ side, scope, conditions, outcome, quality, name, isOn }: Rule): Rules[number] => ({
  ...{ side, scope, conditions, outcome, name, is_on: isOn },
  ...(quality && { quality }),
})

async function addMissing(stored: Rules, { rules, groups, log }: App): Promise<void> {
  const known = new Set([...rules.list('take'), ...rules.list('keep')].map(keyOf))
  for (const draft of stored.map(draftOf)) {
    const { scope } = draft
    if (known.has(keyOf(draft)) || (scope.kind === 'group' && !groups.get(scope.id))) continue
    try {
      await rules.add(draft, {})
    } catch (err) {
      if (!isAppError(err)) throw err
      log.warn({ err, scope }, 'a rule could not be restored')
    }
  }
}

/** All rules in their order, including those of channels. */
export function archiveBelongings(app: App): ArchiveBelongings {
  return {
    of: 'rules',
    rows: ['rules_rule', 'rules_group', 'rules_member'].map((table) => ({ table, id: () => "'archive'" })),
    collect: () => ({ groups: app.groups.list(), rules: allOf(app).map(toDraft) }),
    async restore(stored) {
      if (faultIn(ArchiveRecord, stored) !== undefined) return
      const { groups, rules } = stored as Static<typeof ArchiveRecord>
      const idsHere = await app.groups.restore(groups)
      const rulesHere = rules.flatMap((rule) => {
        if (rule.scope.kind !== 'group') return rule
        const id = idsHere.get(rule.scope.id)
        return id === undefined ? [] : { ...rule, scope: { ...rule.scope, id } }
      })
      await addMissing(rulesHere, app)
      return (view) => viewHere(view, idsHere)
    },
  }
}

/** Kinds of a view that contain ids of groups: shown or hidden ones. */
const GROUPS = new Set(['group', `${NOT}group`])

/** @throws unprocessable: a group could not be added */
function viewHere(view: View, idsHere: ReadonlyMap<number, number>): View {
  const idHere = (id: string) => {
    const own = idsHere.get(Number(id))
    if (own === undefined) throw errors.unprocessable(say`Its view names the group ${{ id }}, which could not be added`)
    return String(own)
  }
  return Object.fromEntries(Object.entries(view).map(([kind, ids]) => [kind, GROUPS.has(kind) ? ids.map(idHere) : ids]))
}

const isOf =
  (channelId: string) =>
  ({ scope }: Pick<Rule, 'scope'>): boolean =>
    scope.kind === 'channel' && scope.id === channelId

export function channelBelongings(app: App): OwnChannelBelongings {
  return {
    of: 'rules',
    rows: [
      { table: 'rules_rule', id: (row) => `iif(${row}.scope ->> 'kind' = 'channel', ${row}.scope ->> 'id', NULL)` },
    ],
    async collect(channelId) {
      const own = allOf(app).filter(isOf(channelId))
      // The rule of a setting is made from the channel again, so an empty part is stored for it.
      return own.length === 0 && !app.settingRules.has(channelId) ? undefined : own.map(toDraft)
    },
    async restore(channelId, stored) {
      if (faultIn(Rules, stored) === undefined) await addMissing((stored as Rules).filter(isOf(channelId)), app)
      await app.settingRules.settle()
    },
  }
}

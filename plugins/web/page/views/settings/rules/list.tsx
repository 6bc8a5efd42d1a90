/** Rules in their order: moved, switched, edited and removed. */
import { Pencil, Trash } from 'lucide'
import { IconButton } from '../../../parts/button.tsx'
import { OrderedList } from '../../../parts/ordered-list.tsx'
import { ruleTitle, ruleWords, scopeName } from '../../../parts/rule-words.ts'
import { sayFailure } from '../../../parts/toast.ts'
import type { Rule } from '../../../server/records.ts'
import { t } from '../../../texts/lookup.ts'

interface Props {
  rules: readonly Rule[]
  /** undefined: the account may not change the order. */
  order: ((ids: readonly number[]) => Promise<void>) | undefined
  edit: (rule: Rule) => void
  drop: (rule: Rule) => Promise<void>
  onSwitch: (rule: Rule, isOn: boolean) => Promise<void>
}

export const RuleList = ({ rules, order, edit, drop, onSwitch }: Props) => (
  <OrderedList
    rows={rules}
    titleOf={ruleTitle}
    order={order}
    class="rules"
    rowClass={(rule) => (rule.is_on ? '' : 'rule-off')}
  >
    {(rule) => (
      <>
        <RuleWords rule={rule} />
        {rule.is_own && (
          <>
            <span class="switch">
              <input
                type="checkbox"
                role="switch"
                aria-label={t('rules.on', { name: ruleTitle(rule) })}
                checked={rule.is_on}
                onChange={({ currentTarget: box }) => {
                  onSwitch(rule, box.checked).catch((error: unknown) => {
                    box.checked = rule.is_on
                    sayFailure(error)
                  })
                }}
              />
            </span>
            {rule.setting === undefined && (
              <IconButton icon={Pencil} label={t('rules.edit')} of={ruleTitle(rule)} onClick={() => edit(rule)} />
            )}
            <IconButton icon={Trash} label={t('rules.remove')} of={ruleTitle(rule)} onClick={() => drop(rule)} />
          </>
        )}
      </>
    )}
  </OrderedList>
)

function RuleWords({ rule }: { rule: Rule }) {
  const { name, asks = [], left_out: leftOut = 0, setting, is_lost: isLost } = rule
  return (
    <div class="row-words">
      <strong dir="auto">{name || scopeName(rule)}</strong>
      <p>{name ? `${scopeName(rule)} – ${ruleWords(rule)}` : ruleWords(rule)}</p>
      {asks.length > 0 && <p class="meta">{t('rules.asks')}</p>}
      {leftOut > 0 && <p class="meta">{t('rules.leftOut', { count: leftOut })}</p>}
      {setting !== undefined && <p class="meta">{t(setting === 'all' ? 'rules.setting' : 'rules.setting.channel')}</p>}
      {isLost && <p class="meta">{t('rules.lost')}</p>}
    </div>
  )
}

/** Rules in their order: moved by dragging or by keys, switched, edited and removed. */
import { GripVertical, Pencil, Trash } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { IconButton } from '../../../parts/button.tsx'
import { followPointer, STEPS } from '../../../parts/follow-pointer.ts'
import { Icon } from '../../../parts/icon.tsx'
import { ruleWords, scopeName } from '../../../parts/rule-words.ts'
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

/** The row of a list at the position of the pointer. */
function positionAt(list: HTMLElement, y: number): number {
  const rows = [...list.children]
  const at = rows.findIndex((row) => y < row.getBoundingClientRect().bottom)
  return at < 0 ? rows.length - 1 : at
}

const titleOf = (rule: Rule): string => rule.name || `${scopeName(rule)}: ${ruleWords(rule)}`

export function RuleList({ rules, order, edit, drop, onSwitch }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  const [said, tell] = useState('')
  const shown = drag ? moved(rules, drag.from, drag.to) : rules
  const move = async (from: number, to: number, isByKey = false) => {
    const position = Math.max(0, Math.min(to, rules.length - 1))
    if (!order || position === from) return
    tell(t('list.moved', { title: titleOf(rules[from]!), position: position + 1, all: rules.length }))
    if (isByKey)
      requestAnimationFrame(() => list.current?.children[position]?.querySelector<HTMLElement>('.handle')?.focus())
    await order(moved(rules, from, position).map(({ id }) => id))
  }
  const begin = (event: PointerEvent, from: number) => {
    if (event.button !== 0) return
    event.preventDefault()
    let to = from
    setDrag({ from, to })
    const showAt = (y: number) => {
      const now = list.current ? positionAt(list.current, y) : to
      if (now !== to) setDrag({ from, to: (to = now) })
    }
    followPointer(event.clientY, showAt, (isDropped) => {
      setDrag(undefined)
      if (isDropped) void move(from, to)
    })
  }
  return (
    <>
      <ul class={drag ? 'settings-rows rules ordering' : 'settings-rows rules'} ref={list}>
        {shown.map((rule, position) => (
          <li key={rule.id} class={drag?.to === position ? 'lifted' : rule.is_on ? '' : 'rule-off'}>
            {order && rules.length > 1 && (
              <button
                type="button"
                class="icon-button handle"
                aria-label={t('list.move', { title: titleOf(rule), position: position + 1, all: rules.length })}
                title={t('list.move.hint')}
                onPointerDown={(event) => begin(event, position)}
                onKeyDown={(event) => {
                  const step = STEPS[event.key]
                  if (!step) return
                  event.preventDefault()
                  event.stopPropagation()
                  void move(position, step(position, rules.length), true)
                }}
              >
                <Icon node={GripVertical} />
              </button>
            )}
            <RuleWords rule={rule} />
            {rule.is_own && (
              <>
                <span class="switch">
                  <input
                    type="checkbox"
                    role="switch"
                    aria-label={t('rules.on', { name: titleOf(rule) })}
                    checked={rule.is_on}
                    onChange={({ currentTarget }) => void onSwitch(rule, currentTarget.checked)}
                  />
                </span>
                {rule.setting === undefined && (
                  <IconButton icon={Pencil} label={t('rules.edit')} of={titleOf(rule)} onClick={() => edit(rule)} />
                )}
                <IconButton icon={Trash} label={t('rules.remove')} of={titleOf(rule)} onClick={() => drop(rule)} />
              </>
            )}
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {said}
      </p>
    </>
  )
}

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

const moved = <Value,>(list: readonly Value[], from: number, to: number): Value[] =>
  list.toSpliced(from, 1).toSpliced(to, 0, list[from]!)

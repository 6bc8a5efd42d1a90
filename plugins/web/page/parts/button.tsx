/** Buttons: one that matters, plain ones, dangerous ones, and those that are only an icon. */

import type { IconNode } from 'lucide'
import type { ComponentChildren, JSX } from 'preact'
import { t } from '../texts/lookup.ts'
import { Icon } from './icon.tsx'

type Native = Omit<JSX.IntrinsicElements['button'], 'icon' | 'children'>

interface ButtonProps extends Native {
  kind?: 'main' | 'plain' | 'quiet' | 'danger'
  icon?: IconNode
  /** Something is on its way: it cannot be pressed again. */
  isBusy?: boolean
  /** The title of what it acts on, one of many: a part of its accessible name, after its word. */
  of?: string | undefined
  children: ComponentChildren
}

export function Button({
  kind = 'plain',
  icon,
  isBusy = false,
  of,
  children,
  class: given,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind} ${String(given ?? '')}`}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      {...(of !== undefined && { 'aria-label': t('action.of', { action: String(children), title: of }) })}
      {...rest}
    >
      {icon && <Icon node={icon} />}
      {children}
    </button>
  )
}

/**
 * @param label  what it does: its accessible name, and shown when the pointer rests on it
 * @param of     the title of what it acts on, one of many: a part of its accessible name
 */
export function IconButton({
  icon,
  label,
  of,
  isFilled,
  class: given,
  ...rest
}: Native & { icon: IconNode; label: string; of?: string; isFilled?: boolean }) {
  const name = of === undefined ? label : t('action.of', { action: label, title: of })
  return (
    <button type="button" class={`icon-button ${String(given ?? '')}`} aria-label={name} title={label} {...rest}>
      <Icon node={icon} {...(isFilled !== undefined && { isFilled })} />
    </button>
  )
}

/** Buttons: one that matters, plain ones, dangerous ones, and those that are only an icon. */

import type { IconNode } from 'lucide'
import type { ComponentChildren, JSX } from 'preact'
import { Icon } from './icon.tsx'

type Native = Omit<JSX.IntrinsicElements['button'], 'icon' | 'children'>

interface ButtonProps extends Native {
  kind?: 'main' | 'plain' | 'quiet' | 'danger'
  icon?: IconNode
  /** Something is on its way: it cannot be pressed again. */
  isBusy?: boolean
  children: ComponentChildren
}

export function Button({
  kind = 'plain',
  icon,
  isBusy = false,
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
      {...rest}
    >
      {icon && <Icon node={icon} />}
      {children}
    </button>
  )
}

/** @param label  its accessible name, and what is shown when the pointer rests on it */
export function IconButton({
  icon,
  label,
  isFilled,
  class: given,
  ...rest
}: Native & { icon: IconNode; label: string; isFilled?: boolean }) {
  return (
    <button type="button" class={`icon-button ${String(given ?? '')}`} aria-label={label} title={label} {...rest}>
      <Icon node={icon} {...(isFilled !== undefined && { isFilled })} />
    </button>
  )
}

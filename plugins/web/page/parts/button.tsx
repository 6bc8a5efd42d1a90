/** Buttons: main, plain, dangerous, and icon-only. */

import type { IconNode } from 'lucide'
import type { ComponentChildren, JSX, TargetedMouseEvent } from 'preact'
import { useContext } from 'preact/hooks'
import { t } from '../texts/lookup.ts'
import { FormBusy, useAction } from './action.ts'
import { Icon } from './icon.tsx'

interface Native extends Omit<JSX.IntrinsicElements['button'], 'icon' | 'children' | 'onClick'> {
  /** If the function returns a promise, the button is busy until the promise settles; a failure is shown in a toast. */
  onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => unknown
}

/** A busy button keeps the focus and ignores clicks. */
export function ActionButton({
  isBusy: isGiven = false,
  onClick,
  children,
  ...rest
}: Native & { isBusy?: boolean; children?: ComponentChildren }) {
  const action = useAction()
  const isFormBusy = useContext(FormBusy)
  const isBusy = isGiven || action.isBusy || (rest.type === 'submit' && isFormBusy)
  return (
    <button
      type="button"
      {...rest}
      {...(isBusy && { 'aria-busy': true, 'aria-disabled': true })}
      onClick={(event) => (isBusy ? event.preventDefault() : void action.run(() => onClick?.(event)))}
    >
      {children}
    </button>
  )
}

interface ButtonProps extends Native {
  kind?: 'main' | 'plain' | 'quiet' | 'danger'
  icon?: IconNode
  /** Another request is running, and this action must wait for it. */
  isBusy?: boolean
  /**
   * The title of the item that the action applies to, if there are several items: becomes part of the accessible name.
   */
  of?: string | undefined
  children: ComponentChildren
}

export function Button({ kind = 'plain', icon, of, children, class: given, ...rest }: ButtonProps) {
  return (
    <ActionButton
      class={`button ${kind} ${String(given ?? '')}`}
      {...(of !== undefined && { 'aria-label': t('action.of', { action: String(children), title: of }) })}
      {...rest}
    >
      {icon && <Icon node={icon} />}
      {children}
    </ActionButton>
  )
}

/**
 * @param label  the accessible name, also shown as a tooltip
 * @param of  the title of the item that the action applies to, if there are several items: becomes part of the
 * accessible name
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
    <ActionButton class={`icon-button ${String(given ?? '')}`} aria-label={name} title={label} {...rest}>
      <Icon node={icon} {...(isFilled !== undefined && { isFilled })} />
    </ActionButton>
  )
}

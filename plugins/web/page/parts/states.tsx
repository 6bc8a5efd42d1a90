/**
 * Empty, loading and failed states: a sentence with the next step, placeholders of the final size, an error with a
 * button.
 */

import type { IconNode } from 'lucide'
import { RotateCw } from 'lucide'
import type { ComponentChildren } from 'preact'
import { isAborted, toFailure } from '../server/api.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

/**
 * @param children  the next step
 * @param isWhole  the view contains nothing else
 */
export function Empty({
  icon,
  title,
  text,
  isWhole = false,
  children,
}: {
  icon?: IconNode
  title: string
  text?: ComponentChildren
  isWhole?: boolean
  children?: ComponentChildren
}) {
  const Heading = isWhole ? 'h1' : 'h2'
  return (
    <div class="state">
      {icon && <Icon node={icon} size={32} />}
      <Heading>{title}</Heading>
      {text && <p>{text}</p>}
      {children && <div class="steps">{children}</div>}
    </div>
  )
}

/** Why the last request was refused: a sentence above the form. */
export function Refused({ children }: { children: ComponentChildren }) {
  return (
    <p class="notice error" role="alert">
      {children}
    </p>
  )
}

export function Failed({
  failure,
  onRetry,
  title = t('state.failed'),
  isWhole = false,
}: {
  failure: unknown
  onRetry?: (() => unknown) | undefined
  title?: string
  isWhole?: boolean
}) {
  const Heading = isWhole ? 'h1' : 'h2'
  if (isAborted(failure)) return null
  return (
    <div class="state failed" role="alert">
      <Heading>{title}</Heading>
      <p>{toFailure(failure).message}</p>
      {onRetry && (
        <div class="steps">
          <Button icon={RotateCw} onClick={onRetry}>
            {t('action.retry')}
          </Button>
        </div>
      )}
    </div>
  )
}

/** A placeholder, with sizes as in CSS. */
export function Box({ width = '100%', height = '1em', radius }: { width?: string; height?: string; radius?: string }) {
  return <span class="box" style={{ width, height, ...(radius && { borderRadius: radius }) }} aria-hidden="true" />
}

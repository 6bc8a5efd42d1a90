/** Form fields: a label above, a hint and the error below. */

import type { ComponentChildren, TargetedEvent } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { useAction } from './action.ts'

interface FieldProps {
  label: string
  value: string
  onInput: (value: string) => void
  /** Called when the field loses the focus, or Enter is pressed. */
  onCommit?: (value: string) => void
  hint?: ComponentChildren
  error?: string | undefined
  type?: 'text' | 'password' | 'number' | 'search' | 'url' | 'date' | 'color'
  /** The number of lines; default: a single-line field. */
  lines?: number
  name?: string
  autocomplete?: string
  placeholder?: string
  isRequired?: boolean
  disabled?: boolean
  min?: number
  max?: number
}

export function Field({
  label,
  value,
  onInput,
  onCommit,
  hint,
  error,
  type = 'text',
  lines,
  isRequired = false,
  ...rest
}: FieldProps) {
  const id = useId()
  const shared = {
    id,
    value,
    ...rest,
    required: isRequired,
    'aria-invalid': error ? (true as const) : undefined,
    'aria-describedby': error ? `${id}-error` : hint ? `${id}-hint` : undefined,
    onInput: (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) => onInput(event.currentTarget.value),
    ...(onCommit && {
      onChange: (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) => onCommit(event.currentTarget.value),
    }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {lines ? <textarea rows={lines} {...shared} /> : <input {...shared} type={type as 'text'} />}
      {error ? (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      ) : (
        hint && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )
      )}
    </div>
  )
}

/** For the password of the account that is signed in. */
export const OwnPassword = (props: Pick<FieldProps, 'label' | 'value' | 'onInput' | 'error'>) => (
  <Field {...props} type="password" autocomplete="current-password" isRequired />
)

export function Switch({
  label,
  isOn,
  onChange,
  hint,
  disabled = false,
}: {
  label: string
  isOn: boolean
  /** If the function returns a promise, the switch is busy until the promise settles; a failure is shown in a toast. */
  onChange: (isOn: boolean) => unknown
  hint?: ComponentChildren
  disabled?: boolean
}) {
  const id = useId()
  const { isBusy, run } = useAction()
  const chosen = useRef(isOn)
  return (
    <div class="switch">
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={isBusy ? chosen.current : isOn}
        disabled={disabled}
        aria-busy={isBusy || undefined}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onClick={(event) => isBusy && event.preventDefault()}
        onChange={({ currentTarget: { checked } }) => {
          chosen.current = checked
          void run(() => onChange(checked))
        }}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export interface Choice<Value extends string> {
  value: Value
  label: string
}

/** @param isLabelHidden  only screen readers get the label, because the context shows it to others */
export function Select<Value extends string>({
  label,
  value,
  choices,
  onChange,
  isLabelHidden = false,
  hint,
}: {
  label: string
  value: Value
  choices: ReadonlyArray<Choice<Value>>
  onChange: (value: Value) => void
  isLabelHidden?: boolean
  hint?: ComponentChildren
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'unseen' : ''}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      {hint && <p class="hint">{hint}</p>}
    </div>
  )
}

/** A group of options, of which one is chosen. */
export function Chips<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: Value
  choices: ReadonlyArray<Choice<Value>>
  onChange: (value: Value) => void
}) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button
          type="button"
          key={choice.value}
          class="chip"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  )
}

/** Tabs, each with an address of its own. */
export function Tabs({
  label,
  items,
  current,
}: {
  label: string
  items: ReadonlyArray<{ href: string; label: string; key: string }>
  current: string
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {items.map((item) => (
        <a key={item.key} href={item.href} aria-current={item.key === current ? 'page' : undefined}>
          {item.label}
        </a>
      ))}
    </nav>
  )
}

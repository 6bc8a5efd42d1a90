/**
 * Forms: validated before submitting, submitted once at a time; an error is shown at its field, or above the others.
 */
import type { IconNode } from 'lucide'
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Failure, toFailure } from '../server/api.ts'
import { t } from '../texts/lookup.ts'
import { FormBusy, useAction } from './action.ts'
import { Button } from './button.tsx'
import { Refused } from './states.tsx'

export interface FieldRules {
  /** The error of the current value. Shown after an attempt to submit, which then sends no request. */
  wrong?: string | false | undefined
  /**
   * Shown if the server rejects the value, in place of the server's message; `true`: the message of the whole failure.
   */
  refused?: string | true
  /** Shows every failure that belongs to no other field. */
  showsRest?: boolean
}

export interface FormState<Name extends string> {
  isBusy: boolean
  /** Errors by the server's names of the fields. */
  errors: Partial<Record<Name, string>>
  /** The failure that no field shows. The form must render it. */
  refusal: JSX.Element | undefined
  /**
   * Validates the fields, then does the work; a failure is shown in the form.
   * @param checked  the fields to validate; default: all
   */
  run(work: () => unknown, checked?: readonly Name[]): Promise<void>
  fail(error: unknown): void
  /** Clears the errors from the server. */
  clear(): void
}

export function useForm<Name extends string = never>(
  rules: Record<Name, FieldRules> = {} as Record<Name, FieldRules>,
): FormState<Name> {
  const [tried, setTried] = useState<readonly Name[]>([])
  const [failure, setFailure] = useState<Failure>()
  const fail = (error: unknown) => setFailure(toFailure(error))
  const { isBusy, run } = useAction(fail)
  const names = Object.keys(rules) as Name[]
  const refusedFields = Object.keys(failure?.fields ?? {})
  const rest =
    refusedFields.length === 0 || refusedFields.some((name) => !Object.hasOwn(rules, name))
      ? failure?.message
      : undefined
  const errorOf = (name: Name): string | undefined => {
    const { wrong, refused, showsRest } = rules[name]
    const rule = failure?.fields[name]
    const refusal = refused === true ? failure?.message : (refused ?? rule)
    return (tried.includes(name) && wrong) || (rule === undefined ? showsRest && rest : refusal) || undefined
  }
  return {
    isBusy,
    errors: Object.fromEntries(names.map((name) => [name, errorOf(name)])) as Partial<Record<Name, string>>,
    refusal: rest && !names.some((name) => rules[name].showsRest) ? <Refused>{rest}</Refused> : undefined,
    fail,
    clear: () => setFailure(undefined),
    run: (work, checked = names) =>
      run(async () => {
        setTried(checked)
        setFailure(undefined)
        if (checked.some((name) => rules[name].wrong)) return
        await work()
        setTried([])
      }),
  }
}

/**
 * Resets a field after its value was sent, but keeps what somebody entered meanwhile:
 * `setName(unlessChanged(name, ''))`
 */
export const unlessChanged =
  <Value,>(sent: Value, reset: Value) =>
  (now: Value): Value =>
    now === sent ? reset : now

interface FormProps<Name extends string> extends Omit<JSX.IntrinsicElements['form'], 'onSubmit' | 'children'> {
  form: FormState<Name>
  onSubmit: (event: SubmitEvent) => unknown
  children: ComponentChildren
}

/** The submit buttons are busy while the form is being submitted. */
export function Form<Name extends string>({ form, onSubmit, children, ...rest }: FormProps<Name>) {
  return (
    <form
      noValidate
      aria-busy={form.isBusy || undefined}
      onInput={form.clear}
      onSubmit={(event) => {
        event.preventDefault()
        void form.run(() => onSubmit(event))
      }}
      {...rest}
    >
      <FormBusy.Provider value={form.isBusy}>{children}</FormBusy.Provider>
    </form>
  )
}

/** The last line of a form in a dialog: buttons to cancel and to submit. */
export const FormButtons = ({
  action,
  onCancel,
  ...rest
}: {
  action: string
  icon?: IconNode
  disabled?: boolean
  onCancel: () => void
}) => (
  <>
    <Button onClick={onCancel}>{t('action.cancel')}</Button>
    <Button kind="main" type="submit" {...rest}>
      {action}
    </Button>
  </>
)

/** Forms: checked before they are sent, sent once at a time; what is refused is shown at its field, or above the rest. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Failure, toFailure } from '../server/api.ts'
import { FormBusy, useAction } from './action.ts'
import { Refused } from './states.tsx'

export interface FieldRules {
  /** What is wrong with the value now. It is shown once the form was sent, and nothing goes out. */
  wrong?: string | false | undefined
  /** Shown if the server refuses the value, in place of its rule; `true`: the message of the whole failure. */
  refused?: string | true
  /** Shows every failure that belongs to no other field. */
  showsRest?: boolean
}

export interface FormState<Name extends string> {
  isBusy: boolean
  /** By the names that the server has for the fields. */
  errors: Partial<Record<Name, string>>
  /** The failure that no field shows; to be rendered somewhere in the form. */
  refusal: JSX.Element | undefined
  /**
   * Checks the fields, then does the work; its failure is the form's.
   * @param checked  the fields that matter for it; default: all
   */
  run(work: () => unknown, checked?: readonly Name[]): Promise<void>
  fail(error: unknown): void
  /** Hides what was refused. */
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

interface FormProps<Name extends string> extends Omit<JSX.IntrinsicElements['form'], 'onSubmit' | 'children'> {
  form: FormState<Name>
  onSubmit: (event: SubmitEvent) => unknown
  children: ComponentChildren
}

/** Its submit buttons are busy while it is being sent. */
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

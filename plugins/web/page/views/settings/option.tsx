/** Settings that are saved immediately; each confirms that it was saved, or shows its error. */
import { Check } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Choice } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { codesOf, LanguagesInput } from '../../parts/languages.tsx'
import { Failure, toFailure } from '../../server/api.ts'
import { t } from '../../texts/lookup.ts'

const SAID_MS = 3000

interface Saving {
  state: 'rest' | 'saving' | 'saved'
  error: string | undefined
  /** @param action  resolves to false if the user has canceled */
  run(action: () => Promise<unknown>): Promise<'saved' | 'cancelled' | 'refused'>
}

/**
 * @param field  the server's name of the field
 * @param wrong  shown if the server rejects the value, in place of the server's technical message
 */
export function useSaving(field?: string, wrong?: string): Saving {
  const [state, setState] = useState<Saving['state']>('rest')
  const [error, setError] = useState<string>()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const turn = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const run: Saving['run'] = async (action) => {
    const mine = ++turn.current
    /** Only the result of the newest change is reported. */
    const say = (end: Saving['state'], reason?: string) => {
      if (mine !== turn.current) return
      clearTimeout(timer.current)
      setState(end)
      setError(reason)
      if (end === 'saved') timer.current = setTimeout(() => setState('rest'), SAID_MS)
    }
    say('saving')
    try {
      const isSaved = (await action()) !== false
      say(isSaved ? 'saved' : 'rest')
      return isSaved ? 'saved' : 'cancelled'
    } catch (thrown) {
      const { fields, message } = toFailure(thrown)
      const ofField = field && fields[field]
      say('rest', ofField ? (wrong ?? ofField) : message)
      return 'refused'
    }
  }
  return { state, error, run }
}

export function Group({
  title,
  hint,
  children,
  id,
}: {
  title: string
  hint?: ComponentChildren
  children: ComponentChildren
  id?: string
}) {
  return (
    <section class="settings-group">
      <h2 id={id}>{title}</h2>
      {hint && <p class="hint">{hint}</p>}
      <div class="settings-panel">{children}</div>
    </section>
  )
}

/** Settings for experts, which are collapsed at first. */
export function Advanced({
  children,
  title = t('settings.advanced'),
}: {
  children: ComponentChildren
  title?: string
}) {
  return (
    <details class="settings-advanced">
      <summary class="unfold">{title}</summary>
      {children}
    </details>
  )
}

interface RowProps {
  id: string
  label: string
  hint?: ComponentChildren
  saving: Saving
  children: ComponentChildren
  /** The control has a line of its own. */
  isWide?: boolean
}

/** The label on the left, the control on the right, the error below. */
export function Row({ id, label, hint, saving, children, isWide = false }: RowProps) {
  return (
    <div class={isWide ? 'option wide' : 'option'}>
      <div class="option-words">
        <label for={id}>{label}</label>
        <span class="option-saved" role="status">
          {saving.state === 'saved' && (
            <>
              <Icon node={Check} size={16} />
              {t('settings.saved')}
            </>
          )}
        </span>
        {hint && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
      <div class="option-control">{children}</div>
      {saving.error && (
        <p class="error" role="alert" id={`${id}-error`}>
          {saving.error}
        </p>
      )}
    </div>
  )
}

const described = (id: string, hint: unknown, saving: Saving) => ({
  'aria-describedby': saving.error ? `${id}-error` : hint ? `${id}-hint` : undefined,
  'aria-invalid': saving.error ? true : undefined,
})

interface OptionProps<Value> {
  label: string
  hint?: ComponentChildren
  value: Value
  /** The server's name of the field, as in `fields` of an error. */
  field?: string
  onSave: (value: Value) => Promise<unknown>
}

/** Shows a choice during its request already, and resets it if the server refuses it. */
export function useChosen<Value>(value: Value, saving: Saving, onSave: (value: Value) => Promise<unknown>) {
  const [pending, setPending] = useState<{ value: Value }>()
  const choose = async (chosen: Value) => {
    const mine = { value: chosen }
    setPending(mine)
    await saving.run(() => onSave(chosen))
    // A newer choice made meanwhile stays.
    setPending((now) => (now === mine ? undefined : now))
  }
  return { shown: pending ? pending.value : value, choose }
}

export function SwitchOption({
  label,
  hint,
  value,
  field,
  onSave,
  disabled = false,
}: OptionProps<boolean> & { disabled?: boolean }) {
  const id = useId()
  const saving = useSaving(field)
  const { shown, choose } = useChosen(value, saving, onSave)
  return (
    <Row id={id} label={label} hint={hint} saving={saving}>
      <span class="switch">
        <input
          id={id}
          type="checkbox"
          role="switch"
          checked={shown}
          disabled={disabled}
          {...described(id, hint, saving)}
          onChange={({ currentTarget }) => void choose(currentTarget.checked)}
        />
      </span>
    </Row>
  )
}

export function SelectOption<Value extends string>({
  label,
  hint,
  value,
  field,
  choices,
  onSave,
}: OptionProps<Value> & { choices: ReadonlyArray<Choice<Value>> }) {
  const id = useId()
  const saving = useSaving(field)
  const { shown, choose } = useChosen(value, saving, onSave)
  return (
    <Row id={id} label={label} hint={hint} saving={saving}>
      <select
        id={id}
        value={shown}
        {...described(id, hint, saving)}
        onChange={({ currentTarget }) => void choose(currentTarget.value as Value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Row>
  )
}

interface TextProps extends OptionProps<string> {
  /** The allowed values, shown if one is rejected. */
  wrong?: string
  placeholder?: string
  /** The text after the field. */
  unit?: string
  isNumber?: boolean
  isDecimal?: boolean
  isWide?: boolean
  isCode?: boolean
  /** A password field. */
  isSecret?: boolean
  /** The field has several lines. */
  isLong?: boolean
}

/** Saved when the field loses the focus or Enter is pressed; a rejected value stays in it. */
export function TextOption({
  label,
  hint,
  value,
  field,
  wrong,
  onSave,
  placeholder,
  unit,
  isNumber = false,
  isDecimal = false,
  isWide = false,
  isCode = false,
  isSecret = false,
  isLong = false,
}: TextProps) {
  const id = useId()
  const saving = useSaving(field, wrong)
  const [draft, setDraft] = useState<string>()
  const kind: object = isSecret ? { type: 'password', autocomplete: 'new-password' } : { autocomplete: 'off' }
  /** Keeps text that was typed meanwhile. */
  const settle = (typed: string) => setDraft((now) => (now === typed ? undefined : now))
  const shown = draft ?? value
  const shared = {
    id,
    class: isCode ? 'code' : '',
    value: shown,
    placeholder,
    spellcheck: false,
    ...described(id, hint, saving),
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => setDraft(currentTarget.value),
    onChange: ({ currentTarget: { value: typed } }: { currentTarget: { value: string } }) => {
      const text = typed.trim()
      // While a change is being saved, the value may still be the one before it.
      const isChanged = saving.state === 'saving' || text !== value
      // Without a change no request is sent, but an earlier error disappears.
      void saving.run(async () => isChanged && onSave(text)).then((end) => end !== 'refused' && settle(typed))
    },
  }
  return (
    <Row id={id} label={label} hint={hint} saving={saving} isWide={isWide}>
      {isLong ? (
        <textarea rows={Math.min(Math.max(shown.split('\n').length + 1, 3), 12)} {...shared} />
      ) : (
        <input
          {...shared}
          {...kind}
          {...(isNumber && { inputMode: isDecimal ? ('decimal' as const) : ('numeric' as const) })}
        />
      )}
      {unit && <span class="option-unit">{unit}</span>}
    </Row>
  )
}

/** An error of the page that is shown beside the field, like an error of the server. */
export class Refused extends Failure {
  constructor(message: string) {
    super(400, { message })
  }
}

interface NumberProps<Empty> extends Omit<TextProps, 'value' | 'onSave' | 'isNumber' | 'wrong'> {
  value: number | Empty
  /** The value of an empty field. */
  empty: Empty
  min: number
  max: number
  /** The factor between the value and the shown number, which has two decimals. */
  factor?: number
  onSave: (value: number | Empty) => Promise<unknown>
}

export function NumberOption<Empty extends number | false>({
  value,
  empty,
  min,
  max,
  factor = 1,
  onSave,
  ...rest
}: NumberProps<Empty>) {
  const shown = (number: number) => Math.max(factor === 1 ? number : 0.01, Math.round(number * factor * 100) / 100)
  const save = async (text: string) => {
    // Digits only, because some people write a thousand as `1.000`.
    const whole = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
    const number = factor === 1 ? whole : Math.round(Number(text.replace(',', '.')) / factor)
    if (text !== '' && !(Number.isInteger(number) && number >= min && number <= max))
      throw new Refused(
        t(factor === 1 ? 'settings.between' : 'settings.betweenNumbers', { min: shown(min), max: shown(max) }),
      )
    return onSave(text === '' ? empty : number)
  }
  return (
    <TextOption
      {...rest}
      isNumber
      isDecimal={factor !== 1}
      value={value === false ? '' : String(shown(value))}
      onSave={save}
    />
  )
}

/** Languages chosen by name; the value is their codes, separated by commas. */
export function LanguagesOption({
  label,
  hint,
  value,
  field,
  wrong,
  isOne = false,
  onSave,
}: OptionProps<string> & { wrong?: string; isOne?: boolean }) {
  const id = useId()
  const saving = useSaving(field, wrong)
  const { shown, choose } = useChosen(value, saving, onSave)
  return (
    <Row id={id} label={label} hint={hint} saving={saving}>
      <LanguagesInput
        id={id}
        label={label}
        codes={codesOf(shown)}
        isOne={isOne}
        {...described(id, hint, saving)}
        onChange={(codes) => void choose(codes.join(','))}
      />
    </Row>
  )
}

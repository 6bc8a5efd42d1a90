/** Fields for the conditions of a rule: one form for each kind of value. */
import { X } from 'lucide'
import { useState } from 'preact/hooks'
import { IconButton } from '../../../parts/button.tsx'
import { Field, Select } from '../../../parts/field.tsx'
import { LanguagesField } from '../../../parts/languages.tsx'
import { availabilityName, type ConditionName, kindName } from '../../../parts/rule-words.ts'
import type { Rule, RuleConditions } from '../../../server/records.ts'
import { t } from '../../../texts/lookup.ts'

type Form =
  | 'day'
  | 'text'
  | 'minutes'
  | 'days'
  | 'kinds'
  | 'availability'
  | 'languages'
  | 'yes'
  | 'number'
  | 'gigabytes'
  | 'watched'
  | 'newest'

const FORMS: Record<ConditionName, Form> = {
  ...{ title: 'text', title_not: 'text', description: 'text', description_not: 'text' },
  ...{
    longer_than: 'minutes',
    shorter_than: 'minutes',
    published_within: 'days',
    published_before: 'days',
    published_before_day: 'day',
  },
  ...{ kinds: 'kinds', availability: 'availability', languages: 'languages', subtitles: 'yes' },
  ...{ height_from: 'number', height_below: 'number', views_from: 'number', views_below: 'number' },
  ...{ larger_than: 'gigabytes', smaller_than: 'gigabytes', added_before: 'days', watched: 'watched' },
  ...{ not_watched: 'yes', newest: 'newest', not_newest: 'newest', on_platform: 'yes', free_below: 'gigabytes' },
}
const ONLY: Partial<Record<ConditionName, Rule['side']>> = {
  ...{ availability: 'take', added_before: 'keep', watched: 'keep', not_watched: 'keep', newest: 'keep' },
  ...{ not_newest: 'keep', on_platform: 'keep', free_below: 'keep' },
}
const BEGINNINGS: Record<Form, unknown> = {
  ...{ text: { words: [] }, minutes: 60, days: 30, kinds: ['shorts'], availability: ['members_only'], languages: [] },
  ...{
    day: new Date().toISOString().slice(0, 10),
    yes: true,
    number: 1000,
    gigabytes: 1e9,
    watched: { days: 7 },
    newest: { count: 10 },
  },
}
const KINDS = ['videos', 'shorts', 'streams', 'premieres'] as const
const AVAILABILITIES = ['public', 'unlisted', 'members_only', 'premium', 'sign_in', 'private'] as const
const WATCHED_BY = ['anyone', 'everyone', 'admins'] as const

export const namesFor = (side: Rule['side']): ConditionName[] =>
  (Object.keys(FORMS) as ConditionName[]).filter((name) => (ONLY[name] ?? side) === side)
export const beginningOf = (name: ConditionName): unknown =>
  name.startsWith('height') ? 1080 : BEGINNINGS[FORMS[name]]
export const labelOf = (name: ConditionName): string => t(`rules.label.${name}`)

/**
 * The conditions to send, without empty words.
 * @returns undefined: a value is missing
 */
export function cleaned(conditions: RuleConditions): RuleConditions | undefined {
  const filled = (values: readonly string[]) => values.map((one) => one.trim()).filter((one) => one !== '')
  const entries = Object.entries(conditions).map(([name, value]): [string, unknown] => {
    if (Array.isArray(value)) return [name, filled(value)]
    return typeof value === 'object' && 'words' in value ? [name, { words: filled(value.words) }] : [name, value]
  })
  const isMissing = (value: unknown): boolean =>
    Number.isNaN(value) ||
    (Array.isArray(value) && value.length === 0) ||
    (typeof value === 'object' && value !== null && Object.values(value).some((one) => one === '' || isMissing(one)))
  return entries.some(([, value]) => isMissing(value)) ? undefined : Object.fromEntries(entries)
}

interface Props {
  name: ConditionName
  value: unknown
  side: Rule['side']
  isAsked: boolean
  error: string | undefined
  onChange: (value: unknown) => void
  onRemove: () => void
}

export function ConditionField({ name, value, side, isAsked, error, onChange, onRemove }: Props) {
  return (
    <div class="rule-condition">
      <div>
        <Body form={FORMS[name]} name={name} value={value} side={side} error={error} onChange={onChange} />
        {isAsked && <p class="hint">{t('rules.knownOnceAsked')}</p>}
      </div>
      <IconButton icon={X} label={t('rules.condition.remove')} of={labelOf(name)} onClick={onRemove} />
    </div>
  )
}

type BodyProps = Pick<Props, 'name' | 'value' | 'side' | 'error' | 'onChange'> & { form: Form }

function Body({ form, name, value, side, error, onChange }: BodyProps) {
  const label = labelOf(name)
  const shared = { label, error }
  if (form === 'text')
    return <TextField {...shared} value={value as RuleConditions['title'] & object} onChange={onChange} />
  if (form === 'kinds')
    return (
      <Checks
        label={label}
        all={KINDS.filter((kind) => side === 'take' || kind !== 'premieres')}
        chosen={value as string[]}
        nameOf={kindName}
        onChange={onChange}
      />
    )
  if (form === 'availability')
    return (
      <Checks
        label={label}
        all={AVAILABILITIES}
        chosen={value as string[]}
        nameOf={availabilityName}
        onChange={onChange}
      />
    )
  if (form === 'languages')
    return (
      <LanguagesField
        {...shared}
        codes={value as string[]}
        onChange={(codes) => onChange(codes.map((code) => code.toLowerCase()))}
      />
    )
  if (form === 'day') return <Field {...shared} type="date" value={value as string} onInput={onChange} />
  if (form === 'yes')
    return (
      <Select
        label={label}
        value={value === true ? 'yes' : 'no'}
        choices={[
          { value: 'yes', label: t('rules.yes') },
          { value: 'no', label: t('rules.no') },
        ]}
        onChange={(chosen) => onChange(chosen === 'yes')}
      />
    )
  if (form === 'watched') {
    const { by, days } = value as NonNullable<RuleConditions['watched']>
    return (
      <>
        <NumberField {...shared} value={days} onChange={(count) => onChange({ days: count, ...(by && { by }) })} />
        <Select
          label={t('rules.watched.by')}
          value={by ?? ''}
          choices={[
            { value: '', label: t('rules.watched.by.') },
            ...WATCHED_BY.map((one) => ({ value: one, label: t(`rules.watched.by.${one}`) })),
          ]}
          onChange={(chosen) => onChange({ days, ...(chosen !== '' && { by: chosen }) })}
        />
      </>
    )
  }
  if (form === 'newest') {
    const { count, of = 'scope' } = value as NonNullable<RuleConditions['newest']>
    return (
      <>
        <NumberField {...shared} value={count} onChange={(number) => onChange({ count: number, of })} />
        <Select
          label={t('rules.newest.of')}
          value={of}
          choices={[
            { value: 'scope', label: t('rules.newest.of.scope') },
            { value: 'channel', label: t('rules.newest.of.channel') },
          ]}
          onChange={(chosen) => onChange({ count, of: chosen })}
        />
      </>
    )
  }
  const factor = form === 'minutes' ? 60 : form === 'gigabytes' ? 1e9 : 1
  return (
    <NumberField
      {...shared}
      value={(value as number) / factor}
      onChange={(number) => onChange(Math.round(number * factor))}
    />
  )
}

function NumberField({
  label,
  error,
  value,
  onChange,
}: {
  label: string
  error: string | undefined
  value: number
  onChange: (value: number) => void
}) {
  /** The typed text, because `0.0` may be an incomplete 0.05. */
  const [typed, setTyped] = useState<string>()
  return (
    <Field
      label={label}
      error={error}
      type="number"
      min={0}
      value={typed ?? (Number.isNaN(value) ? '' : String(value))}
      onInput={(text) => {
        setTyped(text)
        onChange(text === '' ? Number.NaN : Number(text))
      }}
      onCommit={() => setTyped(undefined)}
    />
  )
}

function TextField({
  label,
  error,
  value,
  onChange,
}: {
  label: string
  error: string | undefined
  value: NonNullable<RuleConditions['title']>
  onChange: (value: unknown) => void
}) {
  const isPattern = 'pattern' in value
  const text = isPattern ? value.pattern : value.words.join(', ')
  const give = (given: string, asPattern: boolean) =>
    onChange(asPattern ? { pattern: given } : { words: given.split(',').map((word) => word.trimStart()) })
  return (
    <>
      <Field
        label={label}
        error={error}
        hint={t(isPattern ? 'rules.pattern.hint' : 'rules.words.hint')}
        value={text}
        onInput={(given) => give(given, isPattern)}
      />
      <label class="check">
        <input
          type="checkbox"
          aria-label={t('action.of', { action: t('rules.pattern'), title: label })}
          checked={isPattern}
          onChange={({ currentTarget }) => give(text, currentTarget.checked)}
        />
        {t('rules.pattern')}
      </label>
    </>
  )
}

function Checks<Value extends string>({
  label,
  all,
  chosen,
  nameOf,
  onChange,
}: {
  label: string
  all: readonly Value[]
  chosen: readonly string[]
  nameOf: (value: Value) => string
  onChange: (value: Value[]) => void
}) {
  return (
    <fieldset class="checks">
      <legend>{label}</legend>
      {all.map((one) => (
        <label key={one} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(all.filter((other) => (other === one ? checked : chosen.includes(other))))
            }
          />
          {nameOf(one)}
        </label>
      ))}
    </fieldset>
  )
}

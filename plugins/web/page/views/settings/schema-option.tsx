/** A setting rendered from its schema: a switch, a choice, a number or a text. */
import type { ComponentChildren } from 'preact'
import { t, textOf } from '../../texts/lookup.ts'
import { manyOf } from './many.ts'
import { LanguagesOption, NumberOption, SelectOption, SwitchOption, TextOption } from './option.tsx'
import type { OptionSchema } from './option-schema.ts'

interface Props {
  /** The key of the page's texts, which take precedence over the schema's: `downloads.format`. */
  name: string
  /** The server's name of the field, as in its errors. */
  field: string
  schema: OptionSchema
  value: unknown
  /** Added to the description. */
  more?: ComponentChildren
  /** undefined: the field was cleared */
  onSave: (value: unknown) => Promise<unknown>
  /** Label of the choice "not set"; without it, this choice is not offered. */
  unset?: string
}

/** The alternatives without `false`, which means "not set". */
const partsOf = (schema: OptionSchema): OptionSchema[] =>
  (schema.anyOf ?? [schema]).filter(({ const: fixed }) => fixed !== false)

const choicesOf = (parts: OptionSchema[]): string[] | undefined => {
  const values = parts.flatMap((part) => part.enum ?? (part.const === undefined ? [] : [part.const]))
  return values.length > 0 ? values.map(String) : undefined
}

export function SchemaOption({ name, field, schema, value, more, onSave, unset }: Props) {
  const parts = partsOf(schema)
  const [first = {}] = parts
  const label = textOf(name, schema.title ?? field)
  const hint = textOf(`${name}.hint`, schema.description ?? '')
  const unit = textOf(`${name}.unit`, schema['x-unit'] ?? '')
  const isUnset = value === undefined || value === false
  const choices = choicesOf(parts)
  const said = more ? (
    <>
      {hint} {more}
    </>
  ) : (
    hint
  )
  const words = { label, field, ...(said && { hint: said }), ...(unit && { unit }) }
  if (choices) {
    const none = schema.anyOf || unset !== undefined ? [''] : []
    return (
      <SelectOption
        {...words}
        value={isUnset ? '' : String(value)}
        choices={[...none, ...choices].map((one) => ({
          value: one,
          label:
            one === '' ? (unset ?? t('settings.unset')) : textOf(`${name}.${one}`, schema['x-labels']?.[one] ?? one),
        }))}
        onSave={(chosen) => onSave(chosen === '' ? undefined : chosen)}
      />
    )
  }
  if (first.type === 'boolean' && unset !== undefined)
    return (
      <SelectOption
        {...words}
        value={value === undefined ? '' : value === true ? 'on' : 'off'}
        choices={[
          { value: '', label: unset },
          { value: 'on', label: t('settings.on') },
          { value: 'off', label: t('settings.notOn') },
        ]}
        onSave={(chosen) => onSave(chosen === '' ? undefined : chosen === 'on')}
      />
    )
  if (first.type === 'boolean') return <SwitchOption {...words} value={value === true} onSave={onSave} />
  if (first.type === 'integer' || first.type === 'number')
    return (
      <NumberOption
        {...words}
        min={first.minimum ?? 0}
        max={first.maximum ?? Number.MAX_SAFE_INTEGER}
        value={isUnset ? false : Number(value)}
        empty={false}
        factor={schema['x-factor'] ?? 1}
        onSave={(number) => onSave(number === false ? undefined : number)}
      />
    )
  const many = manyOf(first)
  if (many) {
    const { shown, read, hint: how } = many
    return (
      <TextOption
        {...words}
        hint={
          <>
            {said} {how}
          </>
        }
        isLong
        isWide
        isCode={schema['x-code'] ?? false}
        value={isUnset ? '' : shown(value)}
        onSave={(text) => onSave(read(text))}
      />
    )
  }
  const wrong = textOf(`${name}.wrong`, schema['x-wrong'] ?? '')
  if (schema['x-languages'])
    return (
      <LanguagesOption
        {...words}
        {...(wrong && { wrong })}
        isOne={schema['x-languages'] === 'one'}
        value={isUnset ? '' : String(value)}
        onSave={(text) => onSave(text === '' ? undefined : text)}
      />
    )
  return (
    <TextOption
      {...words}
      isWide
      isCode={schema['x-code'] ?? false}
      isSecret={schema['x-secret'] === 'whole'}
      placeholder={String(schema.examples?.[0] ?? '')}
      {...(wrong && { wrong })}
      value={isUnset ? '' : String(value)}
      onSave={(text) => onSave(text === '' ? undefined : text)}
    />
  )
}

/** A field for languages, chosen by name in a dialog that is loaded when it opens; the value is a list of codes. */
import { Languages, X } from 'lucide'
import { useState } from 'preact/hooks'
import { toLanguage } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import type LanguagePicker from './language-picker.tsx'
import { sayFailure } from './toast.ts'

/** @param text  codes separated by commas */
export const codesOf = (text: string): string[] =>
  text
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')

interface LanguagesProps {
  label: string
  /** In the order in which they were chosen, including the platform's own codes, such as `en.*`. */
  codes: readonly string[]
  /** A new choice replaces the previous one. */
  isOne?: boolean
  onChange: (codes: string[]) => void
  id?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean | undefined
}

export function LanguagesInput({ label, codes, isOne = false, onChange, ...rest }: LanguagesProps) {
  const [Picker, setPicker] = useState<typeof LanguagePicker>()
  const open = () => import('./language-picker.tsx').then((loaded) => setPicker(() => loaded.default), sayFailure)
  const remove = (code: string) => onChange(codes.filter((one) => one !== code))
  const pick = (code: string) => {
    if (isOne) {
      setPicker(undefined)
      onChange([code])
    } else if (codes.includes(code)) remove(code)
    else onChange([...codes, code])
  }
  return (
    <div class="languages">
      {codes.length > 0 && (
        <ul aria-label={label}>
          {codes.map((code) => (
            <li key={code}>
              <button
                type="button"
                class="chip"
                aria-label={t('languages.remove', { name: toLanguage(code) })}
                onClick={() => remove(code)}
              >
                <span class="chip-name">{toLanguage(code)}</span>
                <Icon node={X} size={16} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Button icon={Languages} of={label} aria-haspopup="dialog" onClick={open} {...rest}>
        {t(isOne ? 'languages.choose' : 'languages.add')}
      </Button>
      {Picker && (
        <Picker title={label} codes={codes} isOne={isOne} onPick={pick} onClose={() => setPicker(undefined)} />
      )}
    </div>
  )
}

/** The field with its label above, and the hint or error below. */
export function LanguagesField({
  hint,
  error,
  ...rest
}: LanguagesProps & { hint?: string | undefined; error?: string | undefined }) {
  return (
    <fieldset class="field">
      <legend>{rest.label}</legend>
      <LanguagesInput {...rest} />
      {(error ?? hint) && <p class={error ? 'error' : 'hint'}>{error ?? hint}</p>}
    </fieldset>
  )
}

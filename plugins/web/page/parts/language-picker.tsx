/** The dialog of a language field: languages by name, the browser's languages first; people can also type a code. */
import { useState } from 'preact/hooks'
import { LANGUAGE, t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Choice } from './choice.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

interface Language {
  code: string
  name: string
}

const names = new Intl.DisplayNames(LANGUAGE, { type: 'language', fallback: 'none' })
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']
/** Codes with more than two letters that the platform offers. */
const FURTHER = ['ceb', 'fil', 'haw', 'hmn', 'yue', 'zh-Hans', 'zh-Hant', 'pt-BR', 'pt-PT', 'es-419', 'fr-CA']
/** A code, a variant of it or a pattern of codes, such as `pt-BR`, `en.*` or `-fr`. */
const CODE = /^-?[a-z]{2,3}([-_.*][\w.*-]*)?$/i

/** Languages that the browser can name. */
function all(): Language[] {
  const codes = [...LETTERS.flatMap((first) => LETTERS.map((second) => first + second)), ...FURTHER]
  const named = codes
    .filter((code) => Intl.getCanonicalLocales(code)[0] === code)
    .flatMap((code) => ({ code, name: names.of(code) ?? '' }))
    .filter(({ name }, at, every) => name !== '' && every.findIndex((one) => one.name === name) === at)
    .sort(({ name }, other) => name.localeCompare(other.name, LANGUAGE))
  const own = new Set(navigator.languages.map((tag) => tag.split('-')[0]))
  return [...named.filter(({ code }) => own.has(code)), ...named.filter(({ code }) => !own.has(code))]
}

interface Props {
  title: string
  codes: readonly string[]
  isOne: boolean
  onPick: (code: string) => void
  onClose: () => void
}

export default function LanguagePicker({ title, codes, isOne, onPick, onClose }: Props) {
  const [text, setText] = useState('')
  const [languages] = useState(all)
  const typed = text.trim()
  const words = typed.toLocaleLowerCase(LANGUAGE)
  const rank = ({ code, name }: Language): number => {
    const at = name.toLocaleLowerCase(LANGUAGE).indexOf(words)
    return code.toLowerCase() === words || at === 0 ? 0 : at > 0 ? 1 : 2
  }
  const found = [0, 1].flatMap((wanted) => languages.filter((one) => rank(one) === wanted))
  const isCode = CODE.test(typed) && !found.some(({ code }) => code.toLowerCase() === words)
  return (
    <Dialog title={title} onClose={onClose}>
      <Field label={t('languages.find')} type="search" value={text} onInput={setText} autocomplete="off" />
      {found.length === 0 && !isCode && <p class="hint">{t('pick.none')}</p>}
      {(found.length > 0 || isCode) && (
        <ul class="choices">
          {isCode && (
            <li>
              <button type="button" onClick={() => onPick(typed)}>
                <span>{t('languages.typed', { code: typed })}</span>
              </button>
            </li>
          )}
          {found.map(({ code, name }) => (
            <Choice key={code} name={name} isChosen={codes.includes(code)} onPick={() => onPick(code)}>
              <span class="meta">{code}</span>
            </Choice>
          ))}
        </ul>
      )}
      {!isOne && (
        <footer>
          <Button kind="main" onClick={onClose}>
            {t('action.done')}
          </Button>
        </footer>
      )}
    </Dialog>
  )
}
